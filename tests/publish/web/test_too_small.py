"""The page for who needs more than one machine: its commands exist, its sizes are what is held."""

from __future__ import annotations

import re

import pytest
import torch
import typer

from lessons_lib import cli
from lessons_lib.contrastive.losses import in_batch_loss
from lessons_lib.publish.web.too_small import batch_bytes, too_small_page


def test_every_command_of_the_page_and_its_options_exist():
    root, page = typer.main.get_command(cli.app), too_small_page()
    said = re.findall(r"`(?:torchrun [^`]*-m lessons_lib|lessons) ([^`]+)`", page)
    assert len(said) >= 7
    for line in said:
        words, command = line.split(), root
        while words and hasattr(command, "get_command"):
            command = command.get_command(None, words.pop(0))
            assert command is not None, line
        known = {name for p in getattr(command, "params", []) for name in p.opts}
        assert {word for word in words if word.startswith("--")} <= known, line
    # options that stand alone in the text
    assert set(re.findall(r"`(--[a-z-]+)", page)) == {"--chunk", "--resume", "--scheduler",
                                                       "--mask-equal"}


@pytest.mark.parametrize(("n", "dim"), [(64, 128), (3000, 4), (16, 200)])
def test_a_batch_is_not_larger_than_the_page_says(n, dim):
    """What the loss keeps for its gradient, with the vectors and their gradients."""
    kept = {}
    x, y = torch.randn(2, n, dim, requires_grad=True).unbind()

    def pack(tensor):
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        in_batch_loss(x, y, temperature=0.1)
    assert 4 * 6 * n * dim <= sum(kept.values()) <= batch_bytes(n, dim)
    assert n < 1000 or sum(kept.values()) < 4 * n * n, "the cosines are not held together"


def test_the_tables_hold_what_their_formulas_say():
    page = too_small_page()
    assert f"| 64 | {4 * (8 * 64 * 128 + 2 * 64 * 64) / 1e6:.1f} |" in page
    assert f"| 4,096 | {4 * (8 * 4096 * 128 + 2 * 2**22) / 1e6:.1f} |" in page
    assert "| 500,000 | 1,200.0 | 600.0 | 150.0 |" in page
    assert "$" not in page
