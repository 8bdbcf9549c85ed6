"""Linear maps of many tokens on a processor, by the faster of the two libraries that PyTorch brings
along.

``nn.Linear`` in float32 goes to MKL, which was measured at 95 GFLOP/s on a core of an EPYC; oneDNN,
which PyTorch uses for other types, does 210 there, and applies GELU while a result is still in the
cache. The results are those of ``nn.Linear`` but for rounding. Used by `padding_free`; taught in
lesson ``08_bert_sentence_vectors``.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F

__all__ = ["linear", "linear_gelu"]


@cache
def _one_dnn() -> bool:
    """Whether oneDNN is here, on a processor with AVX-512, where it is at least as fast as MKL."""
    wide = torch.backends.cpu.get_cpu_capability() == "AVX512"
    return (wide and torch.backends.mkldnn.is_available()
            and hasattr(torch.ops.mkldnn, "_linear_pointwise"))


def _fits(x: Tensor) -> bool:
    """Whether oneDNN can take x; it knows no gradients."""
    return (x.device.type == "cpu" and x.dtype == torch.float32 and not torch.is_grad_enabled()
            and _one_dnn())


def linear(layer: nn.Linear, x: Tensor) -> Tensor:
    """x W' + b of tokens (n, d)."""
    if _fits(x):
        return torch.ops.mkldnn._linear_pointwise(x, layer.weight, layer.bias, "none", [], "")
    return F.linear(x, layer.weight, layer.bias)


def linear_gelu(layer: nn.Linear, x: Tensor) -> Tensor:
    """gelu(x W' + b) of tokens (n, d)."""
    if _fits(x):
        return torch.ops.mkldnn._linear_pointwise(x, layer.weight, layer.bias, "gelu", [], "none")
    return F.gelu(F.linear(x, layer.weight, layer.bias))
