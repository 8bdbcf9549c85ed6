"""Updates of rows (windows, parts of words, documents): vector code against the textbook, the
optimum of the theory, chance, the tree, and threads. What only parts of words or documents have is
tested in files of their own."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.kernels import WindowState, trace, window_update
from lessons_lib.kernels.window_update import huffman_paths, state, threads
from lessons_lib.kernels.window_update.draws import alias_table, draws, piece_key
from lessons_lib.kernels.window_update.reference import outputs_of

from .updates import (EACH, KINDS, NOISE, TREE, WORDS, assert_as_the_textbook,
                      assert_moved_by_gradients, assert_same, make, settings_of, trained)

logsigmoid = torch.nn.functional.logsigmoid


def loss_of(state, a, b, options):
    """The loss of a text of two words in one document, as a formula of both matrices; each window
    has the other word, and the document where there is one."""
    how = settings_of(state, objective=options["objective"], negatives=3)
    numbers, total, edge = draws(2, how.negatives, piece_key(0, 0, 0)), 0.0, len(state.counts)
    for i, (centre, other) in enumerate((state.words.tolist(), state.words[::-1].tolist())):
        x = a[other][None]
        if options.get("combine") == "concat":
            # two places before the centre, two behind it, then the document
            near = [a[edge]] * 4
            near[2 if i == 0 else 1] = a[other]
            x = torch.cat([*near, a[edge + 1]])[None]
        elif options.get("model") == "dm":
            x = (x + a[edge + 1]) / (1.0 if options.get("combine") == "sum" else 2.0)
        elif options.get("model") == "dbow":
            x = torch.cat([x[:int(options.get("train_words", 0))], a[edge + 1][None]])
        rows, labels = outputs_of(state, how, centre, numbers[i])
        signs = torch.from_numpy(2.0 * np.asarray(labels) - 1.0)
        rows = torch.from_numpy(np.asarray(rows)).long()
        total = total - logsigmoid(signs * (x @ b[rows].T)).sum()
    return total


@EACH
@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_a_text_moves_all_rows_by_the_gradient_of_its_loss(backend, family, options):
    """Two words in one document are two windows; with a tiny rate the second sees what the first
    saw. Parts of words have a test of their own."""
    if family == "subword" or options.get("frozen"):
        return
    start = make(family, options, 16, n_words=5, n=2, documents=1, tags=1, sample=0.0, seed=4)
    assert_moved_by_gradients(
        start, lambda a, b: loss_of(start, a, b, options), rate=3e-4, atol=3e-3,
        update=lambda: trained(start, family, options, negatives=3, learning_rate=3e-4,
                               backend=backend))


@EACH
@pytest.mark.parametrize(("d", "more"), [
    *((d, {}) for d in (1, 16, 20, 100)), *((20, {"negatives": n}) for n in (1, 2, 6, 17))])
def test_the_vector_code_learns_what_the_textbook_learns(d, more, family, options):
    """With thirty words and seventeen negatives the same word is drawn many times in a window."""
    if not more or options["objective"] == NOISE:
        loss = assert_as_the_textbook(lambda: make(family, options, d), family, options, **more)
        assert loss > 50


@given(n_words=st.integers(2, 6), n=st.integers(0, 40), window=st.integers(1, 9),
       documents=st.integers(1, 6), kind=st.sampled_from(KINDS), seed=st.integers(0, 2**62))
def test_few_words_and_empty_documents_are_learned_from(n_words, n, window, documents, kind, seed):
    """Words stand several times in a window; at a higher rate their rows would grow until the loss
    of fastText is nothing but rounding."""
    family, options = kind
    window = 2 if options.get("combine") == "concat" else window
    assert_as_the_textbook(lambda: make(family, options, 5, n_words=n_words, n=n,
                                        documents=documents, seed=seed % 1000), family, options,
                           seed=seed, window=window, learning_rate=(0.01, 0.002))


def test_a_context_s_share_of_the_error_is_a_smaller_step_than_the_whole():
    start = make()
    whole, part = ((trained(make(), options=how)[0].inputs - start.inputs).norm()
                   for how in WORDS[1:])
    assert 0.1 < part / whole < 0.8


@EACH
def test_padding_and_unused_rows_stay_and_large_products_saturate(family, options):
    s, parts = make(family, options), 5 if options.get("combine") == "concat" else 1
    before = s.inputs.clone()
    trained(s, family, options)
    assert s.inputs.shape[1] == 32 and s.outputs.shape[1] == 32 * parts
    assert not s.inputs[:, 20:].any() and not s.outputs.view(-1, 32)[:, 20:].any()
    assert s.inputs.data_ptr() % 64 == s.outputs.data_ptr() % 64 == 0
    if family == "subword":
        unused = np.setdiff1d(np.arange(50), s.rows)
        assert len(unused) and torch.equal(s.inputs[unused], before[unused])
    for backend in ("cpu", "reference"):
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            large = make(family, options, scale=30.0)
            trained(large, family, options, backend=backend, loss_every=0)
        assert torch.isfinite(large.inputs).all() and torch.isfinite(large.outputs).all()


def test_negative_sampling_converges_to_shifted_pointwise_mutual_information():  # methods 24.17
    """u·v = log P(w, c) / (P(w) P_n(c)) − log k where vectors have as many numbers as words are."""
    rng, n_words, k = np.random.default_rng(0), 4, 2
    joint = rng.uniform(0.5, 1.5, size=(n_words, n_words))
    joint = (joint + joint.T) / (joint + joint.T).sum()
    pairs = rng.choice(n_words**2, size=60_000, p=joint.ravel())
    words = np.stack([pairs // n_words, pairs % n_words], axis=1).ravel()
    counts, ends = np.bincount(words, minlength=n_words), np.arange(0, len(words) + 1, 2)
    rows = rng.normal(size=(n_words, 8)) * 0.3
    s = WindowState(words, ends, rows, np.zeros((n_words, 8)), counts, sample=0.0)
    mean = np.zeros((n_words, n_words))
    for epoch in range(60):
        rate = 0.05 if epoch < 20 else 0.005
        window_update(s, window=1, negatives=k, learning_rate=rate, epoch=epoch)
        mean += (s.inputs @ s.outputs.T).numpy() / 30 if epoch >= 30 else 0.0
    found = np.zeros((n_words, n_words))
    np.add.at(found, (words[::2], words[1::2]), 1.0)
    found += found.T  # each pair is read from both sides
    noise = counts**0.75 / (counts**0.75).sum()
    p = found / found.sum()  # contexts in rows, centres in columns
    others = p.sum(axis=1, keepdims=True) - p  # a negative that is the centre is left out
    np.testing.assert_allclose(mean, np.log(p / (noise[None, :] * k * others)), atol=0.06)


def test_draws_are_those_of_splitmix64():
    expected = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert [int(x) for x in draws(3, 0, 0x9E3779B97F4A7C15)[:, 0]] == expected


def test_the_noise_is_drawn_by_the_power_of_the_counts():  # methods 24.18
    p = np.array([100.0, 40.0, 7.0, 1.0, 1.0, 0.0])**0.75
    p[-1] = 0.0
    thresholds, others = alias_table(p)
    share = thresholds / 2.0**31
    found = share.copy()
    np.add.at(found, others, 1.0 - share)
    np.testing.assert_allclose(found / len(p), p / p.sum(), atol=1e-9)


@pytest.mark.parametrize(("frequency", "sample", "expected"),
                         [(0.05, 1e-3, 0.16142), (0.05, 1e-4, 0.04672), (0.05, 1e-5, 0.01434),
                          (0.01, 1e-3, 0.41623), (0.5, 0.0, 1.0), (0.001, 1e-3, 1.0)])
def test_words_are_kept_as_the_original_program_keeps_them(frequency, sample, expected):  # 3.3
    counts = np.array([frequency, 1 - frequency]) * 1e6
    s = WindowState([], [0], np.zeros((2, 3)), np.zeros((2, 3)), counts, sample=sample)
    assert s.keep[0] / 2**31 == pytest.approx(expected, abs=1e-5)


def test_a_context_at_a_distance_is_used_as_often_as_the_window_says():  # methods 24.19
    numbers, window = draws(40_000, 0, piece_key(3, 1, 2))[:, 0], 5
    half = (numbers >> np.uint64(8) & np.uint64(0xFFFFFF)) * np.uint64(window) >> np.uint64(24)
    for distance in range(1, window + 1):
        expected = (window - distance + 1) / window
        assert (half + 1 >= distance).mean() == pytest.approx(expected, abs=0.012)


@pytest.mark.parametrize(("counts", "codes", "length"), [
    ([8, 4, 2, 1, 1], "1 01 001 0001 0000", 30), ([5, 4, 3, 2, 1], "11 10 01 001 000", 33),
    ([10, 9, 8, 7, 6, 5, 4], "01 00 110 101 100 1111 1110", 137)])
def test_the_tree_is_that_of_the_original_program(counts, codes, length):  # methods 3.3
    paths = huffman_paths(np.array(counts))
    bits = np.split(paths.bits.astype(int).astype(str), paths.offsets[1:-1])
    assert ["".join(each) for each in bits] == codes.split()
    assert int(np.diff(paths.offsets) @ counts) == length
    assert (paths.nodes[paths.offsets[:-1]] == len(counts) - 2).all()  # the root


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=60))
def test_probabilities_of_all_words_sum_to_one(counts):  # methods 24.14
    counts = np.array(counts) + 1
    paths, score = huffman_paths(counts), np.random.default_rng(0).normal(size=len(counts) - 1) * 3
    each = 1 / (1 + np.exp(-(1 - 2 * paths.bits) * score[paths.nodes]))
    total = np.exp(np.add.reduceat(np.log(each), paths.offsets[:-1])).sum()
    lengths, p = np.diff(paths.offsets), counts / counts.sum()
    assert total == pytest.approx(1.0, abs=1e-9)
    assert np.exp2(-lengths.astype(float)).sum() == pytest.approx(1.0)
    assert -p @ np.log2(p) - 1e-9 <= lengths @ p < -p @ np.log2(p) + 1


@EACH
def test_a_run_is_bitwise_the_same_again_and_its_parts_are_the_whole(family, options, monkeypatch):
    def run(**more):
        return trained(make(family, options, n=1000), family, options, **more)

    first, parts = run(), make(family, options, n=1000)
    assert_same(first, run())
    found = [trained(parts, family, options, pieces=pair)[1] for pair in ((0, 3), (3, 3), (3, 10))]
    sums = sum(loss for loss, _ in found), sum(n for _, n in found)
    assert_same(first, (parts, sums), atol=1e-12)
    for other in ({"seed": 1}, {"epoch": 1}):
        assert not torch.equal(first[0].inputs, run(**other)[0].inputs)
    monkeypatch.setattr(threads, "TOKENS_PER_CALL", 200)
    assert_same(first, run(), atol=1e-12)


@EACH
@pytest.mark.parametrize("n", [2, 3])
def test_threads_that_merge_give_bitwise_the_same_each_time(n, family, options, monkeypatch):
    if options.get("frozen"):
        return  # on one thread only
    monkeypatch.setattr(threads, "TOKENS_PER_MERGE", 200)
    monkeypatch.setattr(threads, "TOKENS_PER_SUM", 90)
    start, alone, *found = (make(family, options, n=3000, documents=100) for _ in range(4))
    alone, found = trained(alone, family,
                           options), [trained(s, family, options, threads=n) for s in found]
    assert_same(*found)
    assert found[0][1][1] == alone[1][1]  # the same windows
    a, b = ((s[0].inputs - start.inputs).flatten() for s in (found[0], alone))
    assert torch.cosine_similarity(a, b, dim=0) > 0.9


@EACH
def test_threads_that_race_learn_the_same_windows(family, options):
    if options.get("frozen"):
        return
    start = [make(family, options, n=2000, documents=50) for _ in range(2)]
    found, alone = (trained(s, family, options, threads=n, deterministic=False)
                    for s, n in zip(start, (2, 1), strict=True))
    assert found[1][1] == alone[1][1] > 100 and torch.isfinite(found[0].inputs).all()


def test_merging_adds_what_differs_and_takes_the_mean_of_what_is_the_same():
    base = np.zeros((3, 16), np.float32)
    one, two = base.copy(), base.copy()
    one[0, 0], two[0, 1] = 3.0, 4.0  # nothing in common
    one[1, 2] = two[1, 2] = 5.0  # the same
    threads.merge(base, (one, two), 0, 3)
    assert base[0, :2].tolist() == [3.0, 4.0] and base[1, 2] == 5.0 and not base[2].any()
    assert np.array_equal(base, one) and np.array_equal(base, two)


def test_changes_of_all_threads_are_added_up_in_some_rows():
    rng = np.random.default_rng(0)
    base, changes = (rng.normal(size=s).astype(np.float32) for s in ((5, 16), (3, 5, 16)))
    copies, rows = tuple(base + change for change in changes), np.array([0, 3])
    expected = base.copy()
    expected[rows] += changes[:, rows].sum(axis=0)
    threads.add_up(base, copies, rows)
    np.testing.assert_allclose(base, expected, rtol=0, atol=1e-6)
    assert all(np.array_equal(copy[rows], base[rows]) for copy in copies)


def test_long_documents_are_cut_into_pieces(monkeypatch):
    monkeypatch.setattr(state, "PIECE", 100)
    zeros = np.zeros((2, 3))
    s = WindowState(np.zeros(350, int), [0, 50, 300, 300, 350], zeros, zeros, [350, 1])
    assert s.pieces.tolist() == [0, 50, 150, 250, 300, 300, 350] and s.n_pieces == 6


def test_the_rate_falls_along_a_straight_line():
    """Half of a text at a falling rate is that half at the rates of its ends."""
    falling = trained(make(n=3000), learning_rate=(0.05, 0.01), pieces=(0, 5))[0]
    t = make(n=3000)
    rows = t.inputs[:, :20], t.outputs[:, :20]
    half = WindowState(t.words[:1500], t.offsets[:6], *rows, t.counts, sample=0.05)
    trained(half, learning_rate=(0.05, 0.03))
    torch.testing.assert_close(half.inputs, falling.inputs, rtol=0, atol=1e-5)


@pytest.mark.parametrize("family", ["window", "subword", "document"])
def test_a_trace_says_what_ran(family):
    with trace() as found:
        trained(make(family), family)
    assert found.table()[1][:2] == (f"{family}_update", "cpu")
    assert found.runs[0].processor == "vector code"
    assert ("no Triton kernel" in str(found)) == (family != "window")


def test_a_tree_needs_a_row_for_each_inner_node_and_a_concatenation_one_tag():
    with pytest.raises(ValueError, match="outputs has 29 rows; expected 30, one for each word"):
        window_update(make("window", {"objective": TREE}))
    s, concat = make("document", {"combine": "concat"}), {"combine": "concat"}
    s.tags, s.tag_offsets = np.repeat(s.tags, 2), 2 * s.tag_offsets
    with pytest.raises(ValueError, match="document 0 has 2. Use 'mean' or 'sum'"):
        trained(s, "document", concat)


def test_V09_arrays_in_any_layout_begin_the_same():
    plain = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    frozen, turned = plain.copy(), np.asfortranarray(plain)
    frozen.setflags(write=False)
    wide = np.repeat(plain, 2, axis=1)[:, ::2]
    for rows in (plain[::-1].copy()[::-1], turned, plain.astype(">f4"), frozen, wide):
        s = WindowState([0, 1, 2, 0], [0, 4], rows, rows, [2, 1, 1], sample=0)
        assert np.array_equal(s.inputs[:, :4].numpy(), plain) and np.array_equal(rows, plain)
