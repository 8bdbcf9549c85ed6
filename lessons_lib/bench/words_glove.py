"""GloVe beside the programs of its authors, written in C: co-occurrence counting and training, on the same words.

Their four programs are used where the environment variable ``LESSONS_GLOVE_C`` names the folder that holds them. What a race does not measure
(their count of words, their shuffling) is done before the clock starts. They read text and write a file; ours gets word numbers and gives arrays.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from .measure import Case, PeerMissing, Verdict
from .word_scores import GATE, compared
from .word_texts import corpus_of, text_file

if TYPE_CHECKING:
    from ..counts import Cooccurrences
    from ..text import Corpus
    from ..vectors import WordVectors
    from ..words import GloVe

__all__ = ["Programs", "Sizes", "cases", "programs"]

NAMES = ("vocab_count", "cooccur", "shuffle", "glove")
RECORD = np.dtype([("row", "<i4"), ("column", "<i4"), ("value", "<f8")])
LOSS = 1.02                                     # our loss over theirs, in the last epoch
ROUNDING = 1e-7                                 # relative: ours are rounded to float32, theirs added up in floats


@dataclass(frozen=True)
class Sizes:
    """How much is read, and how much less is learned, because that takes theirs minutes; tests use less of all."""

    tokens: int = 10_000_000
    learned: int = 1_000_000
    window: int = 15
    dim: int = 100
    epochs: int = 5
    x_max: float = 10.0
    threads: tuple[int, ...] = (1, 2)
    counting: float = 12.0
    learning: float = 8.0


@dataclass(frozen=True)
class Programs:
    """The authors' programs and a folder where they write."""

    where: Path
    text: Path

    def file(self, name: str) -> Path:
        """A file beside the text."""
        return self.text.with_name(name)

    def run(self, name: str, *arguments: object, reads: Path | None = None, writes: Path | None = None) -> str:
        """Run one program, from file to file; returns what it told."""
        with open(reads or os.devnull, "rb") as source, open(writes or os.devnull, "wb") as target:
            command = [str(self.where / name), *map(str, arguments)]
            done = subprocess.run(command, stdin=source, stdout=target, stderr=subprocess.PIPE, cwd=self.text.parent, check=False)
        told = done.stderr.decode("utf-8", "replace")
        if done.returncode:
            raise RuntimeError(f"{name} ended with {done.returncode}: {told[-300:]}")
        return told

    def vocabulary(self) -> list[str]:
        """Their words by number; the first has number 1 in their files."""
        if not self.file("vocab.txt").exists():
            self.run("vocab_count", "-min-count", 1, "-verbose", 0, reads=self.text, writes=self.file("vocab.txt"))
        return [line.split(" ")[0] for line in self.file("vocab.txt").read_text("utf-8").splitlines()]

    def counted(self, window: int) -> Programs:
        """Count co-occurrences into ``counts.bin``."""
        self.vocabulary()
        self.run("cooccur", "-symmetric", 1, "-window-size", window, "-vocab-file", "vocab.txt", "-verbose", 0, reads=self.text,
                 writes=self.file("counts.bin"))
        return self


def programs(text: Path) -> Programs:
    """The programs, set to read ``text``. Raises PeerMissing where they are not there."""
    named = os.environ.get("LESSONS_GLOVE_C", "")
    for folder in (Path(named), Path(named) / "build"):
        if named and all((folder / name).is_file() for name in NAMES):
            return Programs(folder.resolve(), text)
    said = f"LESSONS_GLOVE_C={named} does not hold {', '.join(NAMES)}" if named else "LESSONS_GLOVE_C is not set"
    raise PeerMissing(f"{said}; it names the folder where the C programs of github.com/stanfordnlp/GloVe were built (make)")


# ------------------------------------------------------------------------------------------------ counting


def _same_counts(corpus: Corpus, ours: Cooccurrences, theirs: Programs) -> bool:
    """Whether both found the same pairs and the same counts."""
    number = np.array([corpus.vocabulary.id(word) for word in theirs.vocabulary()], dtype=np.int64)
    records = np.fromfile(theirs.file("counts.bin"), dtype=RECORD)
    pair = number[records["row"] - 1] * ours.n_words + number[records["column"] - 1]
    order = np.argsort(pair, kind="stable")
    expected = ours.rows.astype(np.int64) * ours.n_words + ours.columns
    return np.array_equal(pair[order], expected) and np.allclose(ours.values, records["value"][order], rtol=ROUNDING, atol=0)


