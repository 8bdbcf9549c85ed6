"""The trials of lesson 15: stored ones are complete, compiled ones agree with them, and a machine without Triton gets the stored ones."""

from __future__ import annotations

import importlib.util
import json
from importlib import metadata

import pytest

from lessons_lib.core import BackendUnavailable
from lessons_lib.kernels import experiments
from lessons_lib.kernels.aot import Card

STORED = json.loads(experiments.STORED.read_text("utf-8"))


def _missing(*_: object, **__: object) -> list[Card]:
    raise BackendUnavailable("Triton is not installed (it has wheels for Linux only: pip install triton); stored_cards() holds the committed table")


def test_every_trial_is_stored_with_the_lines_that_the_lesson_shows(monkeypatch):
    monkeypatch.setattr(experiments, "cards", _missing)
    assert set(STORED["cards"]) == set(experiments.TRIALS)
    for name in experiments.TRIALS:
        card, origin = experiments.trial(name)
        assert card.kernel == "uniformity_tiles" and origin.startswith("stored, made with Triton") and "not installed" in origin
    card, _ = experiments.trial("as in the table")
    assert all(experiments.instructions(card, pattern) for pattern in ("wgmma.mma_async", "cp.async.cg", "ex2"))


def test_the_stored_trials_say_what_the_lesson_says():
    card = {name: Card(**stored) for name, stored in STORED["cards"].items()}
    assert not card["as in the table"].faults()
    assert card["rows 300 numbers apart"].instructions["wide_load"] == 0
    assert card["rows 300 numbers apart"].registers > card["as in the table"].registers
    assert card["tiles of 256 x 256"].spill_bytes > 0 and card["8 stages of loads at once"].blocks_per_multiprocessor == 0


def test_a_kernel_that_does_not_compile_here_is_told_and_read_from_the_table(monkeypatch):
    def broken(*_: object, **__: object) -> list[Card]:
        raise RuntimeError("the kernels of uniformity did not compile:\nlong text")

    monkeypatch.setattr(experiments, "cards", broken)
    assert "did not compile" in experiments.trial("as in the table")[1]


def test_an_unknown_trial_is_refused():
    with pytest.raises(ValueError, match="as in the table"):
        experiments.trial("as in the tabel")


@pytest.mark.slow
@pytest.mark.parametrize("name", experiments.TRIALS)
def test_the_stored_trial_is_what_this_triton_compiles(name):
    if importlib.util.find_spec("triton") is None or metadata.version("triton") != STORED["triton"]:
        pytest.skip(f"the table was made with Triton {STORED['triton']}")
    card, stored = experiments.trial(name)[0], Card(**STORED["cards"][name])
    assert (card.spill_bytes, card.shared_bytes, card.instructions) == (stored.spill_bytes, stored.shared_bytes, stored.instructions)
    assert abs(card.registers - stored.registers) <= 0.1 * stored.registers
