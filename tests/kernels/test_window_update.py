"""Updates of rows (windows, parts of words, documents): vector code against the textbook, the
optimum of the theory, chance, the tree, threads, and what is refused. What only parts of words or
documents have is tested in files of their own."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib import kernels
from lessons_lib.kernels import DocumentState, SubwordState, WindowState, trace, window_update
from lessons_lib.kernels.window_update import huffman_paths, state, threads
from lessons_lib.kernels.window_update.draws import alias_table, draws, piece_key

NOISE, TREE = "negative_sampling", "hierarchical_softmax"
MODELS = [{"model": "dbow"}, {"model": "dbow", "train_words": True},
          {"model": "dm", "share_error": True}, {"model": "dm", "combine": "sum"},
          {"model": "dm", "combine": "concat"}, {"model": "dm", "frozen": True}]
WORDS = [{"architecture": "skip_gram"}, {"architecture": "cbow"},
         {"architecture": "cbow", "share_error": True}]
KINDS = [(family, options | {"objective": objective})
         for family, some in (("window", WORDS), ("subword", WORDS), ("document", MODELS))
         for options, objective in itertools.product(some, (NOISE, TREE))]
EACH = pytest.mark.parametrize(("family", "options"), KINDS,
                               ids=[f"{f}-{'-'.join(map(str, o.values()))}" for f, o in KINDS])


def make(family="window", options=None, d=20, *, n_words=30, n=300, documents=10, seed=0, **more):
    """Zipf's words; 1 to 8 rows for each word where words have parts, 2 tags for each document."""
    rng, options = np.random.default_rng(seed), options or {}
    words = np.minimum(rng.zipf(1.5, size=n) - 1, n_words - 1)
    side = options.get("combine") == "concat"
    tags, parts, scale = 1 if side else 2, 5 if side else 1, more.pop("scale", 0.3)
    rows = {"window": n_words, "subword": 50, "document": n_words + 1 + documents + 1}[family]
    lists = {}
    if family == "subword":
        bounds = np.concatenate([[0], np.cumsum(rng.integers(1, 9, size=n_words))])
        lists = {"rows": rng.integers(0, 50, size=bounds[-1]), "row_offsets": bounds}
    if family == "document":
        each = [rng.choice(documents + 1, size=tags, replace=False) for _ in range(documents)]
        lists = {"tags": np.concatenate(each), "tag_offsets": tags * np.arange(documents + 1)}
    return getattr(kernels, f"{family.title()}State")(
        words, np.linspace(0, n, documents + 1).astype(int), rng.normal(size=(rows, d)) * scale,
        rng.normal(size=(n_words - (options.get("objective") == TREE), d * parts)) * scale,
        np.bincount(words, minlength=n_words) + 1, **({"sample": 0.05} | lists | more))


def trained(start, family="window", options=None, **more):
    """The state after one pass, and what the pass returned."""
    settings = {"loss_every": 2, "learning_rate": (0.05, 0.01), "window": 2} | (options or {})
    return start, getattr(kernels, f"{family}_update")(start, **(settings | more))


def assert_same(a, b, *, atol=0.0, loss=1e-4):
    for name in ("inputs", "outputs"):
        torch.testing.assert_close(getattr(a[0], name), getattr(b[0], name), rtol=0, atol=atol)
    assert a[1][1] == b[1][1] and a[1][0] == pytest.approx(b[1][0], rel=loss if atol else 0.0)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
@pytest.mark.parametrize("objective", [NOISE, TREE])
@pytest.mark.parametrize("architecture", ["skip_gram", "cbow"])
def test_one_window_moves_both_matrices_by_the_gradient_of_its_loss(architecture, objective,
                                                                    backend):
    """Two words in one document are two windows with one context each; with a tiny rate the second
    sees what the first saw."""
    rate, negatives = 1e-3, 3
    text = {"n_words": 5, "n": 2, "documents": 1, "sample": 0.0, "seed": 4}
    start = make("window", {"objective": objective}, 12, **text)
    before = [x[:, :12].double() for x in (start.inputs, start.outputs)]
    a, b = (x.clone().requires_grad_() for x in before)
    loss, numbers = 0.0, draws(2, negatives, piece_key(0, 0, 0))
    for i, (centre, context) in enumerate((start.words, start.words[::-1])):
        if objective == TREE:
            path = slice(*start.paths.offsets[centre:centre + 2])
            rows, signs = start.paths.nodes[path], 1.0 - 2.0 * start.paths.bits[path]
        else:
            rows, signs = [int(centre)], [1.0]
            for x in map(int, numbers[i, 1:]):
                column = (x >> 32) * 5 >> 32
                keeps = x & 0x7FFFFFFF < start.thresholds[column]
                word = column if keeps else int(start.others[column])
                if word != centre:
                    rows, signs = [*rows, word], [*signs, -1.0]
        scores = torch.tensor(signs).double() * (b[torch.tensor(rows).long()] @ a[int(context)])
        loss = loss - torch.nn.functional.logsigmoid(scores).sum()
    gradients = torch.autograd.grad(loss, (a, b))
    window_update(start, architecture=architecture, objective=objective, window=1,
                  negatives=negatives, learning_rate=rate, backend=backend)
    for new, old, gradient in zip((start.inputs, start.outputs), before, gradients, strict=True):
        assert gradient.abs().max() > 0.05
        moved = (new[:, :12].double() - old) / rate
        torch.testing.assert_close(moved, -gradient, rtol=0, atol=2e-3)


