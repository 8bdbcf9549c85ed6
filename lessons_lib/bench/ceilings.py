"""What the machine can do at best: bytes copied per second, and products of matrices per second in each precision.

Measured before the cases of the same run, so that each time can be set against its floor: the larger of operations / product rate and bytes
/ copy rate. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .measure import Row
from .work import Work

__all__ = ["Ceilings", "cpu_ceilings", "gpu_ceilings", "rows"]

Timer = Callable[[Callable[[], Any]], tuple[float, float, float]]      # work -> seconds: median, low, high

COPY_BYTES = 1 << 28                            # far beyond every cache
CPU_SIDE, GPU_SIDE = 2048, 8192                 # of the square matrices


@dataclass(frozen=True)
class Ceilings:
    """``copy`` in bytes per second (read plus written), ``products`` in operations per second by precision; ``device`` in words."""

    copy: float
    products: dict[str, float]
    device: str = "CPU"

    def floor(self, work: Work, precision: str = "float32") -> float:
        """Seconds that ``work`` takes at least with products in ``precision``. Raises KeyError for a precision that was not measured."""
        return max(work.flops / self.products[precision], work.bytes / self.copy)


def _copy_rate(timer: Timer, device: str, n_bytes: int) -> float:
    import torch

    source = torch.ones(n_bytes // 4, device=device)
    target = torch.zeros_like(source)
    return 2 * 4 * len(source) / timer(lambda: target.copy_(source))[1]


def _product_rate(timer: Timer, device: str, side: int, dtype: str, multiply: Callable[[Any, Any], Any] = operator.matmul) -> float:
    import torch

    rng = torch.Generator(device).manual_seed(0)
    a, b = (torch.randn(side, side, device=device, generator=rng).to(getattr(torch, dtype)) for _ in range(2))
    return 2 * side**3 / timer(lambda: multiply(a, b))[1]


def cpu_ceilings(timer: Timer, *, n_bytes: int = COPY_BYTES, side: int = CPU_SIDE) -> Ceilings:
    """Measure the processor, with the threads that torch is set to; the fastest run counts, and of torch's two libraries for products the faster."""
    import torch

    from ..kernels.products import row_product

    product = max(_product_rate(timer, "cpu", side, "float32", multiply) for multiply in (torch.mm, row_product))
    return Ceilings(_copy_rate(timer, "cpu", n_bytes), {"float32": product}, f"{torch.get_num_threads()} threads")


@contextlib.contextmanager
def _tf32(allowed: bool) -> Iterator[None]:
    import torch

    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = allowed
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def gpu_ceilings(timer: Timer, *, device: str = "cuda", n_bytes: int = 4 * COPY_BYTES, side: int = GPU_SIDE) -> Ceilings:
    """Measure a GPU: copy, and products in bfloat16, tf32 and float32; three tf32 products as exact as float32, tf32x3, are a third of tf32."""
    import torch

    products = {"bfloat16": _product_rate(timer, device, side, "bfloat16")}
    for name, allowed in (("tf32", True), ("float32", False)):
        with _tf32(allowed):
            products[name] = _product_rate(timer, device, side, "float32")
    products["tf32x3"] = products["tf32"] / 3
    return Ceilings(_copy_rate(timer, device, n_bytes), products, torch.cuda.get_device_name(0) if device == "cuda" else device)


def rows(group: str, ceilings: Ceilings) -> Iterator[Row]:
    """The ceilings as rows of the table; they have no goal."""
    yield Row(group, "ceiling: copy", "", round(ceilings.copy / 1e9, 1), "GB/s", "", None, config=ceilings.device)
    for precision, rate in ceilings.products.items():
        yield Row(group, f"ceiling: matrix product, {precision}", "", round(rate / 1e9, 1), "GFLOP/s", "", None, config=ceilings.device)
