"""The peak of allocated bytes is exact, and sees what is freed in between."""

from __future__ import annotations

import pytest
import torch

from lessons_lib.kernels import peak_allocated, uniformity


def test_one_array_counts_its_bytes():
    assert peak_allocated(lambda: torch.ones(250_000)) == 1_000_000


def test_an_array_that_was_freed_before_does_not_count():
    def twice() -> None:
        for _ in range(3):
            torch.ones(250_000)

    assert peak_allocated(twice) == 1_000_000


def test_arrays_alive_at_once_add_up():
    assert peak_allocated(lambda: (torch.ones(250_000), torch.ones(250_000))) == 2_000_000


def test_work_without_arrays_holds_nothing():
    assert peak_allocated(lambda: 1 + 1) == 0


def test_a_named_array_stays_and_an_unnamed_one_goes_and_blocks_need_neither():
    x = torch.randn(3000, 8, generator=torch.Generator().manual_seed(0))
    pairs = 4 * 3000 * 2999 / 2

    def named() -> torch.Tensor:
        distances = torch.pdist(x)
        return torch.exp(-2.0 * distances**2).mean()

    assert peak_allocated(named) == pytest.approx(3 * pairs, rel=0.02)
    assert peak_allocated(lambda: torch.exp(-2.0 * torch.pdist(x) ** 2).mean()) == pytest.approx(2 * pairs, rel=0.02)
    assert peak_allocated(lambda: uniformity(x)) < 2 * pairs


def test_what_cannot_be_called_is_refused():
    with pytest.raises(TypeError, match="lambda"):
        peak_allocated(torch.ones(3))
