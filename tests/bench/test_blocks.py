"""Trying block sizes: which candidates there are, that wrong ones are never chosen, and that the interpreter runs them."""

from __future__ import annotations

import pytest
import torch

from lessons_lib import kernels
from lessons_lib.bench import blocks, gpu
from lessons_lib.bench.gpu_cases import Sides
from lessons_lib.kernels import configs
from lessons_lib.kernels.configs import Blocks, blocks_for, other_blocks
from lessons_lib.kernels.interpreter import interpreting

ENTRY = Blocks("toy", 80, "float32", {"BLOCK_N": 64, "BLOCK_D": 16, "EVEN": True}, 4, 2)


def test_neighbours_differ_in_one_thing_and_never_go_below_the_smallest_tile():
    found = blocks.neighbours(ENTRY)
    assert [b.sizes for b in found[:3]] == [ENTRY.sizes | {"BLOCK_N": 128}, ENTRY.sizes | {"BLOCK_N": 32}, ENTRY.sizes | {"BLOCK_D": 32}]
    assert [(b.num_warps, b.num_stages) for b in found[3:]] == [(8, 2), (4, 1), (4, 3)]
    assert all(sum((b.sizes != ENTRY.sizes, b.num_warps != 4, b.num_stages != 2)) == 1 for b in found)


@pytest.fixture
def toy_table(monkeypatch):
    """A table with one kernel, for whatever architecture is asked."""
    monkeypatch.setattr(configs, "interpreting", lambda: True)
    monkeypatch.setattr(configs, "entry", lambda kernel, arch, dtype: ENTRY)


def look_up(seen):
    """Work that is faster with larger BLOCK_N, wrong with BLOCK_D = 32, and cannot run with 8 warps."""
    entry = blocks_for("toy", torch.ones(1))
    if entry.num_warps == 8:
        raise RuntimeError("out of resource")
    seen.append(entry)
    return torch.ones(1) * (2 if entry.sizes["BLOCK_D"] == 32 else 1)


def test_the_fastest_blocks_with_the_same_result_are_named_beside_those_of_the_table(toy_table):
    seen = []

    def timer(work):
        work()
        wrong = seen[-1].sizes["BLOCK_D"] == 32
        return (0.0001 if wrong else 0.064 / seen[-1].sizes["BLOCK_N"], 0, 0)

    tools = gpu.Instruments(timer, timer, lambda work: 0.0, "cpu")
    row, = blocks.try_blocks("case", Sides(lambda: look_up(seen), lambda: 0.0), tools, tolerance=1e-3)
    assert row.name == "toy: case" and row.value == 0.5 and row.peer_seconds == 0.001
    assert row.config.startswith("BLOCK_N=128 BLOCK_D=16") and row.note.startswith("table: BLOCK_N=64") and row.note.endswith("5 of 7 ran")


def test_when_time_is_spent_the_table_s_blocks_stand(toy_table):
    tools = gpu.Instruments(lambda work: (0.001, 0, 0), None, None, "cpu")
    row, = blocks.try_blocks("case", Sides(lambda: look_up([]), lambda: 0.0), tools, tolerance=1e-3, in_time=lambda: False)
    assert row.config.startswith("BLOCK_N=64") and row.note.endswith("1 of 7 ran")


def test_without_cuda_one_line_says_so_and_no_row_is_made(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    told = []
    assert list(blocks.rows(tell=told.append)) == [] and told == ["blocks-gpu: no CUDA device here, so no block sizes were tried"]


@pytest.mark.skipif(not interpreting(), reason="Triton was loaded as a compiler: the lookup needs a GPU")
def test_other_blocks_reach_the_launch_and_end_with_their_block():
    pytest.importorskip("triton")
    x = torch.randn(20, 16, generator=torch.Generator().manual_seed(0))

    def work():
        return kernels.uniformity(x, backend="triton")

    used, = blocks.used_blocks(work)
    assert used.kernel == "uniformity_tiles"

    def larger(entry: Blocks) -> Blocks:
        return Blocks(entry.kernel, entry.arch, entry.dtype, entry.sizes | {"BLOCK_N": 32}, 1, 1)

    with kernels.trace() as trace, other_blocks(larger):
        found = work()
    assert trace.runs[0].launches[0][1:] == ((1,), {"BLOCK_N": 32, "BLOCK_D": used.sizes["BLOCK_D"], "num_warps": 1, "num_stages": 1})
    torch.testing.assert_close(found, work())
