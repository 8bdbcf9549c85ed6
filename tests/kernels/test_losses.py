"""What all losses of the room promise: gradients that a loss scaler can save, one result for every memory layout, and no derivative lost unseen."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn import functional

from lessons_lib.kernels import alignment, cosent, info_nce, mean_cosine, pool, segment_moments, uniformity

Loss = Callable[..., Tensor]


def cloud(n: int, d: int, seed: int = 0) -> Tensor:
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed))


OTHER_SIDE = cloud(400, 40, 99).half()           # every type has these numbers


def other(x: Tensor) -> Tensor:
    """A second side for the losses of pairs."""
    return OTHER_SIDE[: len(x), : x.shape[1]].to(x.device, x.dtype)


LOSSES: dict[str, Loss] = {
    "alignment": lambda x, **more: alignment(x, other(x), alpha=1.5, **more),
    "cosent": lambda x, **more: cosent(x[:, 0], torch.arange(len(x)) % 3, **more),
    "info_nce": lambda x, **more: info_nce(x, other(x), temperature=0.5, symmetric=True, **more),
    "mean_cosine": mean_cosine,
    "uniformity": uniformity,
}
OTHERS: dict[str, Loss] = {
    "pool": lambda x: pool(x[None], torch.ones(1, len(x))).square().sum(),
    "segment_moments": lambda x: segment_moments(x, [0, 2, len(x)]).unit_sum.square().sum(),
}
every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
every_operation = pytest.mark.parametrize("loss", (LOSSES | OTHERS).values(), ids=LOSSES | OTHERS)


def value_and_gradient(loss: Loss, x: Tensor) -> tuple[Tensor, Tensor]:
    leaf = x.detach().requires_grad_()
    value = loss(leaf)
    return value.detach(), torch.autograd.grad(value, leaf)[0]


# ------------------------------------------------------------------------------------------------ half types under a loss scaler


@pytest.mark.parametrize("backend", ["cpu", "reference", "triton"])
@pytest.mark.parametrize("loss", [LOSSES[name] for name in ("info_nce", "uniformity")], ids=["info_nce", "uniformity"])
def test_a_gradient_too_small_for_float16_survives_until_the_loss_scaler_has_multiplied_it(loss, backend, request):
    if backend == "triton":
        request.getfixturevalue("triton_here")
    where = request.getfixturevalue("device") if backend == "triton" else "cpu"
    x = functional.normalize(cloud(12, 4), dim=1).half().to(where)
    (exact,) = value_and_gradient(lambda y: loss(y, backend="reference"), x.double())[1:]
    shrink = 2.0**-40                            # as many rows would make it; 2^-40 of a gradient is 0 in float16
    (found,) = value_and_gradient(lambda y: loss(y, backend=backend) * shrink * 2.0**40, x)[1:]
    (plain,) = value_and_gradient(lambda y: loss(y, backend=backend) * shrink, x)[1:]
    assert found.dtype == torch.float16 and not plain.any()
    torch.testing.assert_close(found.double(), exact, rtol=1e-2, atol=2e-3)


@every_loss
@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_a_scaled_float16_gradient_is_the_float32_one_rounded_once(loss, backend):
    x = functional.normalize(cloud(400, 8), dim=1).half()
    scale = 2.0**8 if loss is LOSSES["cosent"] else 2.0**14
    (found,) = value_and_gradient(lambda y: loss(y, backend=backend) * scale, x)[1:]
    (exact,) = value_and_gradient(lambda y: loss(y, backend=backend) * scale, x.float())[1:]
    torch.testing.assert_close(found, exact.half(), rtol=2e-3, atol=1e-7)
    assert found.abs().max() > 0


def test_the_gradient_of_info_nce_on_equal_pairs_is_not_all_zero_under_gradscaler():
    x = functional.normalize(cloud(512, 256), dim=1).half()
    (found,) = value_and_gradient(lambda q: info_nce(q, x, temperature=0.05) * 65536, x)[1:]
    (exact,) = value_and_gradient(lambda q: info_nce(q, x.float(), temperature=0.05) * 65536, x.float())[1:]
    torch.testing.assert_close(found, exact.half(), rtol=2e-3, atol=1e-7)
    assert found.any() and (exact / 65536).abs().max() < 2.0**-24


# ------------------------------------------------------------------------------------------------ how numbers lie


def layouts(x: Tensor) -> dict[str, Tensor]:
    """The same numbers in other places."""
    n, d = x.shape
    rows, columns, wide, moved = x.repeat_interleave(2, 0), x.repeat_interleave(2, 1), torch.cat([x, x], 1), torch.cat([x.new_zeros(1), x.flatten()])
    return {"turned": x.T.contiguous().T, "every second row": rows[::2], "every second column": columns[:, ::2], "part of a wider one": wide[:, d:],
            "one number further": moved[1:].view(n, d)}


@every_loss
@pytest.mark.parametrize("backend", ["cpu", "reference"])
@pytest.mark.parametrize(("n", "d"), [(17, 16), (64, 33)])
def test_V09_any_memory_layout_gives_the_same_bits_in_value_and_gradient(loss, backend, n, d):
    for seed in range(5):
        x = cloud(n, d, seed)
        expected = value_and_gradient(lambda y: loss(y, backend=backend), x)
        for name, view in layouts(x).items():
            found = value_and_gradient(lambda y: loss(y, backend=backend), view)
            assert all(torch.equal(one, two) for one, two in zip(found, expected, strict=True)), name
            assert torch.equal(loss(view, backend=backend), loss(x, backend=backend)), name


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("backend", ["cpu", "reference", "triton"])
@pytest.mark.parametrize("name", LOSSES)
def test_the_compiler_is_told_the_true_strides_also_for_turned_inputs(name, backend, dtype, request):
    kernel = name in ("info_nce", "uniformity")
    if backend == "triton" and not kernel:
        pytest.skip("no kernel of its own")
    where = "cpu"
    if backend == "triton":
        request.getfixturevalue("triton_here")
        where = request.getfixturevalue("device")
    x, y = (cloud(3, 5, seed).T.to(where, dtype) for seed in (0, 1))
    pairs = {"query_gradient": True, "key_gradient": True, "temperature": 0.5, "hard_weight": 0.0, "symmetric": False, "backend": backend}
    arguments: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
        "alignment": ((x, y, 1.5, [True, True], backend), {}),
        "cosent": ((x[:, 0], torch.arange(5), 20.0, True, backend), {}),
        "info_nce": ((x, y, torch.arange(5, device=where), None), pairs),
        "mean_cosine": ((x, True, backend), {}),
        "uniformity": ((x, 2.0, True, backend), {}),
    }
    given, named = arguments[name]
    given = tuple(a.detach().requires_grad_() if isinstance(a, Tensor) and a.is_floating_point() else a for a in given)
    torch.library.opcheck(getattr(torch.ops.lessons_lib, name).default, given, named,
                          test_utils=("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_static"))


# ------------------------------------------------------------------------------------------------ no derivative lost


@every_operation
def test_inside_vmap_it_raises_instead_of_dropping_the_gradient(loss):
    with pytest.raises(RuntimeError, match="inside torch.vmap.*Loop over the batch"):
        torch.vmap(loss)(cloud(12, 4).view(2, 6, 4))


@every_operation
def test_forward_mode_raises_instead_of_giving_a_tangent_of_zero(loss):
    x = cloud(6, 4)
    with pytest.raises(RuntimeError, match="forward-mode.*torch.autograd.grad"):
        torch.func.jvp(loss, (x,), (x,))
    with pytest.raises(RuntimeError, match="forward-mode"):
        torch.func.jacfwd(loss)(x)
    with forward_ad.dual_level(), pytest.raises(RuntimeError, match="forward-mode"):
        loss(forward_ad.make_dual(x, x))
    with forward_ad.dual_level():
        assert loss(x).isfinite()                # a tensor without a tangent has nothing to lose


@every_loss
def test_torch_func_grad_raises_and_names_what_works(loss):
    with pytest.raises(RuntimeError, match=r"torch.func.grad.*torch\.autograd\.grad"):
        torch.func.grad(loss)(cloud(6, 4))


def test_what_is_compiled_inside_a_transform_raises_too():
    x = cloud(12, 4).view(2, 6, 4)
    for transformed in (lambda y: torch.vmap(uniformity)(y), lambda y: torch.func.jvp(uniformity, (y[0],), (y[1],))[1]):
        with pytest.raises(RuntimeError, match="which the kernels do not know"):
            torch.compile(transformed, backend="aot_eager")(x)


def test_a_side_from_inference_mode_is_a_constant_like_any_other():
    with torch.inference_mode():
        frozen = cloud(6, 4)
    for loss in (lambda x: alignment(frozen, x), lambda x: info_nce(x, frozen), lambda x: info_nce(frozen, x),
                 lambda x: cosent(x[:, 0], frozen[:, 0])):
        found = value_and_gradient(loss, cloud(6, 4, 1))[1]
        assert found.isfinite().all() and found.any()


# ------------------------------------------------------------------------------------------------ settings


def test_a_hard_weight_for_every_row_is_refused_in_words():
    x = cloud(2, 3)
    for weight in (np.array([1.0, 2.0]), torch.tensor([1.0, 2.0]), "heavy"):
        with pytest.raises(TypeError, match="hard_weight="):
            info_nce(x, x, hard_negative=[1, 0], hard_weight=weight)
    dropped = info_nce(x, x, hard_negative=[1, 0], hard_weight=np.float32(-math.inf))
    assert dropped.item() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_a_scale_that_leaves_no_numbers_is_refused(backend):
    for scale in (1e31, 1e308):
        with pytest.raises(ValueError, match="scale=.*<= 1e\\+30"):
            cosent([5.0, 1.0], [1, 0], scale=scale, backend=backend)
    found, gradient = value_and_gradient(lambda s: cosent(s, [1, 0], scale=1e30, backend=backend), torch.tensor([1.0, 5.0]))
    assert found.item() == pytest.approx(4e30, rel=1e-6) and gradient.isfinite().all()
