"""The races of all groups run on a little data, and their gates see a difference."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from lessons_lib import datasets
from lessons_lib.bench import (PeerMissing, contextual, contrastive, counts, isotropy, search,
                               sentences, texts, topics, words)
from lessons_lib.bench.gates import close, word_scores
from lessons_lib.bench.measure import measure
from lessons_lib.datasets import load
from lessons_lib.isotropy import Flow, Whitening

slow = pytest.mark.slow
W2V = words.Race("Word2Vec", 0.0, dim=8)
FASTTEXT = words.Race("FastText", 0.0, dim=8)
DBOW, INFER = sentences.Race("dbow", 0.0), sentences.Race("dm", 0.0, infer=True)
GIBBS = partial(topics.gibbs_cases, (3,), documents=40, held_out=8, sweeps=10, min_count=3,
                most_frequent=30)
ONLINE = partial(topics.online_cases, (3,), documents=80, held_out=20, length=40, words=400,
                 most_frequent=20)
DOC2VEC = partial(sentences.doc2vec_cases, documents=60, dim=8, epochs=2, min_count=2)

pytestmark = pytest.mark.filterwarnings("ignore:The number of unique classes")


@cache
def few_articles():
    return list(islice(load("wikipedia-sample"), 90))


@pytest.fixture(autouse=True)
def a_few_bundled_texts(monkeypatch):
    few = few_articles()
    monkeypatch.delenv("LESSONS_DATA", raising=False)
    monkeypatch.setattr(datasets, "load", lambda name, **options: (
        few if name == "wikipedia-sample" else load(name, **options)))


def trained(*races):
    return words.training_cases(races, tokens=60_000)


@pytest.mark.parametrize(("make", "peers", "names"), [
    pytest.param(
        partial(counts.cases, n=60),
        ["scikit-learn CountVectorizer", "scikit-learn TfidfVectorizer"],
        ["bag of words, Wikipedia sample", "TF-IDF, Wikipedia sample", "word 1- and 2-grams",
         "character 3- to 5-grams"], marks=slow),
    pytest.param(
        partial(sentences.sif_cases, sentences=400, dims=(20,), min_count=2),
        list(sentences.PEERS), ["SIF, d=20, 1 thread"], marks=slow),
    pytest.param(
        partial(contextual.cases, ((2, 16, 2, 1.0),), sentences=70, vocab_size=600),
        ["transformers, length-sorted batches of 32"], ["BERT encode fp32, 2 x 16, 1 thread"],
        marks=slow),
    pytest.param(
        partial(contrastive.cases, batch=4), ["transformers in padded rows, autograd"],
        ["SimCSE step fp32, 4 sentences twice, 4 x 256, 1 thread"], marks=slow),
    (partial(isotropy.whitening_cases, 400, 24, (8, 24)), [isotropy.PEER],
     ["Whitening.fit 400 x 24", "Whitening.fit of Moments, float32 products 400 x 24",
      "Whitening.transform + normalize 400 x 24, k=8",
      "Whitening.transform + normalize 400 x 24, k=24"]),
    (partial(isotropy.flow_cases, 3000, (8,), (1,)), [""],
     ["Flow.fit 3000 x 8, 1 epoch, 1 thread"]),
    (partial(search.folder_cases, 60), [""],
     ["folder of 60 paragraphs indexed, lesson-bag, 1 thread"]),
], ids=["counts", "sif", "contextual", "contrastive", "whitening", "flow", "folder"])
def test_both_sides_give_the_same_and_are_timed(make, peers, names):
    rows = [measure(case, repeats=1) for case in make()]
    assert list(dict.fromkeys(row.peer for row in rows)) == peers
    assert list(dict.fromkeys(row.name for row in rows)) == names
    assert all(row.value > 0 and row.ours_seconds > 0 and row.items > 0 for row in rows)


@pytest.mark.parametrize(("make", "module", "package"), [
    (GIBBS, "tomotopy", "tomotopy"), (ONLINE, "gensim.models", "gensim"),
    (partial(trained, W2V), "gensim.models", "gensim"),
    (partial(trained, FASTTEXT), "gensim.models", "gensim"),
    (partial(trained, replace(FASTTEXT, program=True)), "fasttext", "fasttext"),
    (partial(DOC2VEC, [DBOW]), "gensim.models", "gensim"),
    (partial(search.bm25_cases, 60, 5), "bm25s", "bm25s"),
    (partial(search.exact_cases, 60, 8), "faiss", "faiss-cpu"),
], ids=["Gibbs", "online LDA", "word2vec", "fastText", "fastText's program", "Doc2vec", "BM25",
        "exact neighbours"])
def test_a_peer_that_is_not_installed_is_said_so(make, module, package, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    case = next(cases := iter(make()))
    with pytest.raises(PeerMissing, match=f"pip install {package}"):
        case.theirs(0)() if case.seeded else case.theirs()
    cases.close()


def test_search_is_equal_to_its_peers_where_they_are_installed():
    sides = (search.bm25_cases(300, 9), "bm25s"), (search.exact_cases(300, 8), "faiss")
    for cases, peer in sides:
        pytest.importorskip(peer, reason=f"{peer} is not installed")
        rows = [measure(case, repeats=1) for case in cases]
        assert all(row.value > 0 or "not installed" in row.note for row in rows)


def test_counts_are_equal_only_with_the_same_words_places_types_and_numbers():
    case, tfidf = islice(counts.cases(n=30), 2)
    (matrix, vocabulary), theirs = case.ours(), case.theirs()
    changed = matrix.copy()
    changed.data[3] += 1
    assert case.equal((matrix, vocabulary), theirs)
    for wrong in ((changed, vocabulary), (matrix[:, ::-1], vocabulary), (matrix[:9], vocabulary),
                  (matrix.astype(float), vocabulary), (matrix, vocabulary | {"qqqq": 10**6})):
        assert not case.equal(wrong, theirs)
    (matrix, vocabulary), theirs = tfidf.ours(), tfidf.theirs()
    assert tfidf.equal((matrix * (1 + 1e-13), vocabulary), theirs)
    assert not tfidf.equal((matrix * (1 + 1e-11), vocabulary), theirs)


def test_the_gates_of_whitening_and_flow_see_another_map_and_what_learned_nothing():
    x = isotropy.uneven(3000, 12)
    kernel, bias = isotropy._authors_fit(x)
    same = partial(isotropy._same_cosines, x[:300], isotropy.TOLERANCE, Whitening().fit(x))
    assert same((kernel, bias)) and not same((kernel * np.linspace(1, 1.01, 12), bias))
    spectrum = Whitening().fit(x).spectrum_     # uneven, and far from the origin
    assert 5e3 < spectrum[0] / spectrum[-1] < 2e4 and x.dtype == np.float32
    assert np.linalg.norm(x.mean(axis=0)) > np.sqrt(spectrum.sum())
    gate, other = close(1e-5), x + 3e-5 * np.eye(*x.shape)
    assert gate(x, x) and not gate(x, other) and not gate(x, x[:3])
    flow = Flow(epochs=0).fit(isotropy.bent(500, 8))
    assert not isotropy._learned(flow, None)
    for last, learned in ((1.9, True), (np.nan, False)):
        flow.history_ = np.array([[0, 2.0, 2.0], [1, 1.9, last]])
        assert isotropy._learned(flow, None) is learned


FEW = ["A man plays a guitar.", "Two dogs run through the snow.", "It rains.", "A plane takes off.",
       "Somebody slices an onion, slowly and with care.", "The children are asleep."]


@pytest.fixture(scope="module")
def sides():
    ours = contrastive.Ours(FEW)
    return ours, contrastive.Plain(ours.encoder, FEW)


@slow
def test_the_gate_sees_other_weights_and_a_missing_gradient(sides):
    ours, theirs = sides
    weight = theirs.model.encoder.layer[3].output.dense.weight
    assert contrastive.same(ours, theirs)
    with torch.no_grad():
        weight *= 1.01
    assert not contrastive.same(ours, theirs)
    with torch.no_grad():
        weight /= 1.01
    weight.requires_grad_(False)
    assert not contrastive.same(ours, theirs)
    weight.requires_grad_(True)


@slow
def test_every_step_is_the_same_and_reading_in_parts_gives_the_same_loss(sides):
    ours, parts = sides[0], contrastive.Ours(FEW, part=5)
    before, step = ours.encoder.encode(["a sentence"]), contrastive.stepper(ours)
    assert step() == step() > 0
    assert np.array_equal(ours.reading.encoder().encode(["a sentence"]), before)
    assert parts.loss(dropout=False) == pytest.approx(ours.loss(dropout=False), rel=1e-5)
    for work in (contrastive.cached_step, contrastive.direct_step):
        assert work(3)() == 0


def test_worse_topics_of_gibbs_sampling_do_not_pass_the_gate():
    """An object of the form of tomotopy's model stands for it, with our own topics."""
    case, = GIBBS()
    ours = case.ours()
    theirs = SimpleNamespace(used_vocabs=ours.tokens_, alpha=ours.alpha_,
                             get_topic_word_dist=ours.components_.copy().__getitem__)
    assert case.equal(ours, theirs) and case.items % 10 == 0
    ours.components_ = np.full_like(ours.components_, 1 / ours.components_.shape[1])
    assert not case.equal(ours, theirs)
    train, held_out = topics.cut_counts(80, 20, 40, 400, 20)    # of one length, for online Bayes
    assert train.n_documents == 60 and held_out.n_documents == 20
    assert set(train.document_lengths) == {40}


