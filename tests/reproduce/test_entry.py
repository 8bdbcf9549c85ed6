"""Declared entries, what a run writes, records read back, and an entry told in a line."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import sys

import pytest

from lessons_lib.core import PROJECT, DamagedFile, DataMissing
from lessons_lib.plots import score_curves
from lessons_lib.plots.save import checked_alt
from lessons_lib.reproduce import (
    Claim, Entry, Record, entries, headline, recorded, run, run_each)
from lessons_lib.reproduce.entry import (
    CONTROL, CONTROL_TOO, FAILS, HOLDS, NO_CONTROL, OTHER_CONTROL, SD, _compared, _declarations,
    averages, declared, judged)
from lessons_lib.reproduce.recorded import read_record

FILES = sorted((PROJECT / "figures").glob("*.json"))


def squares(settings, seed):
    row = {x: float(x * x + seed) for x in range(1, settings["n"] + 1)}
    return {"squares": row, "endless": {1: math.inf}}


def draw(entry, measured):
    points = measured["squares"]
    return score_curves({"squares": (list(points), list(points.values()))}, xlabel="x", ylabel="y",
                        title="Squares grow faster than numbers")


ENTRY = Entry(
    id="blei2003_table1", paper="euclid", item="Figure 1", lesson="one_hot", setup="none",
    measure=squares, draw=draw, alt="Line chart of squares against numbers, rising ever faster.",
    printed={"squares": {1: 1.0, 2: 4.0}},
    scales={"smoke": {"n": 2}, "laptop": {"n": 3}, "paper": {"n": 4}},
    claims=(Claim("squares grow", lambda m: m["squares"][2] > m["squares"][1]),
            Claim("squares shrink", lambda m: m["squares"][2] < 1)))


def test_picture_and_record_are_written_and_the_record_is_what_the_run_found(tmp_path):
    outcome = run(ENTRY, scale="smoke", seed=5, folder=tmp_path / "new folder")
    assert outcome.verdicts == {"squares grow": True, "squares shrink": False} and not outcome.ok
    picture, numbers = outcome.files
    assert "<svg" in picture.read_text("utf-8")
    written = json.loads(numbers.read_text("utf-8"))
    series = {"squares": [[1.0, 6.0], [2.0, 9.0]], "endless": [[1.0, None]]}
    said = {"measured": series, "printed": {"squares": [[1.0, 1.0], [2.0, 4.0]]}, "seed": 5,
            "claims": outcome.verdicts, "scale": "smoke", "settings": {"n": 2}}
    assert {key: written[key] for key in said} == said
    assert "numpy" in written["device"]["versions"] and written["date"]
    record = recorded(ENTRY.id, folder=numbers.parent)
    assert record.measured == outcome.measured and record.claims == outcome.verdicts
    assert record.printed == ENTRY.printed and record.picture == picture
    assert record.misfit(ENTRY) == "" == record.misfit(ENTRY, scale="smoke", seed=5)
    assert record.misfit(ENTRY, scale="laptop", seed=4) == "scale, settings, seed"
    other = dataclasses.replace(ENTRY, item="x", printed={}, claims=ENTRY.claims[:1])
    assert record.misfit(other) == "item, printed numbers, claims"


def put(folder, text):
    (folder / "blei2003_table1.json").write_text(text)
    return recorded("blei2003_table1", folder=folder)


@pytest.mark.parametrize(("call", "error", "words"), [
    (lambda f: run(ENTRY, scale="papers", folder=f), ValueError, "scale='papers'.*paper"),
    (lambda f: dataclasses.replace(ENTRY, claims=()), ValueError, "claims is empty"),
    (lambda f: dataclasses.replace(ENTRY, scales={"smoke": {}}), ValueError, "has smoke;.*laptop"),
    (lambda f: recorded("blei2003_table1", folder=f), DataMissing, "run lessons reproduce blei"),
    (lambda f: recorded("blei2003_table", folder=f), ValueError, "blei2003_table1"),
    (lambda f: put(f, ""), DamagedFile, r"blei2003_table1\.json.*run lessons reproduce"),
    (lambda f: put(f, "{}"), DamagedFile, r"blei2003_table1\.json.*run lessons reproduce"),
    (lambda f: put(f, '{"printed": 3}'), DamagedFile, r"table1\.json.*run lessons reproduce"),
    (lambda f: put(f, "[]"), DamagedFile, r"table1\.json.*run lessons reproduce")])
def test_what_is_wrong_is_named_with_its_remedy(call, error, words, tmp_path):
    with pytest.raises(error, match=words):
        call(tmp_path)


def test_all_that_is_declared_is_a_recorded_entry_whose_module_gives_what_its_claims_name(
        monkeypatch):
    assert set(_declarations()) - {"begins"} == set(entries()) == {file.stem for file in FILES}
    with pytest.raises(ValueError, match=r"arora2017_table1: claims name.*'tfidf'.*'sif'\]"):
        declared("arora2017_table1", squares, draw, ENTRY.scales, sif=lambda m: True)
    module = sys.modules["lessons_lib.reproduce.recorded"]
    monkeypatch.setattr(module, "MODULES", module.MODULES * 2)
    with pytest.raises(ValueError, match="id='blei2003_table1' belongs to two entries"):
        entries()


def test_every_entry_names_a_paper_of_the_bibliography_and_a_lesson_of_the_course():
    notebooks = PROJECT / "notebooks"
    keys = set(re.findall(r"@\w+\{([^,]+),", (notebooks / "references.bib").read_text("utf-8")))
    lessons = {path.stem[3:] for path in notebooks.glob("*.md")}
    for name, entry in entries().items():
        assert entry.id == name and re.fullmatch(r"[a-z0-9_]+", name)
        assert entry.paper in keys and entry.lesson in lessons
        checked_alt(entry.alt)


def test_a_declared_claim_compares_a_row_with_another_a_number_or_itself():
    series = {"a": {0: 1.0, 1: 5.0, 2: 90.0}, "b": {0: 2.0, 1: 2.0}}
    assert averages(series) == {"a": 3.0, "b": 2.0}          # over the places that all rows have
    far = series | {"c": {9: 0.0}}                           # of no concern to the other two
    assert _compared(row="a", above="b")(far)
    for rule, held in (
        ({"row": "a", "above": "b"}, True), ({"row": "a", "above": "b", "by": 1}, False),
        ({"row": "a", "above": "b", "at": 0}, False), ({"row": "a", "at": 2, "than": 1}, True),
        ({"row": "a", "above": "b", "at": 0, "by": -1.5}, True),
        ({"row": "a", "below": "b", "at": 0}, True), ({"row": "a", "below": 1.0, "at": 0}, False),
        ({"row": "a", "above": 0.5, "at": 0}, True),
    ):
        assert _compared(**rule)(series) is held, rule


ROWS = {"raw": {0: 1.0}, "own": {0: 3.0}, "own" + SD: {0: 0.5}, "lone": {0: 9.0},
        "raw" + CONTROL: {0: 1.0}, "own" + CONTROL: {0: 2.0}, "own" + CONTROL + SD: {0: 2.0}}


@pytest.mark.parametrize(("holds", "verdict"), [
    (_compared(row="own", above="raw", at=0), CONTROL_TOO),
    (_compared(row="own", above="raw"), CONTROL_TOO),
    (_compared(row="own", above="raw", at=0, by=1.5), HOLDS),          # by 2, the control by 1
    (_compared(row="own", above="raw", at=0, by=5), FAILS),
    (_compared(row="lone", above="own", at=0), NO_CONTROL),
    (lambda m: "lone" in m and m["lone"][0] > 0, NO_CONTROL),
    (lambda m: m["own" + SD][0] < 1, HOLDS), (lambda m: m["own" + SD][0] < 3, CONTROL_TOO),
    (lambda m: min(row[0] for row in m.values()) > 0.6, FAILS),
    (lambda m: all(m[row][0] > 0 for row in m if not row.endswith((CONTROL, SD))), CONTROL_TOO)])
def test_a_claim_that_the_control_bears_out_as_well_is_told_apart(holds, verdict):
    assert judged([Claim("x", holds)], ROWS) == {"x": verdict}
    own = {row: points for row, points in ROWS.items() if CONTROL not in row}
    assert judged([Claim("x", holds)], own)["x"] in (HOLDS, FAILS)    # nothing has a control


def test_a_control_that_is_no_random_initialisation_refutes_as_well():
    rows = {row.replace(CONTROL, OTHER_CONTROL): points for row, points in ROWS.items()}
    claims = [Claim(str(by), _compared(row="own", above="raw", at=0, by=by)) for by in (0, 1.5, 5)]
    assert judged(claims, rows) == {"0": CONTROL_TOO, "1.5": HOLDS, "5": FAILS}


def test_a_run_records_the_three_verdicts_and_an_earlier_record_gets_them_without_measuring(
        tmp_path):
    claims = tuple(Claim(str(by), _compared(row="own", above="raw", at=0, by=by))
                   for by in (0, 1.5, 5))
    scales = {scale: {} for scale in ("smoke", "laptop", "paper")}
    entry = dataclasses.replace(
        ENTRY, claims=claims, measure=lambda settings, seed: ROWS, scales=scales,
        draw=lambda entry, measured: draw(entry, {"squares": {0: 1.0, 1: 2.0}}))
    outcome = run(entry, folder=tmp_path)
    words = {"0": CONTROL_TOO, "1.5": HOLDS, "5": FAILS}
    assert outcome.judged == words and outcome.verdicts == {"0": True, "1.5": True, "5": False}
    file = outcome.files[1]
    written = json.loads(file.read_text("utf-8"))
    assert written["claims"] == {"0": "control too", "1.5": True, "5": False}
    record = read_record(file)
    assert record.verdicts == words and record.claims == outcome.verdicts
    assert record.control_too == ["0"] and record.failed == ["5"]
    assert record.verdict == "of 3: 1 holds, 1 for the control too, 1 fails"
    file.write_text(json.dumps(written | {"claims": outcome.verdicts}), "utf-8")
    assert read_record(file).verdict == "2 of 3 hold"                 # as it was
    (again,) = run_each([dataclasses.replace(entry, measure=None)], folder=tmp_path)
    assert again.state == "recorded" and again.record == record
    assert json.loads(file.read_text("utf-8")) == written


def told(measured, printed=None, chosen=None, **settings):
    entry = dataclasses.replace(ENTRY, printed=printed or {}, headline=chosen or {})
    record = Record("x", entry.printed, measured, {"a claim": True}, "laptop", "", "",
                    settings=settings)
    return headline(entry, record)


@pytest.mark.parametrize(("measured", "printed", "result"), [
    ({"a": {0: 1.0, 1: 3.0, 2: 500.0}, "b": {0: 1.0}},
     {"a": {0: 10.0, 1: 20.0, 9: 1.0}, "c": {0: 1.0}}, ("a: 15.0", "a: 2.00")),
    ({"a": {0: 1.0, 1: 2.0}, "a, sd": {0: 0.1}, "a, untrained": {0: 0.5}}, {}, ("", "a: 1.50")),
    *(({"a": {0: value}}, {}, ("", f"a: {text}")) for value, text in [
        (-0.001, "0.00"), (-12.34, "-12.3"), (2345.6, "2,346"), (1.234e9, "1.23e+09"),
        (math.inf, "∞")])])
def test_a_row_is_told_by_its_mean_over_the_places_that_both_have(measured, printed, result):
    assert told(measured, printed) == result


def test_an_entry_chooses_its_numbers_and_the_model_that_was_read_is_named():
    chosen = {"LessonBERT, first": ("LessonBERT", 1), "last": ("LessonBERT", math.inf)}
    result = told({"LessonBERT": {1: 5.0, 2: 6.0}}, {"LessonBERT": {2: 7.0}}, chosen,
                  encoder="/models/big-bert/")
    assert result == ("last: 7.00", "big-bert, first: 5.00; last: 6.00")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_committed_record_is_of_todays_entry_and_a_claim_that_fails_has_its_reason(file):
    entry, record = entries()[file.stem], read_record(file)
    assert record.id == file.stem and record.misfit(entry, scale="laptop", seed=0) == ""
    assert record.picture is not None
    assert record.verdicts == judged(entry.claims, record.measured)
    assert sum(file.with_suffix(ending).is_file() for ending in (".svg", ".png")) == 1
    assert bool(record.failed) == bool(entry.why), f"{record.failed}, why={entry.why!r}"
    verdicts = {claim.text: bool(claim.holds(record.measured)) for claim in entry.claims}
    assert verdicts == record.claims
    printed, measured = headline(entry, record)
    assert 5 < len(measured) < 160 and len(printed) < 160