@EACH
@pytest.mark.parametrize("d", [1, 16, 20, 100])
def test_the_vector_code_learns_what_the_textbook_learns(d, family, options):
    found = [trained(make(family, options, d), family, options, backend=backend)
             for backend in ("reference", "cpu")]
    assert found[0][1][1] > 50
    assert_same(*found, atol=5e-6)


@EACH
@pytest.mark.parametrize("negatives", [1, 2, 6, 17])
def test_any_number_of_negatives_is_learned_from(negatives, family, options):
    """With thirty words and seventeen negatives the same word is drawn many times in a window."""
    if options["objective"] == NOISE:
        found = [trained(make(family, options), family, options, negatives=negatives,
                         backend=backend) for backend in ("reference", "cpu")]
        assert_same(*found, atol=5e-6)


@given(n_words=st.integers(2, 6), n=st.integers(0, 40), window=st.integers(1, 9),
       documents=st.integers(1, 6), kind=st.sampled_from(KINDS), seed=st.integers(0, 2**62))
def test_few_words_and_empty_documents_are_learned_from(n_words, n, window, documents, kind, seed):
    """Words stand several times in a window; at a higher rate their rows would grow until the loss
    of fastText is nothing but rounding."""
    family, options = kind
    window = 2 if options.get("combine") == "concat" else window
    found = [trained(make(family, options, 5, n_words=n_words, n=n, documents=documents,
                          seed=seed % 1000), family, options, seed=seed, window=window,
                     learning_rate=(0.01, 0.002), backend=backend)
             for backend in ("reference", "cpu")]
    assert_same(*found, atol=5e-6)


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


ROWS = np.full((3, 4), 0.1)
GOOD = {"window": {"words": [0, 1, 2, 0], "offsets": [0, 2, 4], "inputs": ROWS,
                   "outputs": ROWS, "counts": [2, 1, 1]},
        "subword": {"words": [0, 1], "offsets": [0, 2], "inputs": ROWS, "outputs": ROWS[:2],
                    "counts": [1, 1], "rows": [0, 2, 1], "row_offsets": [0, 2, 3]},
        "document": {"words": [0, 1], "offsets": [0, 1, 2], "inputs": np.zeros((5, 4)),
                     "outputs": ROWS[:2], "counts": [1, 1], "tags": [0, 1],
                     "tag_offsets": [0, 1, 2]}}
STATES = {"window": WindowState, "subword": SubwordState, "document": DocumentState}
nan, big = float("nan"), np.array([2**32, 1, 2, 0])
BAD_SETTINGS = [
    ("window", {"architecture": "skipgram"}, ValueError, "architecture='skipgram'.*skip_gram"),
    ("window", {"objective": "ns"}, ValueError, "objective"),
    ("window", {"window": 0}, ValueError, "window=0"),
    ("window", {"window": 1.5}, TypeError, "window=1.5"),
    ("window", {"negatives": 0}, ValueError, "negatives=0"),
    ("subword", {"negatives": 0}, ValueError, "negatives=0"),
    ("document", {"negatives": -5}, ValueError, "negatives=-5"),
    ("window", {"learning_rate": nan}, ValueError, "learning_rate=nan"),
    ("document", {"learning_rate": 0.0}, ValueError, "learning_rate"),
    ("window", {"learning_rate": (0.1, -1.0)}, ValueError, "learning_rate=-1"),
    ("window", {"learning_rate": "fast"}, TypeError, "learning_rate"),
    ("document", {"seed": -1}, ValueError, "seed=-1"),
    ("window", {"threads": 0}, ValueError, "threads=0"),
    ("window", {"loss_every": 300}, ValueError, "loss_every"),
    ("window", {"deterministic": 1}, TypeError, "deterministic=1"),
    ("window", {"pieces": (0, 99)}, ValueError, "pieces"),
    *(("window", {"pieces": p}, TypeError, r"pieces=.*\(first, last") for p in (5, (1,), "01")),
    ("window", {"epoch": -1}, ValueError, "epoch"),
    ("document", {"model": "pv"}, ValueError, "model='pv'.*'dm', 'dbow'"),
    ("document", {"combine": "max"}, ValueError, "combine='max'"),
    ("document", {"train_words": 1}, TypeError, "train_words=1"),
    ("document", {"frozen": "no"}, TypeError, "frozen='no'"),
    ("document", {"combine": "concat"}, ValueError, "outputs.*combine='concat', window=2"),
    ("document", {"frozen": True, "threads": 2}, ValueError, "threads=2 with frozen=True")]
