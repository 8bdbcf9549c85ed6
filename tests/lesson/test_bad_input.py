"""What a notebook may get wrong is named, with what would do, and nothing is shown."""

from __future__ import annotations

import pytest

from lessons_lib.core import DamagedFile, DataMissing
from lessons_lib.exercises import Exercise, judge_value
from lessons_lib.lesson import Course, read_card, start
from lessons_lib.lesson.course import chosen_scale
from lessons_lib.lesson.explore import defaults_of
from lessons_lib.lesson.tables import Table
from lessons_lib.lesson.threads import lesson_threads

from .conftest import ALT, line

PAIR = Exercise("pair", judge_value(2), 2, {"one": 1, "three": 3}, ("It is even.",))
CARD = "front matter with a block `lesson:`"


def card(text):
    """Reads a lesson with that text."""
    def read(lesson, folder):
        (folder / "01_one_hot.md").write_text(text, encoding="utf-8")
        read_card(folder / "01_one_hot.md")

    return read


def show(fig=None, **options):
    return lambda lesson, _: lesson.show(fig or line(), **{"id": "rising", "alt": ALT} | options)


def explore(function, **controls):
    return lambda lesson, _: lesson.explore(function, id="growth", alt=ALT, **controls)


def opened(wrong):
    return lambda _, folder: Course(folder.parent).card(wrong)


def begun(lesson_id="one_hot", **options):
    return lambda _, folder: start(lesson_id, notebooks=folder, **options)


def scatter():
    import plotly.graph_objects as go

    return go.Figure(go.Scatter(x=[1, 2], y=[3, 4]))


class Named:
    name, dim, encode = "letters", 5, None


REFUSED = [
    *((show(alt=alt), ValueError, "alt=", "5 to 40 words")
      for alt in ("", "a plot", None, 5, "word " * 41)),
    *((show(id=id), ValueError, "id=", "no figure name")
      for id in ("", "../up", "a b", "A", "x" * 61, None, "c:\\x")),
    (show(3), TypeError, "fig=3 is int", "matplotlib or plotly"),
    (lambda lesson, _: lesson.show(scatter(), id="points", alt=ALT), ValueError, "pass static="),
    *((lambda *_, control=control: defaults_of(lambda k: "", {"k": control}), ValueError, "k=",
       "is no control") for control in ((5, 1), (1,), [], {}, "", 3, None, (1, 1))),
    (explore(lambda k=3: "", k=(5, 9)), ValueError, "k=3 is the default"),
    (explore(lambda kind: "", kinds=["a"]), TypeError, "no argument 'kinds'", "mean 'kind'"),
    (explore(lambda k: object(), k=(1, 3)), TypeError, "the explored function returned"),
    *((lambda lesson, _, thing=thing: lesson.source(thing), TypeError, "no Python source")
      for thing in (3, "text", len, None)),
    (lambda *_: Table([[1, 2]], ["n"]), ValueError, "rows[0] has 2 cells", "expected 1"),
    (lambda *_: Table(["ab"], ["n"]), TypeError, "rows[0]='ab'"),
    (lambda lesson, _: lesson.hint("pairs"), ValueError, "Did you mean 'pair'"),
    (lambda lesson, _: lesson.solution("pairs"), ValueError, "Did you mean 'pair'"),
    (lambda lesson, _: lesson.check("pairs", 1), ValueError, "Did you mean 'pair'"),
    (lambda lesson, _: lesson.leaderboard_cell([Named(), Named()]), ValueError, "2 encoders",
     "name of its own"),
    (lambda lesson, _: lesson.leaderboard_cell([3]), TypeError, "expected an encoder"),
    (lambda lesson, _: lesson.leaderboard_cell({}), ValueError, "0 encoders"),
    # P24, P27: seeds, lessons and scales
    (begun(seed=-1), ValueError, "seed=-1"),
    *((begun(seed=seed), TypeError, "seed=") for seed in (1.5, None, True)),
    (begun("onehot"), ValueError, "lesson_id=", "Did you mean 'one_hot'"),
    (begun(scale="smoky"), ValueError, "scale=", "Did you mean 'smoke'"),
    (lambda *_: chosen_scale("labtop"), ValueError, "'labtop' is unknown", "mean 'laptop'"),
    (opened("one_hit"), ValueError, "Did you mean 'one_hot'", "'start_here', 'one_hot'"),
    *((opened(wrong), ValueError, "lesson_id=", "is unknown", "Allowed: 'start_here', 'one_hot'")
      for wrong in ("17", "one_hat", "001", "²", 1, None, "one hot vectors", "../one_hot", "")),
    (lambda _, folder: Course(folder / "none").card("one_hot"), DataMissing, "clone"),
    (card("---\nlesson:\n  id: one_hot\n  question: a: b: c?\n---\nText\n"), DamagedFile,
     "01_one_hot.md, line 4: ", "Quote texts"),
    (card("---\nlesson: !!python/object/apply:os.getcwd []\n---\n"), DamagedFile,
     "not valid YAML"),
    *((card(text), DamagedFile, CARD) for text in (
        "", "no front matter", "---\nlesson:\n---\n", "---\ntitle: x\n---\n", "---\n- a\n---\n")),
]


@pytest.mark.parametrize(("call", "error", "words"), [
    pytest.param(call, error, words, id=f"{k}-{words[-1][:30]}")
    for k, (call, error, *words) in enumerate(REFUSED)])
def test_what_cannot_be_is_refused_by_name(lesson, notebooks, displayed, monkeypatch, call, error,
                                           words):
    monkeypatch.setattr("lessons_lib.exercises.stems", lambda: ["one_hot"])
    monkeypatch.setattr("lessons_lib.exercises.for_lesson", lambda _: {"pair": PAIR})
    with pytest.raises(error) as caught:
        call(lesson, notebooks)
    assert all(word in str(caught.value) for word in words), caught.value
    assert displayed == []


@pytest.mark.parametrize(("variable", "value", "call"), [
    ("LESSONS_SCALE", "smok", lambda: chosen_scale(None)),
    *(("LESSONS_THREADS", value, lesson_threads)
      for value in ("0", "-1", "two", "1.5", "²", "1025"))])
def test_a_variable_that_cannot_be_is_named_with_what_may_be(monkeypatch, variable, value, call):
    monkeypatch.setenv(variable, value)
    with pytest.raises(ValueError) as caught:
        call()
    allowed = "Did you mean 'smoke'" if variable == "LESSONS_SCALE" else "expected 1 to 1024"
    assert repr(value) in str(caught.value) and allowed in str(caught.value)