def _on(threads: int) -> str:
    return "one thread" if threads == 1 else f"{threads} threads"


def _counting(corpus: Corpus, text: Path, sizes: Sizes) -> Iterator[Case]:
    from ..counts import Cooccurrences

    for threads in sizes.threads:
        name = f"co-occurrence counts, window {sizes.window}, {_on(threads)}, {len(corpus.token_ids) / 1e6:.1f} M tokens"
        yield Case("words", name, "Stanford's cooccur, one thread", partial(Cooccurrences.from_corpus, corpus, sizes.window, threads=threads),
                   lambda: programs(text).counted(sizes.window), partial(_same_counts, corpus), len(corpus.token_ids), "tokens", sizes.counting,
                   "the same pairs, the same counts")


# ------------------------------------------------------------------------------------------------ learning


@dataclass(frozen=True)
class _Learned:
    """What their training told and wrote."""

    loss: float
    path: Path

    def vectors(self) -> WordVectors:
        """The sum of word and context vectors, as their program writes it."""
        from ..vectors.text_format import read_text

        return read_text(self.path, header=False)


def _learned(text: Path, sizes: Sizes, threads: int) -> Callable[[int], Callable[[], _Learned]]:
    """Their side for a seed; counts are made and shuffled for the first, and no clock measures it."""
    ready: list[Programs] = []

    def run(seed: int) -> _Learned:
        told = ready[0].run("glove", "-save-file", f"vectors{seed}", "-input-file", "shuffled.bin", "-vocab-file", "vocab.txt", "-vector-size",
                            sizes.dim, "-iter", sizes.epochs, "-x-max", sizes.x_max, "-threads", threads, "-seed", seed + 1, "-binary", 0,
                            "-verbose", 0)
        costs = re.findall(r"cost: ([\d.naif-]+)", told)
        return _Learned(float(costs[-1]), ready[0].file(f"vectors{seed}.txt"))

    def prepared(seed: int) -> Callable[[], _Learned]:
        if not ready:
            found = programs(text).counted(sizes.window)
            found.run("shuffle", "-verbose", 0, "-seed", 1, reads=found.file("counts.bin"), writes=found.file("shuffled.bin"))
            ready.append(found)
        return partial(run, seed)

    return prepared


def _ours(counts: Cooccurrences, tokens: list[str], sizes: Sizes, threads: int, seed: int) -> GloVe:
    """Our side with the rate of their program for biases."""
    from ..words import GloVe

    return GloVe(sizes.dim, x_max=sizes.x_max, epochs=sizes.epochs, bias_rate="code", threads=threads, seed=seed).fit_counts(counts, tokens)


def _learning(corpus: Corpus, text: Path, sizes: Sizes) -> Iterator[Case]:
    from ..counts import Cooccurrences

    counts, tokens = Cooccurrences.from_corpus(corpus, sizes.window), corpus.vocabulary.tokens
    for threads in sizes.threads:
        def ours(seed: int, threads: int = threads) -> Callable[[], GloVe]:
            return partial(_ours, counts, tokens, sizes, threads, seed)

        name = f"GloVe, AdaGrad on {len(counts) / 1e6:.1f} M counts, d={sizes.dim}, {_on(threads)}"
        yield Case("words", name, f"Stanford's glove, {_on(threads)}", ours, _learned(text, sizes, threads), _as_good, len(counts) * sizes.epochs,
                   "counts", sizes.learning, f"mean loss after {sizes.epochs} epochs at most {LOSS:g} times theirs; {GATE}", seeded=True)


def _as_good(found: Sequence[GloVe], expected: Sequence[_Learned]) -> Verdict:
    """Whether the loss is as low and the vectors score as well."""
    scores = compared([model.vectors_ for model in found], [learned.vectors() for learned in expected])
    losses = fmean(float(model.history_[-1]) for model in found), fmean(learned.loss for learned in expected)
    told = [f"loss {loss:.5f}, {score}" for loss, score in zip(losses, (scores.ours, scores.theirs), strict=True)]
    return Verdict(scores.equal and losses[0] <= LOSS * losses[1], *told)


def cases(*, sizes: Sizes | None = None) -> Iterator[Case]:
    """The races, one after the other; a text is read when the first case that needs it is asked for."""
    sizes = sizes or Sizes()
    for tokens, make in ((sizes.tokens, _counting), (sizes.learned, _learning)):
        corpus = corpus_of(tokens)
        with text_file(corpus) as text:
            yield from make(corpus, text, sizes)