@slow
def test_both_sides_draw_the_same_tokens_and_the_gate_of_gibbs_sampling_holds():
    pytest.importorskip("tomotopy", reason="the peer of this race is an extra")
    case, = GIBBS()
    assert case.theirs().num_words * 10 == case.items
    assert measure(case, repeats=1).value > 0


@slow
@pytest.mark.parametrize("peer", ["gensim", "scikit-learn"])
def test_online_lda_passes_its_gate_and_worse_topics_do_not(peer):
    case = next(case for case in ONLINE() if case.peer.startswith(peer))
    if peer == "gensim":
        pytest.importorskip("gensim")
    result, expected = case.ours(0)(), case.theirs(0)()
    assert result.shape == expected.shape == (3, 400)
    np.testing.assert_allclose(result.sum(), expected.sum(), rtol=0.02)     # gensim adds in float32
    assert case.equal([result], [expected])
    assert not case.equal([np.random.default_rng(0).gamma(1.0, 1.0, result.shape)], [expected])
    assert case.runs == topics.STARTS == 3
    row = measure(replace(case, runs=1), repeats=1)
    assert row.value > 0 and row.items == 60


@slow
def test_doc2vec_learns_and_infers_the_same_documents_and_a_row_says_how_good_both_sides_are(
        monkeypatch):
    pytest.importorskip("gensim", reason="the peer of these races is an extra")
    monkeypatch.setattr("lessons_lib.bench.gates.LEAST", 100.0)
    for case, kind in zip(DOC2VEC([DBOW, INFER]), ("training", "inference"), strict=True):
        assert case.runs == sentences.SEEDS == 3
        for side in (case.ours, case.theirs):
            assert case.judged(side(0)()).shape == (60, 8)
        row = measure(replace(case, runs=1), repeats=1)
        assert row.met and "% right" in row.quality
        assert row.name.startswith(f"doc2vec, {kind}, PV-D")