BAD_STATES = [
    ("window", {"words": [0, 1, 5, 0]}, ValueError, "words reach from 0 to 5"),
    ("window", {"words": [0, 1, -1, 0]}, ValueError, "words reach from -1"),
    ("window", {"words": [0.5, 1, 2, 0]}, TypeError, "words=.*float64"),
    ("window", {"words": [True, False, True, True]}, TypeError, "words=.*bool"),
    ("window", {"words": ["0", "1", "2", "0"]}, TypeError, "words="),
    ("window", {"words": np.zeros((4, 4), int)}, TypeError, "one axis"),
    ("window", {"words": big}, ValueError, "words reach from 0 to 4294967296"),
    ("window", {"offsets": [0, 3]}, ValueError, "offsets"),
    ("window", {"offsets": [1, 4]}, ValueError, "offsets"),
    ("window", {"offsets": [0, 1.5, 4]}, TypeError, "offsets="),
    ("window", {"offsets": np.array([0, 2**64 - 1, 4], np.uint64)}, ValueError, "offsets reach"),
    ("window", {"inputs": np.zeros((4, 4))}, ValueError, "inputs has shape"),
    ("window", {"outputs": np.zeros((3, 5))}, ValueError, "outputs"),
    ("window", {"inputs": ROWS * nan}, ValueError, r"inputs\[0\] holds NaN"),
    ("window", {"outputs": ROWS * 1e60}, ValueError, "beyond float32"),
    ("window", {"inputs": torch.full((3, 4), nan)}, ValueError, "NaN"),
    ("window", {"inputs": ROWS.astype(complex)}, TypeError, "inputs has dtype complex128"),
    ("window", {"inputs": torch.zeros(3, 4, dtype=torch.complex64)}, TypeError, "complex64"),
    ("window", {"outputs": ROWS.astype(str)}, TypeError, "outputs has dtype"),
    ("window", {"counts": [-1, 1, 1]}, ValueError, "counts"),
    ("window", {"counts": [1]}, ValueError, "words"),
    ("window", {"counts": [0, 0, 0]}, ValueError, "counts"),
    ("window", {"sample": -1}, ValueError, "sample=-1"),
    ("window", {"sample": nan}, ValueError, "sample=nan"),
    ("window", {"noise_exponent": 1e4}, ValueError, "noise_exponent=10000.* inf"),
    ("window", {"noise_exponent": -1e4, "counts": [3, 4, 5]}, ValueError, "noise_exponent.* 0"),
    ("subword", {"rows": [0, 2, 3]}, ValueError, r"rows reach from 0 to 3.*\[0, 2\]"),
    ("subword", {"rows": [0, -1, 1]}, ValueError, "rows reach from -1"),
    ("subword", {"rows": [0.9, 1.9, 2]}, TypeError, "rows"),
    ("subword", {"rows": big[:3]}, ValueError, "rows"),
    ("subword", {"rows": np.zeros((3, 2), int)}, TypeError, "rows"),
    ("subword", {"row_offsets": [0, 3, 3]}, ValueError, "row_offsets.*rise by >= 1"),
    ("subword", {"row_offsets": [0, 3]}, ValueError, "expected 3 whole numbers"),
    ("subword", {"row_offsets": [0, 2, 4]}, ValueError, "end with 3"),
    ("subword", {"inputs": np.ones((3, 5))}, ValueError, r"inputs has shape \(3, 5\)"),
    ("subword", {"inputs": np.ones((0, 4))}, ValueError, "number of rows=0"),
    ("document", {"tags": [0, 2]}, ValueError, r"tags reach from 0 to 2.*\[0, 1\]"),
    ("document", {"tags": [0, -1]}, ValueError, "tags reach from -1"),
    ("document", {"tags": [0.0, 1.0]}, TypeError, "tags.*whole numbers on one axis"),
    ("document", {"tags": [[0, 1]]}, TypeError, "tags.*whole numbers on one axis"),
    ("document", {"tag_offsets": ["0", "1", "2"]}, TypeError, "tag_offsets.*whole numbers"),
    ("document", {"tag_offsets": [0, 0, 2]}, ValueError, "tag_offsets.*rise by >= 1"),
    ("document", {"tag_offsets": [0, 2]}, ValueError, "tag_offsets"),
    ("document", {"inputs": np.zeros((3, 4))}, ValueError, "inputs has shape"),
    ("document", {"outputs": np.zeros((2, 5))}, ValueError, "outputs"),
    ("document", {"device": "meta"}, ValueError, "device='meta'.*expected 'cpu'"),
    ("document", {"words": [0, 5]}, ValueError, "words reach from 0 to 5")
]


