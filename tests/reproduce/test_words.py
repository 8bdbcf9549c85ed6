"""Entries about topics, words and documents: what they compute themselves is right."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logsumexp

from lessons_lib.core import generator
from lessons_lib.datasets import WordPairs
from lessons_lib.datasets.records import SentencePairs
from lessons_lib.evaluation import pearson
from lessons_lib.reproduce import entries, word_vectors, zipfian
from lessons_lib.reproduce.doc2vec import MODELS, ORDERS, TOGETHER, _order
from lessons_lib.reproduce.sif import mean_pearson
from lessons_lib.reproduce.topics import unigram_mixture
from lessons_lib.reproduce.word_vectors import SCALES, accuracies, graded
from lessons_lib.reproduce.zipfian import RAW, ZIPFIAN, _encoders, _shuffled, _whitened
from lessons_lib.text.frequencies import Frequencies
from lessons_lib.vectors import WordVectors, write_text


def test_a_mixture_of_unigrams_finds_documents_that_share_no_word_and_its_likelihood_rises():
    counts = sparse.csr_array(np.repeat([[5, 3, 0, 0], [0, 0, 2, 6]], 10, axis=0))
    log_share, log_words = unigram_mixture(counts, 2, n_iter=50, seed=0)
    assert np.allclose(np.exp(log_share), 0.5, atol=1e-3)
    assert np.allclose(np.sort(np.exp(log_words).max(axis=1)), [0.625, 0.75], atol=1e-3)
    counts = sparse.csr_array(np.random.default_rng(0).poisson(1.0, size=(40, 15)))
    fits = (unigram_mixture(counts, 3, n_iter=n, seed=1) for n in (1, 2, 5, 20, 60))
    scores = [logsumexp(counts @ words.T + share, axis=1).sum() for share, words in fits]
    # the hundredth of a word is a prior: a step may cost a little
    assert (np.diff(scores) > -0.1).all() and scores[-1] > scores[0]


def test_the_accuracies_are_those_of_the_parts_and_of_all_questions():
    family, plural = ["boy", "girl", "brother", "sister"], ["bird", "birds", "dog", "dogs"]
    vectors = np.eye(8)[:, :4]
    vectors[:4] = [[1, 0, 0, 0], [1, 1, 0, 0], [-1, 0, 1, 0], [-1, 1, 1, 0]]  # a parallelogram
    vectors[4:] = [[0, 0, 1, 5], [0, 5, 1, 0], [0, 0, -1, 5], [5, 0, 0, 0]]  # none
    semantic, syntactic, total = accuracies(WordVectors(family + plural, vectors), among=8)
    assert 0 <= syntactic < total < semantic <= 100


@pytest.mark.parametrize("name", ["mikolov2013_table1", "mikolov2013_architectures"])
def test_what_is_printed_is_what_is_measured_and_drawn(name, monkeypatch):
    entry, place = entries()[name], "lessons_lib.reproduce.word_vectors._trained"
    monkeypatch.setattr(place, lambda settings, seed, **options: (1.0, 2.0, 1.5, 0.1))
    measured = entry.measure(SCALES["smoke"], 0)
    shapes = [{row: set(points) for row, points in m.items()} for m in (measured, entry.printed)]
    assert shapes[0] == shapes[1] and not any(claim.holds(measured) for claim in entry.claims)
    assert entry.draw(entry, measured).axes


def two(word):
    return [1.0, 5.0 * (word == "unseen")]


@pytest.mark.parametrize(("words", "score"), [
    ({"cat": np.ones(2), "dog": np.ones(2)}, 100), ({"cat": np.ones(2), "dog": -np.ones(2)}, -100),
    (lambda words: np.array([two(word) for word in words]), 100)])
def test_every_pair_is_graded_and_a_word_without_a_vector_counts_as_zero(words, score, monkeypatch):
    grades = np.array([9.0, 5.0, 5.0])
    pairs = WordPairs(["Cat", "cat", "dog"], ["dog", "unseen", "unseen"], grades, name="three",
                      scale=(0, 10))
    monkeypatch.setattr(word_vectors, "load", lambda name: pairs)
    assert graded(words, "three", 2) == pytest.approx(score)


class Angles:
    """Encodes a text that is an angle in degrees."""

    name, dim = "angles", 2

    def encode(self, texts, *, batch_size=256, progress=False):
        t = np.radians([float(text) for text in texts])
        return np.column_stack([np.cos(t), np.sin(t)])


def test_the_score_of_a_set_is_the_mean_over_its_files_and_not_over_its_pairs():
    angles, score = [10, 40, 80, 20, 50, 70], np.array([5.0, 4.0, 1.0, 1.0, 2.0, 3.0])
    cosines = np.cos(np.radians(angles))

    def pairs(subset):
        return SentencePairs(["0"] * 6, list(map(str, angles)), score, subset=subset, name="toy")

    apart = [pearson(cosines[part], score[part]) for part in (slice(0, 3), slice(3, 6))]
    in_files = mean_pearson(Angles(), pairs(["one"] * 3 + ["two"] * 3))
    assert np.isclose(in_files, 100 * np.mean(apart))
    assert np.isclose(mean_pearson(Angles(), pairs(None)), 100 * pearson(cosines, score))


def test_every_order_reads_each_review_once_and_all_that_is_measured_is_in_the_picture():
    labels = np.array([1, 0, 1, 0, 0, 1, 0, 1])  # four of training, four of the test
    orders = {name: _order(name, labels) for name in ORDERS}
    assert all(sorted(order) == list(range(8)) for order in orders.values())
    halves, joined = orders["each half sorted by grade"], orders["both halves sorted as one"]
    assert labels[halves].tolist() == [0, 0, 1, 1, 0, 0, 1, 1] and set(halves[:4]) == {0, 1, 2, 3}
    assert labels[joined].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    entry = entries()["le2014_imdb"]
    names = [*MODELS, *(" + ".join(pair) for pair in TOGETHER)]
    names += [f"PV-DBOW, tree, {name}" for name in ORDERS]
    figure = entry.draw(entry, {name: {100: 10.0 + i} for i, name in enumerate(names)})
    assert len({label.get_text() for label in figure.axes[0].get_yticklabels()}) == len(names) + 1


def test_vectors_of_any_text_file_are_measured_and_words_without_a_count_left_out(
        tmp_path, monkeypatch):
    matrix = [[1, 0], [0, 2], [3, 0], [4, 1], [3, 3]]     # the last of them is not counted
    vectors = WordVectors(["the", "a", "cat", "lynx", "ounce"], matrix)
    write_text(vectors, tmp_path / "own.txt")
    monkeypatch.setattr(zipfian, "load", lambda name: {"lynx": 1, "a": 99, "the": 300, "cat": 5})
    settings = {"vectors": [str(tmp_path / "own.txt")] * 2, "counts": "made up", "words": [3, 9]}
    rows = zipfian._measure_norms(settings, 0)
    assert rows["as they are"] == rows["as they are (own)"] == pytest.approx({3: 100, 9: 100})


def test_norms_are_exchanged_between_whitenings_and_shuffled_frequencies_are_the_same_numbers():
    rng = np.random.default_rng(0)
    vectors = WordVectors([f"w{i}" for i in range(30)], rng.normal(size=(30, 4)) + 2)
    counts = Frequencies.of({f"w{i}": 100 / (i + 1) for i in range(30)})
    spaces = _whitened(vectors, counts)
    long = np.linalg.norm(spaces[ZIPFIAN].matrix, axis=1)
    for name in (RAW, "uniform whitening"):
        mixed = _encoders(vectors, counts)[f"{name}, norms of {ZIPFIAN}"].encode(vectors.tokens)
        assert np.allclose(np.linalg.norm(mixed, axis=1), long, rtol=1e-5)
        own = spaces[name].matrix / np.linalg.norm(spaces[name].matrix, axis=1, keepdims=True)
        assert np.allclose(mixed, own * long[:, None], atol=1e-4)
    centred = spaces["Zipfian centring"].matrix           # centring turns, and keeps distances
    apart = [np.linalg.norm(table[1:] - table[:-1], axis=1) for table in (centred, vectors.matrix)]
    assert np.allclose(*apart, rtol=1e-4)
    z = _shuffled(vectors, counts, seed=1).encode(vectors.tokens).astype(np.float64)
    of_others = generator(1).permutation(counts.shares)
    assert np.abs(of_others @ z).max() < 1e-5 < np.abs(counts.shares @ z).max()
    assert np.allclose((z.T * of_others) @ z, np.eye(4), atol=1e-5)
