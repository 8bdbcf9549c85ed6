"""The page "When the laptop is too small": which command goes beyond one machine, on which engine,
what it costs, and how much memory a batch takes.
"""

from __future__ import annotations

from pathlib import Path
from string import Template

__all__ = ["batch_bytes", "too_small_page"]

BATCHES, DIMENSIONS = (64, 512, 4096, 32_768), (128, 384, 768)
VOCABULARIES, PROCESSES = (50_000, 500_000, 3_000_000), (1, 2, 8)
WORD_DIM = 300

PAGE = Path(__file__).with_name("too_small.md")


def batch_bytes(batch: int, dim: int) -> int:
    """Bytes that a batch takes in each process beyond the model."""
    from ...kernels.info_nce.cpu import BLOCK, LEAST_ROWS, MOST

    step = max(1, min(batch, max(LEAST_ROWS, BLOCK // batch), MOST // batch))
    return 4 * (8 * batch * dim + 2 * step * batch)


def _table(head: str, columns: list[str], rows: list[tuple[str, list[int]]]) -> str:
    lines = [f"| {head} | {' | '.join(columns)} |", "|---:" * (len(columns) + 1) + "|"]
    lines += [f"| {name} | {' | '.join(f'{size / 1e6:,.1f}' for size in sizes)} |"
              for name, sizes in rows]
    return "\n".join(lines)


def too_small_page() -> str:
    """The page, in Markdown."""
    batches = _table("batch n", [f"d = {dim}" for dim in DIMENSIONS],
                     [(f"{n:,}", [batch_bytes(n, dim) for dim in DIMENSIONS]) for n in BATCHES])
    words = _table("words V", [f"K = {k}" for k in PROCESSES],
                   [(f"{v:,}", [4 * 2 * -(-v // k) * WORD_DIM for k in PROCESSES])
                    for v in VOCABULARIES])
    return Template(PAGE.read_text("utf-8")).substitute(batches=batches, words=words,
                                                         dim=WORD_DIM)
