"""MaxSim: three implementations and one formula, whatever the lengths of the texts are."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.kernels import maxsim
from lessons_lib.kernels.maxsim import cpu, reference

from .conftest import cloud, gpu, repeated, unit


def offsets_of(lengths: list[int]) -> list[int]:
    return np.cumsum([0, *lengths]).tolist()


def test_the_score_is_the_sum_of_the_largest_products_by_hand():
    query, tokens = [[1.0, 0.0], [0.0, 2.0]], [[3.0, 1.0], [-1.0, 4.0], [-2.0, -5.0]]
    for backend in ("cpu", "reference"):
        found = maxsim(query, tokens, [0, 2, 2, 3], backend=backend)
        assert found.tolist() == [3 + 8, 0, -2 - 10]


@given(lengths=st.lists(st.integers(0, 5), max_size=6), m=st.integers(0, 4), d=st.integers(1, 4),
       seed=st.integers(0, 99), block=st.integers(1, 20),
       dtype=st.sampled_from([torch.float64, torch.float32, torch.bfloat16]))
def test_blocks_of_products_give_the_formula(lengths, m, d, seed, block, dtype):
    query, tokens = cloud(m, d, seed, dtype), cloud(sum(lengths), d, seed + 1, dtype)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu, "BLOCK", block)
        found = maxsim(query, tokens, offsets_of(lengths))
    exact = reference.maxsim(query.double(), tokens.double(), torch.tensor(offsets_of(lengths)))
    assert found.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    torch.testing.assert_close(found.double(), exact, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize(("m", "d", "lengths"), [(19, 40, [0, 7, 0, 33, 20]), (1, 5, [1]),
                                                 (16, 64, [16, 17, 0]), (3, 100, [])])
def test_the_kernel_is_as_exact_as_the_formula(m, d, lengths, dtype, triton_here, device, guarded,
                                               assert_as_exact_as):
    query, tokens = (cloud(n, d, n, dtype).to(device) for n in (m, sum(lengths)))
    found, twin = (maxsim(query, tokens, offsets_of(lengths), backend=backend)
                   for backend in (triton_here, "reference"))
    exact = maxsim(query.double(), tokens.double(), offsets_of(lengths), backend="reference")
    if len(lengths):
        assert_as_exact_as(found, twin, exact)
    assert found.shape == exact.shape and not found[[n == 0 for n in lengths]].any()


def test_layout_and_kind_of_the_input_make_no_difference():
    query, tokens, offsets = cloud(3, 6), cloud(20, 6, 1), [0, 7, 20]
    expected = maxsim(query, tokens, offsets)
    wide = torch.stack([tokens, tokens + 1], dim=1).flatten(1)
    array = tokens.numpy().copy()
    array.flags.writeable = False
    for view in (wide[:, :6], tokens.T.contiguous().T, array):
        torch.testing.assert_close(maxsim(query, view, np.array(offsets, np.uint8)), expected)
    assert np.array_equal(array, tokens.numpy())


def test_what_is_no_question_or_no_text_is_named(any_backend):
    backend, where = any_backend
    x = torch.eye(3, device=where)
    for query, tokens, offsets, error, words in (
            (x[:, :2], x, [0, 3], ValueError, "query has 2 columns and tokens has 3"),
            (x.half(), x, [0, 3], TypeError, "one type"),
            (x, x, [0, 2], ValueError, "rows of tokens"),
            (x, x, [0, 2, 1, 3], ValueError, r"offsets\[2\]=1 is less"),
            (x, x / 0, [0, 3], ValueError, r"tokens\[0\] holds NaN or infinity"),
            (x * float("inf"), x, [0, 3], ValueError, r"query\[0\] holds NaN")):
        with pytest.raises(error, match=words):
            maxsim(query, tokens, offsets, backend=backend)


def test_it_can_be_compiled_whole_and_torch_knows_it():
    query, tokens, offsets = unit(3, 4), unit(9, 4, 1), torch.tensor([0, 3, 9])
    torch.library.opcheck(torch.ops.lessons_lib.maxsim.default, (query, tokens, offsets, "cpu"))
    compiled = torch.compile(lambda q: maxsim(2 * q, tokens, offsets).sum(), backend="aot_eager",
                             fullgraph=True)
    torch.testing.assert_close(compiled(query), 2 * maxsim(query, tokens, offsets).sum())


@pytest.mark.gpu
@gpu
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 1e-2)])
@pytest.mark.parametrize(("m", "d", "texts"), [(32, 128, 5000), (7, 384, 300), (200, 100, 3)])
def test_gpu_kernel_agrees_and_repeats_itself(m, d, texts, dtype, tolerance):
    lengths = torch.randint(0, 200, (texts,), generator=torch.Generator().manual_seed(0)).tolist()
    query, tokens = unit(m, d, 1, dtype).cuda(), unit(sum(lengths), d, 2, dtype).cuda()
    offsets = offsets_of(lengths)
    found, = repeated(lambda: (maxsim(query, tokens, offsets, backend="triton"),))
    exact = cpu.maxsim(query.double(), tokens.double(), torch.tensor(offsets).cuda())
    assert (found.double() - exact).norm() <= tolerance * exact.norm()
