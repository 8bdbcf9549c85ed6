"""Whether two methods of word vectors are equally good: agreement with human grades of word pairs, over several seeds of each."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from .measure import Verdict

__all__ = ["GATE", "SETS", "compared"]

SETS = {"WordSim-353": "wordsim353", "SimLex-999": "simlex999"}
LEAST = 1.0                                     # Spearman x 100: what is allowed even where the seeds hardly differ
GATE = "WordSim-353 and SimLex-999, mean over the seeds: below the peer's by no more than one standard deviation of the seeds, or 1 (Spearman x 100)"


def _scores(models: Sequence[Any], name: str) -> list[float]:
    from ..evaluation import word_similarity

    return [100 * word_similarity(vectors, name, bootstrap=0).spearman for vectors in models]


def compared(ours: Sequence[Any], theirs: Sequence[Any], sets: Mapping[str, str] = SETS) -> Verdict:
    """Score the vectors of both sides, one for each seed, on sets of word pairs (title -> name); equal: ours are not worse by more than chance."""
    texts: tuple[list[str], list[str]] = [], []
    equal = True
    for title, name in sets.items():
        scores = [_scores(models, name) for models in (ours, theirs)]
        means, spreads = [statistics.fmean(s) for s in scores], [statistics.stdev(s) if len(s) > 1 else 0.0 for s in scores]
        equal &= means[0] >= means[1] - max(LEAST, *spreads)
        for text, mean, spread in zip(texts, means, spreads, strict=True):
            text.append(f"{title} {mean:.1f} ± {spread:.1f}")
    return Verdict(equal, *(", ".join(text) for text in texts))
