"""Inputs: every layout of the same numbers gives the same tensor, what is no matrix of numbers is
named, and nothing is written."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import torch

from lessons_lib.kernels import uniformity
from lessons_lib.kernels.contents import as_indices, as_integers, check_finite
from lessons_lib.kernels.inputs import as_vectors, wants_gradient

MATRIX = np.arange(12, dtype=np.float32).reshape(3, 4) / 8


def read_only(array: np.ndarray) -> np.ndarray:
    array = array.copy()
    array.flags.writeable = False
    return array


def padded(array: np.ndarray) -> np.ndarray:
    wide = np.full((array.shape[0], 2 * array.shape[1]), np.nan, array.dtype)
    wide[:, ::2] = array
    return wide[:, ::2]


LAYOUTS = {
    "list": lambda a: a.tolist(), "tuple of arrays": tuple,
    "contiguous": lambda a: a, "transposed": lambda a: np.asfortranarray(a), "strided": padded,
    "reversed": lambda a: a[::-1, ::-1].copy()[::-1, ::-1], "read-only": read_only,
    "big-endian": lambda a: a.astype(">f4"), "pandas": lambda a: pd.DataFrame(a, index=list("xyz")),
    "field of a record": lambda a: np.array([[(v, 1) for v in row] for row in a],
                                            dtype=[("value", "f4"), ("flag", "i1")])["value"],
    "tensor": torch.from_numpy, "view of a tensor": lambda a: torch.from_numpy(padded(a)),
    "tensor that wants a gradient": lambda a: torch.from_numpy(a.copy()).requires_grad_()}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_V09_every_layout_of_the_same_numbers_is_the_same_matrix(layout):
    value = LAYOUTS[layout](MATRIX.copy())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = as_vectors("x", value)
    assert found.shape == (3, 4) and torch.equal(found.detach().float(), torch.from_numpy(MATRIX))
    assert found.dtype == (torch.float64 if layout == "list" else torch.float32)


def test_V09_a_memory_mapped_file_is_read_where_it_lies(tmp_path):
    np.save(tmp_path / "x.npy", MATRIX)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    found = as_vectors("x", mapped)
    assert found.data_ptr(
        ) == mapped.ctypes.data and uniformity(mapped).item() == uniformity(MATRIX).item()


@pytest.mark.parametrize("array", [MATRIX, read_only(MATRIX), np.asfortranarray(MATRIX)])
def test_an_array_becomes_a_tensor_without_a_copy(array):
    assert as_vectors("x", array).data_ptr() == array.ctypes.data


@pytest.mark.parametrize("value", [[[True, False]], np.uint8([[1, 0]]), np.longdouble([[1, 0]]),
                                   pd.DataFrame({"a": [1], "b": [0]})])
def test_V07_integers_booleans_and_long_floats_of_arrays_become_float64(value):
    found = as_vectors("x", value)
    assert found.dtype == torch.float64 and found.tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_V08_floating_tensors_are_kept_as_they_are(dtype):
    x = torch.ones(2, 3, dtype=dtype)
    assert as_vectors("x", x) is x


@pytest.mark.parametrize("value", [[2, 0], (2, 0), np.uint16([2, 0]), np.int64([2, 0])[::1],
                                   pd.Series([2, 0], index=[5, 9]), torch.tensor([2, 0]),
                                   torch.tensor([2, 0], dtype=torch.uint8),
                                   torch.tensor([2, 0], dtype=torch.int32)])
def test_row_numbers_of_any_kind_become_int64(value):
    found = as_indices("positive", value, n=2, high=3, device=torch.device("cpu"))
    assert found.dtype == torch.int64 and found.tolist() == [2, 0]


def test_whole_numbers_of_any_layout_are_read_and_int64_is_not_copied():
    array = np.arange(6).reshape(2, 3)
    assert as_integers("draws", array).data_ptr() == array.ctypes.data
    record = np.zeros(4, dtype=[("a", np.int8), ("b", np.int64)])
    record["b"] = np.arange(4)
    for value in (array[:, ::-1], array[::-1], read_only(array), array.astype(">i8"), array.T,
                  record["b"], np.zeros((0, 3), dtype=np.int64)):
        assert as_integers("draws", value).tolist() == value.tolist()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_V01_the_first_bad_row_and_their_number_are_named(dtype):
    x = torch.ones(5, 3, dtype=dtype)
    check_finite("x", x)
    # large, and finite
    check_finite("x", torch.full((2, 2), torch.finfo(dtype).max, dtype=dtype))
    for bad in (float("nan"), float("inf"), float("-inf")):
        x = torch.ones(5, 3, dtype=dtype)
        x[2, 1] = x[4, 0] = bad
        with pytest.raises(ValueError, match=r"x\[2\] holds NaN or infinity \(2 of 5 rows do\)"):
            check_finite("x", x)


def test_numbers_of_any_number_of_axes_are_looked_at():
    for shape in ((0,), (0, 4), (3, 0), (2, 0, 4)):
        check_finite("x", torch.ones(shape))
    for shape in ((4,), (4, 2), (4, 2, 3)):
        x = torch.ones(shape)
        x[3] = torch.nan
        with pytest.raises(ValueError, match=r"x\[3\] holds NaN or infinity \(1 of 4 rows"):
            check_finite("x", x)


def test_a_gradient_is_wanted_only_where_autograd_listens():
    x = torch.ones(2, requires_grad=True)
    assert wants_gradient(None, torch.ones(2), x) and not wants_gradient(None, torch.ones(2))
    with torch.no_grad():
        assert not wants_gradient(x)
