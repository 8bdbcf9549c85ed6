"""What lesson 15 shows: a kernel watched line by line, the peak of allocated bytes, imitated
precisions, and trials with the machine code of a kernel."""

from __future__ import annotations

import importlib.util
import json
import sys
from importlib import metadata

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib import kernels
from lessons_lib.core import BackendUnavailable
from lessons_lib.kernels import experiments, peak_allocated, stepping, uniformity
from lessons_lib.kernels.aot import Card
from lessons_lib.kernels.interpreter import interpreting
from lessons_lib.kernels.rounding import PRECISIONS, gram, rounded

from .conftest import unit

STORED = json.loads(experiments.STORED.read_text("utf-8"))
BITS = {"tf32": 10, "bfloat16": 7}
POINTS = unit(20, 24)


@pytest.fixture
def watchable(triton_here: str) -> str:
    if not interpreting():
        pytest.skip("kernels are compiled in this process")
    return triton_here


def test_the_last_tile_holds_the_pairs_that_are_left(watchable):
    with kernels.watch("uniformity_tiles", program=2) as seen:
        value = kernels.uniformity(POINTS, backend=watchable)
    found = seen.variables["log_kernel"]
    exact = -2.0 * torch.cdist(POINTS[16:].double(), POINTS[16:].double()).square().numpy()
    pair = np.triu(np.ones((4, 4), dtype=bool), k=1)
    assert seen.programs == 3 and np.isfinite(found).sum() == pair.sum()
    assert np.allclose(found[:4, :4][pair], exact[pair], atol=1e-5)
    assert value.item() == pytest.approx(kernels.uniformity(POINTS, backend="reference").item(),
                                         abs=1e-5)


def test_steps_are_lines_of_the_source_in_order_with_what_they_changed(watchable):
    with kernels.watch("uniformity_tiles", program=0) as seen:
        kernels.uniformity(POINTS, backend=watchable)
    source = kernels.kernel_text("uniformity_tiles")
    assert all(step.line in source for step in seen.steps)
    assert seen.steps[0].line == "program = tl.program_id(0)"
    by_line = {step.line: step for step in seen.steps}
    assert by_line["rows = ti * BLOCK_N + tl.arange(0, BLOCK_N)"].text() == "rows (16): 0 … 15"
    masks = by_line["row_ok, col_ok = rows < n, cols < n"].text()
    assert masks == "row_ok (16): 16 of 16 true · col_ok (16): 16 of 16 true"


def test_a_watched_run_gives_what_an_unwatched_one_gives_and_the_tracer_is_put_back(watchable):
    before = sys.gettrace()
    with kernels.watch("uniformity_tiles"):
        watched = kernels.uniformity(POINTS, backend=watchable)
    with pytest.raises(ZeroDivisionError), kernels.watch("uniformity_tiles"):
        _ = 1 / 0
    assert sys.gettrace() is before and torch.equal(watched,
                                                    kernels.uniformity(POINTS, backend=watchable))


@pytest.mark.parametrize(("call", "error", "words"), [
    (lambda: peak_allocated(torch.ones(3)), TypeError, "lambda"),
    (lambda: rounded(np.ones(3, np.float32), "fp8"), ValueError, r"precision='fp8'.*tf32"),
    (lambda: gram(np.ones(3, np.float32), "tf32"), ValueError, "x"),
    (lambda: experiments.trial("as in the tabel"), ValueError, "as in the table"),
    (lambda: kernels.kernel_text("uniformity_tile"), ValueError, "uniformity_tiles")])
def test_what_the_tools_do_not_know_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_program_that_never_started_and_compiled_kernels_are_refused(watchable, monkeypatch):
    with pytest.raises(ValueError, match="started 3 programs"), \
            kernels.watch("uniformity_tiles", program=3):
        kernels.uniformity(POINTS, backend=watchable)
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


@pytest.mark.parametrize(("work", "expected"), [
    (lambda: torch.ones(250_000), 1_000_000), (lambda: 1 + 1, 0),
    (lambda: (torch.ones(250_000), torch.ones(250_000)), 2_000_000),
    (lambda: [torch.ones(250_000).shape for _ in range(3)], 1_000_000)])
