"""Operation and byte counts against counts made by hand for the sizes that the course plans with, and against the floors they give on one GPU."""

from __future__ import annotations

import pytest

from lessons_lib.bench import Ceilings, Work, work

# One H200, as planned with: copy and dense bfloat16 measured, tf32 and float32 at 80 % of the datasheet.
H200 = Ceilings(4.3e12, {"bfloat16": 790e12, "tf32": 395e12, "float32": 54e12, "tf32x3": 395e12 / 3})
N, D = 32_768, 768


@pytest.mark.parametrize(("needs", "flops", "n_bytes", "precision", "milliseconds"), [
    (work.info_nce(N, N, D, itemsize=2), 4.9e12, 0.2e9, "bfloat16", 6.3),              # three products of 2 N N d
    (work.info_nce(N, N, D, itemsize=2, backward=False), 1.65e12, 0.1e9, "bfloat16", 2.1),
    (work.uniformity(N, D, itemsize=2), 8.2e11, 50e6, "bfloat16", 1.05),               # half a product
    (work.uniformity(N, D, itemsize=2, backward=True), 4.1e12, 0.1e9, "bfloat16", 5.2),   # and two whole ones
    (work.knn(30_522, 30_522, D, 10, itemsize=4), 1.43e12, 97e6, "tf32x3", 10.9),
    (work.mean_covariance(1_000_000, D, itemsize=4), 5.9e11, 3.1e9, "tf32x3", 4.5),    # half a product
    (work.segment_moments(16_777_216, D, 131_072, itemsize=2), 6.4e10, 26.6e9, "float32", 6.2),
    (work.pool(256, 128, D, itemsize=2, layers=2), 0.076e9, 0.101e9, "float32", 0.0235),
    (work.mean_cosine(30_522, D, itemsize=4), 4.7e7, 94e6, "float32", 0.022),
    (work.ranks(10_000, 1379, itemsize=4), 1.44e8, 110e6, "float32", 0.0257),          # 55 MB read, 55 MB written
], ids=lambda value: None if isinstance(value, (Work, float, int)) else value)
def test_counts_and_floors_are_those_made_by_hand(needs, flops, n_bytes, precision, milliseconds):
    assert needs.flops == pytest.approx(flops, rel=0.02)
    assert needs.bytes == pytest.approx(n_bytes, rel=0.02)
    assert 1e3 * H200.floor(needs, precision) == pytest.approx(milliseconds, rel=0.02)


def test_one_pass_over_half_the_pairs_needs_three_half_products():
    half = work.uniformity(100, 10, itemsize=4).flops
    assert work.uniformity(100, 10, itemsize=4, backward=True, one_pass=True).flops == 3 * half
    assert work.uniformity(100, 10, itemsize=4, backward=True).flops == 5 * half


def test_alignment_reads_two_matrices_and_writes_two_gradients():
    assert work.alignment(10, 4, itemsize=4) == Work(3 * 40, 2 * 160)
    assert work.alignment(10, 4, itemsize=4, backward=True) == Work(5 * 40, 4 * 160)


def test_cosent_is_a_sort_and_three_passes():
    assert work.cosent(1024, itemsize=4) == Work(1024 * 10, 3 * 4 * 1024)


def test_a_gibbs_sweep_reads_words_and_topics_and_writes_topics_and_counts():
    assert work.lda_sweep(100, 10, 4) == Work(5 * 400, 4 * (100 + 100 + 100 + 40 + 40))


def test_a_window_reads_and_writes_its_rows_once_and_works_on_every_pair():
    assert work.window_update(10, 3, 6, 100) == Work(6 * 10 * 18 * 100, 8 * 10 * 9 * 100)
    assert work.document_update(10, 7, 6, 100) == Work(10 * (14 + 36) * 100, 8 * 10 * 12 * 100)
    assert work.subword_update(10, 20, 6, 100) == Work(10 * (40 + 36) * 100, 8 * 10 * 26 * 100)


def test_intensity_is_operations_per_byte():
    assert Work(12, 3).intensity == 4


def test_the_larger_of_both_times_is_the_floor():
    slow_copy = Ceilings(1.0, {"float32": 100.0})
    assert slow_copy.floor(Work(100, 5)) == 5.0
    assert slow_copy.floor(Work(1000, 5)) == 10.0
