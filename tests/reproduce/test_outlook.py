"""The outlook: every way to learn reads the same sentences, and claims compare what they name."""

from __future__ import annotations

import pytest

from lessons_lib.contextual import load_encoder
from lessons_lib.contrastive import AutoEncoding, SimCse
from lessons_lib.reproduce import outlook
from lessons_lib.reproduce.outlook import ENTRIES, TEST, WAYS, budget_texts, trained_by

BUDGET = {"steps": 2, "batch": 3}
TEXTS = ["Two dogs run over the grass.", "A ship leaves the harbour.", "The bank raises its rates.",
         "Children play in the snow.", "He reads an old book.", "Rain falls on the roof."]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_reads_each_sentence_of_the_budget_once(way, monkeypatch):
    read: list[str] = []
    kinds = []
    for kind in (AutoEncoding, SimCse):

        def fit(self, texts, real=kind.fit, kind=kind):
            read.extend(texts)
            kinds.append(kind)
            return real(self, texts)

        monkeypatch.setattr(kind, "fit", fit)
    model = trained_by(way, load_encoder("lesson-bert"), TEXTS, **BUDGET, seed=0)
    assert read == TEXTS and model.encode(TEXTS).shape == (6, 256)
    both = [AutoEncoding, SimCse]
    assert kinds == {WAYS[0]: both[:1], WAYS[1]: both[1:]}.get(way, both)


def test_sentences_of_a_budget_are_as_many_as_it_reads_and_depend_on_the_seed(monkeypatch):
    monkeypatch.setattr(outlook, "_texts", lambda kind: [f"{kind} {k}" for k in range(50)])
    texts = [budget_texts("Wikipedia", **BUDGET, seed=seed) for seed in (0, 0, 1)]
    assert texts[0] == texts[1] != texts[2] and len(set(texts[0])) == 6


def test_claims_about_objectives_compare_the_rows_that_they_name():
    auto, contrast, both = (f"{way}, STS-B sentences" for way in WAYS)
    claims = [claim.holds for claim in ENTRIES[0].claims]
    rows = {"as it is": {TEST: 50.0}, auto: {TEST: 51.0}, contrast: {TEST: 54.0}, both: {TEST: 52}}
    assert [holds(rows) for holds in claims] == [True, True, False, False]
    read = {"contrastive, Wikipedia": {TEST: 52.0}, "auto-encoding, Wikipedia": {TEST: 51.0}}
    assert claims[3](rows | read)
    assert not claims[1](rows | {auto: {TEST: 49.0}}) and claims[2](rows | {both: {TEST: 55.0}})


@pytest.mark.parametrize(("sizes", "short"), [((8, 20, 256), 20), ((24, 60, 96, 768), 60)])
def test_a_short_vector_is_the_nearest_to_8_per_cent_whatever_the_width(sizes, short):
    keeps, beats, loses = (claim.holds for claim in ENTRIES[1].claims)
    names = ("Matryoshka", "CoSENT", "Matryoshka, % of the whole")
    rows = {name: dict.fromkeys(sizes, 100.0) for name in names}
    assert keeps(rows) and not beats(rows) and loses(rows)
    rows["Matryoshka, % of the whole"][short] = 97.0
    rows["CoSENT"] |= {short: 99.0, sizes[-1]: 101.0}
    assert not keeps(rows) and beats(rows) and not loses(rows)