def test_document_vectors_that_say_less_do_not_pass_the_gate():
    news = sentences.News.read(60, 2)
    good = np.eye(30)[news.labels] + 0.1 * np.random.default_rng(0).normal(size=(60, 30))
    bad = np.random.default_rng(1).normal(size=(60, 30))
    assert news.as_good([good], [bad]) and not news.as_good([bad], [good])
    assert sentences.million_sentences(1500)() == 1500 * 100 * 4


def test_the_file_holds_the_words_of_the_corpus_document_by_document():
    corpus = texts.corpus_of(20_000)
    with texts.text_file(corpus) as path:
        lines = [line.split() for line in path.read_text("utf-8").splitlines()]
    assert not path.exists()
    assert [len(line) for line in lines] == np.diff(corpus.offsets).tolist()
    ids = [corpus.vocabulary.id(token) for line in lines for token in line]
    assert ids == corpus.token_ids.tolist()


@slow
@pytest.mark.parametrize("race", [W2V, replace(W2V, cbow=True, threads=2), replace(W2V, tree=True),
                                  FASTTEXT], ids=lambda race: race.name)
def test_both_sides_know_the_same_words_and_a_row_says_how_good_they_are(race, monkeypatch):
    pytest.importorskip("gensim", reason="the peer of these races is an extra")
    monkeypatch.setattr("lessons_lib.bench.gates.LEAST", 100.0)
    case = next(cases := trained(race))
    ours, theirs = case.ours(0)(), case.theirs(0)()
    tokens = ours.tokens if race is not FASTTEXT else ours.vectors_.tokens
    assert set(tokens) == set(theirs.index_to_key)
    assert sum(theirs.get_vecattr(word, "count") for word in tokens) == case.items
    row = measure(case, repeats=1)
    assert row.met and row.quality.startswith("WordSim-353 ") and row.quality != row.peer_quality
    assert "SimLex-999 " in row.peer_quality and "RareWords" not in row.peer_quality
    cases.close()