def test_arrays_alive_at_once_add_up_and_freed_ones_do_not_count(work, expected):
    assert peak_allocated(work) == expected


def test_a_named_array_stays_and_an_unnamed_one_goes_and_blocks_need_neither():
    x = torch.randn(3000, 8, generator=torch.Generator().manual_seed(0))
    pairs = 4 * 3000 * 2999 / 2

    def named() -> torch.Tensor:
        distances = torch.pdist(x)
        return torch.exp(-2.0 * distances**2).mean()

    assert peak_allocated(named) == pytest.approx(3 * pairs, rel=0.02)
    unnamed = peak_allocated(lambda: torch.exp(-2.0 * torch.pdist(x) ** 2).mean())
    assert unnamed == pytest.approx(2 * pairs, rel=0.02)
    assert peak_allocated(lambda: uniformity(x)) < 2 * pairs


@pytest.mark.parametrize("precision", BITS)
@given(value=st.floats(2.0**-100, 2.0**100, width=32), sign=st.sampled_from([-1, 1]))
def test_a_number_becomes_the_nearest_of_the_type(precision, value, sign):
    x = np.float32([sign * value])
    found = rounded(x, precision)
    step = 2.0 ** (np.floor(np.log2(value)) - BITS[precision])
    assert abs(float(found[0]) - float(x[0])) <= step / 2
    assert (float(found[0]) / step) % 1 == 0 and np.array_equal(rounded(found, precision), found)


def test_fewer_bits_lose_more_and_three_products_bring_the_digits_back():
    x = np.random.default_rng(0).normal(size=(3000, 12)).astype(np.float32)
    exact = x.T.astype(np.float64) @ x
    error = {name: np.abs(gram(x, name) - exact).max() for name in PRECISIONS}
    assert error["bfloat16"] > 4 * error["tf32"] > 40 * error["three tf32"] > 0
    assert np.array_equal(gram(x, "three tf32"), gram(x, "three tf32").T)


def _missing(*_: object, **__: object) -> list[Card]:
    raise BackendUnavailable("Triton is not installed (it has wheels for Linux only: pip install "
                             "triton); stored_cards() holds the committed table")


def test_every_trial_is_stored_with_the_lines_that_the_lesson_shows(monkeypatch):
    monkeypatch.setattr(experiments, "cards", _missing)
    assert set(STORED["cards"]) == set(experiments.TRIALS)
    for name in experiments.TRIALS:
        card, origin = experiments.trial(name)
        assert card.kernel == "info_nce_tiles" and origin.startswith(
            "stored, made with Triton") and "not installed" in origin
    card, _ = experiments.trial("as in the table")
    assert all(experiments.instructions(card, pattern) for pattern in ("wgmma.mma_async",
                                                                       "cp.async.cg", "ex2"))


def test_the_stored_trials_say_what_the_lesson_says():
    card = {name: Card(**stored) for name, stored in STORED["cards"].items()}
    assert not card["as in the table"].faults()
    assert card["rows 300 numbers apart"].instructions["wide_load"] == 0
    assert card["rows 300 numbers apart"].registers > card["as in the table"].registers
    assert card["tiles of 256 x 256"].spill_bytes > 0
    assert card["8 stages of loads at once"].blocks_per_multiprocessor == 0


def test_a_kernel_that_does_not_compile_here_is_told_and_read_from_the_table(monkeypatch):
    def broken(*_: object, **__: object) -> list[Card]:
        raise RuntimeError("the kernels of uniformity did not compile:\nlong text")

    monkeypatch.setattr(experiments, "cards", broken)
    assert "did not compile" in experiments.trial("as in the table")[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", experiments.TRIALS)
def test_the_stored_trial_is_what_this_triton_compiles(name):
    if importlib.util.find_spec("triton") is None or metadata.version("triton") != STORED["triton"]:
        pytest.skip(f"the table was made with Triton {STORED['triton']}")
    card, stored = experiments.trial(name)[0], Card(**STORED["cards"][name])
    assert (card.spill_bytes, card.shared_bytes,
            card.instructions) == (stored.spill_bytes, stored.shared_bytes, stored.instructions)
    assert abs(card.registers - stored.registers) <= 0.1 * stored.registers
