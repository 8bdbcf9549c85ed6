"""The entries about anisotropy: tables hold words only, layers are measured as the paper does."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from lessons_lib.contextual import (
    BertSize, LessonBertForPretraining, WordPiece, load_encoder, save_bert)
from lessons_lib.isotropy import contextuality
from lessons_lib.reproduce import anisotropy, entries
from lessons_lib.reproduce.anisotropy import (
    layer_measures, released_measures, token_table, word_tables)

TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ",", "sea", "ship", "sail", "cow",
          "##s", "field")
COUNTS = np.array([0, 0, 90, 90, 0, 50, 50, 40, 30, 20, 10, 9, 2])
KNOWN = entries()


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bert")
    tokens = WordPiece(list(TOKENS))
    size = BertSize(len(tokens), dim=8, layers=2, heads=2, feed_forward=16, positions=16)
    model = LessonBertForPretraining(size, seed=0)
    save_bert(folder, model, tokens, card={"name": "tiny"}, film={"all_counts": COUNTS})
    return load_encoder(folder, device="cpu")


@pytest.fixture
def tiny(encoder, monkeypatch):
    monkeypatch.setattr(anisotropy, "model_of", lambda name: encoder)
    vectors = SimpleNamespace(matrix=np.eye(3, 4, dtype=np.float32), tokens=["a", "b", "c"])
    frequencies = SimpleNamespace(words=["b", "a", "c"], counts=np.array([30, 20, 10]))
    data = {"course-vectors": vectors, "course-frequencies": frequencies}
    monkeypatch.setattr(anisotropy, "load", data.__getitem__)
    return encoder


def test_word_tables_hold_words_that_were_read_and_no_punctuation_or_special_tokens(tiny):
    tables = word_tables()
    assert list(tables) == ["skip-gram", "LessonBERT", "start weights"]
    own, skip_gram = tables["LessonBERT"], tables["skip-gram"]
    assert own.words == ["sea", "ship", "sail", "cow", "##s"]  # field occurs twice
    assert own.counts.tolist() == [40, 30, 20, 10, 9]
    assert np.array_equal(own.vectors, tiny.word_table[7:12])
    assert skip_gram.words == ["a", "b", "c"] and skip_gram.counts.tolist() == [20, 30, 10]


def test_subwords_of_a_model_without_counts_are_counted_in_the_course_s_text(tiny, monkeypatch):
    monkeypatch.setattr(tiny, "piece_counts", None)
    texts = ["sea ships."] * 6 + ["cow, sea"] * 2
    monkeypatch.setattr(anisotropy, "sample_sentences", lambda: texts)
    table = word_tables("any")["LessonBERT"]
    assert table.words == ["sea", "ship", "##s"] and table.counts.tolist() == [8, 6, 6]


def test_tokens_of_all_layers_carry_their_word_and_sentence(tiny):
    vectors, ids, numbers = token_table("lesson-bert", ["sea ships.", "cow, sail"])
    words = ["-", "sea", "ship", "##s", "-", "-", "-", "cow", "-", "sail", "-"]
    assert [tiny.pieces[i] if i >= 0 else "-" for i in ids] == words
    assert numbers.tolist() == [0] * 6 + [1] * 5 and vectors.shape == (3, 11, 8)
    alone = next(iter(tiny.hidden_states(["sea ships."]))).vectors[2]
    assert np.allclose(vectors[2, :6], alone, atol=1e-5)


def test_measures_of_layers_are_those_of_the_library_less_chance():
    rng = np.random.default_rng(0)
    words, sentences = np.tile(np.arange(6), 10), np.repeat(np.arange(10), 6)
    tables = [rng.normal(size=(60, 40)) + shift for shift in (0.0, 2.0)]
    layers = [contextuality(table, words, sentences) for table in tables]
    measures = layer_measures(layers)
    explained = [c.explained.means[0] - c.explained.means[1] for c in layers]
    assert measures["mean cosine"].tolist() == [c.mean_cosine for c in layers]
    assert measures["explained variance"] == pytest.approx(explained)
    # words are random rows here: nothing but chance
    assert np.abs(measures["self-similarity"]).max() < 0.1


@pytest.mark.data
def test_released_similarities_less_the_mean_cosine_are_those_of_the_fact_sheet(lessons_data):
    bert, gpt2 = released_measures("bert"), released_measures("gpt2")
    assert bert["mean cosine"][1].round(3).tolist()[:3] == [0.105, 0.168, 0.219]
    ends = bert["self-similarity"][1][[0, -1]]
    assert ends == pytest.approx([0.954 - 0.105, 0.755 - 0.477], abs=2e-3)
    last = gpt2["intra-sentence similarity"][1][-1]
    assert last == pytest.approx(0.990 - 0.978, abs=2e-3)
    assert bert["explained variance"][0].tolist() == list(range(1, 13))


@pytest.mark.data
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_the_released_models_bear_out_what_is_claimed_of_them(lessons_data, monkeypatch, number):
    falling = dict.fromkeys(layer_measures([]), np.linspace(0.9, 0.2, 5))
    layers = {"LessonBERT": 0, "start weights": 0}
    monkeypatch.setattr(anisotropy, "_layers", lambda n, seed, encoder: layers)
    monkeypatch.setattr(anisotropy, "layer_measures", lambda layers: falling)
    entry = KNOWN[f"ethayarajh2019_figure{number}"]
    measured = entry.measure(entry.scales["smoke"], 0)
    assert [claim.text for claim in entry.claims if not claim.holds(measured)] == []
    flipped = {name: {x: -y for x, y in row.items()} for name, row in measured.items()}
    small = ("explains less than 5 %", "hardly", "isotropic")  # what a negative number is, too
    held = [claim.text for claim in entry.claims if claim.holds(flipped)]
    assert [text for text in held if not any(word in text for word in small)] == []
    assert len(entry.draw(entry, measured).axes[0].lines) >= 5


def test_the_cone_is_measured_on_three_tables_and_an_isotropic_one_fails_its_claim(monkeypatch):
    rng = np.random.default_rng(1)
    tables = {
        name: anisotropy.WordTable(rng.normal(size=(400, 6)) + shift, np.arange(400, 0, -1), [])
        for name, shift in (("skip-gram", 0.2), ("LessonBERT", 3.0), ("start weights", 0.0))}
    isotropic = tables | {"LessonBERT": tables["start weights"]}
    for name in ("gao2019_figure1", "gao2019_spectrum"):
        entry = KNOWN[name]
        monkeypatch.setattr(anisotropy, "word_tables", lambda encoder: tables)
        measured = entry.measure(entry.scales["smoke"], 0)
        assert all(claim.holds(measured) for claim in entry.claims)
        assert entry.draw(entry, measured).axes
        monkeypatch.setattr(anisotropy, "word_tables", lambda encoder: isotropic)
        measured = entry.measure({"points": 50, "encoder": "any"}, 0)
        assert not entry.claims[0].holds(measured)
