"""What all losses of the room promise: gradients that a loss scaler can save, one result for every
memory layout, no derivative lost unseen, and kernels that agree with the formula."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn import functional

from lessons_lib.core import BackendUnavailable
from lessons_lib.kernels import (alignment, cosent, info_nce, mean_cosine, pool, segment_moments,
                                 trace, uniformity, use_backend)

from .conftest import PLAIN, assert_near, cloud, gpu, repeated, unit, with_gradients

Loss = Callable[..., Tensor]
OTHER_SIDE = cloud(400, 40, 99).bfloat16().half()       # every type has these numbers


def other(x: Tensor) -> Tensor:
    """A second side for the losses of pairs."""
    return OTHER_SIDE[: len(x), : x.shape[1]].to(x.device, x.dtype)


LOSSES: dict[str, Loss] = {
    "alignment": lambda x, **more: alignment(x, other(x), alpha=1.5, **more),
    "cosent": lambda x, **more: cosent(x[:, 0], torch.arange(len(x)) % 3, **more),
    "info_nce": lambda x, **more: info_nce(x, other(x), temperature=0.5, symmetric=True, **more),
    "mean_cosine": mean_cosine, "uniformity": uniformity}
OTHERS: dict[str, Loss] = {
    **{f"pool {how}": lambda x, how=how: pool(x[None], torch.ones(1, len(x)), how=how,
                                              normalize=True).square().sum()
       for how in ("mean", "cls", "max")},
    **{f"segment_moments {part}": lambda x, part=part: getattr(segment_moments(x, [0, 2, len(x)]),
                                                               part).square().sum()
       for part in ("sum", "unit_sum", "norm_sum")}}
every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
every_operation = pytest.mark.parametrize("loss", (LOSSES | OTHERS).values(), ids=LOSSES | OTHERS)
both = pytest.mark.parametrize("backend", ["cpu", "reference"])


def on(loss: Loss, backend: str | None) -> Loss:
    return lambda y: loss(y, backend=backend)


def needs_kernel(loss: Loss, backend: str) -> None:
    name = next(name for name in LOSSES if LOSSES[name] is loss)
    if backend == "triton" and name in PLAIN:
        pytest.skip("no kernel of its own")


@every_loss
@both
def test_the_gradient_is_the_derivative(loss, backend):
    x = unit(7, 4, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(on(loss, backend), x)
    (threefold,) = torch.autograd.grad(3 * loss(x, backend=backend), x)
    torch.testing.assert_close(threefold, 3 * with_gradients(on(loss, backend), x)[1])
    with torch.no_grad():
        alone = loss(x, backend=backend)
    assert not alone.requires_grad and alone.item() == loss(x, backend=backend).item()


def layouts(x: Tensor) -> dict[str, Tensor]:
    """The same numbers in other places."""
    (n, d), moved = x.shape, torch.cat([x.new_zeros(1), x.flatten()])
    return {"turned": x.T.contiguous().T, "every second row": x.repeat_interleave(2, 0)[::2],
            "every second column": x.repeat_interleave(2, 1)[:, ::2],
            "part of a wider one": torch.cat([x, x], 1)[:, d:],
            "one number further": moved[1:].view(n, d)}


@every_loss
@both
@pytest.mark.parametrize(("n", "d"), [(17, 16), (64, 33)])
def test_V09_any_memory_layout_gives_the_same_bits_in_value_and_gradient(loss, backend, n, d):
    for seed in range(5):
        x = cloud(n, d, seed)
        before, expected = x.clone(), with_gradients(on(loss, backend), x)
        for name, view in layouts(x).items():
            result = with_gradients(on(loss, backend), view)
            assert all(map(torch.equal, result, expected)), name
            assert torch.equal(loss(view, backend=backend), expected[0]), name
        frozen = x.numpy().astype(">f4")
        frozen.setflags(write=False)
        assert torch.equal(loss(torch.from_numpy(frozen.astype("f4")), backend=backend),
                           expected[0]) and torch.equal(x, before)


@every_loss
def test_a_missing_or_infinite_number_shows_instead_of_vanishing(loss, any_backend):
    backend, where = any_backend
    needs_kernel(loss, backend)
    for bad in (math.nan, math.inf):
        if bad == math.inf and (loss is LOSSES["cosent"] or backend == "reference"):
            continue                    # infinitely far, or infinitely similar, is an answer there
        x = unit(6, 3).to(where)
        x[2, 0] = bad
        assert not math.isfinite(loss(x, backend=backend).item())
        assert not math.isfinite(with_gradients(on(loss, backend), x)[0].item())


@every_loss
def test_a_trace_says_what_ran(loss):
    with trace() as t:
        loss(unit(5, 3))
    run, = t.runs
    assert LOSSES[run.operation] is loss and run.backend == "cpu" and run.ms > 0
    assert t.caption().startswith(f"{run.operation} · cpu (")
    assert ("no Triton kernel: " in run.reason) == (run.operation in PLAIN)
    if run.operation in PLAIN:          # a general wish is granted by the algebra, an own one not
        with use_backend("triton"), trace() as t:
            loss(unit(5, 3))
        assert t.runs[0].backend == "cpu"
        with pytest.raises(BackendUnavailable, match="no Triton kernel"):
            loss(unit(5, 3), backend="triton")


@every_loss
@both
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_V08_half_types_are_summed_in_float32_and_get_gradients_of_their_type(loss, backend, dtype):
    x = unit(200, 33, dtype=dtype)
    value, gradient = with_gradients(on(loss, backend), x)
    exact, exact_gradient = with_gradients(on(loss, "reference"), x.double())
    assert value.dtype == torch.float32 and gradient.dtype == dtype
    assert value.item() == pytest.approx(exact.item(), rel=1e-5, abs=1e-7)
    tolerance = max(2e-5, 2 * torch.finfo(dtype).eps)
    assert (gradient.double() - exact_gradient).norm() <= tolerance * exact_gradient.norm()


@pytest.mark.parametrize("loss", [info_nce_ for name, info_nce_ in LOSSES.items()
                                  if name not in PLAIN], ids=["info_nce", "uniformity"])
def test_a_gradient_too_small_for_float16_survives_until_the_scaler_has_multiplied_it(
        loss, any_backend):
    backend, where = any_backend
    x = unit(12, 4).half().to(where)
    exact = with_gradients(on(loss, "reference"), x.double())[1]
    shrink = 2.0**-40           # as many rows would make it; 2^-40 of a gradient is 0 in float16
    scaled = with_gradients(lambda y: loss(y, backend=backend) * shrink * 2.0**40, x)[1]
    plain = with_gradients(lambda y: loss(y, backend=backend) * shrink, x)[1]
    assert scaled.dtype == torch.float16 and not plain.any()
    torch.testing.assert_close(scaled.double(), exact, rtol=1e-2, atol=2e-3)


@every_loss
@both
def test_a_scaled_float16_gradient_is_the_float32_one_rounded_once(loss, backend):
    x = functional.normalize(cloud(400, 8), dim=1).half()
    scale = 2.0**8 if loss is LOSSES["cosent"] else 2.0**14
    result = with_gradients(lambda y: loss(y, backend=backend) * scale, x)[1]
    exact = with_gradients(lambda y: loss(y, backend=backend) * scale, x.float())[1]
    torch.testing.assert_close(result, exact.half(), rtol=2e-3, atol=1e-7)
    assert result.abs().max() > 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("learns", [True, False])
@pytest.mark.parametrize("name", LOSSES)
def test_the_operation_is_known_to_torch_also_for_turned_inputs(name, learns, dtype, any_backend):
    backend, where = any_backend
    needs_kernel(LOSSES[name], backend)
    x, y = (cloud(3, 5, seed).T.to(where, dtype) for seed in (0, 1))
    rows = torch.arange(5, device=where)
    given = {"alignment": (x, y, 1.5, [learns, True]), "mean_cosine": (x, [learns]),
             "cosent": (x[:, 0], rows, 20.0, [learns]), "uniformity": (x, 2.0, [learns]),
             "info_nce": (x, y, rows, rows.roll(1), 0.5, -math.inf, learns, [learns, True])}[name]
    wanted = iter(given[-1])
    given = [a.detach().requires_grad_(next(wanted)) if isinstance(a, Tensor)
             and a.is_floating_point() else a for a in given]
    torch.library.opcheck(getattr(torch.ops.lessons_lib, name).default, (*given, backend),
                          test_utils=("test_schema", "test_autograd_registration",
                                      "test_faketensor", "test_aot_dispatch_static"))


@every_loss
def test_the_loss_can_be_compiled_whole(loss):
    torch._dynamo.reset()
    compiled = torch.compile(lambda y: loss(2 * y), backend="aot_eager", fullgraph=True)
    x = unit(11, 6)
    expected = with_gradients(lambda y: loss(2 * y), x)
    torch.testing.assert_close(with_gradients(compiled, x), expected)
    torch.testing.assert_close(compiled(x), expected[0])


def test_measuring_does_not_load_the_compiler_of_torch():
    code = ("import sys, numpy as np; from lessons_lib.kernels import *; x = np.eye(3); "
            "alignment(x, x); uniformity(x); mean_cosine(x); cosent(x[0], [1, 2, 3]); "
            "info_nce(x, x); sys.exit('torch._dynamo' in sys.modules)")
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0


@every_operation
def test_a_second_derivative_is_refused_not_silently_zero(loss):
    x = unit(5, 3).requires_grad_()
    (gradient,) = torch.autograd.grad(loss(x), x, create_graph=True)
    with pytest.raises(RuntimeError, match="first derivative only"):
        gradient.sum().backward()


@every_operation
def test_inside_vmap_it_raises_instead_of_dropping_the_gradient(loss):
    with pytest.raises(RuntimeError, match=r"vmap.*Loop over the batch"):
        torch.vmap(loss)(cloud(12, 4).view(2, 6, 4))


@every_operation
def test_forward_mode_raises_instead_of_giving_a_tangent_of_zero(loss):
    x = cloud(6, 4)
    with pytest.raises(RuntimeError, match=r"forward-mode.*torch.autograd.grad"):
        torch.func.jvp(loss, (x,), (x,))
    with pytest.raises(RuntimeError, match="forward-mode"):
        torch.func.jacfwd(loss)(x)
    with forward_ad.dual_level(), pytest.raises(RuntimeError, match="forward-mode"):
        loss(forward_ad.make_dual(x, x))
    with forward_ad.dual_level():
        assert loss(x).isfinite()                # a tensor without a tangent has nothing to lose


@every_loss
def test_torch_func_grad_raises_and_names_what_works(loss):
    with pytest.raises(RuntimeError, match=r"torch\.func\.grad.*torch\.autograd\.grad"):
        torch.func.grad(loss)(cloud(6, 4))


def test_what_is_compiled_inside_a_transform_raises_too():
    x = cloud(12, 4).view(2, 6, 4)
    for transformed in (lambda y: torch.vmap(uniformity)(y),
                        lambda y: torch.func.jvp(uniformity, (y[0],), (y[1],))[1]):
        with pytest.raises(RuntimeError, match="the kernels do"):
            torch.compile(transformed, backend="aot_eager")(x)


def test_a_side_from_inference_mode_is_a_constant_like_any_other():
    with torch.inference_mode():
        frozen = cloud(6, 4)
    for loss in (lambda x: alignment(frozen, x), lambda x: info_nce(x, frozen),
                 lambda x: info_nce(frozen, x), lambda x: cosent(x[:, 0], frozen[:, 0])):
        gradient = with_gradients(loss, cloud(6, 4, 1))[1]
        assert gradient.isfinite().all() and gradient.any()


@pytest.mark.parametrize("loss", [alignment, info_nce])
def test_only_the_side_that_learns_gets_a_gradient(loss):
    x, y = unit(5, 3), unit(5, 3, 1)
    whole = with_gradients(loss, x, y)
    for side, alone in ((1, with_gradients(lambda a: loss(a, y), x)),
                        (2, with_gradients(lambda b: loss(x, b), y))):
        torch.testing.assert_close(alone[1], whole[side])
    shared = with_gradients(lambda a: loss(a, a), x)[1]         # one tensor gets both shares
    torch.testing.assert_close(shared, sum(with_gradients(loss, x, x)[1:]))


@pytest.mark.gpu
@gpu
@every_loss
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float16, 1e-2),
                                                  (torch.bfloat16, 1e-2)])
@pytest.mark.parametrize(("n", "d"), [(1000, 300), (4097, 768), (65_537, 64)])
def test_gpu_results_agree_and_repeat_themselves(loss, n, d, dtype, tolerance, monkeypatch):
    monkeypatch.setitem(globals(), "OTHER_SIDE", unit(n, d, 1))
    monkeypatch.setattr(torch, "arange", lambda *a, real=torch.arange, **o: real(
        *a, **{"device": "cuda"} | o))
    x = unit(n, d).to("cuda", dtype)
    result, slope = repeated(lambda: with_gradients(on(loss, None), x))
    value, gradient = with_gradients(on(loss, "cpu"), x.double())
    assert abs(result.double() - value) <= tolerance * max(1, abs(value))
    assert_near([slope], [gradient], tolerance)
    assert abs(loss(x).double() - value) <= tolerance * max(1, abs(value))
