"""Gradients that come with the loss: scaled, handed on once, and never silently differentiated twice."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor

from lessons_lib.kernels.autograd import first_order, register_scalar_loss

NUMBER = itertools.count()


@pytest.fixture(scope="module")
def half_square():
    """(a·a + b·b) / 2 with gradients a and b, as an operation of this room; an input that wants no gradient gets an empty one."""
    @torch.library.custom_op(f"lessons_test::half_square_{next(NUMBER)}", mutates_args=())
    def operation(a: Tensor, b: Tensor, wanted: list[bool], factor: float) -> tuple[Tensor, Tensor, Tensor]:
        value = (a.float().square().sum() + b.float().square().sum()) * (factor / 2)
        return value, a.detach() * factor if wanted[0] else a.new_empty(0), b.detach() * factor if wanted[1] else b.new_empty(0)

    @operation.register_fake
    def shapes(a: Tensor, b: Tensor, wanted: list[bool], factor: float) -> tuple[Tensor, Tensor, Tensor]:
        return a.new_empty((), dtype=torch.float32), a.new_empty(a.shape if wanted[0] else 0), b.new_empty(b.shape if wanted[1] else 0)

    register_scalar_loss(operation, inputs=2)
    return operation


def test_each_input_gets_its_own_gradient_times_what_comes_from_above(half_square):
    a, b = torch.tensor([1.0, -2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)
    (5 * half_square(a, b, [True, True], 2.0)[0]).backward()
    assert a.grad.tolist() == [10.0, -20.0] and b.grad.tolist() == [30.0]


def test_an_input_without_a_gradient_gets_none(half_square):
    a, b = torch.tensor([1.0], requires_grad=True), torch.tensor([3.0])
    half_square(a, b, [True, False], 1.0)[0].backward()
    assert a.grad.tolist() == [1.0] and b.grad is None


def test_a_loss_that_nobody_uses_costs_no_backward(half_square):
    a = torch.tensor([1.0], requires_grad=True)
    half_square(a, a, [True, True], 1.0)
    (3 * a).backward()
    assert a.grad.tolist() == [3.0]


def test_the_gradients_that_come_with_a_loss_are_not_differentiable_themselves(half_square):
    a = torch.tensor([1.0], requires_grad=True)
    value, *gradients = half_square(a, a, [True, True], 1.0)
    assert value.requires_grad and not any(g.requires_grad for g in gradients)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_the_number_of_a_loss_scaler_does_not_overflow_half_types(half_square, dtype):
    """65536 is where torch's GradScaler starts; it is infinite in float16, and infinity times 0 is no number."""
    a = torch.tensor([0.0, 2.0**-10, 0.5], dtype=dtype, requires_grad=True)
    (half_square(a, a.detach(), [True, False], 1.0)[0] * 65536.0).backward()
    assert a.grad.dtype == dtype and a.grad.tolist() == [0.0, 64.0, 32768.0]


def test_the_number_from_above_is_not_rounded_to_the_type_of_the_input(half_square):
    weight = 1 + 2.0**-9                        # float16 has it, bfloat16 does not
    a = torch.full((1000,), 1.5, dtype=torch.bfloat16, requires_grad=True)
    (half_square(a, a.detach(), [True, False], 1.0)[0] * weight * 171).backward()
    assert a.grad[0].item() == torch.tensor(1.5 * weight * 171).bfloat16().item()


def test_a_second_derivative_is_refused_for_every_input(half_square):
    a, b = torch.tensor([1.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)
    value = half_square(a, b, [True, True], 1.0)[0]
    for gradient in torch.autograd.grad(value, (a, b), create_graph=True):
        with pytest.raises(RuntimeError, match="first derivative only"):
            gradient.sum().backward(retain_graph=True)


def test_a_gradient_goes_through_unchanged_where_nobody_asks_for_a_second_one():
    gradient = torch.ones(2)
    with torch.no_grad():
        assert first_order(gradient, torch.ones(2, requires_grad=True)) is gradient
    assert first_order(None) is None
    guarded = first_order(gradient, torch.ones(2, requires_grad=True))
    assert torch.equal(guarded, gradient) and guarded is not gradient


def test_the_loss_works_under_checkpointing_and_with_the_compiler(half_square):
    from torch.utils.checkpoint import checkpoint

    def loss(a: Tensor) -> Tensor:
        return half_square(a, a, [True, True], 1.0)[0]

    a = torch.tensor([1.0, 4.0], requires_grad=True)
    checkpoint(loss, a, use_reentrant=False).backward()
    assert a.grad.tolist() == [2.0, 8.0]
    a.grad = None
    torch.compile(loss, backend="aot_eager", fullgraph=True)(a).backward()
    assert a.grad.tolist() == [2.0, 8.0]


def test_torch_finds_nothing_wrong_with_an_operation_made_this_way(half_square):
    a, b = torch.ones(3, requires_grad=True), torch.ones(2, requires_grad=True)
    torch.library.opcheck(half_square, (a, b, [True, True], 2.0))
