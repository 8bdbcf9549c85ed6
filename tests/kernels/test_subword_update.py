"""Subword updates: gradients against autograd, vector code against the textbook, window updates as the special case, and repeated outputs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.kernels import SubwordState, WindowState, subword_update, trace, window_update
from lessons_lib.kernels.subword_update import cpu, reference
from lessons_lib.kernels.window_update import threads as side_by_side
from lessons_lib.kernels.window_update.reference import kept_tokens
from lessons_lib.kernels.window_update.state import checked_settings
from lessons_lib.kernels.window_update.threads import add_up

ARCHITECTURES, OBJECTIVES = ("skip_gram", "cbow"), ("negative_sampling", "hierarchical_softmax")
KINDS = list(itertools.product(ARCHITECTURES, OBJECTIVES))


def make(d=20, *, n_words=30, n=300, n_rows=50, most=8, hierarchical=False, documents=10, seed=0, sample=0.05, scale=0.3):
    """Words of 1 to ``most`` rows each, some of them twice."""
    rng = np.random.default_rng(seed)
    words = np.minimum(rng.zipf(1.5, size=n) - 1, n_words - 1)
    bounds = np.concatenate([[0], np.cumsum(rng.integers(1, most + 1, size=n_words))])
    inputs, outputs = (rng.normal(size=(rows, d)) * scale for rows in (n_rows, n_words - int(hierarchical)))
    return SubwordState(words, np.linspace(0, n, documents + 1).astype(int), inputs, outputs, np.bincount(words, minlength=n_words) + 1,
                        sample=sample, rows=rng.integers(0, n_rows, size=bounds[-1]), row_offsets=bounds)


def trained(start, **options):
    """The state after one pass, and what the pass returned."""
    return start, subword_update(start, **({"loss_every": 2, "learning_rate": (0.05, 0.01)} | options))


def assert_same(a, b, *, atol=0.0, loss=1e-4):
    for name in ("inputs", "outputs"):
        torch.testing.assert_close(getattr(a[0], name), getattr(b[0], name), rtol=0, atol=atol)
    assert a[1][1] == b[1][1] and a[1][0] == pytest.approx(b[1][0], rel=loss if atol else 0.0)


def lists_of(state):
    return [state.rows[a:b].tolist() for a, b in itertools.pairwise(state.row_offsets.tolist())]


# ------------------------------------------------------------------------------------------------ the formula


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("backend", ["cpu", "reference"])
@pytest.mark.parametrize(("architecture", "objective"), KINDS)
def test_windows_move_both_matrices_by_the_gradient_of_their_loss(architecture, objective, backend, share):
    """Three words, every window as wide as the text: the loss as a formula of all rows, and what a tiny rate moves."""
    rate, k = 1e-3, 4
    start = make(12, n_words=5, n=3, n_rows=9, documents=1, hierarchical=objective == "hierarchical_softmax", sample=0.0, seed=4)
    start.words[:] = [0, 3, 1]
    a, b = (getattr(start, name)[:, :12].double().requires_grad_() for name in ("inputs", "outputs"))
    before, lists, loss = (a.detach().clone(), b.detach().clone()), lists_of(start), 0.0
    how = checked_settings(start, architecture=architecture, objective=objective, window=1, negatives=k, learning_rate=rate, share_error=share,
                           loss_every=0, seed=0, epoch=0, pieces=None, threads=1, deterministic=True, subwords=True)
    words = start.words
    for at, (_, _, numbers, _) in enumerate(kept_tokens(start, how, 0, int(start.keys(how)[0]))):
        contexts = [j for j in range(max(0, at - 1), min(3, at + 2)) if j != at]
        targets = words[[at]] if architecture == "cbow" else words[contexts]
        rows = [row for j in (contexts if architecture == "cbow" else [at]) for row in lists[words[j]]]
        x = a[rows].mean(dim=0)
        for word in targets.tolist():
            if how.hierarchical:
                path = slice(*start.paths.offsets[word : word + 2])
                signs = torch.from_numpy(1.0 - 2.0 * start.paths.bits[path]).double()
                loss = loss - torch.nn.functional.logsigmoid(signs * (b[torch.from_numpy(start.paths.nodes[path]).long()] @ x)).sum()
                continue
            noise_draws = numbers[1 : 1 + k * len(targets)]
            columns = [int(number) >> 32 for number in noise_draws]
            drawn = [c * 5 >> 32 for c in columns]
            drawn = [c if int(z) & 0x7FFFFFFF < start.thresholds[c] else int(start.others[c]) for c, z in zip(drawn, noise_draws, strict=True)]
            noise = [w for w in drawn if w != word]
            loss = loss - torch.nn.functional.logsigmoid(b[word] @ x) - torch.nn.functional.logsigmoid(-(b[noise] @ x)).sum() / len(targets)
    gradients = torch.autograd.grad(loss, (a, b))
    subword_update(start, architecture=architecture, objective=objective, window=1, negatives=k, learning_rate=rate, share_error=share,
                   backend=backend)
    moved = [(getattr(start, name)[:, :12].double() - old) / rate for name, old in zip(("inputs", "outputs"), before, strict=True)]
    torch.testing.assert_close(moved[1], -gradients[1], rtol=0, atol=3e-3)
    if share:                                   # without it rows learn n times their gradient, n differing from window to window
        torch.testing.assert_close(moved[0], -gradients[0], rtol=0, atol=3e-3)
        assert gradients[0].abs().max() > 0.01
    else:
        assert moved[0].norm() > 1.5 * gradients[0].norm()


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize(("architecture", "objective"), KINDS)
@pytest.mark.parametrize("d", [1, 7, 20, 100])
def test_the_vector_code_learns_what_the_textbook_learns(d, architecture, objective, share):
    found = [trained(make(d, hierarchical=objective == OBJECTIVES[1]), architecture=architecture, objective=objective, share_error=share,
                     backend=backend) for backend in ("reference", "cpu")]
    assert found[0][1][1] > 50
    assert_same(*found, atol=5e-6)


@given(n_words=st.integers(2, 6), n=st.integers(0, 40), window=st.integers(1, 9), negatives=st.sampled_from([1, 2, 5, 17]),
       most=st.integers(1, 12), seed=st.integers(0, 2**62))
def test_few_words_few_rows_and_much_noise_are_met_many_times_in_a_window(n_words, n, window, negatives, most, seed):
    for architecture, objective in KINDS:
        found = [trained(make(5, n_words=n_words, n=n, n_rows=3, most=most, documents=2, hierarchical=objective == OBJECTIVES[1], seed=seed % 1000),
                         seed=seed, architecture=architecture, objective=objective, window=window, negatives=negatives, backend=backend,
                         learning_rate=(0.01, 0.002)) for backend in ("reference", "cpu")]          # at 0.05 the rows grow until p is 1e-6,
        assert_same(*found, atol=5e-6, loss=1e-5)                                                   # and the loss nothing but rounding


def test_one_row_for_each_word_and_cbow_of_one_context_is_what_window_updates_do():
    """Documents of two words: every window has one context, which nothing else moves while it is near."""
    rng = np.random.default_rng(0)
    words, offsets = np.array([0, 1, 2, 3, 4, 5, 2, 1]), np.arange(0, 9, 2)
    a, b = rng.normal(size=(6, 9)), rng.normal(size=(6, 9))
    one = WindowState(words, offsets, a, b, np.ones(6), sample=0.0)
    two = SubwordState(words, offsets, a, b, np.ones(6), sample=0.0, rows=np.arange(6), row_offsets=np.arange(7))
    found = [f(state, architecture="cbow", window=1, learning_rate=0.1, loss_every=1) for f, state in ((window_update, one), (subword_update, two))]
    assert found[0][1] == found[1][1] and found[0][0] == pytest.approx(found[1][0], rel=1e-5)
    for name in ("inputs", "outputs"):
        torch.testing.assert_close(getattr(one, name), getattr(two, name), rtol=0, atol=2e-6)


def test_a_row_that_no_word_has_stays_and_padding_stays_zero():
    start = make(20, n_rows=50)
    unused = np.setdiff1d(np.arange(50), start.rows)
    before = start.inputs.clone()
    found = trained(start)[0]
    assert len(unused) and torch.equal(found.inputs[unused], before[unused]) and not torch.equal(found.inputs, before)
    assert not found.inputs[:, 20:].any() and not found.outputs[:, 20:].any()


def test_very_large_products_saturate_and_stay_finite():
    for backend, architecture in itertools.product(("cpu", "reference"), ARCHITECTURES):
        with np.errstate(over="ignore", divide="ignore"):
            found = trained(make(20, scale=30.0), architecture=architecture, backend=backend, loss_every=0)[0]
        assert torch.isfinite(found.inputs).all() and torch.isfinite(found.outputs).all()


# ------------------------------------------------------------------------------------------------ threads and parts


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(("architecture", "objective"), KINDS)
def test_runs_are_repeated_bit_by_bit(threads, architecture, objective, monkeypatch):
    monkeypatch.setattr(side_by_side, "TOKENS_PER_SUM", 90)
    make_one = {"n": 1000, "documents": 40, "hierarchical": objective == OBJECTIVES[1]}
    found = [trained(make(**make_one), architecture=architecture, objective=objective, threads=threads) for _ in range(2)]
    assert_same(*found)
    assert not torch.equal(found[0][0].inputs, make(**make_one).inputs)


def test_threads_on_text_without_common_rows_learn_what_one_learns(monkeypatch):
    """Two languages that share no word, one half of the text each; the nodes of the tree that both use hardly move at this rate."""
    def two():
        words = np.concatenate([np.tile([0, 1, 2], 20), np.tile([3, 4, 5], 20)])
        rng = np.random.default_rng(3)
        return SubwordState(words, np.arange(0, 121, 6), rng.normal(size=(6, 8)), rng.normal(size=(5, 8)), np.ones(6), sample=0.0,
                            rows=np.arange(6), row_offsets=np.arange(7))

    for tokens in (10, 1000):
        monkeypatch.setattr(side_by_side, "TOKENS_PER_SUM", tokens)
        one, both = (trained(two(), objective="hierarchical_softmax", threads=threads, learning_rate=1e-4) for threads in (1, 2))
        for name in ("inputs", "outputs"):
            moved = (getattr(one[0], name) - getattr(two(), name)).norm()
            assert 0 < (getattr(one[0], name) - getattr(both[0], name)).norm() < 0.02 * moved and one[1][1] == both[1][1]


def test_changes_of_all_threads_are_added_to_the_rows_of_words_that_were_met():
    rng = np.random.default_rng(0)
    base, changes = rng.normal(size=(5, 16)).astype(np.float32), rng.normal(size=(3, 5, 16)).astype(np.float32)
    copies, rows = tuple(base + change for change in changes), np.array([0, 3])
    expected = base.copy()
    expected[rows] += changes[:, rows].sum(axis=0)
    add_up(base, copies, rows)
    np.testing.assert_allclose(base, expected, rtol=0, atol=1e-6)
    assert all(np.array_equal(copy[rows], base[rows]) for copy in copies)
    state = make()
    words = state.words[state.pieces[2] : state.pieces[5]]
    assert cpu._touched(state, 2, 5).tolist() == sorted({row for word in words for row in lists_of(state)[word]})


def test_threads_that_race_keep_numbers_finite():
    found = trained(make(n=2000, documents=50), threads=2, deterministic=False)
    assert torch.isfinite(found[0].inputs).all() and found[1][1] > 100


def test_parts_one_after_the_other_are_the_whole():
    whole, start = trained(make()), make()
    sums = [subword_update(start, loss_every=2, learning_rate=(0.05, 0.01), pieces=part) for part in ((0, 3), (3, 3), (3, 10))]
    assert_same(whole, (start, (sum(loss for loss, _ in sums), sum(n for _, n in sums))), atol=1e-12)


def test_another_seed_and_another_epoch_draw_otherwise():
    found = [trained(make(), seed=seed, epoch=epoch)[0].inputs for seed, epoch in ((0, 0), (1, 0), (0, 1))]
    assert not torch.equal(found[0], found[1]) and not torch.equal(found[0], found[2])


def test_what_ran_is_recorded_with_the_reason():
    with trace() as seen:
        trained(make())
    assert "subword_update" in str(seen) and "waits for memory" in str(seen)


# ------------------------------------------------------------------------------------------------ wrong calls


def test_wrong_states_and_settings_are_named():
    good = {"words": [0, 1], "offsets": [0, 2], "inputs": np.ones((3, 2)), "outputs": np.ones((2, 2)), "counts": [1, 1], "rows": [0, 2, 1],
            "row_offsets": [0, 2, 3]}
    SubwordState(**good)
    for change, message in (({"rows": [0, 2, 3]}, r"rows reach from 0 to 3; expected ints in \[0, 2\]"), ({"rows": [0, -1, 1]}, "rows reach from -1"),
                            ({"row_offsets": [0, 3, 3]}, "rise by >= 1"), ({"row_offsets": [0, 3]}, "expected 3 whole numbers"),
                            ({"row_offsets": [0, 2, 4]}, "end with 3"), ({"inputs": np.ones((3, 4))}, r"inputs has shape \(3, 4\)"),
                            ({"inputs": np.ones((0, 2))}, "number of rows=0")):
        with pytest.raises(ValueError, match=message):
            SubwordState(**(good | change))
    with pytest.raises(TypeError, match="expected a SubwordState"):
        subword_update(WindowState([0, 1], [0, 2], np.ones((2, 2)), np.ones((2, 2)), [1, 1]))
    with pytest.raises(ValueError, match="negatives=0"):
        subword_update(SubwordState(**good), negatives=0)
