"""A step is that of the formula, however it is cut: in chunks, over processes, in two sittings."""

from __future__ import annotations

import math
import socket

import numpy as np
import pytest
import torch
from torch import nn

from lessons_lib.contextual.ranks import Ranks
from lessons_lib.contrastive.examples import Column, Order
from lessons_lib.contrastive.heads import MlpHead
from lessons_lib.contrastive.history import Watch
from lessons_lib.contrastive.losses import in_batch_loss
from lessons_lib.contrastive.reading import Reading
from lessons_lib.contrastive.sbert import LabelledObjective
from lessons_lib.contrastive.simcse import InBatchObjective
from lessons_lib.contrastive import training as module
from lessons_lib.contrastive.training import Plan, Training

CPU = Ranks(0, 1, torch.device("cpu"))


def made(encoder, texts, *, chunk=None, ranks=CPU, dropout=0.1, head=True, steps=4, batch_size=12,
         views=(0, 1)) -> Training:
    learner = Reading(encoder, dropout=dropout)
    column = Column(texts, learner.number)
    objective = InBatchObjective([column, column], views, temperature=0.05,
                                 head=MlpHead(learner.dim, seed=0) if head else None)
    plan = Plan(steps, 1e-3, chunk=chunk, evaluate_every=2)
    order = Order(len(texts), batch_size=batch_size, seed=0)
    return Training(learner, objective, order, plan, watch=Watch(None), ranks=ranks,
                    encoder=lambda _: None)


def flat(training: Training) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in training.model.parameters()])


def gradient(training: Training) -> torch.Tensor:
    """Of the first batch, for the share of this process."""
    training._backward(training.order.batch(0), 0)
    return taken(training)


def whole_gradient(training: Training) -> torch.Tensor:
    """Of the first batch, over all processes."""
    training._backward(training.order.batch(0), 0)
    training.ranks.add_gradients(training.model)
    found = taken(training)
    training.optimizer.zero_grad(set_to_none=True)
    return found


def taken(training: Training) -> torch.Tensor:
    return torch.cat([torch.zeros(p.numel()) if p.grad is None else p.grad.flatten()
                      for p in training.model.parameters()])


def test_a_step_is_the_gradient_of_the_formula(encoder, texts):
    training = made(encoder, texts, dropout=0.0, head=False)
    found = gradient(training)
    training.optimizer.zero_grad(set_to_none=True)
    x = training.learner(training.objective.columns[0].numbered, training.order.batch(0))
    in_batch_loss(x, x, temperature=0.05).backward()
    wanted = taken(training)
    assert found.norm() > 1e-2 and torch.allclose(found, wanted, atol=1e-5)


@pytest.mark.parametrize("chunk", [1, 5, 6, 11])
def test_chunks_give_the_gradient_of_the_whole_batch_without_dropout(encoder, texts, chunk):
    whole = gradient(made(encoder, texts, dropout=0.0))
    parts = gradient(made(encoder, texts, dropout=0.0, chunk=chunk))
    assert torch.allclose(whole, parts, atol=2e-5 * float(whole.abs().max()))


def test_reading_twice_gives_the_gradient_of_reading_once_with_dropout(encoder, texts, monkeypatch):
    """Gradient caching against the same chunks with their graphs kept."""
    cached = gradient(made(encoder, texts, chunk=5))
    monkeypatch.setattr(module, "cached_backward", module.direct_backward)
    direct = gradient(made(encoder, texts, chunk=5))
    assert direct.norm() > 1e-2
    assert torch.allclose(cached, direct, atol=1e-6 * float(direct.abs().max()))
    # other masks
    assert not torch.allclose(direct, gradient(made(encoder, texts, chunk=6)), atol=1e-4)


def test_views_decide_whether_the_masks_are_equal(encoder, texts):
    def loss(views, dropout=0.3):
        training = made(encoder, texts, head=False, views=views, dropout=dropout)
        return float(training._backward(training.order.batch(0), 0))

    plain = loss((None, None))
    assert loss((0, 1)) > plain and loss((0, 0)) != pytest.approx(plain)
    assert loss((0, 1), dropout=0.0) == pytest.approx(plain, abs=1e-6)