@slow
def test_fasttext_of_either_side_makes_vectors_for_words_it_never_saw(monkeypatch):
    pytest.importorskip("gensim", reason="the peer of these races is an extra")
    asked = SimpleNamespace(word1=["the", "Unseenly"], word2=["thermometerlike", "qqqq"])
    monkeypatch.setattr(words, "_sets", lambda: {"toy": asked})
    case = next(cases := trained(FASTTEXT))
    ours, theirs = (words._made(side(0)()) for side in (case.ours, case.theirs))
    assert list(ours) == ["the", "thermometerlike", "unseenly"]
    assert list(theirs) == ["qqqq", *ours] and theirs["qqqq"].shape == ours["the"].shape == (8,)
    cases.close()


def test_fasttext_s_own_program_gets_the_same_file_and_settings(monkeypatch):
    asked = {}

    def train(path, **settings):
        with open(path, encoding="utf-8") as file:
            asked.update(settings, lines=len(file.readlines()))

    monkeypatch.setitem(sys.modules, "fasttext", SimpleNamespace(train_unsupervised=train))
    case = next(cases := trained(replace(FASTTEXT, cbow=True, program=True)))
    case.theirs(0)()
    assert "program" in case.name and asked["model"] == "cbow" and asked["dim"] == 8
    assert asked["thread"] == 1 and asked["lines"] > 10
    cases.close()


def graded(noise):
    """Vectors whose cosines follow the grades of people, more or less."""
    rng, vectors = np.random.default_rng(0), {}
    for name in ("simlex999", "wordsim353"):
        pairs = load(name)
        for first, second, score in zip(pairs.word1, pairs.word2, pairs.score, strict=True):
            a = vectors.setdefault(first.lower(), rng.normal(size=16))
            b = score * a / np.linalg.norm(a) + noise * rng.normal(size=16)
            vectors.setdefault(second.lower(), b)
    return vectors


def test_worse_word_vectors_do_not_pass_the_gate():
    good, bad = graded(0.3), graded(30.0)
    verdict = word_scores([good], [bad])
    assert verdict and verdict.equal and verdict.ours != verdict.theirs
    assert not word_scores([bad], [good])
    assert word_scores([good, bad], [good])     # not worse by more than its own spread
