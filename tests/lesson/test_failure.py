"""The values behind a failed assertion."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from lessons_lib.lesson.failure import failed_assertion, false_values

NAMES = {"score": np.float64(0.61), "here": {"course-sts": 0.5, "stsb": 0.7}, "np": np, "names": [],
         "table": np.zeros((3, 4)), "limit": 0.69, "smoke": False, "losses": [3.0, 2.0, 2.5, 1.0],
         "bad": property(lambda self: 1)}


def lines(condition: str, **more: object) -> list[str]:
    test = ast.parse(condition, mode="eval").body
    return list(false_values(test, lambda text: eval(text, NAMES | more)))


@pytest.mark.parametrize(("condition", "expected"), [
    # both sides of a condition and the names in it, outer ones first
    ("score > limit", ["score = 0.61", "limit = 0.69"]),
    ("here['course-sts'] > 0.69", ["here['course-sts'] = 0.5",
                                   "here = {'course-sts': 0.5, 'stsb': 0.7}"]),
    ("names", ["names = []"]), ("not losses", ["losses = [3.0, 2.0, 2.5, 1.0]"]),
    ("abs(score - limit) < 0.01", [
        "abs(score - limit) = 0.07999999999999996", "score - limit = -0.07999999999999996",
        "score = 0.61", "limit = 0.69"]),
    ("table.max() > 1", [
        "table.max() = 0.0",
        "table = shape (3, 4), array([[0., 0., 0., 0.], [0., 0., 0., 0.], [0., 0., 0., 0.]])"]),
    # of several conditions the one that is not true
    ("limit > 0.5 and score > limit and names", ["not true: score > limit", "score = 0.61",
                                                 "limit = 0.69"]),
    ("0.5 < score < 0.6", ["not true: score < 0.6", "score = 0.61"]),
    ("(score > 0.9) if smoke else (score > 0.7)", ["not true: score > 0.7", "score = 0.61"]),
    ("score > 0.9 or limit > 0.9", ["score = 0.61", "limit = 0.69"]),
    # of all elements the first that breaks the condition
    ("all(b < a for a, b in zip(losses, losses[1:]))", ["a = 2.0", "b = 2.5"]),
    ("all(v > limit for k, v in here.items() if k)", ["k = 'course-sts'", "v = 0.5",
                                                      "limit = 0.69"]),
    ("all([x > y for x in losses for y in (0, 2)])", ["x = 2.0", "y = 2"])])
def test_the_part_that_is_not_true_is_shown_with_its_values(condition, expected):
    assert lines(condition) == expected


def test_names_bound_inside_a_comprehension_are_not_confused_with_others():
    shown = lines("max(x for x in losses) < 2", x=99)
    assert shown == ["max((x for x in losses)) = 3.0", "losses = [3.0, 2.0, 2.5, 1.0]"]


def test_values_are_few_and_short_and_nothing_is_raised():
    class Sly:
        def __bool__(self) -> bool:
            raise OSError("no")

        def __repr__(self) -> str:
            raise OSError("no")

    many = " + ".join(f"n{i}" for i in range(20))
    shown = lines(f"{many} < 0", **{f"n{i}": i for i in range(20)})
    assert len(shown) == 8 and all(len(line) <= 200 for line in shown)
    assert lines("sly and sly.nothing and score > 1", sly=Sly()) == ["score = 0.61"]
    assert lines("missing > score") == ["score = 0.61"]
    assert lines("text == ''", text="x\n" * 10_000)[0].startswith("text = 'x\\nx\\n")


def failure(source: str) -> BaseException:
    import linecache

    name = "<a cell>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    with pytest.raises(Exception) as caught:
        exec(compile(source, name, "exec"), {})
    return caught.value


def test_the_statement_is_found_in_a_function_and_over_several_lines():
    source = "def check(a):\n    b = 2 * a\n    assert (a >\n            b), 'words'\ncheck(3)\n"
    statement, frame = failed_assertion(failure(source))
    assert ast.unparse(statement.test) == "a > b" and frame.f_locals == {"a": 3, "b": 6}


@pytest.mark.parametrize("source", ["1 / 0\n", "raise AssertionError('by hand')\n",
                                    "import numpy as np\nnp.testing.assert_allclose(1, 2)\n"])
def test_an_error_without_a_statement_has_no_values(source):
    assert failed_assertion(failure(source)) is None and failed_assertion(None) is None


def test_it_reads_no_source_that_is_not_python(monkeypatch):
    error = failure("assert 0\n")
    monkeypatch.setattr("linecache.getlines", lambda name: ["%matplotlib inline\n", "assert 0\n"])
    assert failed_assertion(error) is None
