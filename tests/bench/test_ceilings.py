"""Ceilings: what is counted, per second of the fastest run."""

from __future__ import annotations

import torch

from lessons_lib.bench import ceilings

SIZES = {"n_bytes": 4000, "side": 10}


def one_second(work):
    work()
    return 2.0, 1.0, 3.0                          # median, fastest, slowest


def test_a_copy_counts_what_is_read_and_what_is_written_in_the_fastest_run():
    assert ceilings.cpu_ceilings(one_second, **SIZES).copy == 8000


def test_a_product_counts_a_multiplication_and_an_addition_per_step():
    assert ceilings.cpu_ceilings(one_second, **SIZES).products == {"float32": 2000}


def test_on_a_gpu_all_precisions_are_measured_and_the_switch_of_tf32_is_put_back():
    before = torch.backends.cuda.matmul.allow_tf32
    found = ceilings.gpu_ceilings(one_second, device="cpu", **SIZES)
    assert found.products == {"bfloat16": 2000, "tf32": 2000, "float32": 2000, "tf32x3": 2000 / 3}
    assert torch.backends.cuda.matmul.allow_tf32 == before


def test_ceilings_become_rows_without_a_goal():
    rows = list(ceilings.rows("toy", ceilings.Ceilings(2e9, {"float32": 3e9}, "2 threads")))
    assert [(row.value, row.value_unit, row.met) for row in rows] == [(2.0, "GB/s", None), (3.0, "GFLOP/s", None)]
    assert {row.config for row in rows} == {"2 threads"}
