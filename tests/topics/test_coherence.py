"""Coherence: counted as defined, equal to gensim where gensim counts as defined."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lessons_lib.core import DataWarning
from lessons_lib.text import Corpus
from lessons_lib.topics import MEASURES, PLSA, as_counts, coherence_of
from lessons_lib.topics.coherence import _npmi_table, _window_counts

GENSIM_NAMES = {"u_mass": "u_mass", "npmi": "c_npmi", "c_v": "c_v"}


def random_documents(seed: int, *, repeat: bool, n: int = 60, v: int = 30) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 26, size=n)
    return ([[f"w{i}" for i in (rng.integers(0, v, size=k) if repeat else rng.permutation(v)[:k])]
             for k in lengths])


def gensim_scores(topics: list[list[str]], documents: list[list[str]], measure: str,
                  window: int | None) -> list[float]:
    from gensim.corpora import Dictionary
    from gensim.models.coherencemodel import CoherenceModel

    dictionary = Dictionary(documents)
    corpus = [dictionary.doc2bow(d) for d in documents]
    model = CoherenceModel(topics=topics, texts=documents, corpus=corpus, dictionary=dictionary,
                           coherence=GENSIM_NAMES[measure], window_size=window, topn=len(topics[0]),
                           processes=1)
    return model.get_coherence_per_topic()


def see_the_whole_window(self, window, doc_num) -> None:
    """What gensim means to keep while the window slides: the words that are in it. (It drops a word
    when one of its two places leaves.)
    """
    self._uniq_words[:] = False
    self._uniq_words[np.unique(window)] = True


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("repeat", [False, True])
@pytest.mark.parametrize("window", [None, 3])
def test_scores_are_gensim_s(measure, repeat, window, monkeypatch):
    from gensim.topic_coherence.text_analysis import WordOccurrenceAccumulator

    if measure == "u_mass" and window:
        pytest.skip("documents have no window")
    if repeat:
        monkeypatch.setattr(WordOccurrenceAccumulator, "_slide_window", see_the_whole_window)
    documents = random_documents(0, repeat=repeat)
    topics = [[f"w{i}" for i in np.random.default_rng(k).permutation(30)[:8]] for k in range(4)]
    ours = coherence_of(topics, Corpus.from_tokens(documents), measure=measure, window=window)
    assert_allclose(ours, gensim_scores(topics, documents, measure, window), atol=1e-6)


@given(st.lists(st.lists(st.integers(0, 6), min_size=0, max_size=14), min_size=1,
                max_size=5).filter(any), st.integers(1, 9))
def test_windows_are_counted_as_if_each_were_looked_at(documents, size):
    with warnings.catch_warnings():                                    # of empty documents
        warnings.simplefilter("ignore", DataWarning)
        corpus = Corpus.from_tokens([[str(i) for i in d] for d in documents])
        counts = as_counts(corpus)
    used = np.flatnonzero(np.arange(len(corpus.vocabulary)) % 2 == 0)
    together = np.zeros((len(used), len(used)), dtype=int)
    windows = [d[s : s + size] for d in corpus for s in range(max(1, len(d) - size + 1))]
    for window in windows:
        present = np.isin(used, window)
        together += np.outer(present, present)
    total, ours = _window_counts(counts, used, size)
    assert total == len(windows)
    assert (ours == together).all()


def test_blocks_of_documents_and_groups_of_topics_change_nothing(monkeypatch):
    corpus = Corpus.from_tokens(random_documents(1, repeat=True))
    topics = [[f"w{i}" for i in np.random.default_rng(k).permutation(30)[:5]] for k in range(6)]
    whole = {m: coherence_of(topics, corpus, measure=m) for m in MEASURES}
    monkeypatch.setattr("lessons_lib.topics.coherence._TOKENS_AT_ONCE", 40)
    monkeypatch.setattr("lessons_lib.topics.coherence._WORDS_AT_ONCE", 11)
    for m in MEASURES:
        assert_allclose(coherence_of(topics, corpus, measure=m), whole[m], rtol=1e-14)


def test_identity_12_npmi_has_its_known_values():
    always = np.array([[0.3, 0.3], [0.3, 0.3]])
    assert_allclose(_npmi_table(always), 1.0, atol=1e-10)
    apart = _npmi_table(np.array([[0.3, 0.0], [0.0, 0.3]]))
    assert_allclose(apart[0, 1], -0.913, atol=5e-4)  # -1 only as the added 1e-12 goes to 0
    assert_allclose(_npmi_table(np.array([[0.3, 0.12], [0.12, 0.4]]))[0, 1], 0.0, atol=1e-10)
    assert_allclose(_npmi_table(np.ones((2, 2))), 1.0)


def test_u_mass_of_two_words_by_hand():
    """Documents of gensim's own example: words in documents {2, 3, 4} and {3, 5} of 5; log(1/5 /
    (3/5)) = log(1/3), and log(1/2) the other way.
    """
    documents = [["x"], ["a"], ["a", "b"], ["a"], ["b"]]
    assert_allclose(coherence_of([["a", "b"], ["b", "a"]], Corpus.from_tokens(documents)),
                    [np.log(1 / 3), np.log(1 / 2)], atol=1e-9)


def test_u_mass_of_a_matrix_is_that_of_its_corpus():
    corpus = Corpus.from_tokens(random_documents(2, repeat=True))
    counts = as_counts(corpus)
    topics = [[0, 3, 7], [1, 2, 5]]
    words = [[counts.tokens[i] for i in row] for row in topics]
    assert_allclose(coherence_of(topics, counts.matrix), coherence_of(words, corpus), rtol=1e-14)
    assert_allclose(coherence_of(words, as_counts(counts.matrix, vocabulary=counts.tokens)),
                    coherence_of(words, corpus), rtol=1e-14)


def test_word_order_matters_to_windows_alone():
    documents = random_documents(3, repeat=False, v=40)
    mixed = [list(np.random.default_rng(i).permutation(d)) for i, d in enumerate(documents)]
    topics = [["w1", "w2", "w3", "w4"]]
    a, b = Corpus.from_tokens(documents), Corpus.from_tokens(mixed)
    assert_allclose(coherence_of(topics, a), coherence_of(topics, b), rtol=1e-14)
    assert coherence_of(topics, a, measure="npmi", window=3) != coherence_of(
        topics, b, measure="npmi", window=3)


def test_coherent_words_score_above_mixed_ones():
    rng = np.random.default_rng(0)
    documents = [[f"{'ab'[i % 2]}{j}" for j in rng.integers(0, 8, size=30)] for i in range(100)]
    topics = [["a0", "a1", "a2", "a3"], ["a0", "b1", "a2", "b3"]]
    for measure in MEASURES:
        together, mixed = coherence_of(topics, Corpus.from_tokens(documents), measure=measure)
        assert together > mixed


def test_a_model_s_coherence_is_the_mean_over_its_topics():
    corpus = Corpus.from_tokens(random_documents(4, repeat=True))
    model = PLSA(3).fit(corpus)
    for measure in MEASURES:
        each = model.coherence(corpus, measure=measure, n_words=5, per_topic=True)
        assert_allclose(each, coherence_of(model.top_words(5), corpus, measure=measure))
        assert model.coherence(corpus, measure=measure, n_words=5) == pytest.approx(each.mean())
    nameless = PLSA(3).fit(as_counts(corpus).matrix)
    assert_allclose(nameless.coherence(as_counts(corpus).matrix, n_words=5),
                    model.coherence(corpus, n_words=5))


def test_words_that_the_reference_lacks_are_left_out_and_named():
    corpus = Corpus.from_tokens([["a", "b"], ["a", "c"], ["b"]])
    with pytest.warns(DataWarning,
                      match=r"1 top words do not occur in data, first 'zebra' of topics\[0\]"):
        scores = coherence_of([["a", "zebra", "b"]], corpus, measure="npmi")
    assert_allclose(scores, coherence_of([["a", "b"]], corpus, measure="npmi"))
    with pytest.raises(ValueError,
                       match=r"topics\[0\]=.*1 of 2 words occur in data; expected >= 2"):
        coherence_of([["a", "zebra"]], corpus)
