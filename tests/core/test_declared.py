"""Declared parameters and learned arrays: one declaration gives constructor, checks, files, table.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from lessons_lib.core import (DamagedFile, DataWarning, Estimator, NotFittedError, load_model,
                              save_model, taken)
from lessons_lib.core.estimator import SavedEstimator
from lessons_lib.core.learned import Array, Strings, packed_strings, unpacked_strings
from lessons_lib.core.parameters import (Choice, Count, Flag, Float, Floats, Given, Int, Parameter,
                                         Seed, Threads, make_init, numpydoc_table, with_sections)


class Centred(SavedEstimator):
    """Takes the mean away.

    Notes
    -----
    x - μ.
    """

    dim = Int(3, "columns", positional=1)
    kind = Choice("mean", "median", doc="what is taken away")
    share = Float(1.0, "how much of it", above=0, high=1)
    k = Int(None, "columns that are kept", high=9)
    loud = Flag(False)
    seed = Seed()
    powers = Floats((1.0, np.inf), "of the mean", infinite=True)
    shares = Floats(None)
    encoder = Given(None, kind="Encoder")

    mean_ = Array("dim", dtype="float64", doc="the mean", file="mean")
    _squares = Array("dim + 1", file="squares")
    words_ = Strings("dim", prefix="word")

    def fit(self, x):
        self._check_settings()
        self.mean_, self._squares = np.asarray(x).mean(axis=0), np.ones(self.dim + 1, np.float32)
        self.words_ = ["a", "é", ""]
        return self

    def _check_together(self, settings):
        if settings["k"] is not None and settings["k"] > settings["dim"]:
            raise ValueError(f"k={settings['k']} is above dim={settings['dim']}")


class Wider(Centred):
    """The same with another default, and one parameter more."""

    dim = Int(4, "columns", positional=1)
    more = Int(1)


def test_the_signature_is_that_of_the_declarations():
    names = inspect.signature(Centred).parameters
    assert list(names) == ["dim", "kind", "share", "k", "loud", "seed", "powers", "shares",
                           "encoder"]
    assert [names[n].default for n in ("dim", "kind", "k")] == [3, "mean", None]
    assert names["dim"].kind is names["dim"].POSITIONAL_OR_KEYWORD
    assert names["kind"].kind is names["kind"].KEYWORD_ONLY
    assert list(inspect.signature(Wider).parameters)[0::9] == ["dim", "more"]
    assert repr(Wider(4, k=2)) == "Wider(k=2)" and Wider().get_params()["dim"] == 4


def test_arguments_have_a_place_by_number_and_a_kind_that_knows_none():
    a, b, c = Int(1), Int(2, positional=2), Int(positional=1)
    for name, declared in zip("abc", (a, b, c), strict=True):
        declared.__set_name__(object, name)
    names = inspect.signature(make_init("Three", {"a": a, "b": b, "c": c})).parameters
    assert list(names) == ["self", "c", "b", "a"]
    assert [names[n].kind is inspect.Parameter.KEYWORD_ONLY for n in "cba"] == [False, False, True]
    kinds = inspect.signature(Centred).parameters
    assert [kinds[n].annotation for n in ("dim", "kind", "share", "loud", "k", "encoder")] == [
        int, str, float, bool, int | None, Any]


def test_a_declaration_is_read_from_the_class_and_missed_where_nothing_was_constructed():
    assert isinstance(Centred.dim, Parameter) and Centred().dim == 3
    with pytest.raises(AttributeError, match="this Centred has no 'dim': __init__ did not run"):
        _ = Centred.__new__(Centred).dim


@pytest.mark.parametrize(("declared", "words"), [
    (Int(), "int >= 1"), (Int(3, low=2, high=9), "int in [2, 9], default 3"),
    (Int(None), "int >= 1 or None, default None"), (Parameter(), "object"),
    (Int(3, optional=True), "int >= 1 or None, default 3"),
    (Threads(), "int in [1, 1024], default 1"), (Seed(), "int >= 0, default 0"), (Float(), "float"),
    (Float(low=0), "float >= 0"), (Float(high=1), "float <= 1"), (Float(above=0), "float > 0"),
    (Float(1, low=0, high=1), "float >= 0 and <= 1, default 1"),
    (Choice("a", "b"), "{'a', 'b'}, default 'a'"), (Flag(True), "bool, default True"),
    (Choice("a", "b", default="b"), "{'a', 'b'}, default 'b'"), (Given(), "object"),
    (Floats(), "sequence of float"), (Floats(infinite=True), "sequence of float, inf or -inf")])
def test_a_declaration_says_in_words_what_it_takes(declared, words):
    assert declared.described() == words


def test_the_remedy_follows_a_value_out_of_range_and_no_wrong_kind():
    declared = Int(high=3, remedy="Lower it")
    with pytest.raises(ValueError, match=r"^x=4 .*expected int in \[1, 3\]. Lower it$"):
        declared.check("x", 4)
    with pytest.raises(TypeError, match=r"expected int in \[1, 3\]$"):
        declared.check("x", "4")
    with pytest.raises(ValueError, match=r"expected int in \[1, 3\]$"):
        Int(high=3).check("x", 4)


def test_what_lies_at_the_end_of_a_range_is_taken():
    assert Int().check("x", 1) == 1 and Seed().check("seed", 0) == 0
    assert Float(low=0, high=1).check("x", 0) == 0 and Float(low=0, high=1).check("x", 1) == 1
    for declared, value in ((Int(), 0), (Seed(), -1), (Float(above=0), 0), (Floats(), [np.inf])):
        with pytest.raises(ValueError, match="expected"):
            declared.check("x", value)
    assert Given(check=lambda name, value: (name, value)).check("x", 3) == ("x", 3)
    assert Given().check("x", 3) == 3


def test_rows_become_a_section_in_lines_of_94_characters():
    rows = [("a", "int", "how many"), ("b", "", "of which?"), ("c", "str", "")]
    assert numpydoc_table(rows) == "a : int\n    How many.\nb\n    Of which?\nc : str"
    assert numpydoc_table([]) == ""
    fits, wraps = "b" * 84 + " " + "c" * 4, "b" * 84 + " " + "c" * 5        # with indent and stop
    assert numpydoc_table([("a", "", fits)]).count("\n") == 1
    assert numpydoc_table([("a", "", wraps)]).endswith("b\n    ccccc.")


def test_sections_come_before_the_first_that_a_docstring_has():
    new = {"Parameters": "a : int", "Attributes": ""}
    made = "Parameters\n----------\na : int"
    assert with_sections("Does.", new) == f"Does.\n\n{made}\n"
    notes = "Notes\n-----\nx.\n\nSources\n-------\ny."
    assert with_sections(f"Does.\n\n{notes}", new) == f"Does.\n\n{made}\n\n{notes}\n"
    assert with_sections("Does.\n\nNotes\n-----", new) == f"Does.\n\n{made}\n\nNotes\n-----\n"
    assert with_sections("Does.\n\n---\nx.", new) == f"Does.\n\n---\nx.\n\n{made}\n"


def test_the_docstring_has_a_table_of_parameters_and_of_attributes_before_its_notes():
    doc = Centred.__doc__
    assert "share : float > 0 and <= 1, default 1.0\n    How much of it.\n" in doc
    assert "k : int in [1, 9] or None, default None" in doc and "'median'" in doc
    assert "mean_ : (dim,) float64\n    The mean." in doc and "_squares" not in doc
    assert doc.index("Parameters\n---") < doc.index("Attributes\n---") < doc.index("Notes\n---")


@pytest.mark.parametrize(("arguments", "error", "words"), [
    ({"dims": 3}, TypeError, ["Centred", "'dims'", "did you mean 'dim'", "share"]),
    ({"dim": 0}, ValueError, ["dim=0", "int >= 1"]), ({"dim": True}, TypeError, ["dim=True"]),
    ({"dim": None}, TypeError, ["dim=None"]), ({"k": 10}, ValueError, ["k=10", "[1, 9]"]),
    ({"share": 0}, ValueError, ["share=0", "> 0"]), ({"share": 1.1}, ValueError, ["share=1.1"]),
    ({"kind": "medium"}, ValueError, ["kind='medium'", "Did you mean 'median'"]),
    ({"loud": 1}, TypeError, ["loud=1", "True or False"]), ({"seed": None}, TypeError, ["seed"]),
    ({"powers": 2.0}, TypeError, ["powers=2.0", "sequence of float, inf or -inf"]),
    ({"powers": "12"}, TypeError, ["powers='12'"]), ({"powers": ()}, ValueError, ["is empty"]),
    ({"powers": [1, np.nan]}, ValueError, ["powers[1]=nan"]),
    ({"powers": [None]}, TypeError, ["powers[0]=None"]), ({"powers": None}, TypeError, ["powers"]),
    ({"shares": [1.0, np.inf]}, ValueError, ["shares[1]=inf", "finite"]),
    ({"k": 5}, ValueError, ["k=5", "dim=3"])])
def test_wrong_settings_are_named_at_the_latest_by_fit(arguments, error, words):
    with pytest.raises(error) as caught:
        Centred(**arguments).fit(np.eye(3))
    assert [word for word in words if word not in str(caught.value)] == []


def test_too_many_and_missing_arguments_name_the_class():
    class Needy(Estimator):
        """Needs something."""

        what = Int(positional=1)

    for wrong in ((), (1, 2)):
        with pytest.raises(TypeError, match=r"Needy: .*Arguments: what"):
            Needy(*wrong)


def test_what_is_not_learned_yet_says_that_fit_is_missing():
    with pytest.raises(NotFittedError, match="Centred is not fitted"):
        _ = Centred().mean_
    assert not hasattr(Centred(), "mean_")


def test_a_saved_model_comes_back_with_settings_and_arrays(tmp_path):
    powers = [1, -np.inf, np.float32(np.inf), np.float32(0.1), 1e-300]
    model = Centred(kind="median", k=np.int64(2), powers=powers).fit(np.eye(3))
    model.save(tmp_path / "m")
    back = Centred.load(tmp_path / "m")
    plain = model.get_params() | {"k": 2, "powers": tuple(map(float, powers))}
    assert back.get_params() == plain and back.words_ == model.words_
    assert np.array_equal(back.mean_, model.mean_)


@pytest.mark.parametrize(("name", "wrong"), [
    ("mean", np.zeros(2)), ("mean", np.zeros(3, np.float32)), ("mean", np.full(3, np.nan)),
    ("squares", np.ones(3, np.float32)), ("word_offsets", np.array([0, 1, 9, 2])), ("mean", None),
    ("word_bytes", np.array([255, 255, 255], np.uint8)),
    *(packed_strings(["a", "b"], "word").items())])
def test_arrays_that_do_not_fit_are_damage(tmp_path, name, wrong):
    Centred().fit(np.eye(3)).save(tmp_path / "m")
    settings, arrays, extra = load_model(tmp_path / "m", "Centred")
    arrays = ({**arrays, name: wrong}
              if wrong is not None
              else {n: a for n, a in arrays.items() if n != name})
    save_model(tmp_path / "m", "Centred", settings=settings, arrays=arrays, extra=extra)
    with pytest.raises(DamagedFile, match="Centred that this version cannot read"):
        Centred.load(tmp_path / "m")


def test_settings_that_are_wrong_by_now_are_not_written(tmp_path):
    model = Centred().fit(np.eye(3)).set_params(k=7)
    with pytest.raises(ValueError, match="k=7"):
        model.save(tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("strings", [[], [""], ["a", "", "né", "日本", "😀" * 3]])
def test_strings_come_back_from_their_bytes(strings):
    assert unpacked_strings(packed_strings(strings)) == strings


@pytest.mark.parametrize(("declared", "value", "words"), [
    (Int(), 10**9 + 1, "expected at most 1,000,000,000"), (Int(high=10**12), 10**12 + 1, "in [1, "),
    (Count(), 10**18, "For a run that only Ctrl-C ends: x=10**9"), (Threads(), 1025, "[1, 1024]")])
def test_a_number_that_nobody_means_is_refused(declared, value, words):
    with pytest.raises(ValueError) as caught:
        declared.check("x", value)
    assert words in str(caught.value)


def test_a_seed_and_a_number_with_a_limit_of_its_own_may_be_larger():
    assert Seed().check("seed", 10**30) == 10**30
    assert Int(high=10**12).check("bytes", 10**12) == 10**12 and Count().check("n", 10**9) == 10**9


def test_what_goes_beyond_the_data_is_taken_for_what_they_hold():
    assert taken("m", 1000, 3, "3 words") == 1000              # up to here settings are silent
    assert taken("m", 5000, 5000, "5000 words") == 5000
    with pytest.warns(DataWarning, match="m=5000 goes beyond the data: 3 words; 3 is taken"):
        assert taken("m", 5000, 3, "3 words") == 3
    with pytest.warns(DataWarning, match="m=1001 "):
        assert taken("m", 1001, 3, "3 words") == 3
