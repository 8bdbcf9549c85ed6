"""GloVe steps as a kernel: the textbook's numbers at odd widths, counts that are left out, rows
beside which nothing is written."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lessons_lib.kernels import trace
from lessons_lib.kernels.glove_step import GloveState, glove_step


def make(d, *, n_words=7, n_contexts=9, density=0.5, groups=3, seed=0, device="cpu", scale=0.5,
         **options):
    rng = np.random.default_rng(seed)
    values = np.where(rng.random((n_words, n_contexts)) < density,
                      rng.exponential(40.0, size=(n_words, n_contexts)) + 0.5, 0.0)
    offsets = np.concatenate([[0], np.cumsum((values > 0).sum(axis=1))])
    rows = [rng.normal(size=(n, d + 1)) * scale for n in (n_words, n_contexts)]
    return GloveState(offsets, np.nonzero(values)[1], values[values > 0], *rows, groups=groups,
                      device=device, **options)


def assert_as_the_textbook(arguments, backend, *, atol=2e-6, epochs=1, **options):
    found, twin = (make(**arguments) for _ in range(2))
    for epoch in range(epochs):
        loss, left_out = glove_step(found, backend=backend, epoch=epoch, **options)
        expected, n = glove_step(twin, backend="reference", epoch=epoch, **options)
        assert left_out == n and loss == pytest.approx(expected, rel=1e-5)
    for name in ("words", "contexts"):
        torch.testing.assert_close(getattr(found, name), getattr(twin, name), rtol=2e-6, atol=atol,
                                   equal_nan=True)
    return found


@pytest.mark.parametrize("d", [1, 14, 20, 100])
def test_the_kernel_learns_what_the_textbook_learns(d, triton_here, device):
    found = assert_as_the_textbook({"d": d, "device": device}, triton_here)
    assert (not found.words[:, 0, d + 2:].any()
            and (found.words[:, 1, d + 2:] == 1).all())  # padding stays as it was
    assert (found.words[:, 0, d + 1] == 1).all() and (found.contexts[:, 0, d] == 1).all()


@pytest.mark.parametrize("options", [{"learning_rate": 0.5, "clip": 0.3}, {"rounds": (1, 2)},
                                     {"rounds": (1, 1)}, {"seed": 5, "epochs": 2}],
                         ids=["clipped", "one round", "no round", "two epochs"])
def test_settings_reach_the_kernel(options, triton_here, device):
    assert_as_the_textbook({"d": 5, "device": device}, triton_here, **options)


def test_one_tile_and_empty_tiles_are_learned(triton_here, device):
    for arguments in ({"groups": 1}, {"groups": 7, "density": 0.1}, {"density": 0.0}):
        assert_as_the_textbook({"d": 5, "device": device, **arguments}, triton_here)


def test_counts_whose_difference_is_no_number_are_left_out_and_counted(triton_here, device):
    states = [make(6, device=device) for _ in range(2)]
    for s in states:
        s.words[2, 0, 1] = float("inf")
        s.words[3, 0, 0] = float("nan")
    (loss, left_out), expected = (glove_step(s, backend=b)
                                  for s, b in zip(states, (triton_here, "reference"), strict=True))
    assert left_out == expected[1] > 0 and loss == pytest.approx(expected[0], rel=1e-5)
    torch.testing.assert_close(states[0].words, states[1].words, rtol=2e-6, atol=2e-6,
                               equal_nan=True)


def test_the_kernel_writes_its_rows_and_no_others(triton_here, device):
    s, room = make(14, device=device), {}
    for name in ("words", "contexts"):
        x = getattr(s, name)
        room[name] = torch.full((x.numel() + 128,), 7.0, device=x.device)
        room[name][64:-64] = x.flatten()
        setattr(s, name, room[name][64:-64].view(x.shape))
    glove_step(s, backend=triton_here)
    assert all((x[:64] == 7.0).all() and (x[-64:] == 7.0).all() and torch.isfinite(x).all()
               for x in room.values())


def test_a_trace_counts_a_launch_for_each_round(triton_here, device):
    with trace() as seen:
        glove_step(make(4, density=0.2, device=device), backend=triton_here)
    assert [launch[:2] for launch in seen.runs[0].launches] == [("learn_tiles", (3,))] * 3


def large(device, d):
    return make(d, n_words=3000, n_contexts=3500, density=0.05, groups=256, device=device,
                scale=0.5 / d)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("d", [50, 100, 300])
def test_gpu_epochs_end_with_the_numbers_of_the_processor(d):
    """The order of all steps is the same, so only roundings differ."""
    found = []
    for device in ("cuda", "cpu"):
        s = large(device, d)
        losses = [glove_step(s, epoch=epoch)[0] for epoch in range(3)]
        found.append((losses, s.words.cpu()))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-4)
    assert float((found[0][1][:, 0] - found[1][1][:, 0]).norm() / found[1][1][:, 0].norm()) < 1e-3


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_gpu_every_run_gives_the_same_bits():
    found = []
    for _ in range(5):
        s = large("cuda", 100)
        loss = glove_step(s)
        found.append((loss, s.words.clone(), s.contexts.clone()))
    assert all(x[0] == found[0][0] and torch.equal(x[1], found[0][1])
               and torch.equal(x[2], found[0][2]) for x in found)
