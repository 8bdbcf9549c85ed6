"""When two results count as equal: the quality gates of the kernels. Used by `kernels` and `gpu`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

__all__ = ["agree", "neighbour_error", "relative_error", "same_neighbours"]


def _flat(result: Any) -> list[Tensor]:
    """The tensors of a result: a tensor, an array, a number, or a sequence of those."""
    if isinstance(result, (tuple, list)) and not all(isinstance(r, (int, float)) for r in result):
        return [tensor for part in result for tensor in _flat(part)]
    return [torch.as_tensor(result).detach()]


def relative_error(found: Any, expected: Any) -> float:
    """The largest max|a - b| / max|b| over the tensors of two results; infinite when shapes differ or something is not a number."""
    a, b = _flat(found), _flat(expected)
    if len(a) != len(b) or any(x.shape != y.shape for x, y in zip(a, b, strict=True)):
        return math.inf
    return max((_error(x.double(), y.double().to(x.device)) for x, y in zip(a, b, strict=True) if x.numel()), default=0.0)


def _error(found: Tensor, expected: Tensor) -> float:
    error = ((found - expected).abs().max() / expected.abs().max().clamp(min=1e-30)).item()
    return math.inf if math.isnan(error) else error


def agree(tolerance: float) -> Callable[[Any, Any], bool]:
    """A gate: values (and gradients, where the results hold them) differ by at most ``tolerance`` of the largest value."""
    return lambda found, expected: relative_error(found, expected) <= tolerance


def neighbour_error(found: Any, expected: Any, *, share: float = 0.999) -> float:
    """The relative error of the values of (values, row numbers); infinite when fewer than ``share`` of the row numbers are equal.

    Not all need be: rounding may swap near-equals.
    """
    same = (torch.as_tensor(found[1]).cpu() == torch.as_tensor(expected[1]).cpu()).double().mean().item()
    return relative_error(found[0], expected[0]) if same >= share else math.inf


def same_neighbours(tolerance: float) -> Callable[[Any, Any], bool]:
    """A gate for (values, row numbers) by `neighbour_error`."""
    return lambda found, expected: neighbour_error(found, expected) <= tolerance
