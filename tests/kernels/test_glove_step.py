"""GloVe steps: the gradient against autograd, AdaGrad against its textbook, an exact factorisation,
and bits that do not depend on threads."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from lessons_lib.kernels import GloveState, glove_step, trace
from lessons_lib.kernels.glove_step.state import shifts

NAMES = ("words", "contexts", "word_squares", "context_squares")


def matrix(n=12, m=None, density=0.5, seed=0):
    rng = np.random.default_rng(seed)
    found = sparse.random(n, m or n, density, format="csr", random_state=rng)
    found.data = np.exp(2 * rng.normal(size=found.nnz)).astype(np.float32)
    return found


def make(counts=None, d=5, *, scale=0.3, seed=1, **options):
    counts, rng = matrix() if counts is None else counts, np.random.default_rng(seed)
    rows = [rng.normal(size=(n, d + 1)) * scale for n in counts.shape]
    return GloveState(counts.indptr, counts.indices, counts.data, *rows,
                      **({"x_max": 5.0} | options))


def one_count(x=7.0, **options):
    """One word, one context, one count: a step is one step."""
    return make(sparse.csr_matrix([[np.float32(x)]]), **options)


def parameters(state):
    return dict(zip(NAMES, (torch.from_numpy(x).double() for x in state.parameters()), strict=True))


def cost(words, contexts, counts, x_max=5.0, exponent=0.75):
    """½ Σ f diff² in plain torch."""
    rows, columns = (torch.from_numpy(x).long() for x in counts.nonzero())
    x = torch.from_numpy(np.asarray(counts[counts.nonzero()]).ravel()).double()
    diff = ((words[rows, :-1] * contexts[columns, :-1]).sum(1) + words[rows, -1] +
            contexts[columns, -1] - x.log())
    return 0.5 * ((x / x_max).clamp(max=1.0)**exponent * diff**2).sum()


@pytest.mark.parametrize("backend", ["cpu", "reference"])
@pytest.mark.parametrize("x", [0.2, 3.0, 5.0, 80.0])
def test_one_step_moves_both_rows_by_the_gradient_of_the_cost(x, backend):  # methods 24.23
    state, rate = one_count(x), 1e-3
    before = parameters(state)
    words, contexts = (before[name].clone().requires_grad_() for name in NAMES[:2])
    value = cost(words, contexts, sparse.csr_matrix([[x]]))
    gradients = torch.autograd.grad(value, (words, contexts))
    loss, left_out = glove_step(state, learning_rate=rate, backend=backend)
    assert loss == pytest.approx(value.item(), rel=1e-5) and left_out == 0
    for name, gradient in zip(NAMES, gradients, strict=False):
        moved = (before[name] - parameters(state)[name]) / rate
        assert gradient.abs().max() > 0.1
        torch.testing.assert_close(moved, gradient, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_steps_are_adagrad_with_rate_1_and_one_over_eta_squared_at_the_beginning(
        backend):  # methods 4.3, item 2
    """θ −= g / √(1 / η² + Σ of the squares of former g); most libraries count the present g among
    them."""
    state, rate = one_count(), 0.05
    rows = [parameters(state)[name].requires_grad_() for name in NAMES[:2]]
    sums = [torch.full_like(x, 1 / rate**2) for x in rows]
    for epoch in range(50):
        gradients = torch.autograd.grad(cost(*rows, sparse.csr_matrix([[7.0]])), rows)
        for x, total, gradient in zip(rows, sums, gradients, strict=True):
            x.data -= gradient / total.sqrt()
            total += gradient**2
        glove_step(state, learning_rate=rate, epoch=epoch, backend=backend)
    found = parameters(state)
    for i, name in enumerate(NAMES):
        torch.testing.assert_close(
            found[name], rows[i].detach() if i < 2 else rate**2 * sums[i - 2], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rate", [0.05, 0.2])
def test_biases_that_begin_with_sums_of_eta_squared_learn_at_rate_1(rate):  # methods 4.3, item 3
    """Their steps are √(1 + η² S) / (η √(1 + S)) times those that begin with 1, S the sum of
    squared gradients: 1 / η at first."""
    squares, pulls, moves = np.ones((1, 6), dtype=np.float32), [], []
    squares[0, -1] = rate**2
    for start in (squares, None):
        state = one_count(word_squares=start)
        state.words[0, 0, :5] = 0.0  # one word without a vector: its bias alone
        state.contexts[0, 0, 6] = 0.0
        pull = float(state.weights[0] * (state.words[0, 0, 5] - state.logs[0]))
        before = parameters(state)["words"][0, -1].item()
        for epoch in range(2):
            glove_step(state, learning_rate=rate, epoch=epoch)
            state.words[0, 0, 5] = before  # so that both gradients are the same
            state.contexts[0, 0, :5], state.contexts[0, 0, 6], state.words[0, 0, :5] = 0.0, 0.0, 0.0
        glove_step(state, learning_rate=rate, epoch=2)
        pulls.append(pull)
        moves.append(parameters(state)["words"][0, -1].item() - before)
    s = 2 * pulls[0]**2
    assert moves[0] / moves[1] == pytest.approx(
        np.sqrt(1 + rate**2 * s) / (rate * np.sqrt(1 + s)), rel=1e-4)
    assert moves[0] == pytest.approx(-pulls[0] / np.sqrt(1 + s),
                                     rel=1e-4)  # as the original program does it


@pytest.mark.parametrize(("x_max", "x", "expected"), [
    (100, 1, 0.03162), (100, 5, 0.10574), (100, 10, 0.17783), (100, 50, 0.59460), (100, 100, 1.0),
    (100, 5000, 1.0), (10, 1, 0.17783), (10, 5, 0.59460)])
def test_the_weight_of_a_count(x_max, x, expected):  # methods 4.1
    state = one_count(x, x_max=x_max)
    assert float(state.weights[0]) == pytest.approx(expected, abs=1e-5) and float(
        state.logs[0]) == pytest.approx(np.log(x), rel=1e-6)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_gradients_are_clipped_before_the_rate(backend):
    state = one_count(scale=30.0)
    before = parameters(state)
    glove_step(state, learning_rate=0.5, clip=2.0, backend=backend)
    moved = {name: x - before[name] for name, x in parameters(state).items()}
    assert float(moved["words"].abs().max()) == pytest.approx(1.0, rel=1e-5)  # η times 2, over √1
    assert float(moved["word_squares"].max()) == pytest.approx(1.0, rel=1e-5)
    assert int((moved["words"].abs() > 0.999).sum()) >= 5


def test_the_vector_code_learns_what_the_textbook_learns():
    for d in (1, 6, 14, 15, 16, 40, 100):
        found = [make(d=d, groups=3, scale=0.1) for _ in range(2)]
        for epoch in range(3):
            losses = [glove_step(state, learning_rate=0.2, epoch=epoch, seed=5, backend=backend)
                      for state, backend in zip(found, ("cpu", "reference"), strict=True)]
            assert losses[0] == pytest.approx(losses[1], rel=1e-5)
        for name, x in parameters(found[0]).items():
            torch.testing.assert_close(x, parameters(found[1])[name], rtol=1e-4, atol=1e-5)


@given(rows=st.integers(1, 9), columns=st.integers(1, 9), density=st.floats(0.0, 1.0),
       seed=st.integers(0, 2**32 - 1), data=st.data())
def test_any_shape_of_counts_in_any_number_of_groups_is_learned_once(rows, columns, density, seed,
                                                                     data):
    groups = data.draw(st.integers(1, min(rows, columns)))
    counts = matrix(rows, columns, density, seed)
    found = [make(counts, groups=groups, seed=seed) for _ in range(2)]
    losses = [glove_step(state, learning_rate=0.3, seed=seed, backend=backend)
              for state, backend in zip(found, ("cpu", "reference"), strict=True)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5, abs=1e-9)
    for name, x in parameters(found[0]).items():
        torch.testing.assert_close(x, parameters(found[1])[name], rtol=1e-4, atol=1e-5)


def test_ones_and_padding_stay_as_they_are():
    state = make(d=5)
    for epoch in range(3):
        glove_step(state, learning_rate=2.0, epoch=epoch)
    assert (state.words[:, 0, 6] == 1).all() and (state.contexts[:, 0, 5] == 1).all()
    assert not state.words[:, 0, 7:].any() and not state.contexts[:, 0, 7:].any()
    assert state.words.shape[2] == 16 and state.words.data_ptr() % 64 == 0


def test_log_counts_of_low_rank_are_factorised_exactly():  # methods 24.24
    rng, n, d = np.random.default_rng(3), 20, 4
    logs = (rng.normal(size=(n, 3)) @ rng.normal(size=(3, n)) * 0.5 + rng.normal(size=(n, 1)) +
            rng.normal(size=n))
    state = make(sparse.csr_matrix(np.exp(logs)), d, x_max=0.5, scale=0.2)
    first = glove_step(state, learning_rate=0.3)[0]
    for epoch in range(1, 1500):
        last = glove_step(state, learning_rate=0.3, epoch=epoch)[0]
    assert first > 100 and last < 1e-5
    found = parameters(state)
    fitted = (found["words"][:, :-1] @ found["contexts"][:, :-1].T + found["words"][:, -1:] +
              found["contexts"][:, -1])
    np.testing.assert_allclose(fitted.numpy(), logs, atol=2e-3)


def test_the_cost_does_not_see_a_constant_moved_from_one_bias_to_the_other():  # methods 24.25
    counts = matrix(9)
    losses = []
    for shift in (0.0, 3.0):
        rng = np.random.default_rng(2)
        words, contexts = (rng.normal(size=(9, 6)) for _ in range(2))
        words[:, -1] += shift
        contexts[:, -1] -= shift
        state = GloveState(counts.indptr, counts.indices, counts.data, words, contexts)
        losses.append(glove_step(state, learning_rate=1e-9)[0])
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_words_and_contexts_change_places_when_counts_are_symmetric():  # methods 24.25
    counts = matrix(9)
    counts = (counts + counts.T).tocsr()
    rng = np.random.default_rng(2)
    a, b = (rng.normal(size=(9, 6)) for _ in range(2))
    losses = [glove_step(GloveState(counts.indptr, counts.indices, counts.data, *pair),
                         learning_rate=1e-9)[0] for pair in ((a, b), (b, a))]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_tiles_hold_each_count_once_and_those_of_a_round_share_no_row():
    counts = matrix(40, 30, 0.4)
    state = make(counts, groups=6)
    rows, columns = state.word_order[state.rows.numpy()], state.context_order[state.columns.numpy()]
    again = sparse.csr_matrix((np.exp(state.logs.numpy()), (rows, columns)), shape=counts.shape)
    np.testing.assert_allclose(again.toarray(), counts.toarray(), rtol=1e-5)
    bounds, order = state.tiles.tolist(), shifts(6, 0, 0)
    assert sorted(order) == list(range(6)) and bounds[0] == 0 and bounds[-1] == counts.nnz
    for shift in order:
        tiles = [slice(*bounds[g * 6 + (g + shift) % 6:][:2]) for g in range(6)]
        for places in (state.rows, state.columns):
            held = [set(places[tile].tolist()) for tile in tiles]
            assert sum(map(len, held)) == len(set().union(*held))


def test_groups_have_about_as_many_counts():
    counts = sparse.csr_matrix(np.outer(1.0 / np.arange(1, 201), 1.0 / np.arange(1, 201))
                               > np.random.default_rng(0).random((200, 200)) * 0.02)
    counts = counts.astype(np.float32)
    state = make(counts, groups=8)
    per_tile = np.diff(state.tiles.numpy()).reshape(8, 8)
    for per_group, per_row in ((per_tile.sum(axis=1), counts.getnnz(axis=1)),
                               (per_tile.sum(axis=0), counts.getnnz(axis=0))):
        assert (per_group.sum() == counts.nnz and np.ptp(per_group) <= per_row.max()
                )  # what dealing out by falling number promises


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_any_number_of_threads_gives_the_same_bits(threads):
    counts = matrix(120, density=0.3)
    found = []
    for n in (1, threads):
        state = make(counts, d=20, groups=5)
        losses = [glove_step(state, epoch=epoch, threads=n, learning_rate=0.2)
                  for epoch in range(3)]
        found.append((losses, state.parameters()))
    assert found[0][0] == found[1][0]
    assert all(np.array_equal(a, b) for a, b in zip(found[0][1], found[1][1], strict=True))


def test_an_epoch_may_be_done_in_parts():
    found = []
    for parts in ([(0, 5)], [(0, 2), (2, 3), (3, 5)]):
        state = make(matrix(30), groups=5)
        found.append((sum(glove_step(state, rounds=part)[0] for part in parts), state.parameters()))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-12)
    assert all(np.array_equal(a, b) for a, b in zip(found[0][1], found[1][1], strict=True))


def test_seed_and_epoch_decide_the_order_and_equal_ones_repeat_it():
    assert shifts(30, 1, 2) == shifts(30, 1, 2) != shifts(30, 1, 3) != shifts(30, 2, 2)


def test_a_state_goes_on_from_its_parameters():
    one = make(matrix(30), groups=5)
    glove_step(one)
    counts, given = matrix(30), dict(zip(NAMES, one.parameters(), strict=True))
    two = GloveState(counts.indptr, counts.indices, counts.data, **given, x_max=5.0, groups=5)
    assert glove_step(one, epoch=1) == glove_step(two, epoch=1)
    assert all(
        np.array_equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))


def test_counts_may_lie_on_disk_and_leave_nothing_there(tmp_path):
    found = []
    for folder in (None, tmp_path):
        state = make(matrix(60), folder=folder)
        found.append((glove_step(state), state.parameters()))
    assert found[0][0] == found[1][0] and all(
        np.array_equal(a, b) for a, b in zip(found[0][1], found[1][1], strict=True))
    assert not list(tmp_path.iterdir())


def test_a_disk_that_is_too_small_is_told_before_anything_is_written(tmp_path, monkeypatch):
    from lessons_lib.kernels.glove_step import state

    monkeypatch.setattr(state.shutil, "disk_usage", lambda folder: SimpleNamespace(free=10))
    counts = matrix()
    with pytest.raises(
            OSError,
            match=rf"{counts.nnz} counts need {16 * counts.nnz:,} bytes in .*, 10 are free"):
        make(counts, folder=tmp_path / "new")


@pytest.mark.parametrize("backend", ["cpu", "reference"])
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_count_whose_difference_is_not_finite_is_left_out(wrong, backend):
    counts = sparse.csr_matrix(np.full((3, 3), 2.0, dtype=np.float32))
    state = make(counts, groups=1)
    place = int(np.flatnonzero(state.word_order == 1)[0])
    state.words[place, 0, 5] = wrong  # the bias of word 1
    before = state.words[place].clone()
    with np.errstate(invalid="ignore"):
        loss, left_out = glove_step(state, backend=backend)
    assert left_out == 3 and np.isfinite(loss) and loss > 0
    torch.testing.assert_close(state.words[place], before, rtol=0, atol=0, equal_nan=True)
    assert torch.isfinite(state.contexts).all()


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_a_count_that_has_no_logarithm_is_named(value):
    counts = matrix()
    counts.data[7] = value
    with pytest.raises(ValueError,
                       match=rf"count of row \d+, column \d+ is {value:g} \(1 of {counts.nnz} "):
        make(counts)


@pytest.mark.parametrize(("change", "words"), [
    ({"offsets": [0, 1]}, "offsets=.*expected 3 numbers"), ({"offsets": [0, 2, 1]}, "offsets="),
    ({"columns": [0, 2]}, r"columns reach from 0 to 2.*\[0, 1\]"),
    ({"columns": [-1, 0]}, "columns reach from -1"), ({"values": [1.0]}, r"as many values \(1\)"),
    ({"words": np.ones((2, 3))}, "as many columns"),
    ({"words": np.full((2, 4), np.nan)}, "words.*NaN"),
    ({"word_squares": np.zeros((2, 4))}, "word_squares.*smallest number 0"),
    ({"context_squares": np.ones((2, 3))}, r"context_squares has shape \(2, 3\)"),
    ({"groups": 3}, "groups=3"), ({"x_max": 0.0}, "x_max=0"), ({"exponent": -1.0}, "exponent=-1"),
    ({"contexts": np.ones(4)}, "contexts has shape")])
def test_a_state_that_does_not_fit_together_is_named(change, words):
    whole = {"offsets": [0, 1, 2], "columns": [0, 1], "values": [1.0, 2.0],
             "words": np.ones((2, 4)), "contexts": np.ones((2, 4))}
    with pytest.raises(ValueError, match=words):
        GloveState(**(whole | change))


@pytest.mark.parametrize(("settings", "error", "words"), [
    ({"learning_rate": 0.0}, ValueError, "learning_rate=0"),
    ({"clip": -1.0}, ValueError, "clip=-1"), ({"seed": -1}, ValueError, "seed=-1"),
    ({"epoch": 1.5}, TypeError, "epoch=1.5"), ({"rounds": (0, 99)}, ValueError, r"rounds\[1\]=99"),
    ({"rounds": (2, 1)}, ValueError, r"rounds\[1\]=1"), ({"threads": 0}, ValueError, "threads=0"),
    ({"backend": "gpu"}, ValueError, "backend='gpu'")])
def test_wrong_settings_are_named(settings, error, words):
    with pytest.raises(error, match=words):
        glove_step(make(), **settings)


def test_what_is_no_state_is_named():
    with pytest.raises(TypeError, match="expected a GloveState"):
        glove_step(matrix())


def test_the_choice_of_an_implementation_is_recorded():
    with trace() as found:
        glove_step(make())
    assert "cpu" in str(found)


ROWS = np.full((3, 4), 0.1)


def glove_state(
        offsets=(0, 1, 2), columns=(1, 0), values=(3.0, 4.0), words=ROWS[:2], contexts=ROWS[:2]):
    return GloveState(offsets, columns, values, words, contexts)


@pytest.mark.parametrize(("changed", "words"),
                         [({"columns": np.array([1.0, 0.0])}, "columns.*float64"),
                          ({"columns": np.array([True, False])}, "columns.*bool"),
                          ({"columns": [[1], [0]]}, "whole numbers on one axis"),
                          ({"offsets": [0, 1.7, 2]}, "offsets.*float64"),
                          ({"offsets": np.zeros((3, 1), int)}, "one axis"),
                          ({"values": ["3", "4"]}, "values"),
                          ({"values": np.array([3, 4], dtype=object)}, "values.*object")])
def test_V07_counts_that_are_no_numbers_are_named(changed, words):
    with pytest.raises(TypeError, match=words):
        glove_state(**changed)


@pytest.mark.parametrize("kind", [">", "<"])
def test_V09_counts_in_any_byte_order_are_the_same_and_none_are_none(kind):
    arrays = (np.array([0, 1, 2], f"{kind}i8"), np.array([1, 0], f"{kind}i4"),
              np.array([3.0, 4.0], f"{kind}f4"))
    arrays[1].setflags(write=False)
    state, plain = glove_state(*arrays), glove_state()
    assert glove_step(state) == glove_step(plain)
    assert torch.equal(state.words, plain.words)
    assert glove_step(glove_state([0, 0, 0], [], [])) == (0.0, 0)


def test_V04_numbers_beyond_float32_are_named():
    with pytest.raises(ValueError, match=r"words holds 1e\+59; expected numbers within float32"):
        glove_state(words=ROWS[:2] * 1e60)


@pytest.mark.parametrize(("name", "tensor"),
                         [("words", torch.zeros(2, 5)), ("contexts", torch.ones(1, 2, 16)),
                          ("words", torch.zeros(2, 2, 16, dtype=torch.float64)),
                          ("rows", torch.zeros(1, dtype=torch.int32)), ("columns", torch.zeros(2)),
                          ("tiles", torch.tensor([0, 9, 9, 9, 2]))])
def test_V05_tensors_put_in_place_of_those_of_a_state_are_refused(name, tensor):
    state = glove_state()
    setattr(state, name, tensor)
    with pytest.raises(ValueError, match=r"has become|tiles was changed"):
        glove_step(state)


def test_rounds_that_are_no_pair_are_named():
    with pytest.raises(TypeError, match="expected \\(first, last"):
        glove_step(glove_state(), rounds=5)
