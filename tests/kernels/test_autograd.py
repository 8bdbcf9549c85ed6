"""Gradients that come with the loss: scaled, handed on once, never differentiated in silence."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from lessons_lib.kernels.autograd import first_order, scalar_loss
from lessons_lib.kernels.dispatch import Operation

NUMBER = itertools.count()


@pytest.fixture(scope="module")
def half_square():
    """factor (a·a + b·b) / 2 with gradients factor a and factor b, as a loss of this room."""
    def value(a: Tensor, b: Tensor, *, factor: float) -> Tensor:
        return (a.float().square().sum() + b.float().square().sum()) * (factor / 2)

    def both(a: Tensor, b: Tensor, *, factor: float, wanted: tuple[bool, bool]):
        return value(a, b, factor=factor), *[x.clone() * factor if asked else None
                                             for x, asked in zip((a, b), wanted, strict=True)]

    class Made(Operation):
        def implementation(self, backend: str, function: str):
            return both if function == "value_and_gradient" else value

    operation = Made(f"half_square_{next(NUMBER)}")
    loss = scalar_loss(operation, ("a", "b"), factor="float")
    half = lambda a, b, factor=1.0: loss(a, b, factor, backend=None)            # noqa: E731
    half.registered = getattr(torch.ops.lessons_lib, operation.name).default
    return half


def test_each_input_gets_its_own_gradient_times_what_comes_from_above(half_square):
    a, b = torch.tensor([1.0, -2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)
    (5 * half_square(a, b, 2.0)).backward()
    assert a.grad.tolist() == [10.0, -20.0] and b.grad.tolist() == [30.0]
    constant = torch.tensor([3.0])
    half_square(b, constant).backward()
    assert b.grad.tolist() == [33.0] and constant.grad is None


def test_a_loss_that_nobody_uses_costs_no_backward_and_its_gradients_are_constants(half_square):
    a = torch.tensor([1.0], requires_grad=True)
    half_square(a, a)
    (3 * a).backward()
    assert a.grad.tolist() == [3.0]
    value, *gradients = half_square.registered(a, a, 1.0, [True, True], "")
    assert value.requires_grad and not any(g.requires_grad for g in gradients)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_the_number_of_a_loss_scaler_does_not_overflow_half_types(half_square, dtype):
    """65536, where torch's GradScaler starts, is infinite in float16; infinity times 0 is NaN."""
    a = torch.tensor([0.0, 2.0**-10, 0.5], dtype=dtype, requires_grad=True)
    (half_square(a, a.detach()) * 65536.0).backward()
    assert a.grad.dtype == dtype and a.grad.tolist() == [0.0, 64.0, 32768.0]


def test_the_number_from_above_is_not_rounded_to_the_type_of_the_input(half_square):
    weight = 1 + 2.0**-9                        # float16 has it, bfloat16 does not
    a = torch.full((1000,), 1.5, dtype=torch.bfloat16, requires_grad=True)
    (half_square(a, a.detach()) * weight * 171).backward()
    assert a.grad[0].item() == torch.tensor(1.5 * weight * 171).bfloat16().item()


def test_a_second_derivative_is_refused_for_every_input(half_square):
    a, b = torch.tensor([1.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)
    for gradient in torch.autograd.grad(half_square(a, b), (a, b), create_graph=True):
        with pytest.raises(RuntimeError, match="first derivative only"):
            gradient.sum().backward(retain_graph=True)


def test_a_gradient_goes_through_unchanged_where_nobody_asks_for_a_second_one():
    gradient = torch.ones(2)
    with torch.no_grad():
        assert first_order(gradient, torch.ones(2, requires_grad=True)) is gradient
    assert first_order(None) is None
    guarded = first_order(gradient, torch.ones(2, requires_grad=True))
    assert torch.equal(guarded, gradient) and guarded is not gradient


def test_the_loss_works_under_checkpointing(half_square):
    a = torch.tensor([1.0, 4.0], requires_grad=True)
    checkpoint(lambda x: half_square(x, x), a, use_reentrant=False).backward()
    assert a.grad.tolist() == [2.0, 8.0]


def test_torch_finds_nothing_wrong_with_an_operation_made_this_way(half_square):
    a, b = torch.ones(3, requires_grad=True), torch.ones(2, requires_grad=True)
    torch.library.opcheck(half_square.registered, (a, b, 2.0, [True, True], ""))
