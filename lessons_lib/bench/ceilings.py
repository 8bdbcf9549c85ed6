"""What the machine can do at best: bytes copied, and products of matrices, per second.

Measured before the cases of the same run, so that each time can be set against its floor: the
larger of operations / product rate and bytes / copy rate. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .work import Work

Timer = Callable[[Callable[[], Any]], tuple[float, float, float]]   # seconds: median, low, high

COPY_BYTES = 1 << 28                            # far beyond every cache
CPU_SIDE, GPU_SIDE = 2048, 8192                 # of the square matrices


@dataclass(frozen=True)
class Ceilings:
    """What a machine can do at best.

    Parameters
    ----------
    copy : float, bytes per second, read plus written
    products : dict, operations per second by precision
    device : str, default "CPU", in words
    """

    copy: float
    products: dict[str, float]
    device: str = "CPU"

    def floor(self, work: Work, precision: str = "float32") -> float:
        """Seconds that a piece of work takes at least.

        Parameters
        ----------
        work : Work
        precision : str, default "float32", of the products

        Returns
        -------
        float

        Raises
        ------
        KeyError : a precision that was not measured
        """
        return max(work.flops / self.products[precision], work.bytes / self.copy)


def _copy_rate(timer: Timer, device: str, n_bytes: int) -> float:
    import torch
    source = torch.ones(n_bytes // 4, device=device)
    target = torch.zeros_like(source)
    return 2 * 4 * len(source) / timer(lambda: target.copy_(source))[1]


def _product_rate(timer: Timer, device: str, side: int, dtype: str,
                  multiply: Callable[[Any, Any], Any]) -> float:
    import torch
    rng = torch.Generator(device).manual_seed(0)
    a, b = (torch.randn(side, side, device=device, generator=rng).to(getattr(torch, dtype))
            for _ in range(2))
    return 2 * side**3 / timer(lambda: multiply(a, b))[1]


def cpu_ceilings(timer: Timer, *, n_bytes: int = COPY_BYTES, side: int = CPU_SIDE) -> Ceilings:
    """Measure the processor with the threads that torch is set to. The fastest run counts, and of
    torch's two libraries for products the faster."""
    import torch
    from ..kernels.products import row_product
    product = max(_product_rate(timer, "cpu", side, "float32", multiply)
                  for multiply in (torch.mm, row_product))
    return Ceilings(_copy_rate(timer, "cpu", n_bytes), {"float32": product},
                    f"{torch.get_num_threads()} threads")


def gpu_ceilings(timer: Timer, *, device: str = "cuda", n_bytes: int = 4 * COPY_BYTES,
                 side: int = GPU_SIDE) -> Ceilings:
    """Measure a GPU: copy, and products in bfloat16, tf32 and float32. "tf32x3", three tf32
    products that are as exact as float32, runs at a third of tf32."""
    import torch
    switch = torch.backends.cuda.matmul
    before, products = switch.allow_tf32, {}
    try:
        for name, dtype in (("bfloat16", "bfloat16"), ("tf32", "float32"), ("float32", "float32")):
            switch.allow_tf32 = name == "tf32"
            products[name] = _product_rate(timer, device, side, dtype, torch.matmul)
    finally:
        switch.allow_tf32 = before
    products["tf32x3"] = products["tf32"] / 3
    return Ceilings(_copy_rate(timer, device, n_bytes), products,
                    torch.cuda.get_device_name(0) if device == "cuda" else device)
