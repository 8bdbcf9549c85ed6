"""Two processes with half a batch each find the loss and the gradient of one with the whole; when
one goes, the other hears so.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
import torch

from lessons_lib.contextual.ranks import Ranks, gather, joined, together
from lessons_lib.contrastive.losses import in_batch_loss
from lessons_lib.contrastive.simcse import InBatchObjective

ROWS, DIM = 7, 3                                  # not divisible: one process has a row more


def batch():
    chance = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=chance) for shape in ((ROWS, DIM), (ROWS, DIM),
                                                               (DIM, DIM))]


def loss_of(x, y, weight, ranks):
    """The whole loss, of which every process takes its share; weight is the model."""
    u, v = (gather(z @ weight, ranks, rows=ROWS) for z in (x, y))
    return in_batch_loss(u, v, temperature=0.5) / ranks.size


def work(rank, port, answers):
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2",
                   "RANK": str(rank), "LOCAL_RANK": str(rank)}
    torch.set_num_threads(1)
    x, y, weight = batch()
    with joined("cpu") as ranks:
        model = torch.nn.Linear(DIM, DIM, bias=False)
        model.weight = torch.nn.Parameter(weight.clone())
        loss = loss_of(x[ranks.share(ROWS)], y[ranks.share(ROWS)], model.weight, ranks)
        loss.backward()
        ranks.add_gradients(model)
        answers.put(
            (rank, "loss", ranks.total(loss.detach()).item(), model.weight.grad.numpy().copy()))
        numbers = gather(torch.arange(ROWS)[ranks.share(ROWS)], ranks, rows=ROWS)
        equal = gather(torch.full((2, 1), rank), ranks)
        answers.put((rank, "numbers", numbers.tolist(), equal.flatten().tolist()))
        try:
            gather(torch.zeros(ROWS), ranks, rows=ROWS)
        except ValueError as error:
            answers.put((rank, "share", str(error), None))
        if rank == 1:
            answers.close()
            answers.join_thread()
            os._exit(1)                           # killed: says goodbye to nobody
        try:
            with together(ranks):
                gather(torch.zeros(2), ranks)
        except ConnectionError as error:
            answers.put((rank, "gone", str(error), None))


@pytest.fixture(scope="module")
def answers(two_processes):
    """What two processes said, by (rank, question)."""
    return {(rank, question): rest for rank, question, *rest in two_processes(work, 7)}


@pytest.mark.slow
def test_two_processes_find_the_loss_and_gradient_of_one(answers):
    x, y, weight = batch()
    weight.requires_grad_(True)
    expected = loss_of(x, y, weight, Ranks(0, 1, torch.device("cpu")))
    expected.backward()
    for rank in range(2):
        loss, gradient = answers[rank, "loss"]
        assert loss == pytest.approx(expected.item(), rel=1e-6)
        assert np.abs(gradient - weight.grad.numpy()).max() <= 1e-6 * weight.grad.abs().max()


@pytest.mark.slow
def test_rows_stand_in_the_order_of_processes(answers):
    for rank in range(2):
        assert answers[rank, "numbers"] == [list(range(ROWS)), [0, 0, 1, 1]]


@pytest.mark.slow
def test_a_wrong_share_is_refused_before_anything_is_sent(answers):
    assert answers[0, "share"][0].startswith("x has 7 rows in process 0; expected 3")
    assert "expected 4" in answers[1, "share"][0]


@pytest.mark.slow
def test_a_process_that_has_gone_is_named_and_the_way_on(answers):
    assert "process 0 of 2 has lost the others" in answers[0, "gone"][0]
    assert "checkpoint" in answers[0, "gone"][0]


@pytest.mark.parametrize(("columns", "texts", "seen"), [
    (2, None, (ROWS - 1,) * 2), (3, None, (2 * ROWS - 1,) * 2),
    (2, "aabcdef", (ROWS - 2, ROWS - 1)), (3, "aabcdef", (ROWS - 2 + ROWS - 2, 2 * ROWS - 2))])
def test_negatives_are_counted_where_the_loss_is_taken(columns, texts, seen):
    """Of all rows that were gathered; hard ones too; equal texts are none where they are masked."""
    numbers = None if texts is None else np.array([ord(text) for text in texts])
    objective = InBatchObjective([None] * columns, [None] * columns, temperature=0.5,
                                 groups=None if numbers is None else [numbers] * columns)
    vectors = torch.randn(columns, ROWS, DIM, generator=torch.Generator().manual_seed(0))
    objective(list(vectors), np.arange(ROWS))
    assert objective.negatives == seen


def test_one_process_gathers_nothing():
    x = torch.ones(3, 2, requires_grad=True)
    assert gather(x, Ranks(0, 1, torch.device("cpu"))) is x


@pytest.mark.parametrize(("size", "error"), [(1, RuntimeError("gloo: connection closed")),
                                             (2, RuntimeError("shape mismatch"))])
def test_other_errors_pass_as_they_are(size, error):
    with pytest.raises(RuntimeError) as caught, together(Ranks(0, size, torch.device("cpu"))):
        raise error
    assert caught.value is error
