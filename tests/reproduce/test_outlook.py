"""The entries of the outlook: every way to learn reads the same sentences, and cutting short is what the record says it is."""

from __future__ import annotations

import pytest

from lessons_lib.contextual import load_encoder
from lessons_lib.contrastive import AutoEncoding, SimCse
from lessons_lib.reproduce import entries, outlook, run
from lessons_lib.reproduce.outlook import ENTRIES, TEST, WAYS, budget_texts, trained_by

BUDGET = {"steps": 2, "batch": 3}
TEXTS = ["Two dogs run over the grass.", "A ship leaves the harbour.", "The bank raises its rates.", "Children play in the snow.",
         "He reads an old book.", "Rain falls on the roof."]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_reads_each_sentence_of_the_budget_once(way, monkeypatch):
    read: list[str] = []
    for kind in (AutoEncoding, SimCse):
        real = kind.fit
        monkeypatch.setattr(kind, "fit", lambda self, texts, real=real: (read.extend(texts), real(self, texts))[1])
    model = trained_by(way, load_encoder("lesson-bert"), TEXTS, **BUDGET, seed=0)
    assert read == TEXTS and model.encode(TEXTS).shape == (6, 256)


def test_sentences_of_a_budget_are_as_many_as_it_reads_and_depend_on_the_seed(monkeypatch):
    monkeypatch.setattr(outlook, "_texts", lambda kind: [f"{kind} {k}" for k in range(50)])
    one, again, other = (budget_texts("Wikipedia", **BUDGET, seed=seed) for seed in (0, 0, 1))
    assert one == again != other and len(set(one)) == 6


def test_claims_compare_the_rows_that_they_name():
    auto, contrast, both = (f"{way}, STS-B sentences" for way in WAYS)
    rows = {"as it is": {TEST: 50.0}, auto: {TEST: 51.0}, contrast: {TEST: 54.0}, both: {TEST: 52.0}}
    assert [claim.holds(rows) for claim in ENTRIES[0].claims] == [True, True, False, False]
    assert ENTRIES[0].claims[3].holds(rows | {"contrastive, Wikipedia": {TEST: 52.0}, "auto-encoding, Wikipedia": {TEST: 51.0}})
    assert not ENTRIES[0].claims[1].holds(rows | {auto: {TEST: 49.0}}) and ENTRIES[0].claims[2].holds(rows | {both: {TEST: 55.0}})
    sizes = {"Matryoshka": {20: 45.0, 256: 50.0}, "CoSENT": {20: 40.0, 256: 50.5}, "Matryoshka, % of the whole": {20: 90.0}}
    assert [claim.holds(sizes) for claim in ENTRIES[1].claims] == [False, True, True]


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", [entry.id for entry in ENTRIES])
def test_an_entry_runs_at_the_smallest_scale_and_is_drawn(name, tmp_path, monkeypatch, lessons_data):
    monkeypatch.setenv("LESSONS_CACHE", str(tmp_path))
    outcome = run(entries()[name], scale="smoke", folder=tmp_path)
    assert all(0 < y < 101 for points in outcome.measured.values() for y in points.values())
    assert {path.suffix for path in outcome.files} == {".json", ".svg"} and set(outcome.verdicts) == {c.text for c in entries()[name].claims}


def test_a_short_vector_is_the_nearest_to_8_per_cent_whatever_the_width():
    claim = next(claim for entry in ENTRIES if entry.id == "outlook_sizes" for claim in entry.claims if "98 %" in claim.text)
    for sizes, short in (((8, 20, 256), 20), ((24, 60, 96, 768), 60)):
        rows = {name: {k: 100.0 for k in sizes} for name in ("Matryoshka", "Matryoshka, % of the whole")}
        assert claim.holds(rows)
        rows["Matryoshka, % of the whole"][short] = 97.0
        assert not claim.holds(rows)
