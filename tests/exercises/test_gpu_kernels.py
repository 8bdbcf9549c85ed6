"""The exercises of lesson 15: the judges say what is wrong, and what the answers claim is measured.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lessons_lib import kernels
from lessons_lib.exercises import verdict
from lessons_lib.exercises.gpu_kernels import EXERCISES


def test_column_log_sums_and_slopes_are_those_that_the_library_has():
    rng = np.random.default_rng(0)
    q, k = (torch.from_numpy(rng.normal(size=(9, 4))).requires_grad_() for _ in range(2))
    logits = q @ k.T
    sums = EXERCISES["column_log_sums"].solution([logits.detach().numpy()[:5],
                                                  logits.detach().numpy()[5:]])
    both = kernels.info_nce(q, k, temperature=1.0, symmetric=True)
    rows = logits.logsumexp(dim=1).mean() - logits.diagonal().mean()
    assert np.isclose(sums.mean() - logits.diagonal().mean().item(), (2 * both - rows).item())
    kernels.info_nce(q, k, temperature=1.0).backward()
    slopes = [EXERCISES["wrong_rows"].solution(logits.detach().numpy()[rows], start)
              for rows, start in ((slice(0, 5), 0), (slice(5, 9), 5))]
    assert np.allclose(np.concatenate(slopes) @ k.detach().numpy() / 9, q.grad.numpy())


@pytest.mark.parametrize(("answer", "said"), [
    ({"add": 0.083, "matrix x matrix": 500, "matrix x vector": 0.5, "tall x wide": 25}, "correct"),
    ({"add": np.float32(0.08), "matrix x matrix": np.int64(500), "matrix x vector": 0.5,
      "tall x wide": 25}, "correct"),
    ({"add": 0.083, "matrix x matrix": 500, "matrix x vector": 0.5, "tall x wide": 100},
     "'tall x wide' has not 100"),
    ({"add": 0.083, "matrix x matrix": 500, "matrix x vector": 0.5},
     "expected a dict with the names 'add'"),
    ({"add": "1/12", "matrix x matrix": 500, "matrix x vector": 0.5, "tall x wide": 25},
     "'add' holds '1/12'; expected a number"),
    ({"add": float("nan"), "matrix x matrix": 500, "matrix x vector": 0.5, "tall x wide": 25},
     "'add' has not nan"),
])
def test_a_wrong_count_is_named(answer, said):
    assert said in verdict(EXERCISES["per_byte"], answer)


def test_a_kernel_is_judged_row_by_row_and_its_stub_counts_as_not_attempted():
    triton = pytest.importorskip("triton")
    row_range = EXERCISES["row_range"]
    assert "rows of 6 numbers near 5, 6 apart, in blocks of 4: row 0 gives" in verdict(
        row_range, row_range.wrong["padding holds 0"])
    assert verdict(row_range, triton.jit(row_range.solution)) == "correct"

    def stub(x_ptr, out_ptr, n_columns, stride, BLOCK):
        raise NotImplementedError

    assert verdict(row_range, stub) == "not attempted yet"
