"""What happens to a kernel's machine code when one thing about it is changed: five trials, compiled
here or read from a stored table.

Triton compiles on Linux without a GPU. Where it is missing, the same trials come from
``experiments.json``, so that a lesson shows the same numbers anywhere. ``python -m
lessons_lib.kernels.experiments`` writes that table. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from ..core import BackendUnavailable, check_choice, write_json
from .aot import Card, cards

__all__ = ["TRIALS", "instructions", "trial"]

STORED = Path(__file__).with_name("experiments.json")
OPERATION, KERNEL, DTYPE, ARCH = "info_nce", "info_nce_tiles", "bfloat16", 90
# the instructions that the lesson looks for
SHOWN = (r"wgmma\.mma_async", r"cp\.async\.cg", r"ld\.global", r"ex2\.approx")
TRIALS: dict[str, dict[str, Any]] = {
    "as in the table": {},
    "rows 300 numbers apart": {"odd": ("stride_query", "stride_key", "d")},
    "rows 304 apart, mask ends at 300": {"odd": ("d",)},
    "tiles of 256 x 256": {"sizes": {"BLOCK_N": 256, "BLOCK_M": 256}},
    "8 stages of loads at once": {"sizes": {"num_stages": 8}},
}


def instructions(card: Card, pattern: str) -> list[str]:
    """The lines of a card's code that hold a pattern, such as ``wgmma.mma_async``."""
    return [" ".join(line.split()) for line in card.ptx.splitlines() if re.search(pattern, line)]


def _compiled(name: str) -> Card:
    result = cards(operations=[OPERATION], architectures=(ARCH,), dtypes=(DTYPE,), **TRIALS[name])
    return next(card for card in result if card.kernel == KERNEL)


def trial(name: str) -> tuple[Card, str]:
    """The tile kernel of InfoNCE in bfloat16 for sm_90, with one thing changed.

    ``name`` is one of `TRIALS`. Returns the card, and in words where it comes from: compiled here,
    or stored and why. Raises ValueError for an unknown name.
    """
    check_choice("name", name, TRIALS)
    try:
        return _compiled(name), f"compiled here with Triton {metadata.version('triton')}"
    except (BackendUnavailable, RuntimeError) as error:
        stored = json.loads(STORED.read_text("utf-8"))
        why = str(error).splitlines()[0].split(" (")[0].rstrip(":")
        return Card(**stored["cards"][name]), f"stored, made with Triton {stored['triton']} ({why})"


def write(path: Path = STORED) -> None:
    """Compile all trials and store them, with the first lines of each kind that the lesson shows
    for code. Raises BackendUnavailable without Triton."""
    stored = {}
    for name in TRIALS:
        card = _compiled(name)
        lines = [line[:400] for pattern in SHOWN for line in instructions(card, pattern)[:2]]
        stored[name] = asdict(replace(card, ptx="\n".join(lines)))
    write_json(path, {"triton": metadata.version("triton"), "cards": stored})


if __name__ == "__main__":
    write()
