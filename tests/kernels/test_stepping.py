"""Watching a kernel shows what its lines compute, and leaves the run as it was."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import torch

from lessons_lib import kernels
from lessons_lib.core import BackendUnavailable
from lessons_lib.kernels import stepping
from lessons_lib.kernels.interpreter import interpreting


@pytest.fixture
def points() -> torch.Tensor:
    return torch.nn.functional.normalize(torch.randn(20, 24, generator=torch.Generator().manual_seed(0)), dim=1)


@pytest.fixture
def watchable(triton_here: str) -> str:
    if not interpreting():
        pytest.skip("kernels are compiled in this process")
    return triton_here


def test_the_last_tile_holds_the_pairs_that_are_left(points, watchable):
    with kernels.watch("uniformity_tiles", program=2) as seen:
        value = kernels.uniformity(points, backend=watchable)
    found = seen.variables["log_kernel"]
    exact = -2.0 * torch.cdist(points[16:].double(), points[16:].double()).square().numpy()
    pair = np.triu(np.ones((4, 4), dtype=bool), k=1)
    assert seen.programs == 3 and np.isfinite(found).sum() == pair.sum()
    assert np.allclose(found[:4, :4][pair], exact[pair], atol=1e-5)
    assert value.item() == pytest.approx(kernels.uniformity(points, backend="reference").item(), abs=1e-5)


def test_steps_are_lines_of_the_source_in_order_with_what_they_changed(points, watchable):
    with kernels.watch("uniformity_tiles", program=0) as seen:
        kernels.uniformity(points, backend=watchable)
    source = kernels.kernel_text("uniformity_tiles")
    assert all(step.line in source for step in seen.steps) and seen.steps[0].line == "program = tl.program_id(0)"
    by_line = {step.line: step for step in seen.steps}
    assert by_line["rows = ti * BLOCK_N + tl.arange(0, BLOCK_N)"].text() == "rows (16): 0 … 15"
    assert by_line["row_ok, col_ok = rows < n, cols < n"].text() == "row_ok (16): 16 of 16 true · col_ok (16): 16 of 16 true"


def test_a_watched_run_gives_what_an_unwatched_one_gives_and_the_tracer_is_put_back(points, watchable):
    before = sys.gettrace()
    with kernels.watch("uniformity_tiles"):
        watched = kernels.uniformity(points, backend=watchable)
    assert sys.gettrace() is before and torch.equal(watched, kernels.uniformity(points, backend=watchable))


def test_the_tracer_is_put_back_after_an_error(watchable):
    before = sys.gettrace()
    with pytest.raises(ZeroDivisionError), kernels.watch("uniformity_tiles"):
        _ = 1 / 0
    assert sys.gettrace() is before


def test_a_program_that_never_started_is_named_with_the_number_that_did(points, watchable):
    with pytest.raises(ValueError, match="started 3 programs"), kernels.watch("uniformity_tiles", program=3):
        kernels.uniformity(points, backend=watchable)


def test_watching_compiled_kernels_is_refused(monkeypatch):
    monkeypatch.setattr(stepping, "interpreting", lambda: False)
    with pytest.raises(BackendUnavailable, match="interpret"), kernels.watch("uniformity_tiles"):
        pass


def test_the_switch_says_no_instead_of_raising(monkeypatch):
    def refuse() -> None:
        raise BackendUnavailable("Triton is not installed")

    monkeypatch.setattr(stepping, "interpret", refuse)
    assert kernels.can_step() is False


def test_the_source_of_a_kernel_is_there_without_triton(monkeypatch):
    monkeypatch.setitem(sys.modules, "triton", None)
    text = kernels.kernel_text("uniformity_tiles")
    assert text.startswith("@triton.jit\ndef uniformity_tiles(") and "tl.dot" in text
    with pytest.raises(ValueError, match="uniformity_tiles"):
        kernels.kernel_text("uniformity_tile")
