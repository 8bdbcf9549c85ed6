"""What kernel tests share: the interpreter on machines without a GPU, guarded room for what kernels write, the parity rule."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from lessons_lib.kernels.interpreter import interpreting

GUARD = 64                                      # numbers before and after every buffer


@pytest.fixture
def triton_here() -> str:
    """The backend name "triton", or a skip that says why no kernel can run: no Triton, or compiled kernels without a GPU."""
    if importlib.util.find_spec("triton") is None:
        pytest.skip("Triton has no wheel for this system")
    if not interpreting() and not torch.cuda.is_available():
        pytest.skip("Triton was loaded as a compiler and there is no GPU")
    return "triton"


@pytest.fixture
def device() -> str:
    """Where kernels run in this process: on the CPU in the interpreter, else on the GPU."""
    return "cpu" if interpreting() or not torch.cuda.is_available() else "cuda"


@pytest.fixture
def guarded(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Tensor]]:
    """Every ``torch.empty`` of the test lies, filled with NaN (or the lowest integer), between two guards; a store beside it fails the test."""
    buffers: list[Tensor] = []
    empty = torch.empty

    def poisoned(*size: int | tuple[int, ...], dtype: torch.dtype | None = None, device: object = None, **options: object) -> Tensor:
        shape = tuple(size[0]) if size and not isinstance(size[0], int) else tuple(size)
        n = 1
        for length in shape:
            n *= length
        buffer = empty(n + 2 * GUARD, dtype=dtype, device=device)
        buffer.fill_(float("nan") if buffer.dtype.is_floating_point else torch.iinfo(buffer.dtype).min)
        buffers.append(buffer)
        return buffer[GUARD : GUARD + n].view(shape)

    monkeypatch.setattr(torch, "empty", poisoned)
    yield buffers
    for buffer in buffers:
        guards = torch.cat([buffer[:GUARD], buffer[-GUARD:]])
        untouched = torch.isnan(guards) if guards.dtype.is_floating_point else guards == torch.iinfo(guards.dtype).min
        assert bool(untouched.all()), "a kernel wrote outside its output"


@pytest.fixture
def assert_as_exact_as() -> Callable[..., None]:
    """``check(found, twin, exact)``: found lies at most twice as far from the float64 result as the twin in the same type does, plus one rounding."""
    def check(found: Tensor, twin: Tensor, exact: Tensor, *, slack: float = 2.0) -> None:
        largest = exact.abs().max().clamp(min=torch.finfo(torch.float32).tiny)
        rounding = (twin.double() - exact).abs().max()
        error = (found.double() - exact).abs().max()
        allowed = slack * rounding + 4 * torch.finfo(found.dtype).eps * largest
        assert bool(error <= allowed), f"error {error:.3g}, allowed {allowed:.3g} (the twin's own error is {rounding:.3g})"

    return check
