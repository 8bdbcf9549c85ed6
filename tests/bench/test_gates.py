"""The gates let equal results through and nothing else."""

from __future__ import annotations

import math

import numpy as np
import torch

from lessons_lib.bench.gates import agree, neighbour_error, relative_error


def test_the_error_is_relative_to_the_largest_value_and_the_worst_part_counts():
    assert relative_error([torch.tensor([10.0, 1.1]), torch.tensor(2.0)], [np.array([10.0, 1.0]), 1.0]) == 1.0
    assert math.isclose(relative_error(torch.tensor([10.0, 1.1]), np.array([10.0, 1.0])), 0.01, rel_tol=1e-5)


def test_another_shape_another_number_of_parts_and_nan_are_never_equal():
    one = torch.ones(2)
    assert relative_error(one, torch.ones(3)) == math.inf
    assert relative_error((one, one), (one,)) == math.inf
    assert relative_error(torch.tensor([1.0, math.nan]), one) == math.inf
    assert not agree(1e9)(torch.tensor([1.0, math.nan]), one)


def test_neighbours_may_swap_where_they_are_nearly_equal_but_not_more_often():
    values, rows = torch.ones(1000, 1), torch.arange(1000)[:, None]
    swapped = rows.clone()
    swapped[0] = 1
    assert neighbour_error((values, swapped), (values.numpy(), rows.numpy())) == 0.0
    swapped[:2] = 7
    assert neighbour_error((values, swapped), (values, rows)) == math.inf
