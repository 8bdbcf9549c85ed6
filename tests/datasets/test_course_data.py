"""The course's own sets, vectors and model: as many as promised, no repeats, no leaks, whole, and
as good as their cards and data/README.md state."""

from __future__ import annotations

import json
import re
import shutil
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from lessons_lib.core import PROJECT, DamagedFile, DataMissing
from lessons_lib.datasets import list_datasets, load, loading, registered, resolve, verify
from lessons_lib.evaluation import pearson, word_report
from lessons_lib.vectors import WordVectors, read_card, write_compact
from lessons_lib.words.course_vectors import RECIPES, WORDS, course_files

NOTES = (PROJECT / "data" / "README.md").read_text("utf-8")
NEGATION = re.compile(
    r"\b(not|no|never|nobody|none|nothing|nor|neither|nowhere|cannot|without)\b|n't\b", re.I)
SETS = {"course-sts": ("sentence1", "sentence2"),
        "course-nli": ("premise", "entailment", "contradiction")}
HERE = [m for m in RECIPES if all((PROJECT / "data" / name).is_file() for name in course_files(m))]
SKIP_GRAM = course_files("skip-gram")[0]

pytestmark = pytest.mark.usefixtures("no_data")  # what comes with the project has to be enough


@pytest.mark.parametrize("name", SETS)
def test_no_sentence_stands_twice_and_no_split_resembles_another(name):
    parts = []
    for split in ("train", "dev", "test"):
        record = load(name, split=split)
        parts.append([s.lower() for column in SETS[name] for s in getattr(record, column)])
    sentences = [sentence for part in parts for sentence in part]
    assert len(sentences) == len(set(sentences))
    words = [[frozenset(re.findall(r"\w+", sentence)) for sentence in part] for part in parts]
    for one, other in combinations(words, 2):
        assert max(len(a & b) / len(a | b) for a in one for b in other) < 0.65


def test_the_pairs_are_balanced_over_grades_and_topics():
    pairs = load("course-sts", split="all")
    assert len(pairs) == 660 and pairs.score.min() == 0 and pairs.score.max() == 5
    assert np.histogram(pairs.score, bins=[0, 1, 2, 3, 4, 5.01])[0].min() >= 60
    topics, counts = np.unique(pairs.columns["topic"], return_counts=True)
    assert len(topics) == 20 and set(counts) == {33}


def test_the_grades_are_the_mean_of_two_graders_who_agree_as_stated():
    pairs = load("course-sts", split="all")
    one, two = (np.array(pairs.columns[c], dtype=float) for c in ("grade1", "grade2"))
    assert np.allclose(pairs.score, (one + two) / 2, atol=0.011)
    assert f"Pearson {pearson(one, two):.2f}" in NOTES
    assert f"mean difference {np.abs(one - two).mean():.2f}" in NOTES
    assert (np.abs(one - two) > 1).sum() == 3 and "three pairs differ by more than one" in NOTES


def test_no_word_gives_a_contradiction_away():
    triplets = load("course-nli", split="all")
    assert len(triplets) == 620
    for side, share in ((triplets.contradiction, 1 / 7), (triplets.entailment, 1 / 6)):
        assert abs(np.mean([bool(NEGATION.search(s)) for s in side]) - share) < 0.02


