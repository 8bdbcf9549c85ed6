"""Block tables: the right entry for each GPU and type, and entries that a kernel can be launched with."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from lessons_lib.kernels import configs
from lessons_lib.kernels.configs import Blocks, blocks_for, entry, other_blocks, table


@pytest.fixture
def small_table(monkeypatch):
    rows = [Blocks("k", 0, "*", {"BLOCK": 16}, 1, 1), Blocks("k", 80, "*", {"BLOCK": 32}, 4, 3), Blocks("k", 80, "bfloat16", {"BLOCK": 64}, 4, 3),
            Blocks("k", 90, "*", {"BLOCK": 128}, 8, 3)]
    monkeypatch.setattr(configs, "table", lambda: tuple(rows))


@pytest.mark.parametrize(("arch", "dtype", "block"), [
    (0, "float32", 16),                         # the interpreter has small tiles of its own
    (80, "float32", 32), (80, "bfloat16", 64),  # a type's own entry comes before the one for any type
    (89, "bfloat16", 64),                       # the newest that is not newer
    (90, "float32", 128), (120, "float16", 128),
    (90, "bfloat16", 128),                      # a newer architecture beats an own type
    (75, "float32", 32),                        # older than all entries: the oldest
])
def test_the_entry_fits_the_gpu_first_and_the_type_second(small_table, arch, dtype, block):
    assert entry("k", arch, dtype).sizes == {"BLOCK": block}


def test_a_kernel_without_an_entry_is_a_fault_of_the_table(small_table):
    with pytest.raises(KeyError, match="no entry for unknown on sm_90 in float32"):
        entry("unknown", 90, "float32")


def test_an_entry_for_gpus_is_never_taken_by_the_interpreter(monkeypatch):
    monkeypatch.setattr(configs, "table", lambda: (Blocks("k", 80, "*", {"BLOCK": 32}, 4, 3),))
    with pytest.raises(KeyError, match="sm_0"):
        entry("k", 0, "float32")


def test_the_launch_depends_on_where_x_lies(small_table, monkeypatch):
    x = torch.ones(2, dtype=torch.bfloat16)
    monkeypatch.setattr(configs, "interpreting", lambda: True)
    assert blocks_for("k", x).options() == {"BLOCK": 16, "num_warps": 1, "num_stages": 1}
    monkeypatch.setattr(configs, "interpreting", lambda: False)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (8, 6))
    assert blocks_for("k", x).options() == {"BLOCK": 64, "num_warps": 4, "num_stages": 3}


def test_other_blocks_hold_inside_their_block_only(small_table, monkeypatch):
    monkeypatch.setattr(configs, "interpreting", lambda: True)
    x, before = torch.ones(2), blocks_for("k", torch.ones(2))
    with other_blocks(lambda found: replace(found, sizes={"BLOCK": 2 * found.sizes["BLOCK"]})):
        assert blocks_for("k", x).sizes == {"BLOCK": 32}
    assert blocks_for("k", x) == before


def test_the_table_names_each_kernel_architecture_and_type_once():
    keys = [(row.kernel, row.arch, row.dtype) for row in table()]
    assert len(keys) == len(set(keys)) > 0


def test_every_entry_can_be_launched():
    """Blocks are powers of two, as tl.arange demands (none where the rows decide); a block has 1 to 32 warps."""
    for row in table():
        assert row.arch in (0, 80, 90, 100, 120) and row.dtype in ("*", "float32", "float16", "bfloat16"), row
        assert all(size > 0 and size & (size - 1) == 0 for size in row.sizes.values()), row
        assert row.num_warps in (1, 2, 4, 8, 16, 32) and 1 <= row.num_stages <= 8, row


def test_tiles_in_the_interpreter_are_small_enough_for_tests():
    for row in table():
        if row.arch == 0:
            assert all(size <= 64 for name, size in row.sizes.items() if name.startswith("BLOCK")), row
