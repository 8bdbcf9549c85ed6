"""One Gibbs sweep: the exact posterior of tiny corpora, uniforms that are Philox, and three
implementations that draw the same topics."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.core import BackendUnavailable
from lessons_lib.kernels import LdaState, lda_sweep, trace
from lessons_lib.kernels.lda_sweep import cpu, reference, state, uniforms
from lessons_lib.kernels.lda_sweep.sampling import draw, fill

from .conftest import gpu

LENGTHS = (5, 0, 9, 17, 3, 1, 8)
MANY = (1, 2, 15, 16, 17, 20, 33, 100, 128, 130)


def make(n_topics, *, n_words=7, lengths=LENGTHS, seed=0, **options):
    rng = np.random.default_rng(seed)
    n = sum(lengths)
    return LdaState(rng.integers(n_words, size=n), np.concatenate([[0], np.cumsum(lengths)]),
                    rng.integers(n_topics, size=n), n_topics=n_topics, n_words=n_words, **options)


def prior(n_topics):
    return np.linspace(0.05, 0.3, n_topics)


def drawn(start, sweeps=4, **options):
    """The state after some sweeps, and how many topics changed in each."""
    return start, [lda_sweep(start, alpha=prior(start.n_topics), beta=0.1, seed=3, sweep=s,
                             **options) for s in range(sweeps)]


def assert_same(a, b):
    assert a[1] == b[1]
    for name in ("topics", "word_topic", "totals"):
        assert torch.equal(getattr(a[0], name), getattr(b[0], name)), name


def assert_as_the_textbook(made, backend="cpu", **options):
    assert_same(drawn(made(), backend=backend, **options),
                drawn(made(), backend="reference", **options))


def table(n_topics):
    """p(word | topic) of seven words."""
    return np.random.default_rng(1).dirichlet(np.ones(7), size=n_topics).T


def assert_counts_fit(s):
    again = LdaState(s.words, s.offsets, s.topics, n_topics=s.n_topics, n_words=s.n_words)
    assert torch.equal(again.word_topic, s.word_topic) and torch.equal(again.totals, s.totals)


A = {(0, 0, 0, 1): 15 / 124, (0, 0, 1, 1): 0.107527, (0, 0, 0, 0): 0.096774, (0, 0, 1, 0): 0.040323,
     (0, 1, 0, 0): 0.040323, (0, 1, 1, 1): 0.040323, (0, 1, 1, 0): 0.026882, (0, 1, 0, 1): 0.026882}
B = {(0, 0, 1, 1): 0.336100, (0, 0, 0, 0): 0.056017, (0, 0, 0, 1): 0.024896, (0, 0, 1, 0): 0.024896,
     (0, 1, 0, 0): 0.024896, (0, 1, 1, 1): 0.024896, (0, 1, 0, 1): 0.004149, (0, 1, 1, 0): 0.004149}


@pytest.mark.parametrize(("words", "prior", "posterior"), [([0, 0, 0, 1], 1.0, A),
                                                           ([0, 0, 1, 1], 0.5, B)], ids=["A", "B"])
@pytest.mark.parametrize("plain", [False, True], ids=["vectors", "plain"])
def test_a_long_chain_visits_assignments_as_often_as_the_enumerated_posterior_says(
        words, prior, posterior, plain):  # methods 2.3, 24.6
    s, f = LdaState(words, [0, 2, 4], [0, 0, 0, 0], n_topics=2, n_words=2), np.float32
    alpha, inverse = (state.padded(torch.full((2,), x)).numpy() for x in (prior, 0.0))
    inverse[:] = 1 / (s.totals.numpy() + 2 * prior)
    topics, seen = s.topics.numpy(), np.zeros(16)
    for sweep in range(60_000):
        draw(() if plain else (0,), True, s.words.numpy(), s.offsets.numpy(), topics,
             s.streams.numpy(), s.word_topic.numpy(), s.totals.numpy(), alpha, inverse, 0, 2,
             f(prior), f(2 * prior), 1, 2, 7, sweep)
        seen[topics @ [8, 4, 2, 1]] += 1
    assert sum(posterior.values()) == pytest.approx(0.5, abs=1e-5)
    for z in itertools.product((0, 1), repeat=4):
        # swapped names are as likely
        expected = posterior[z if z[0] == 0 else tuple(1 - k for k in z)]
        assert seen[np.dot(z, [8, 4, 2, 1])] / seen.sum() == pytest.approx(expected, abs=0.01), z


@pytest.mark.parametrize("n_topics", [3, 20])
def test_one_token_alone_draws_by_prior_and_words(n_topics):
    rng = np.random.default_rng(0)
    table, n = rng.dirichlet(np.ones(5), size=n_topics).T, 20_000
    s = LdaState(np.full(n, 2), np.arange(n + 1), np.zeros(n, dtype=int), n_topics=n_topics,
                 n_words=5, word_topic=table)
    lda_sweep(s, alpha=prior(n_topics))
    expected = prior(n_topics) * table[2] / (prior(n_topics) @ table[2])
    found = np.bincount(s.topics.numpy(), minlength=n_topics)
    chi_square = ((found - n * expected)**2 / (n * expected)).sum()
    assert chi_square < n_topics + 5 * np.sqrt(2 * n_topics)    # 5 standard deviations


def test_uniforms_come_from_philox_with_its_published_answers():
    def words(counter, key):
        return [int(w[0])
                for w in uniforms._philox([np.array([c], dtype=np.uint32) for c in counter], key)]

    assert words([0] * 4, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert words([2**32 - 1] * 4, 2**64 - 1) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


def test_uniforms_are_uniform_and_depend_on_seed_sweep_and_stream():
    u = uniforms.uniforms(100_000, seed=1, sweep=2, stream=3)
    assert u.dtype == np.float32 and u.min() >= 0 and u.max() < 1 and len(np.unique(u)) > 99_000
    assert np.histogram(u, bins=10, range=(0, 1))[0] == pytest.approx([10_000] * 10, abs=500)
    assert abs(np.corrcoef(u[1:], u[:-1])[0, 1]) < 0.02
    assert np.array_equal(uniforms.uniforms(70, seed=1, sweep=2, stream=3), u[:70])
    for other in ({"seed": 2**62}, {"sweep": 3}, {"stream": 2**40}):
        assert (uniforms.uniforms(70, **{"seed": 1, "sweep": 2, "stream": 3, **other})
                != u[:70]).mean() > 0.9


@pytest.mark.parametrize("stream", [0, 5, 2**31, 2**62 + 1])
def test_the_compiled_uniforms_are_those_of_the_formula(stream):
    out = np.empty(256, dtype=np.float32)
    fill(out, 200, 128, stream, 2**61 + 9, 77)
    assert np.array_equal(out[:200],
                          uniforms.uniforms(328, seed=2**61 + 9, sweep=77, stream=stream)[128:])


@pytest.mark.parametrize("at_once", [1, 3])
@pytest.mark.parametrize("n_topics", MANY)
def test_the_vector_code_draws_what_the_textbook_draws(n_topics, at_once):
    assert_as_the_textbook(lambda: make(n_topics), at_once=at_once)


def test_very_many_topics_and_documents_longer_than_a_block_of_uniforms_are_drawn_the_same():
    assert_as_the_textbook(lambda: make(1100), sweeps=2)
    assert_as_the_textbook(lambda: make(5, lengths=(2500, 3, 1024), seed=2), sweeps=2)


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("n_topics", [5, 20, 130])
def test_the_plain_loop_for_very_many_topics_draws_the_same(n_topics, frozen, monkeypatch):
    word_topic = table(n_topics) if frozen else None
    expected = drawn(make(n_topics, word_topic=word_topic))
    monkeypatch.setattr(cpu, "MOST_VECTORS", 0)
    assert_same(drawn(make(n_topics, word_topic=word_topic)), expected)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_batches_give_the_same_for_any_number_of_threads(backend):
    results = [drawn(make(20), at_once=3, threads=t, backend=backend) for t in (1, 2, 5)]
    assert_same(results[0], results[1])
    assert_same(results[0], results[2])
    assert not torch.equal(results[0][0].topics, drawn(make(20), at_once=1)[0].topics)


def test_pieces_of_a_sweep_change_nothing(monkeypatch):
    expected = drawn(make(20)), drawn(make(20), at_once=4, threads=2)
    monkeypatch.setattr(cpu, "TOKENS_PER_CALL", 6)
    assert_same(drawn(make(20)), expected[0])
    assert_same(drawn(make(20), at_once=4, threads=2), expected[1])


@given(st.lists(st.integers(0, 12), min_size=0, max_size=9), st.integers(1, 40), st.integers(1, 9),
       st.integers(1, 5), st.integers(0, 1000))
def test_counts_always_belong_to_the_topics_and_padding_is_never_drawn(
        lengths, n_topics, n_words, at_once, seed):
    s = make(n_topics, n_words=n_words, lengths=lengths or (0,), seed=seed)
    before = s.topics.clone()
    changed = lda_sweep(s, alpha=0.01, beta=0.001, seed=seed, at_once=at_once)
    assert changed == int((before != s.topics).sum())
    assert int(s.topics.max()) < n_topics if len(s.topics) else changed == 0
    assert s.word_topic.data_ptr() % 64 == 0
    assert_counts_fit(s)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_frozen_words_stay_and_documents_with_equal_streams_draw_alike(backend):
    table = np.random.default_rng(2).dirichlet(np.ones(7), size=20).T
    words = [1, 4, 4, 6, 0] * 3
    s = LdaState(words, [0, 5, 10, 15], [0] * 15, n_topics=20, n_words=7, streams=[9, 9, 10],
                 word_topic=table)
    before = s.word_topic.clone()
    for sweep in range(5):
        lda_sweep(s, alpha=0.5, sweep=sweep, threads=1 + sweep % 3, backend=backend)
    assert torch.equal(s.word_topic, before) and int(s.totals.max()) == 1
    assert torch.equal(s.topics[:5],
                       s.topics[5:10]) and not torch.equal(s.topics[:5], s.topics[10:])


def test_topics_that_are_given_are_copied_and_views_are_read_right():
    topics = np.array([0, 9, 1, 9, 0, 9, 1, 9])[::2]
    words = torch.arange(8, dtype=torch.int64)[::2]
    topics.flags.writeable = False
    s = LdaState(words, np.array([0, 4], dtype=np.uint8), topics, n_topics=2, n_words=7)
    for sweep in range(5):
        lda_sweep(s, sweep=sweep)
    assert topics.tolist() == [0, 1, 0, 1] and s.words.tolist() == [0, 2, 4, 6]


def test_a_trace_says_what_ran():
    with trace() as t:
        drawn(make(5), sweeps=1)
    assert t.caption().startswith("lda_sweep · cpu (vector code) · ")


@pytest.mark.parametrize("n_topics", [1, 5, 20, 33, 100])
def test_the_kernel_draws_what_the_textbook_draws(n_topics, triton_here, device, guarded):
    assert_as_the_textbook(lambda: make(n_topics, device=device), triton_here, sweeps=2, at_once=3)
    state = drawn(make(n_topics, device=device), sweeps=2, at_once=3, backend=triton_here)[0]
    assert_counts_fit(state)


def test_the_kernel_draws_with_frozen_words_any_stream_and_more_uniforms(triton_here, device):
    streams = [0, 2**31, 2**62 + 3, 5, 2**33 - 1, 1, 2]
    for backend in (triton_here, "cpu"):
        assert_as_the_textbook(lambda: make(20, word_topic=table(20), streams=streams,
                                            device=device), backend, sweeps=1)
        assert_as_the_textbook(lambda: make(4, lengths=(150,), seed=5, device=device), backend,
                               sweeps=1, at_once=2)


def test_what_the_kernel_cannot_draw_is_refused_by_name_and_done_elsewhere_otherwise(
        triton_here, device):
    for n_topics, options, words in ((5, {"at_once": 1}, "one document after the other"),
                                     (1100, {"at_once": 2}, "1100 topics do not fit")):
        s = make(n_topics, device=device)
        with pytest.raises(BackendUnavailable, match=words):
            lda_sweep(s, backend="triton", **options)
        lda_sweep(s, **options)
        assert_counts_fit(s)


@pytest.mark.gpu
@gpu
@pytest.mark.parametrize("n_topics", [20, 128, 1000])
def test_gpu_sweeps_are_the_same_in_every_run_and_those_of_the_processor(n_topics):
    lengths = np.random.default_rng(0).integers(0, 300, size=2000)
    runs = [drawn(make(n_topics, n_words=3000, lengths=lengths, device="cuda"), at_once=200)
            for _ in range(3)]
    assert_same(runs[0], runs[1])
    assert_same(runs[0], runs[2])
    assert_counts_fit(runs[0][0])
    once = [make(n_topics, n_words=3000, lengths=lengths, device=d) for d in ("cuda", "cpu")]
    for s in once:
        lda_sweep(s, alpha=prior(n_topics), at_once=len(lengths))
    # sums of another order may fall across a border
    assert (once[0].topics.cpu() != once[1].topics).double().mean() < 1e-4


GOOD = {"words": [0, 1, 1], "offsets": [0, 2, 3], "topics": [0, 1, 0]}


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint32, np.uint64, np.int64])
def test_every_type_of_whole_numbers_gives_the_same_state(kind):
    given = LdaState(**{name: np.array(x, dtype=kind) for name, x in GOOD.items()}, n_topics=2,
                     n_words=2, streams=np.array([7, 9], dtype=kind))
    plain = LdaState(**GOOD, n_topics=2, n_words=2)
    assert (torch.equal(given.word_topic, plain.word_topic) and given.streams.tolist() == [7, 9]
            and given.words.dtype == torch.int32)


@pytest.mark.parametrize("prior", [state.SMALLEST_PRIOR, state.LARGEST_PRIOR])
@pytest.mark.parametrize("n_topics", [3, 20, 1030])
def test_the_extreme_priors_that_are_allowed_still_draw_every_topic_and_no_other(n_topics, prior):
    n = 40 * n_topics  # words and documents of one token: their weights are products of two priors
    s = LdaState(np.arange(n), np.arange(n + 1), np.zeros(n, dtype=int), n_topics=n_topics,
                 n_words=n)
    lda_sweep(s, alpha=prior, beta=prior)
    assert (int(s.topics.min()) >= 0 and int(s.topics.max()) < n_topics
            and len(torch.unique(s.topics)) > n_topics // 2)


def test_the_order_of_topics_is_that_of_the_lanes():
    assert reference._order(20).tolist() == [0, 16, 1, 17, 2, 18, 3, 19, *range(4, 16)]
    assert reference._order(3).tolist() == [0, 1, 2] and sorted(reference._order(100)) == list(
        range(100))
