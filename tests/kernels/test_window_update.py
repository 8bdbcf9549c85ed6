"""Window updates: gradients against autograd, the tree against published codes, vector code against the textbook, and the optimum of the theory."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.kernels import WindowState, trace, window_update
from lessons_lib.kernels.window_update import huffman_paths, state, threads as side_by_side
from lessons_lib.kernels.window_update.draws import alias_table, draws, piece_key

ARCHITECTURES, OBJECTIVES = ("skip_gram", "cbow"), ("negative_sampling", "hierarchical_softmax")
KINDS = list(itertools.product(ARCHITECTURES, OBJECTIVES))


def make(d=20, *, n_words=30, n=300, hierarchical=False, documents=10, seed=0, sample=0.05, scale=0.3, **options):
    rng = np.random.default_rng(seed)
    words = np.minimum(rng.zipf(1.5, size=n) - 1, n_words - 1)
    rows = [rng.normal(size=(n_words - back, d)) * scale for back in (0, int(hierarchical))]
    counts = np.bincount(words, minlength=n_words) + 1
    return WindowState(words, np.linspace(0, n, documents + 1).astype(int), *rows, counts, sample=sample, **options)


def trained(start, **options):
    """The state after one pass, and what the pass returned."""
    return start, window_update(start, **({"loss_every": 2, "learning_rate": (0.05, 0.01)} | options))


def assert_same(a, b, *, atol=0.0):
    for name in ("inputs", "outputs"):
        torch.testing.assert_close(getattr(a[0], name), getattr(b[0], name), rtol=0, atol=atol)
    assert a[1][1] == b[1][1] and a[1][0] == pytest.approx(b[1][0], rel=1e-6 if atol else 0.0)


# ------------------------------------------------------------------------------------------------ the formula


@pytest.mark.parametrize("backend", ["cpu", "reference"])
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_one_window_moves_both_matrices_by_the_gradient_of_its_loss(architecture, objective, backend):
    """Two words in one document are two windows with one context each; with a tiny rate the second sees what the first saw."""
    hierarchical, rate = objective == "hierarchical_softmax", 1e-3
    start = make(12, n_words=5, n=2, documents=1, hierarchical=hierarchical, sample=0.0, seed=4)
    a, b = (getattr(start, name)[:, :12].double().requires_grad_() for name in ("inputs", "outputs"))
    before, loss, negatives = (a.detach().clone(), b.detach().clone()), 0.0, 3
    numbers = draws(2, negatives, piece_key(0, 0, 0))
    for i, (centre, context) in enumerate((start.words, start.words[::-1])):
        if hierarchical:
            path = slice(*start.paths.offsets[centre : centre + 2])
            signs = torch.from_numpy(1.0 - 2.0 * start.paths.bits[path]).double()
            rows = torch.from_numpy(start.paths.nodes[path]).long()
        else:
            drawn = [int(x) >> 32 for x in numbers[i, 1:]]
            columns = [c * 5 >> 32 for c in drawn]
            words = [c if int(x) & 0x7FFFFFFF < start.thresholds[c] else int(start.others[c]) for c, x in zip(columns, numbers[i, 1:], strict=True)]
            words = [w for w in words if w != centre]
            rows, signs = torch.tensor([int(centre), *words]), torch.tensor([1.0] + [-1.0] * len(words)).double()
        loss = loss - torch.nn.functional.logsigmoid(signs * (b[rows] @ a[int(context)])).sum()
    gradients = torch.autograd.grad(loss, (a, b))
    window_update(start, architecture=architecture, objective=objective, window=1, negatives=negatives, learning_rate=rate, backend=backend)
    for name, old, gradient in zip(("inputs", "outputs"), before, gradients, strict=True):
        moved = (getattr(start, name)[:, :12].double() - old) / rate
        assert gradient.abs().max() > 0.05
        torch.testing.assert_close(moved, -gradient, rtol=0, atol=2e-3)


@pytest.mark.parametrize(("architecture", "objective"), KINDS)
@pytest.mark.parametrize("d", [1, 7, 16, 20, 100])
def test_the_vector_code_learns_what_the_textbook_learns(d, architecture, objective):
    found = [trained(make(d, hierarchical=objective == OBJECTIVES[1]), architecture=architecture, objective=objective, backend=backend)
             for backend in ("reference", "cpu")]
    assert found[0][1][1] > 50
    assert_same(*found, atol=5e-6)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("negatives", [1, 2, 3, 5, 6, 10, 17])
def test_any_number_of_negatives_is_learned_from(negatives, architecture):
    """With thirty words and seventeen negatives the same word is drawn many times in a window."""
    found = [trained(make(20), architecture=architecture, negatives=negatives, backend=backend) for backend in ("reference", "cpu")]
    assert_same(*found, atol=5e-6)


@given(n_words=st.integers(2, 6), n=st.integers(0, 40), window=st.integers(1, 9), share=st.booleans(), seed=st.integers(0, 2**62))
def test_few_words_that_stand_twice_in_a_window_move_twice(n_words, n, window, share, seed):
    for architecture, objective in KINDS:
        found = [trained(make(5, n_words=n_words, n=n, documents=2, hierarchical=objective == OBJECTIVES[1], seed=seed % 1000), seed=seed,
                         architecture=architecture, objective=objective, window=window, share_error=share, backend=backend)
                 for backend in ("reference", "cpu")]
        assert_same(*found, atol=5e-6)


def test_a_context_s_share_of_the_error_is_a_smaller_step_than_the_whole():
    one, two = (trained(make(), architecture="cbow", window=4, share_error=share)[0] for share in (False, True))
    start = make()
    whole, part = ((s.inputs - start.inputs).norm() for s in (one, two))
    assert 0.1 < part / whole < 0.8


def test_padding_stays_zero_and_rows_begin_at_64_bytes():
    found = trained(make(20))[0]
    assert found.inputs.shape[1] == found.outputs.shape[1] == 32
    assert not found.inputs[:, 20:].any() and not found.outputs[:, 20:].any()
    assert found.inputs.data_ptr() % 64 == found.outputs.data_ptr() % 64 == 0


def test_very_large_products_saturate_and_stay_finite():
    for backend in ("cpu", "reference"):
        with np.errstate(over="ignore", divide="ignore"):
            found = trained(make(20, scale=30.0), backend=backend, loss_every=0)[0]
        assert torch.isfinite(found.inputs).all() and torch.isfinite(found.outputs).all()


def test_negative_sampling_converges_to_shifted_pointwise_mutual_information():         # methods 24.17
    """u·v = log P(w, c) / (P(w) P_n(c)) − log k where the vectors have as many numbers as there are words."""
    rng, n_words, k = np.random.default_rng(0), 4, 2
    joint = rng.uniform(0.5, 1.5, size=(n_words, n_words))
    joint = (joint + joint.T) / (joint + joint.T).sum()
    pairs = rng.choice(n_words**2, size=60_000, p=joint.ravel())
    words = np.stack([pairs // n_words, pairs % n_words], axis=1).ravel()
    counts = np.bincount(words, minlength=n_words)
    s = WindowState(words, np.arange(0, len(words) + 1, 2), rng.normal(size=(n_words, 8)) * 0.3, np.zeros((n_words, 8)), counts, sample=0.0)
    mean = np.zeros((n_words, n_words))
    for epoch in range(60):
        window_update(s, window=1, negatives=k, learning_rate=0.05 if epoch < 20 else 0.005, epoch=epoch)
        mean += (s.inputs @ s.outputs.T).numpy() / 30 if epoch >= 30 else 0.0
    found = np.zeros((n_words, n_words))
    np.add.at(found, (words[::2], words[1::2]), 1.0)
    found += found.T                                                    # each pair is read from both sides
    noise = counts**0.75 / (counts**0.75).sum()
    p = found / found.sum()                                             # contexts in rows, centres in columns
    others = p.sum(axis=1, keepdims=True) - p                           # a negative that is the centre is left out
    expected = np.log(p / (noise[None, :] * k * others))
    np.testing.assert_allclose(mean, expected, atol=0.06)


# ------------------------------------------------------------------------------------------------ chance


def test_draws_are_those_of_splitmix64():
    assert [int(x) for x in draws(3, 0, 0x9E3779B97F4A7C15)[:, 0]] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_the_noise_is_drawn_by_the_power_of_the_counts():                # methods 24.18
    p = np.array([100.0, 40.0, 7.0, 1.0, 1.0, 0.0]) ** 0.75
    p[-1] = 0.0
    thresholds, others = alias_table(p)
    share = thresholds / 2.0**31
    found = share.copy()
    np.add.at(found, others, 1.0 - share)
    np.testing.assert_allclose(found / len(p), p / p.sum(), atol=1e-9)


@pytest.mark.parametrize(("frequency", "sample", "expected"), [(0.05, 1e-3, 0.16142), (0.05, 1e-4, 0.04672), (0.05, 1e-5, 0.01434),
                                                               (0.01, 1e-3, 0.41623), (0.5, 0.0, 1.0), (0.001, 1e-3, 1.0)])
def test_frequent_words_are_kept_as_the_original_program_keeps_them(frequency, sample, expected):      # methods 3.3
    counts = np.array([frequency, 1 - frequency]) * 1e6
    s = WindowState([], [0], np.zeros((2, 3)), np.zeros((2, 3)), counts, sample=sample)
    assert s.keep[0] / 2**31 == pytest.approx(expected, abs=1e-5)


def test_a_context_at_a_distance_is_used_as_often_as_the_window_says():   # methods 24.19
    n, window = 40_000, 5
    numbers = draws(n, 0, piece_key(3, 1, 2))[:, 0]
    half = ((numbers >> np.uint64(8) & np.uint64(0xFFFFFF)) * np.uint64(window) >> np.uint64(24)) + np.uint64(1)
    for distance in range(1, window + 1):
        assert (half >= distance).mean() == pytest.approx((window - distance + 1) / window, abs=0.012)


# ------------------------------------------------------------------------------------------------ the tree


@pytest.mark.parametrize(("counts", "codes", "length"), [([8, 4, 2, 1, 1], "1 01 001 0001 0000", 30), ([5, 4, 3, 2, 1], "11 10 01 001 000", 33),
                                                         ([10, 9, 8, 7, 6, 5, 4], "01 00 110 101 100 1111 1110", 137)])
def test_the_tree_is_that_of_the_original_program(counts, codes, length):          # methods 3.3
    paths = huffman_paths(np.array(counts))
    found = ["".join(str(int(bit)) for bit in paths.bits[slice(*paths.offsets[w : w + 2])]) for w in range(len(counts))]
    assert found == codes.split()
    assert int(np.diff(paths.offsets) @ counts) == length
    assert all(paths.nodes[paths.offsets[w]] == len(counts) - 2 for w in range(len(counts)))      # the root


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=60))
def test_probabilities_of_all_words_sum_to_one(counts):                    # methods 24.14
    counts = np.array(counts) + 1
    paths, rng = huffman_paths(counts), np.random.default_rng(0)
    score = rng.normal(size=len(counts) - 1) * 3
    each = 1 / (1 + np.exp(-(1 - 2 * paths.bits) * score[paths.nodes]))
    total = np.exp(np.add.reduceat(np.log(each), paths.offsets[:-1])).sum()
    assert total == pytest.approx(1.0, abs=1e-9)
    lengths = np.diff(paths.offsets)
    entropy = -(counts / counts.sum()) @ np.log2(counts / counts.sum())
    assert np.exp2(-lengths.astype(float)).sum() == pytest.approx(1.0)
    assert entropy - 1e-9 <= lengths @ counts / counts.sum() < entropy + 1


# ------------------------------------------------------------------------------------------------ repetition and threads


def test_a_run_is_bitwise_the_same_again_and_another_seed_or_epoch_another_run():
    first = trained(make(n=3000))
    assert_same(first, trained(make(n=3000)))
    for other in ({"seed": 1}, {"epoch": 1}):
        assert not torch.equal(first[0].inputs, trained(make(n=3000), **other)[0].inputs)


def test_parts_of_a_text_one_after_the_other_are_the_whole(monkeypatch):
    whole, parts = trained(make(n=3000)), make(n=3000)
    found = [trained(parts, pieces=pair)[1] for pair in ((0, 3), (3, 10))]
    assert_same(whole, (parts, (sum(x for x, _ in found), sum(n for _, n in found))), atol=1e-12)
    monkeypatch.setattr(side_by_side, "TOKENS_PER_CALL", 200)
    assert_same(whole, trained(make(n=3000)), atol=1e-12)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_that_merge_give_bitwise_the_same_each_time(threads, monkeypatch):
    monkeypatch.setattr(side_by_side, "TOKENS_PER_MERGE", 200)
    found = [trained(make(n=3000, documents=100), threads=threads) for _ in range(3)]
    assert_same(found[0], found[1])
    assert_same(found[0], found[2])
    alone = trained(make(n=3000, documents=100))
    assert found[0][1][1] == alone[1][1]                                  # the same windows
    start = make(n=3000, documents=100)
    a, b = ((s[0].inputs - start.inputs).flatten() for s in (found[0], alone))
    assert torch.cosine_similarity(a, b, dim=0) > 0.9


def test_threads_that_race_learn_the_same_windows():
    found, alone = (trained(make(n=3000, documents=100), threads=n, deterministic=False) for n in (2, 1))
    assert found[1][1] == alone[1][1] and torch.isfinite(found[0].inputs).all()


def test_merging_adds_what_differs_and_takes_the_mean_of_what_is_the_same():
    from lessons_lib.kernels.window_update.threads import merge

    base = np.zeros((3, 16), np.float32)
    one, two = base.copy(), base.copy()
    one[0, 0], two[0, 1] = 3.0, 4.0                                       # nothing in common
    one[1, 2] = two[1, 2] = 5.0                                           # the same
    merge(base, (one, two), 0, 3)
    assert base[0, :2].tolist() == [3.0, 4.0] and base[1, 2] == 5.0 and not base[2].any()
    assert np.array_equal(base, one) and np.array_equal(base, two)


def test_long_documents_are_cut_into_pieces(monkeypatch):
    monkeypatch.setattr(state, "PIECE", 100)
    s = WindowState(np.zeros(350, int), [0, 50, 300, 300, 350], np.zeros((2, 3)), np.zeros((2, 3)), [350, 1])
    assert s.pieces.tolist() == [0, 50, 150, 250, 300, 300, 350] and s.n_pieces == 6


def test_the_rate_falls_along_a_straight_line():
    """Half of a text at a falling rate is that half at the rates of its ends."""
    falling = trained(make(n=3000), learning_rate=(0.05, 0.01), pieces=(0, 5))[0]
    text = make(n=3000)
    half = WindowState(text.words[:1500], text.offsets[:6], text.inputs[:, :20], text.outputs[:, :20], text.counts, sample=0.05)
    torch.testing.assert_close(trained(half, learning_rate=(0.05, 0.03))[0].inputs, falling.inputs, rtol=0, atol=1e-5)


def test_a_trace_says_what_ran():
    with trace() as found:
        trained(make())
    assert found.table()[1][:2] == ("window_update", "cpu") and found.runs[0].processor == "vector code"


# ------------------------------------------------------------------------------------------------ wrong arguments


@pytest.mark.parametrize(("options", "error", "words"), [
    ({"architecture": "skipgram"}, ValueError, "architecture='skipgram' is unknown.*skip_gram"), ({"objective": "ns"}, ValueError, "objective"),
    ({"window": 0}, ValueError, "window=0"), ({"window": 1.5}, TypeError, "window=1.5"), ({"negatives": 0}, ValueError, "negatives=0"),
    ({"negatives": -5}, ValueError, "negatives=-5"), ({"learning_rate": float("nan")}, ValueError, "learning_rate=nan"),
    ({"learning_rate": 0.0}, ValueError, "learning_rate"), ({"learning_rate": (0.1, -1.0)}, ValueError, "learning_rate=-1"),
    ({"learning_rate": "fast"}, TypeError, "learning_rate"), ({"seed": -1}, ValueError, "seed=-1"), ({"threads": 0}, ValueError, "threads=0"),
    ({"loss_every": 300}, ValueError, "loss_every"), ({"deterministic": 1}, TypeError, "deterministic=1"),
    ({"pieces": (0, 99)}, ValueError, "pieces"), ({"epoch": -1}, ValueError, "epoch")])
def test_P02_P04_P06_P24_P25_settings_that_cannot_be_are_named_and_nothing_moves(options, error, words):
    s = make()
    before = s.inputs.clone()
    with pytest.raises(error, match=words):
        window_update(s, **options)
    assert torch.equal(before, s.inputs)


@pytest.mark.parametrize(("changed", "error", "words"), [
    ({"words": [0, 5]}, ValueError, "words reach from 0 to 5"), ({"words": [0, -1]}, ValueError, "words reach from -1"),
    ({"offsets": [0, 3]}, ValueError, "offsets"), ({"offsets": [1, 2]}, ValueError, "offsets"),
    ({"inputs": np.zeros((3, 4))}, ValueError, "inputs has shape"),
    ({"outputs": np.zeros((2, 5))}, ValueError, "outputs"), ({"counts": [-1, 1]}, ValueError, "counts"), ({"counts": [1]}, ValueError, "words"),
    ({"counts": [0, 0]}, ValueError, "counts"), ({"sample": -1}, ValueError, "sample=-1"), ({"sample": float("nan")}, ValueError, "sample=nan")])
def test_P07_P14_a_state_that_cannot_be_is_named(changed, error, words):
    good = {"words": [0, 1], "offsets": [0, 2], "inputs": np.zeros((2, 4)), "outputs": np.zeros((2, 4)), "counts": [1, 1]}
    with pytest.raises(error, match=words):
        WindowState(**(good | changed))


def test_a_tree_needs_as_many_rows_as_it_has_inner_nodes_and_noise_one_for_each_word():
    with pytest.raises(ValueError, match="outputs has 29 rows; expected 30, one for each word"):
        window_update(make(hierarchical=True))
    with pytest.raises(TypeError, match="expected a WindowState"):
        window_update([1, 2])
