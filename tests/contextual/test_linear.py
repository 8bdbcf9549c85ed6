"""Linear maps by either library are those of ``nn.Linear``."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from lessons_lib.contextual import readers as module


@pytest.mark.parametrize("here", [False, True])
@pytest.mark.parametrize("n", [1, 7, 130])
def test_both_libraries_give_the_same(monkeypatch, here, n):
    if here and not module._one_dnn():
        pytest.skip("oneDNN and AVX-512 are not both here")
    monkeypatch.setattr(module, "_one_dnn", lambda: here)
    chance = torch.Generator().manual_seed(n)
    layer, x = torch.nn.Linear(48, 33), torch.randn(n, 48, generator=chance)
    exact = F.linear(x.double(), layer.weight.double(), layer.bias.double())
    with torch.inference_mode():
        assert (module.linear(layer, x) - exact).abs().max() <= 1e-5
        assert (module.linear_gelu(layer, x) - F.gelu(exact)).abs().max() <= 1e-5


def test_where_a_gradient_is_wanted_or_the_type_is_another_it_is_nn_linear(monkeypatch):
    monkeypatch.setattr(module, "_one_dnn", lambda: True)
    layer, x = torch.nn.Linear(8, 5), torch.randn(3, 8, generator=torch.Generator().manual_seed(0))
    module.linear(layer, x).sum().backward()
    assert layer.weight.grad is not None
    with torch.inference_mode():
        assert torch.equal(module.linear(layer.double(), x.double()), layer(x.double()))
