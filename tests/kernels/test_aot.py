"""Machine code: every kernel is compiled for the GPUs it is meant for, without one, and what comes
out is held against what was promised."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import asdict, replace
from importlib import metadata

import pytest
from filelock import FileLock

from lessons_lib.core import BackendUnavailable, read_json, write_json
from lessons_lib.kernels import aot
from lessons_lib.kernels.aot import (ARCHITECTURES, RESIDENT, RESOURCES, SHARED_LIMIT, Card, cards,
                                     operations_with_kernels, stored_cards)

needs_triton = pytest.mark.skipif(importlib.util.find_spec("triton") is None,
                                  reason="Triton has no wheel for this system")


@pytest.fixture(scope="module")
def compile_cards(request, tmp_path_factory):
    """`cards` with pytest's own cache folder: what was compiled in an earlier run is found there,
    and the user's cache is left alone."""
    kept = getattr(request.config, "cache", None)               # None under -p no:cacheprovider
    folder = kept.mkdir("kernels") if kept else tmp_path_factory.mktemp("kernels")

    def compile_them(**options):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LESSONS_CACHE", str(folder))
            return cards(**options)

    return compile_them


@pytest.fixture(scope="module")
def compiled(compile_cards, tmp_path_factory, worker_id):
    """Every kernel in every type for every architecture of the table: compiled by the worker that
    comes first, read by the others."""
    base = tmp_path_factory.getbasetemp()
    shared = (base if worker_id == "master" else base.parent) / "cards.json"
    with FileLock(f"{shared}.lock"):
        if not shared.exists():
            write_json(shared, [asdict(card) for card in compile_cards()])
        return [Card(**entry) for entry in read_json(shared)]


@needs_triton
@pytest.mark.slow
def test_every_kernel_compiles_without_spills_within_its_memory_as_it_was_meant(compiled):
    assert {card.operation for card in compiled} == set(operations_with_kernels())
    assert {card.arch for card in compiled} == set(ARCHITECTURES) <= set(SHARED_LIMIT)
    assert set(SHARED_LIMIT) == set(RESIDENT)
    assert len({card.case for card in compiled}) == len(compiled)
    assert {card.line(): card.faults() for card in compiled if card.faults()} == {}
    assert all(".visible .entry" in card.ptx and f"sm_{card.arch}" in card.ptx for card in compiled)


@needs_triton
@pytest.mark.slow
def test_every_operation_promises_instructions_and_every_promise_can_fail(compiled):
    assert {card.operation for card in compiled if card.expects} == {card.operation
                                                                     for card in compiled}
    for card in compiled:
        assert card.arch >= 90 or "vector_atomic" not in card.expects   # where the GPU has them
        for kind in card.expects:
            assert replace(card, instructions={**card.instructions,
                                               kind: 0}).faults() == [f"no {kind} instruction"]


@needs_triton
@pytest.mark.slow
def test_the_stored_table_is_what_this_triton_makes(compiled):
    stored = {card.case: card for card in stored_cards()}
    assert json.loads(RESOURCES.read_text("utf-8"))["triton"] == metadata.version("triton")
    remedy = "renew it: python -m lessons_lib.kernels.aot --write"
    assert len(stored) == len(stored_cards()) and set(stored) == {card.case
                                                                  for card in compiled}, remedy
    for card in compiled:
        old = stored[card.case]
        assert abs(card.registers - old.registers) <= 0.1 * old.registers, (
            f"{card.line()}; stored {old.registers} registers; {remedy}")
        assert (card.sizes, card.num_warps, card.num_stages,
                card.expects) == (old.sizes, old.num_warps, old.num_stages, old.expects), remedy


def test_the_stored_table_holds_no_fault_and_no_code():
    assert stored_cards() and all(card.faults() == [] and card.ptx == "" for card in stored_cards())