@pytest.mark.parametrize(("family", "options", "error", "words"), BAD_SETTINGS)
def test_P02_P04_P06_P24_P25_bad_settings_are_named_and_nothing_moves(family, options, error,
                                                                      words):
    s = make(family)
    before = s.inputs.clone()
    with pytest.raises(error, match=words):
        trained(s, family, options)
    assert torch.equal(before, s.inputs)


@pytest.mark.parametrize(("family", "changed", "error", "words"), BAD_STATES)
def test_P07_P14_V01_V04_V07_a_state_that_cannot_be_is_named(family, changed, error, words):
    STATES[family](**GOOD[family])
    with pytest.raises(error, match=words):
        STATES[family](**(GOOD[family] | changed))


CHANGED = [  # after the state was made: compiled loops follow numbers as addresses
    *((family, "words", np.full(4 if family == "window" else 2, number, np.int32))
      for family in STATES
      for number in (900_000_000, -5)),
    *(("window", "pieces", np.array(bounds))
      for bounds in ([0, 2, 4_000_000_000], [0, 7, 4], [-8, 2, 4], [0, 0, 2**62])),
    *(("window", name, x)
      for name in ("inputs", "outputs")
      for x in (torch.zeros(3, 4), torch.zeros(3, 16, dtype=torch.float64), torch.zeros(16, 3).T,
                torch.zeros(3, 32), torch.zeros(48), torch.zeros(3, 32)[:, ::2],
                torch.zeros(1, 16))), ("window", "counts", np.ones(2)),
    ("subword", "rows", np.array([900_000_000, 2, 1], np.int32)),
    ("subword", "row_offsets", np.array(
        [0, 900, 3])), *(("document", "documents", torch.zeros(2, n)) for n in (5, 32)),
    ("document", "tags", np.full(2, 99, np.int32)), ("document", "tag_offsets", np.arange(5)),
    ("document", "pieces", np.array([0, 2]))
]


@pytest.mark.parametrize(("family", "name", "value"), CHANGED)
def test_P14_V05_V09_what_was_put_in_place_of_a_state_s_arrays_is_refused(family, name, value):
    s = STATES[family](**GOOD[family], sample=0)
    setattr(s, name, value)
    words = "has become|was changed|one for each word|reach|are wrong|frozen=False"
    with pytest.raises(ValueError, match=words):
        trained(s, family)
    if family == "window" and name == "words":
        s.words[:] = [value[0], value[0], 2, 0]
        assert window_update(s, pieces=(1, 2), loss_every=1)[1] == 2  # the other document is whole


def test_a_tree_needs_as_many_rows_as_inner_nodes_and_other_states_are_refused():
    with pytest.raises(ValueError, match="outputs has 29 rows; expected 30, one for each word"):
        window_update(make("window", {"objective": TREE}))
    concat = {"combine": "concat"}
    with pytest.raises(ValueError, match="document 0 has 2. Use 'mean' or 'sum'"):
        s = make("document", concat)
        s.tags, s.tag_offsets = np.repeat(s.tags, 2), 2 * s.tag_offsets
        trained(s, "document", concat)
    for family, other in (("window", [1, 2]), ("subword", make()), ("document", make())):
        with pytest.raises(TypeError, match=f"expected a {family.title()}State"):
            getattr(kernels, f"{family}_update")(other)


def test_V09_arrays_in_any_layout_begin_the_same():
    plain = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    frozen, turned = plain.copy(), np.asfortranarray(plain)
    frozen.setflags(write=False)
    wide = np.repeat(plain, 2, axis=1)[:, ::2]
    for rows in (plain[::-1].copy()[::-1], turned, plain.astype(">f4"), frozen, wide):
        s = WindowState([0, 1, 2, 0], [0, 4], rows, rows, [2, 1, 1], sample=0)
        assert np.array_equal(s.inputs[:, :4].numpy(), plain) and np.array_equal(rows, plain)
