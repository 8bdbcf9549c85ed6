"""Ranks and resampled Spearman: the definition, the sort and the two counting loops agree exactly,
ties and huge integers included."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lessons_lib.kernels import ranks, spearman_resamples

from .conftest import gpu

ours = importlib.import_module("lessons_lib.kernels.ranks")

BACKENDS = ["cpu", "reference"]


def columns_with_ties(n: int, seed: int, *, n_columns: int = 2,
                      digits: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    gold = rng.normal(size=n).round(digits)
    return (gold + rng.normal(size=(n_columns, n))).round(digits), gold


@pytest.mark.parametrize("backend", BACKENDS)
def test_equal_values_share_the_mean_of_their_places(backend):
    assert ranks([10.0, 30.0, 20.0, 20.0], backend=backend).tolist() == [1.0, 4.0, 2.5, 2.5]
    assert ranks([[5, 5, 5], [3, 2, 1]], backend=backend).tolist() == [[2.0, 2.0, 2.0],
                                                                       [3.0, 2.0, 1.0]]
    assert ranks([-0.0, 0.0], backend=backend).tolist() == [1.5, 1.5]


@given(st.integers(0, 3), st.integers(1, 4), st.integers(1, 25), st.integers(0, 2),
       st.integers(0, 1000))
def test_the_sort_gives_what_the_definition_and_scipy_give_on_any_number_of_axes(layers, rows, n,
                                                                                 digits, seed):
    values = np.random.default_rng(seed).normal(size=(layers, rows, n)).round(digits)
    found = ranks(values)
    assert found.dtype == torch.float64 and torch.equal(found, ranks(values, backend="reference"))
    np.testing.assert_array_equal(found.numpy(), stats.rankdata(values, axis=-1) if layers
                                  else values)
    assert (found.sum(dim=-1) == n * (n + 1) / 2).all()
    assert torch.equal(ranks(np.exp(values / 2)), found) and torch.equal(ranks(-values),
                                                                         n + 1 - found)


@pytest.mark.parametrize("backend", BACKENDS)
def test_integers_that_float64_cannot_tell_apart_keep_their_order(backend):
    assert ranks(np.array([2**53 + 1, 2**53, 2**53 + 1]), backend=backend).tolist() == [2.5, 1.0,
                                                                                        2.5]
    assert ranks(torch.tensor([2**62 + 1, 2**62]), backend=backend).tolist() == [2.0, 1.0]
    for high in (np.array([2**63 + 1, 2**63, 0], dtype=np.uint64),
                 torch.from_numpy(np.array([2**63 + 1, 2**63, 0], dtype=np.uint64))):
        assert ranks(high, backend=backend).tolist() == [3.0, 2.0, 1.0]


@pytest.mark.parametrize(("values", "expected"), [
    ([2**63, 2**63 + 1, -1], [2, 3, 1]),                # NumPy would make floats of them
    ([2**64, 2**64 + 1, -1, True, 2**64], [3.5, 5, 1, 2, 3.5]),
    ((2**53, 2**53 + 1, 0.5), [2, 3, 1]),
    ([[2**53 + 1, 2**53, 0.5], [1, -(2**70), 1]], [[3, 2, 1], [2.5, 1, 2.5]]),
    ([np.int64(2**62), np.int64(2**62 + 1), np.uint64(2**63)], [1, 2, 3]),
    ([1e300, 2.0, 1e300], [2.5, 1, 2.5]),
])
def test_integers_of_lists_are_compared_exactly_whatever_their_size(values, expected):
    assert ranks(values).tolist() == expected


@pytest.mark.parametrize("kind", ["bool", "int8", "uint16", "float16", "float32", ">f8", ">i4",
                                  "longdouble"])
def test_V07_V08_every_real_type_is_ranked(kind):
    assert ranks(np.array([1, 0, 1], dtype=kind)).tolist() == [2.5, 1.0, 2.5]


def test_V09_views_give_the_same_ranks_and_inputs_stay_as_they_were():
    values = np.random.default_rng(0).normal(size=(4, 9)).round(1)
    before = values.copy()
    values.setflags(write=False)
    expected = ranks(before)
    for view in (values, np.asfortranarray(values), values[:, ::-1][:, ::-1],
                 np.repeat(values, 2, axis=1)[:, ::2]):
        assert torch.equal(ranks(view), expected)
    assert torch.equal(ranks(torch.from_numpy(before).T.contiguous().T), expected)
    negated = torch.tensor([1 + 2j, 3 + 1j, 5 + 9j]).conj().imag    # only when it is read
    assert negated.is_neg() and ranks(negated).tolist() == [2.0, 3.0, 1.0]
    np.testing.assert_array_equal(values, before)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 4), (1,), (2, 1)])
def test_V21_no_values_and_one_value(shape, backend):
    found = ranks(np.zeros(shape), backend=backend)
    assert tuple(found.shape) == shape and found.dtype == torch.float64 and (found == 1).all()


@given(st.integers(2, 25), st.integers(1, 30), st.integers(0, 2), st.integers(1, 3),
       st.integers(0, 1000))
def test_both_counting_loops_give_the_definition_in_every_resample(n, drawn, digits, n_columns,
                                                                   seed):
    columns, gold = columns_with_ties(n, seed, n_columns=n_columns, digits=digits)
    draws = np.random.default_rng(seed).integers(n, size=(8, drawn))
    expected = spearman_resamples(columns, gold, draws, backend="reference")
    found = spearman_resamples(columns, gold, draws)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-13, equal_nan=True)
    groups = torch.cat([ours._groups(torch.from_numpy(columns)),
                        ours._groups(torch.from_numpy(gold))[None]])
    with pytest.MonkeyPatch.context() as patch:
        # blocks of three resamples, the last one ragged
        patch.setattr(ours, "BLOCK", 3 * max(n, drawn))
        scattered = ours._by_scatter(groups, torch.from_numpy(draws))
    torch.testing.assert_close(scattered, found, rtol=0, atol=1e-15, equal_nan=True)


def test_a_resample_is_the_spearman_of_what_was_drawn_by_scipy():
    columns, gold = columns_with_ties(40, 3)
    draws = np.random.default_rng(1).integers(40, size=(10, 40))
    expected = [[stats.spearmanr(column[rows], gold[rows]).statistic for rows in draws]
                for column in columns]
    np.testing.assert_allclose(spearman_resamples(columns, gold, draws), expected, atol=1e-12)


def test_every_pair_once_is_the_plain_correlation_and_increasing_functions_change_no_bit():
    columns, gold = columns_with_ties(50, 4)
    everything = np.arange(50)[None]
    assert spearman_resamples([gold, -gold], gold, everything).tolist() == [[1.0], [-1.0]]
    draws = np.random.default_rng(2).integers(50, size=(20, 50))
    found = spearman_resamples(columns, gold, draws)
    assert torch.equal(spearman_resamples(np.exp(columns / 3), gold**3, draws), found)
    assert torch.equal(spearman_resamples(ranks(columns), ranks(gold), draws), found)
    np.testing.assert_allclose(spearman_resamples(-columns, gold, draws), -found, atol=1e-15)
    assert torch.equal(spearman_resamples(columns, gold,
                                          np.random.default_rng(0).permuted(draws, axis=1)), found)


def test_blocks_of_draws_are_read_one_by_one_and_change_no_bit():
    columns, gold = columns_with_ties(30, 5)
    draws = np.random.default_rng(3).integers(30, size=(10, 30))
    whole = spearman_resamples(columns, gold, draws)
    for backend in BACKENDS:
        blocks = (draws[k : k + 4].astype(np.int32) for k in range(0, 10, 4))
        torch.testing.assert_close(spearman_resamples(columns, gold, blocks, backend=backend),
                                   whole, rtol=0, atol=1e-13)
        assert spearman_resamples(columns, gold, iter(()), backend=backend).shape == (2, 0)
    assert torch.equal(spearman_resamples(
        columns, gold, torch.from_numpy(draws).repeat_interleave(2, dim=1)[:, ::2]), whole)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_resample_with_a_constant_side_has_no_correlation(backend):
    found = spearman_resamples([[1.0, 2.0, 2.0]], [1.0, 2.0, 3.0],
                               np.array([[0, 0, 0], [1, 2, 2], [0, 1, 2], [0, 1, 1]]),
                               backend=backend)
    assert found.isnan().tolist() == [[True, True, False, False]] and found[0, 3] == 1.0
    # integers beyond 2^53 stay apart
    found = spearman_resamples(np.array([[2**53 + 1, 2**53, 2**53 + 2]]), np.array([2, 1, 3]),
                               np.array([[0, 1, 2], [0, 1, 1]]), backend=backend)
    assert found.tolist() == [[1.0, 1.0]]


def test_sums_of_a_hundred_thousand_pairs_are_exact_whole_numbers():
    n = 100_000
    rng = np.random.default_rng(6)
    x = rng.permutation(n)
    y, draws = x ^ 1, rng.integers(n, size=(1, n))      # neighbours change places
    a, b = ((2 * stats.rankdata(side[draws[0]]) - n - 1).astype(np.int64).tolist() for side in (x,
                                                                                                y))
    product, square_a, square_b = (sum(p * q for p, q in zip(u, v, strict=True)) for u,
                                   v in ((a, b), (a, a), (b, b)))
    expected = product / math.sqrt(square_a * square_b)
    assert spearman_resamples(x[None], y, draws).item() == pytest.approx(expected, abs=2**-52)


@pytest.mark.gpu
@gpu
@pytest.mark.parametrize("shape", [(65_537,), (257, 1379), (3, 5, 100)])
def test_gpu_ranks_are_the_ranks_of_the_processor(shape):
    values = torch.from_numpy(np.random.default_rng(0).normal(size=shape).round(1))
    for kind in (torch.float64, torch.float32, torch.bfloat16):
        assert torch.equal(ranks(values.to("cuda", kind)).cpu(), ranks(values.to(kind)))
    assert torch.equal(ranks((10 * values).long().cuda()).cpu(), ranks((10 * values).long()))


@pytest.mark.gpu
@gpu
def test_gpu_resamples_are_those_of_the_processor_in_every_run():
    columns, gold = columns_with_ties(1379, 1)
    draws = np.random.default_rng(0).integers(1379, size=(10_000, 1379))
    on_gpu = [torch.from_numpy(v).cuda() for v in (columns, gold, draws)]
    runs = [spearman_resamples(*on_gpu) for _ in range(3)]
    assert all(torch.equal(runs[0], run) for run in runs)
    torch.testing.assert_close(runs[0].cpu(), spearman_resamples(columns, gold, draws), rtol=0,
                               atol=1e-15)