@needs_triton
@pytest.mark.slow
def test_a_tile_that_does_not_fit_is_found_although_it_compiles(compile_cards):
    """256 x 256 numbers on 4 warps are 512 registers per thread, and a thread has 255; eight loads
    at once fill more memory than there is."""
    sizes = {"BLOCK_N": 256, "num_warps": 4, "num_stages": 8}
    broken = compile_cards(operations=["uniformity"], architectures=(90,), dtypes=("bfloat16",),
                           sizes=sizes)
    tiles = next(card for card in broken if card.kernel == "uniformity_tiles")
    assert tiles.sizes["BLOCK_N"] == 256 and tiles.num_warps == 4 and tiles.num_stages == 8
    assert tiles.spill_bytes > 0 and "do not fit into registers" in tiles.faults()[0]
    assert tiles.shared_bytes > SHARED_LIMIT[
        90] and "of shared memory, a block may use 232448" in tiles.faults()[1]
    assert tiles.blocks_per_multiprocessor == 0


@needs_triton
def test_a_kernel_that_does_not_compile_says_which_operation(compile_cards):
    with pytest.raises(RuntimeError, match="the kernels of uniformity did not compile"):
        compile_cards(operations=["uniformity"], architectures=(90,), dtypes=("bfloat16",),
                      sizes={"BLOCK_N": 100})


CARD = Card("op", "kernel", 90, "float32", {"BLOCK": 64}, 4, 3, 128, 0, 0,
            {"wide_load": 2, "tensor_core": 0}, expects=["wide_load"])


@pytest.mark.parametrize(("changed", "blocks"), [
    ({}, 4),                                    # 65536 / (128 registers x 32 threads x 4 warps)
    ({"registers": 129}, 3),                    # registers are handed out in eights: 136
    # 64 warps, four to a block
    ({"registers": 32}, 16), ({"registers": 8}, 16), ({"registers": 0}, 16),
    ({"registers": 8, "num_warps": 1}, 32),     # never more than 32 blocks
    ({"registers": 8, "num_warps": 1, "arch": 75}, 16),
    ({"shared_bytes": 96 << 10}, 2), ({"shared_bytes": 113 << 10}, 2),
                                                 ({"shared_bytes": 114 << 10}, 1),
                                                 ({"shared_bytes": 227 << 10}, 1),
    ({"shared_bytes": (227 << 10) + 1}, 0), ({"shared_bytes": 96 << 10, "arch": 80}, 1),
                                                 ({"registers": 255, "num_warps": 16}, 0),
])
def test_blocks_on_a_multiprocessor_are_counted_by_what_runs_out_first(changed, blocks):
    assert replace(CARD, **changed).blocks_per_multiprocessor == blocks


@pytest.mark.parametrize(("changed", "words"), [
    ({"spill_bytes": 8}, "8 bytes per thread do not fit into registers"),
    ({"shared_bytes": 230 << 10}, "235520 bytes of shared memory, a block may use 232448"),
    ({"expects": ["tensor_core"]}, "no tensor_core instruction"),
    ({"registers": 255, "num_warps": 16}, "not even one block fits")])
def test_each_fault_is_named(changed, words):
    assert CARD.faults() == []
    assert any(words in fault for fault in replace(CARD, **changed).faults())


def test_a_card_survives_its_table_and_reads_as_one_line():
    assert Card(**json.loads(json.dumps(asdict(CARD)))) == CARD
    line = replace(CARD, constants={"SLOTS": 16, "EXCLUDE_SELF": True}).line()
    assert line.startswith("kernel SLOTS=16 float32 sm_90: ")
    assert CARD.line() == ("kernel float32 sm_90: blocks 64, 4 warps, 128 registers, 0 B spilled, "
                           "0 KB shared, 4 blocks per multiprocessor")


def test_wrong_names_are_answered_with_the_right_ones(monkeypatch):
    with pytest.raises(BackendUnavailable, match=r"not installed .*stored_cards\(\)"):
        monkeypatch.setattr(aot, "missing_triton", lambda: "Triton is not installed (no wheel)")
        cards()
    monkeypatch.setattr(aot, "missing_triton", lambda: None)
    with pytest.raises(ValueError,
                       match="operations='uniformty' is unknown. Did you mean 'uniformity'"):
        cards(operations=["uniformty"])
    with pytest.raises(ValueError, match="architectures='91' is unknown"):
        cards(architectures=(91,))
