"""GloVe steps: the gradient against autograd, AdaGrad against its textbook, an exact factorisation,
the kernel against the textbook, and bits that do not depend on threads."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from lessons_lib.kernels import GloveState, glove_step, trace
from lessons_lib.kernels.glove_step.state import shifts

from .conftest import between_guards, gpu

NAMES = ("words", "contexts", "word_squares", "context_squares")
BOTH = pytest.mark.parametrize("backend", ["cpu", "reference"])


def matrix(n=12, m=None, density=0.5, seed=0):
    rng = np.random.default_rng(seed)
    counts = sparse.random(n, m or n, density, format="csr", random_state=rng)
    counts.data = np.exp(2 * rng.normal(size=counts.nnz)).astype(np.float32)
    return counts


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


def assert_same_bits(*runs):
    """What steps returned, and the parameters of the states."""
    for returned, state in runs[1:]:
        assert returned == runs[0][0]
        assert all(map(np.array_equal, state.parameters(), runs[0][1].parameters()))


def assert_as_the_textbook(made, backend="cpu", *, epochs=1, rtol=1e-4, atol=1e-5, **options):
    """``made()`` twice, one learned by the backend, one by the textbook; returns the first."""
    state, twin = made(), made()
    for epoch in range(epochs):
        loss, left_out = glove_step(state, backend=backend, epoch=epoch, **options)
        expected, n = glove_step(twin, backend="reference", epoch=epoch, **options)
        assert left_out == n and loss == pytest.approx(expected, rel=1e-5, abs=1e-9)
    for a, b in zip(parameters(state).values(), parameters(twin).values(), strict=True):
        torch.testing.assert_close(a, b, rtol=rtol, atol=atol, equal_nan=True)
    assert (state.words[:, 0, state.dim + 1] == 1).all()        # ones and padding stay
    assert (state.contexts[:, 0, state.dim] == 1).all()
    assert not state.words[:, 0, state.dim + 2:].any()
    assert (state.words[:, 1, state.dim + 2:] == 1).all()
    return state


def cost(words, contexts, counts, x_max=5.0, exponent=0.75):
    """½ Σ f diff² in plain torch."""
    rows, columns = (torch.from_numpy(x).long() for x in counts.nonzero())
    x = torch.from_numpy(np.asarray(counts[counts.nonzero()]).ravel()).double()
    diff = ((words[rows, :-1] * contexts[columns, :-1]).sum(1) + words[rows, -1]
            + contexts[columns, -1] - x.log())
    return 0.5 * ((x / x_max).clamp(max=1.0)**exponent * diff**2).sum()


@BOTH
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


@BOTH
def test_steps_are_adagrad_with_rate_1_and_one_over_eta_squared_at_the_beginning(backend):
    """θ −= g / √(1 / η² + Σ of the squares of former g); most libraries count the present g among
    them (methods 4.3, item 2)."""
    state, rate = one_count(), 0.05
    rows = [parameters(state)[name].requires_grad_() for name in NAMES[:2]]
    sums = [torch.full_like(x, 1 / rate**2) for x in rows]
    for epoch in range(50):
        gradients = torch.autograd.grad(cost(*rows, sparse.csr_matrix([[7.0]])), rows)
        for x, total, gradient in zip(rows, sums, gradients, strict=True):
            x.data -= gradient / total.sqrt()
            total += gradient**2
        glove_step(state, learning_rate=rate, epoch=epoch, backend=backend)
    expected = [*(x.detach() for x in rows), *(rate**2 * total for total in sums)]
    for x, y in zip(parameters(state).values(), expected, strict=True):
        torch.testing.assert_close(x, y, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rate", [0.05, 0.2])
def test_biases_that_begin_with_sums_of_eta_squared_learn_at_rate_1(rate):  # methods 4.3, item 3
    """Their steps are √(1 + η² S) / (η √(1 + S)) times those that begin with 1, S the sum of
    squared gradients: 1 / η at first."""
    squares, pulls, moves = np.ones((1, 6), dtype=np.float32), [], []
    squares[0, -1] = rate**2
    for start in (squares, None):
        state = one_count(word_squares=start)
        state.words[0, 0, :5] = 0.0             # one word without a vector: its bias alone
        state.contexts[0, 0, 6] = 0.0
        pulls.append(float(state.weights[0] * (state.words[0, 0, 5] - state.logs[0])))
        before = parameters(state)["words"][0, -1].item()
        for epoch in range(2):
            glove_step(state, learning_rate=rate, epoch=epoch)
            state.words[0, 0, 5] = before       # so that both gradients are the same
            state.contexts[0, 0, :5], state.contexts[0, 0, 6], state.words[0, 0, :5] = 0.0, 0.0, 0.0
        glove_step(state, learning_rate=rate, epoch=2)
        moves.append(parameters(state)["words"][0, -1].item() - before)
    s = 2 * pulls[0]**2
    ratio = np.sqrt(1 + rate**2 * s) / (rate * np.sqrt(1 + s))
    assert moves[0] / moves[1] == pytest.approx(ratio, rel=1e-4)
    # as the original program does it
    assert moves[0] == pytest.approx(-pulls[0] / np.sqrt(1 + s), rel=1e-4)


@pytest.mark.parametrize(("x_max", "x", "expected"), [
    (100, 1, 0.03162), (100, 5, 0.10574), (100, 10, 0.17783), (100, 50, 0.59460), (100, 100, 1.0),
    (100, 5000, 1.0), (10, 1, 0.17783), (10, 5, 0.59460)])
def test_the_weight_of_a_count(x_max, x, expected):  # methods 4.1
    state = one_count(x, x_max=x_max)
    assert float(state.weights[0]) == pytest.approx(expected, abs=1e-5)
    assert float(state.logs[0]) == pytest.approx(np.log(x), rel=1e-6)


@BOTH
def test_gradients_are_clipped_before_the_rate(backend):
    state = one_count(scale=30.0)
    before = parameters(state)
    glove_step(state, learning_rate=0.5, clip=2.0, backend=backend)
    moved = {name: x - before[name] for name, x in parameters(state).items()}
    assert float(moved["words"].abs().max()) == pytest.approx(1.0, rel=1e-5)  # η times 2, over √1
    assert float(moved["word_squares"].max()) == pytest.approx(1.0, rel=1e-5)
    assert int((moved["words"].abs() > 0.999).sum()) >= 5


@pytest.mark.parametrize("d", [1, 6, 14, 15, 16, 40, 100])
def test_the_vector_code_learns_what_the_textbook_learns(d):
    state = assert_as_the_textbook(lambda: make(d=d, groups=3, scale=0.1), epochs=3, seed=5,
                                   learning_rate=0.2)
    assert state.words.shape[2] % 16 == 0 and state.words.data_ptr() % 64 == 0


@given(rows=st.integers(1, 9), columns=st.integers(1, 9), density=st.floats(0.0, 1.0),
       seed=st.integers(0, 2**32 - 1), data=st.data())
def test_any_shape_of_counts_in_any_number_of_groups_is_learned_once(rows, columns, density, seed,
                                                                     data):
    groups = data.draw(st.integers(1, min(rows, columns)))
    counts = matrix(rows, columns, density, seed)
    assert_as_the_textbook(lambda: make(counts, groups=groups, seed=seed), learning_rate=0.3,
                           seed=seed)


def test_log_counts_of_low_rank_are_factorised_exactly():  # methods 24.24
    rng, n, d = np.random.default_rng(3), 20, 4
    logs = (rng.normal(size=(n, 3)) @ rng.normal(size=(3, n)) * 0.5 + rng.normal(size=(n, 1))
            + rng.normal(size=n))
    state = make(sparse.csr_matrix(np.exp(logs)), d, x_max=0.5, scale=0.2)
    losses = [glove_step(state, learning_rate=0.3, epoch=epoch)[0] for epoch in range(1500)]
    assert losses[0] > 100 and losses[-1] < 1e-5
    words, contexts = (parameters(state)[name] for name in NAMES[:2])
    fitted = words[:, :-1] @ contexts[:, :-1].T + words[:, -1:] + contexts[:, -1]
    np.testing.assert_allclose(fitted.numpy(), logs, atol=2e-3)


def test_the_cost_sees_no_constant_moved_between_biases_nor_an_exchange_of_both_sides():
    counts, rng = matrix(9), np.random.default_rng(2)           # methods 24.25
    counts = (counts + counts.T).tocsr()
    a, b = (rng.normal(size=(9, 6)) for _ in range(2))
    shift = np.array([0.0] * 5 + [3.0])
    losses = [glove_step(GloveState(counts.indptr, counts.indices, counts.data, *pair),
                         learning_rate=1e-9)[0]
              for pair in ((a, b), (b, a), (a + shift, b - shift))]
    assert losses == pytest.approx([losses[0]] * 3, rel=1e-5)


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
    share = 1.0 / np.arange(1, 201)
    counts = np.outer(share, share) > np.random.default_rng(0).random((200, 200)) * 0.02
    counts = sparse.csr_matrix(counts.astype(np.float32))
    per_tile = np.diff(make(counts, groups=8).tiles.numpy()).reshape(8, 8)
    for axis in (0, 1):
        # what dealing out by falling number promises
        assert np.ptp(per_tile.sum(axis=axis)) <= counts.getnnz(axis=axis).max()
    assert per_tile.sum() == counts.nnz


def test_threads_parts_of_an_epoch_and_a_folder_on_disk_change_no_bit(tmp_path):
    def run(threads=1, parts=((0, 5),), folder=None):
        state = make(matrix(120, density=0.3), d=20, groups=5, folder=folder)
        losses = [sum(glove_step(state, epoch=epoch, threads=threads, learning_rate=0.2,
                                 rounds=part)[0] for part in parts) for epoch in range(3)]
        return losses, state

    whole, in_parts = run(), run(parts=((0, 2), (2, 3), (3, 5)))
    assert_same_bits(whole, *(run(threads) for threads in (2, 3, 7)), run(folder=tmp_path))
    assert in_parts[0] == pytest.approx(whole[0], rel=1e-12)
    assert_same_bits(whole, (whole[0], in_parts[1]))
    assert not list(tmp_path.iterdir())


def test_seed_and_epoch_decide_the_order_and_a_state_goes_on_from_its_parameters():
    assert shifts(30, 1, 2) == shifts(30, 1, 2) != shifts(30, 1, 3) != shifts(30, 2, 2)
    one, counts = make(matrix(30), groups=5), matrix(30)
    glove_step(one)
    given = dict(zip(NAMES, one.parameters(), strict=True))
    two = GloveState(counts.indptr, counts.indices, counts.data, **given, x_max=5.0, groups=5)
    assert_same_bits(*((glove_step(state, epoch=1), state) for state in (one, two)))


@BOTH
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_count_whose_difference_is_not_finite_is_left_out(wrong, backend):
    state = make(sparse.csr_matrix(np.full((3, 3), 2.0, dtype=np.float32)), groups=1)
    place = int(np.flatnonzero(state.word_order == 1)[0])
    state.words[place, 0, 5] = wrong            # the bias of word 1
    before = state.words[place].clone()
    with np.errstate(invalid="ignore"):
        loss, left_out = glove_step(state, backend=backend)
    assert left_out == 3 and np.isfinite(loss) and loss > 0
    torch.testing.assert_close(state.words[place], before, rtol=0, atol=0, equal_nan=True)
    assert torch.isfinite(state.contexts).all()


@pytest.mark.parametrize("kind", [">", "<"])
def test_V09_counts_in_any_byte_order_are_the_same_and_none_are_none(kind):
    rows = np.full((2, 4), 0.1), np.full((2, 4), 0.1)
    arrays = (np.array([0, 1, 2], f"{kind}i8"), np.array([1, 0], f"{kind}i4"),
              np.array([3.0, 4.0], f"{kind}f4"))
    arrays[1].setflags(write=False)
    state, plain = GloveState(*arrays, *rows), GloveState([0, 1, 2], [1, 0], [3.0, 4.0], *rows)
    with trace() as seen:
        assert_same_bits((glove_step(state), state), (glove_step(plain), plain))
    assert "cpu" in str(seen)
    assert glove_step(GloveState([0, 0, 0], [], [], *rows)) == (0.0, 0)


def ragged(d, *, density=0.5, groups=3, **options):
    """Seven words and nine contexts, a shape that no tile divides."""
    return make(matrix(7, 9, density), d, groups=groups, scale=0.5, **options)


@pytest.mark.parametrize(("arguments", "options"), [
    *(({"d": d}, {}) for d in (1, 14, 20, 100)), ({"d": 5}, {"learning_rate": 0.5, "clip": 0.3}),
    ({"d": 5}, {"rounds": (1, 2)}), ({"d": 5}, {"rounds": (1, 1)}),
    ({"d": 5}, {"seed": 5, "epochs": 2}), ({"d": 5, "groups": 1}, {}),
    ({"d": 5, "groups": 7, "density": 0.1}, {}), ({"d": 5, "density": 0.0}, {})])
def test_the_kernel_learns_what_the_textbook_learns(arguments, options, triton_here, device):
    assert_as_the_textbook(lambda: ragged(device=device, **arguments), triton_here, rtol=2e-6,
                           atol=2e-6, **options)


def test_the_kernel_leaves_out_differences_that_are_no_numbers_and_counts_them(triton_here, device):
    def broken():
        state = ragged(6, device=device)
        state.words[2, 0, 1], state.words[3, 0, 0] = float("inf"), float("nan")
        return state

    assert_as_the_textbook(broken, triton_here, rtol=2e-6, atol=2e-6)
    assert glove_step(broken(), backend=triton_here)[1] > 0


def test_the_kernel_writes_its_rows_and_no_others_in_a_launch_for_each_round(triton_here, device):
    state = ragged(14, density=0.2, device=device)
    guards = [between_guards(state, name) for name in ("words", "contexts")]
    with trace() as seen:
        glove_step(state, backend=triton_here)
    assert [launch[:2] for launch in seen.runs[0].launches] == [("learn_tiles", (3,))] * 3
    assert all(guard() for guard in guards)


@pytest.mark.gpu
@gpu
@pytest.mark.parametrize("d", [50, 100, 300])
def test_gpu_every_run_gives_the_same_bits_and_ends_with_the_numbers_of_the_processor(d):
    """The order of all steps is the same, so only roundings differ."""
    runs = []
    for device in ("cuda", "cuda", "cuda", "cpu"):
        state = make(matrix(3000, 3500, 0.05), d, groups=256, device=device, scale=0.5 / d)
        runs.append(([glove_step(state, epoch=epoch)[0] for epoch in range(3)], state))
    assert_same_bits(*runs[:3])
    assert runs[0][0] == pytest.approx(runs[3][0], rel=1e-4)
    words, expected = (state.words[:, 0].cpu() for _, state in runs[2:])
    assert float((words - expected).norm() / expected.norm()) < 1e-3
