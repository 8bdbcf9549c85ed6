"""GloVe's own programs, written in C: counting of co-occurrences, and training on the counts.

They are used where the environment variable ``LESSONS_GLOVE_C`` names the folder that holds them,
and read and write files.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..measure import PeerMissing

if TYPE_CHECKING:
    from ...counts import Cooccurrences
    from ...text import Corpus

NAMES = ("vocab_count", "cooccur", "shuffle", "glove")
RECORD = np.dtype([("row", "<i4"), ("column", "<i4"), ("value", "<f8")])
ROUNDING = 1e-7                                 # relative: ours are float32, theirs sums of floats


@dataclass(frozen=True)
class Programs:
    """The programs of one folder, working on one text and writing beside it."""

    where: Path
    text: Path

    def file(self, name: str) -> Path:
        """A file beside the text."""
        return self.text.with_name(name)

    def run(self, name: str, *arguments: object, reads: Path | None = None,
            writes: Path | None = None) -> str:
        """Run one program, from file to file; gives what it told. Raises RuntimeError."""
        command = [str(self.where / name), *map(str, arguments)]
        with open(reads or os.devnull, "rb") as source, open(writes or os.devnull, "wb") as target:
            done = subprocess.run(command, stdin=source, stdout=target, stderr=subprocess.PIPE,
                                  cwd=self.text.parent, check=False)
        told = done.stderr.decode("utf-8", "replace")
        if done.returncode:
            raise RuntimeError(f"{name} ended with {done.returncode}: {told[-300:]}")
        return told

    def vocabulary(self) -> list[str]:
        """Their words by number; the first has number 1 in their files."""
        path = self.file("vocab.txt")
        if not path.exists():
            self.run("vocab_count", "-min-count", 1, "-verbose", 0, reads=self.text, writes=path)
        return [line.split(" ")[0] for line in path.read_text("utf-8").splitlines()]

    def counted(self, window: int) -> Programs:
        """Count co-occurrences into ``counts.bin``."""
        self.vocabulary()
        self.run("cooccur", "-symmetric", 1, "-window-size", window, "-vocab-file", "vocab.txt",
                 "-verbose", 0, reads=self.text, writes=self.file("counts.bin"))
        return self


def programs(text: Path) -> Programs:
    """The programs, set to read ``text``. Raises PeerMissing where they are not there."""
    named = os.environ.get("LESSONS_GLOVE_C", "")
    for folder in (Path(named), Path(named) / "build"):
        if named and all((folder / name).is_file() for name in NAMES):
            return Programs(folder.resolve(), text)
    said = (f"LESSONS_GLOVE_C={named} does not hold {', '.join(NAMES)}" if named
            else "LESSONS_GLOVE_C is not set")
    raise PeerMissing(f"{said}; it names the folder where the C programs of "
                      "github.com/stanfordnlp/GloVe were built (make)")


def same_counts(corpus: Corpus, ours: Cooccurrences, theirs: Programs) -> bool:
    """Whether both have the same pairs and the same counts."""
    number = np.array([corpus.vocabulary.id(word) for word in theirs.vocabulary()], dtype=np.int64)
    records = np.fromfile(theirs.file("counts.bin"), dtype=RECORD)
    pair = number[records["row"] - 1] * ours.n_words + number[records["column"] - 1]
    order = np.argsort(pair, kind="stable")
    expected = ours.rows.astype(np.int64) * ours.n_words + ours.columns
    return np.array_equal(pair[order], expected) and np.allclose(
        ours.values, records["value"][order], rtol=ROUNDING, atol=0)


def learning(text: Path, *, window: int, dim: int, epochs: int, x_max: float,
             threads: int) -> Callable[[int], Callable[[], tuple[float, Path]]]:
    """Their training for a seed, which gives its loss and the file of its vectors. Counts are made
    and shuffled once, and no clock measures it."""
    ready: list[Programs] = []

    def prepared(seed: int) -> Callable[[], tuple[float, Path]]:
        if not ready:
            ready.append(programs(text).counted(window))
            ready[0].run("shuffle", "-verbose", 0, "-seed", 1, reads=ready[0].file("counts.bin"),
                         writes=ready[0].file("shuffled.bin"))

        def run() -> tuple[float, Path]:
            told = ready[0].run(
                "glove", "-save-file", f"vectors{seed}", "-input-file", "shuffled.bin",
                "-vocab-file", "vocab.txt", "-vector-size", dim, "-iter", epochs, "-x-max", x_max,
                "-threads", threads, "-seed", seed + 1, "-binary", 0, "-verbose", 0)
            costs = re.findall(r"cost: ([\d.naif-]+)", told)
            return float(costs[-1]), ready[0].file(f"vectors{seed}.txt")
        return run
    return prepared