def test_skip_gram_is_the_default_and_knows_what_words_have_to_do_with_each_other():
    vectors, counts = load("course-vectors"), load("course-frequencies")
    assert isinstance(vectors, WordVectors) and vectors.name == "course vectors, skip-gram"
    assert vectors.matrix.shape == (WORDS, 200)
    assert np.array_equal(load("course-vectors", model="skip-gram").matrix, vectors.matrix)
    near, far = vectors.similarity("berlin", "vienna"), vectors.similarity("berlin", "banana")
    assert near > 0.5 > 0.3 > far
    assert vectors.analogy("germany", "berlin", "france", topn=1)[0][0] == "paris"
    assert vectors.odd_one_out(["paris", "london", "banana", "berlin"]) == "banana"
    for model in HERE:  # the most frequent words, in lower case
        assert load("course-vectors", model=model).tokens == counts.words
    assert vectors.tokens[:3] == ["the", "of", "and"] and counts.counts.min() >= 25
    assert (np.diff(counts.counts) <= 0).all()
    assert all(token == token.lower() for token in vectors.tokens)
    row = next(row for row in list_datasets() if row.name == "course-vectors")
    assert row.found == "project" and row.here == tuple(HERE)
    states = {s.file: s.state for s in verify(["course-vectors", "course-frequencies"])}
    assert {states[name] for model in HERE for name in course_files(model)} == {"ok"}
    assert states["vectors/frequencies.tsv"] == "ok"


@pytest.mark.slow
@pytest.mark.parametrize("model", HERE)
def test_the_card_tells_how_they_were_made_and_keeps_its_word(model):
    card = read_card(PROJECT / "data" / course_files(model)[1])
    kind, settings = RECIPES[model]
    assert card["method"] == kind and card["settings"].items() >= settings.items()
    assert card["data"]["tokens"] > 50_000_000
    assert {file.path: file.sha256 for file in registered("wiki").files} == card["data"]["files"]
    assert not any("test" in name for name in card["quality"])
    assert (PROJECT / "data" / course_files(model)[0]).stat().st_size <= 11_000_000
    report = word_report(load("course-vectors", model=model), bootstrap=0).summary()
    for name, scores in report.items():
        assert scores == pytest.approx(card["quality"][name], abs=0.0015), name


def test_F01_F02_a_damaged_file_is_told_with_its_remedy(monkeypatch, tmp_path):
    for name in course_files("skip-gram"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / "data" / name, tmp_path / name)
    monkeypatch.setenv("LESSONS_DATA", str(tmp_path))
    file = tmp_path / SKIP_GRAM
    whole = file.read_bytes()
    flipped = whole[:1000] + bytes([whole[1000] ^ 1]) + whole[1001:]
    for damaged, why in [(whole[:-1], r"was cut or extended: 10,\d+,\d+ bytes found"),
                         (flipped, "was changed or damaged: checksum ")]:
        file.write_bytes(damaged)
        with pytest.raises(DamagedFile, match=f"{why}.*remove it, then the project's own is read"):
            load("course-vectors")
    file.unlink()
    assert len(load("course-vectors")) == WORDS


def test_F02_F19_the_project_s_own_are_restored_by_git_and_a_missing_one_is_named(
    monkeypatch, tmp_path
):
    own = tmp_path / "data" / SKIP_GRAM
    own.parent.mkdir(parents=True)
    write_compact(WordVectors(["a", "b"], [[1.0], [2.0]]), own)
    own.write_bytes(own.read_bytes() + b"x")
    for module in (resolve, loading):
        monkeypatch.setattr(module, "PROJECT", tmp_path)
    with pytest.raises(DamagedFile, match=r"Get it again: git checkout data/vectors$"):
        load("course-vectors")
    why = r"course-vectors \(model 'glove'\) is not on this machine.*\n.*\n.*vectors/glove\.safet"
    with pytest.raises(DataMissing, match=why):
        load("course-vectors", model="glove")


def test_lesson_bert_lies_in_one_folder_and_its_card_tells_what_it_is():
    folder = load("lesson-bert")
    card = json.loads((folder / "card.json").read_text("utf-8"))
    names = {Path(file.path).name for file in registered("lesson-bert").files}
    assert names == {path.name for path in folder.iterdir()}
    assert card["bytes"] == (folder / "model.safetensors").stat().st_size < 25_000_000
    assert card["held_out_accuracy"] >= 0.48 and card["steps"] == card["steps planned"]
    assert card["tokens"] >= 300_000_000 and card["recipe"]["dropout"] == 0.1
    assert card["moments"][0]["held_out_accuracy"] < 0.01 and len(card["loss"]) > 50
    assert card["licence"] and card["limits"]
