"""The entries about anisotropy: tables hold words only, layers are measured by the paper's definitions, and claims can hold and can fail."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from lessons_lib.contextual import BertSize, LessonBertForPretraining, WordPiece, load_encoder, save_bert
from lessons_lib.isotropy import contextuality
from lessons_lib.reproduce import anisotropy
from lessons_lib.reproduce.anisotropy import ENTRIES, layer_measures, released_measures, token_table, word_tables

WORDS = ("sea", "ship", "sail", "cow", "##s", "field")
BY_ID = {entry.id: entry for entry in ENTRIES}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bert")
    pieces = WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ",", *WORDS])
    model = LessonBertForPretraining(BertSize(len(pieces), dim=8, layers=2, heads=2, feed_forward=16, positions=16), seed=0)
    save_bert(folder, model, pieces, card={"name": "tiny"}, film={"all_counts": np.array([0, 0, 90, 90, 0, 50, 50, 40, 30, 20, 10, 9, 2])})
    return load_encoder(folder, device="cpu")


@pytest.fixture
def tiny(encoder, monkeypatch):
    monkeypatch.setattr(anisotropy, "model_of", lambda name: encoder)
    vectors = SimpleNamespace(matrix=np.eye(3, 4, dtype=np.float32), tokens=["a", "b", "c"])
    frequencies = SimpleNamespace(words=["b", "a", "c"], counts=np.array([30, 20, 10]))
    monkeypatch.setattr(anisotropy, "load", {"course-vectors": vectors, "course-frequencies": frequencies}.__getitem__)
    return encoder


def test_word_tables_hold_words_that_were_read_and_neither_punctuation_nor_special_pieces(tiny):
    tables = word_tables()
    assert list(tables) == ["skip-gram", "LessonBERT", "start weights"]
    assert tables["LessonBERT"].words == ["sea", "ship", "sail", "cow", "##s"]             # field occurs twice
    assert tables["LessonBERT"].counts.tolist() == [40, 30, 20, 10, 9]
    assert np.array_equal(tables["LessonBERT"].vectors, tiny.word_table[7:12])
    assert dict(zip(tables["skip-gram"].words, tables["skip-gram"].counts.tolist(), strict=True)) == {"a": 20, "b": 30, "c": 10}


def test_pieces_of_a_model_that_does_not_say_how_often_it_read_them_are_counted_in_the_course_s_text(tiny, monkeypatch):
    monkeypatch.setattr(tiny, "piece_counts", None)
    monkeypatch.setattr(anisotropy, "sample_sentences", lambda: ["sea ships."] * 6 + ["cow, sea"] * 2)
    table = word_tables("any")["LessonBERT"]
    assert dict(zip(table.words, table.counts.tolist(), strict=True)) == {"sea": 8, "ship": 6, "##s": 6}


def test_tokens_of_all_layers_carry_their_word_and_sentence(tiny):
    vectors, ids, numbers = token_table("lesson-bert", ["sea ships.", "cow, sail"])
    assert [tiny.pieces[i] if i >= 0 else "-" for i in ids] == ["-", "sea", "ship", "##s", "-", "-", "-", "cow", "-", "sail", "-"]
    assert numbers.tolist() == [0] * 6 + [1] * 5 and vectors.shape == (3, 11, 8)
    assert np.allclose(vectors[2, :6], next(iter(tiny.hidden_states(["sea ships."]))).vectors[2], atol=1e-5)


def test_measures_of_layers_are_those_of_the_library_less_chance():
    rng = np.random.default_rng(0)
    words, sentences = np.tile(np.arange(6), 10), np.repeat(np.arange(10), 6)
    found = [contextuality(rng.normal(size=(60, 40)) + shift, words, sentences) for shift in (0.0, 2.0)]
    measures = layer_measures(found)
    assert measures["mean cosine"].tolist() == [c.mean_cosine for c in found]
    assert measures["explained variance"] == pytest.approx([c.explained.means[0] - c.explained.means[1] for c in found])
    assert np.abs(measures["self-similarity"]).max() < 0.1                            # words are random rows here: nothing but chance


@pytest.mark.data
def test_released_similarities_less_the_mean_cosine_are_those_of_the_fact_sheet(lessons_data):
    bert, gpt2 = released_measures("bert"), released_measures("gpt2")
    assert bert["mean cosine"][1].round(3).tolist()[:3] == [0.105, 0.168, 0.219]
    assert bert["self-similarity"][1][[0, -1]] == pytest.approx([0.954 - 0.105, 0.755 - 0.477], abs=2e-3)
    assert gpt2["intra-sentence similarity"][1][-1] == pytest.approx(0.990 - 0.978, abs=2e-3)
    assert bert["explained variance"][0].tolist() == list(range(1, 13))


@pytest.mark.data
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_the_released_models_bear_out_what_is_claimed_of_them(lessons_data, monkeypatch, number):
    falling = dict(zip(anisotropy.MEASURES, np.linspace(0.9, 0.2, 5) * np.ones((4, 1)), strict=True))
    monkeypatch.setattr(anisotropy, "_layers", lambda n, seed, encoder: {"LessonBERT": 0, "start weights": 0})
    monkeypatch.setattr(anisotropy, "layer_measures", lambda layers: falling)
    entry = BY_ID[f"ethayarajh2019_figure{number}"]
    measured = entry.measure(entry.scales["smoke"], 0)
    assert [claim.text for claim in entry.claims if not claim.holds(measured)] == []
    flipped = {name: {x: -y for x, y in points.items()} for name, points in measured.items()}
    assert [claim.text for claim in entry.claims if claim.holds(flipped) and "explains less than 5 %" not in claim.text
            and "hardly" not in claim.text and "isotropic" not in claim.text] == []
    assert len(entry.draw(entry, measured).axes[0].lines) >= 5


def test_the_table_of_lengths_and_neighbours_bears_out_its_own_claims_and_equal_numbers_do_not():
    entry = BY_ID["li2020_table1"]
    equal = {name: dict.fromkeys(points, 1.0) for name, points in entry.printed.items()}
    assert all(claim.holds(entry.printed) for claim in entry.claims) and not any(claim.holds(equal) for claim in entry.claims)
    assert len([text for text in entry.draw(entry, entry.printed).axes[0].texts if text.get_text()]) == 2 * 7 * 4


def test_the_cone_is_measured_on_the_three_tables_and_an_isotropic_one_fails_the_claim(tiny, monkeypatch):
    rng = np.random.default_rng(1)
    tables = {name: anisotropy.WordTable(rng.normal(size=(400, 6)) + shift, np.arange(400, 0, -1), [""] * 400)
              for name, shift in (("skip-gram", 0.2), ("LessonBERT", 3.0), ("start weights", 0.0))}
    monkeypatch.setattr(anisotropy, "word_tables", lambda encoder: tables)
    for name in ("gao2019_figure1", "gao2019_spectrum"):
        entry = BY_ID[name]
        measured = entry.measure(entry.scales["smoke"], 0)
        assert all(claim.holds(measured) for claim in entry.claims)
        assert entry.draw(entry, measured).axes
    monkeypatch.setattr(anisotropy, "word_tables", lambda encoder: tables | {"LessonBERT": tables["start weights"]})
    assert not BY_ID["gao2019_figure1"].claims[0].holds(BY_ID["gao2019_figure1"].measure({"points": 50, "encoder": "any"}, 0))
    assert not BY_ID["gao2019_spectrum"].claims[0].holds(BY_ID["gao2019_spectrum"].measure({"encoder": "any"}, 0))