def test_the_rate_rises_and_falls_in_straight_lines():
    plan = Plan(100, 1.0, warmup=0.1)
    rates = np.array([plan.rate(step) for step in range(100)])
    assert np.allclose(np.diff(rates[:10]), 0.1) and np.allclose(np.diff(rates[10:]), -1 / 90)
    assert 0 < rates[-1] < 0.01 and rates.max() < 1
    assert Plan(10, 1.0, warmup=0.0).rate(0) == pytest.approx(0.95)


def test_only_matrices_decay_and_gradients_are_clipped(encoder, texts):
    training = made(encoder, texts)
    assert all(p.ndim > 1 for p in training.optimizer.param_groups[0]["params"])
    assert training.optimizer.param_groups[1]["weight_decay"] == 0.0
    seen = []
    plain = nn.utils.clip_grad_norm_
    training.clip = 1e-3

    def clip(parameters, longest):
        parameters = list(parameters)
        plain(parameters, longest)
        grads = [p.grad.flatten() for p in parameters if p.grad is not None]
        seen.append(float(torch.cat(grads).norm()))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nn.utils, "clip_grad_norm_", clip)
        training.step()
    assert seen == [pytest.approx(1e-3, rel=1e-3)]


def test_a_step_depends_on_its_number_and_the_weights_alone(encoder, texts):
    first, second = made(encoder, texts), made(encoder, texts)
    first.note()
    for _ in range(4):
        first.step()
    torch.rand(7)
    second.note()
    for _ in range(2):
        second.step()
    third = made(encoder, texts)
    third.restore(second.arrays(), second.noted())
    for _ in range(2):
        third.step()
    assert torch.equal(flat(first), flat(third)) and third.record.step == 4
    assert first.record.first == third.record.first


def test_E05_a_batch_with_nothing_to_order_is_counted():
    objective = LabelledObjective([], np.array([1.0, 1.0, 2.0]), lambda *_: None, ordered=True)
    assert objective.idle(np.array([0, 1])) and not objective.idle(np.array([0, 2]))


def test_E21_memory_that_is_not_there_comes_with_advice(encoder, texts, monkeypatch):
    training, before = made(encoder, texts, batch_size=12, chunk=6), torch.get_rng_state()

    def full(*_):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate")

    with monkeypatch.context() as patch:
        patch.setattr(training, "_backward", full)
        with pytest.raises(torch.OutOfMemoryError, match="6 examples at a time do not "
                                                         "fit.*chunk=3"):
            training.step()
    training.step()
    assert torch.equal(before, torch.get_rng_state())       # chance of others is left alone


STEPS = 3
CASES = {"two even shares": (2, 6), "a short last part": (2, 5),
         "more processes than parts": (3, 8), "no chunks": (2, None)}


def steps_of(training: Training) -> dict[str, np.ndarray]:
    """The gradient of the first step, the losses of some steps, and the weights after them."""
    gradient, losses = whole_gradient(training).numpy(), []
    for _ in range(STEPS):
        training._loss.zero_()
        training.step()
        losses.append(float(training._loss))
    return {"gradient": gradient, "losses": np.array(losses), "weights": flat(training).numpy()}


def _work(rank, size, port, encoder, texts, options, folder):
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank,
                            world_size=size)
    training = made(encoder, texts, ranks=Ranks(rank, size, torch.device("cpu")), **options)
    np.savez(f"{folder}/{rank}.npz", **steps_of(training))
    dist.destroy_process_group()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_several_processes_take_the_step_of_one(encoder, texts, tmp_path, case):
    size, chunk = CASES[case]
    options = {"chunk": chunk, "dropout": 0.0 if chunk is None else 0.1}
    # a function of this kind does not travel to another process
    encoder.reader.pooler = None
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    try:
        torch.multiprocessing.spawn(_work, (size, port, encoder, texts, options, str(tmp_path)),
                                    nprocs=size)
    finally:
        type(encoder.reader).__init__(encoder.reader, encoder.reader.model)
    one = steps_of(made(encoder, texts, **options))
    found = [np.load(tmp_path / f"{rank}.npz") for rank in range(size)]
    # bit by bit the same everywhere
    assert all(np.array_equal(found[0]["weights"], other["weights"]) for other in found)
    largest = np.abs(one["gradient"]).max()
    assert np.abs(found[0]["gradient"] - one["gradient"]).max() <= 1e-6 * largest
    assert np.allclose(found[0]["losses"], one["losses"], rtol=1e-6, atol=1e-6)
    assert not math.isclose(one["losses"][0], one["losses"][-1])
    assert np.abs(found[0]["weights"] - one["weights"]).max() < 3e-5
