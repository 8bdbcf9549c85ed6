"""The vectors that come with the course: whole, loaded by name without LESSONS_DATA, and as good as their card says."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from lessons_lib.core import PROJECT, DamagedFile, DataMissing
from lessons_lib.datasets import list_datasets, load, registered, verify
from lessons_lib.evaluation import word_report
from lessons_lib.vectors import WordVectors, read_card, write_compact
from lessons_lib.words.course_vectors import RECIPES, WORDS, course_files

HERE = [model for model in RECIPES if all((PROJECT / "data" / name).is_file() for name in course_files(model))]


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    """No LESSONS_DATA: what comes with the project has to be enough."""
    monkeypatch.delenv("LESSONS_DATA", raising=False)


def test_skip_gram_is_the_default():
    vectors = load("course-vectors")
    assert isinstance(vectors, WordVectors) and vectors.name == "course vectors, skip-gram" and vectors.matrix.shape == (WORDS, 100)
    assert np.array_equal(load("course-vectors", model="skip-gram").matrix, vectors.matrix)


@pytest.mark.parametrize("model", HERE)
def test_the_words_are_the_most_frequent_ones_in_lower_case(model):
    vectors, counts = load("course-vectors", model=model), load("course-frequencies")
    assert vectors.tokens == counts.words and (np.diff(counts.counts) <= 0).all() and counts.counts.min() >= 100
    assert vectors.tokens[:3] == ["the", "of", "and"] and all(token == token.lower() for token in vectors.tokens)


@pytest.mark.slow
@pytest.mark.parametrize("model", HERE)
def test_the_card_tells_how_they_were_made_and_keeps_its_word(model):
    card = read_card(PROJECT / "data" / course_files(model)[1])
    kind, settings = RECIPES[model]
    assert card["method"] == kind and card["settings"].items() >= settings.items() and card["data"]["tokens"] > 50_000_000
    assert {path: file.sha256 for file in registered("wiki").files if (path := file.path)} == card["data"]["files"]
    assert not any("test" in name for name in card["quality"])
    assert (PROJECT / "data" / course_files(model)[0]).stat().st_size <= 4_200_000
    found = word_report(load("course-vectors", model=model), bootstrap=0).summary()
    for name, scores in found.items():
        assert scores == pytest.approx(card["quality"][name], abs=0.0015), name


def test_they_know_what_words_have_to_do_with_each_other():
    vectors = load("course-vectors")
    assert vectors.similarity("berlin", "vienna") > 0.5 > 0.3 > vectors.similarity("berlin", "banana")
    assert vectors.analogy("germany", "berlin", "france", topn=1)[0][0] == "paris"
    assert vectors.odd_one_out(["paris", "london", "banana", "berlin"]) == "banana"


def test_they_are_listed_and_verified():
    row = next(row for row in list_datasets() if row.name == "course-vectors")
    assert row.found == "project" and row.here == tuple(HERE)
    states = {state.file: state.state for state in verify(["course-vectors", "course-frequencies"])}
    assert {states[name] for model in HERE for name in course_files(model)} == {"ok"} and states["vectors/frequencies.tsv"] == "ok"


def test_F01_F02_a_damaged_file_is_told_with_its_remedy(monkeypatch, tmp_path):
    for name in course_files("skip-gram"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / "data" / name, tmp_path / name)
    monkeypatch.setenv("LESSONS_DATA", str(tmp_path))
    file = tmp_path / course_files("skip-gram")[0]
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    with pytest.raises(DamagedFile, match=r"was cut or extended: 4,\d+,\d+ bytes found.*remove it, then the project's own is read"):
        load("course-vectors")
    file.write_bytes(whole[:1000] + bytes([whole[1000] ^ 1]) + whole[1001:])
    with pytest.raises(DamagedFile, match=r"was changed or damaged: checksum .*remove it"):
        load("course-vectors")
    file.unlink()
    assert len(load("course-vectors")) == WORDS


def test_F02_the_project_s_own_are_restored_by_git(monkeypatch, tmp_path):
    from lessons_lib.datasets import loading, resolve

    own = tmp_path / "data" / course_files("skip-gram")[0]
    own.parent.mkdir(parents=True)
    write_compact(WordVectors(["a", "b"], [[1.0], [2.0]]), own)
    own.write_bytes(own.read_bytes() + b"x")
    for module in (resolve, loading):
        monkeypatch.setattr(module, "PROJECT", tmp_path)
    with pytest.raises(DamagedFile, match=r"Get it again: git checkout data/vectors$"):
        load("course-vectors")


def test_F19_a_model_that_is_not_here_is_told_by_name(monkeypatch, tmp_path):
    from lessons_lib.datasets import resolve

    monkeypatch.setattr(resolve, "PROJECT", tmp_path)
    with pytest.raises(DataMissing, match=r"course-vectors \(model 'glove'\) is not on this machine.*\n.*\n.*vectors/glove\.safetensors"):
        load("course-vectors", model="glove")
