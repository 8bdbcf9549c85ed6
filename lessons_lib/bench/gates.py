"""When two results count as equal: the quality gates that the cases share."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .measure import Verdict

LEAST = 1.0                                     # points allowed even where seeds hardly differ
WORD_SETS = {"WordSim-353": "wordsim353", "SimLex-999": "simlex999"}
NO_WORSE = ("mean over the seeds: below the peer's by no more than one standard deviation of the "
            "seeds")
WORD_GATE = f"WordSim-353 and SimLex-999, {NO_WORSE}, or 1 (Spearman x 100)"


def close(tolerance: float) -> Callable[[np.ndarray, np.ndarray], bool]:
    """A gate: arrays of one shape whose numbers differ by at most ``tolerance``."""
    return lambda ours, theirs: (
        ours.shape == theirs.shape and bool(np.abs(ours - theirs).max() <= tolerance))


def no_worse(scores: Mapping[str, Sequence[Sequence[float]]], form: str) -> Verdict:
    """Judge scores by title, those of ours and of the peer, one for each seed. Ours may lie below
    by one standard deviation of the seeds, or `LEAST`."""
    equal, texts = True, ([], [])
    for title, sides in scores.items():
        means = [statistics.fmean(side) for side in sides]
        spreads = [statistics.stdev(side) if len(side) > 1 else 0.0 for side in sides]
        equal &= means[0] >= means[1] - max(LEAST, *spreads)
        for text, mean, spread in zip(texts, means, spreads, strict=True):
            text.append(form.format(title, mean, spread))
    return Verdict(equal, *(", ".join(text) for text in texts))


def word_scores(ours: Sequence[Any], theirs: Sequence[Any],
                sets: Mapping[str, str] = WORD_SETS) -> Verdict:
    """Judge the word vectors of both sides, one for each seed, by people's grades of word pairs."""
    from ..evaluation import word_similarity
    return no_worse({title: [[100 * word_similarity(vectors, name, bootstrap=0).spearman
                              for vectors in side] for side in (ours, theirs)]
                     for title, name in sets.items()}, "{} {:.1f} ± {:.1f}")


def relative_error(result: Any, expected: Any) -> float:
    """The largest max|a - b| / max|b| over the tensors of two results. A result is a tensor, an
    array, a number, or a sequence of those. Infinite when shapes differ or something is not a
    number."""
    import torch
    def flat(result: Any) -> list[torch.Tensor]:
        parts = isinstance(result, (tuple, list))
        if parts and not all(isinstance(part, (int, float)) for part in result):
            return [tensor for part in result for tensor in flat(part)]
        return [torch.as_tensor(result).detach()]

    a, b = flat(result), flat(expected)
    if [x.shape for x in a] != [y.shape for y in b]:
        return math.inf
    errors = [((x.double() - y.to(x.device).double()).abs().max()
               / y.double().abs().max().clamp(min=1e-30).to(x.device)).item()
              for x, y in zip(a, b, strict=True) if x.numel()]
    return math.inf if any(map(math.isnan, errors)) else max(errors, default=0.0)


def agree(tolerance: float) -> Callable[[Any, Any], bool]:
    """A gate: values (and gradients) differ by at most ``tolerance`` of the largest value."""
    return lambda result, expected: relative_error(result, expected) <= tolerance


def neighbour_error(result: Any, expected: Any, *, share: float = 0.999) -> float:
    """The relative error of the values of (values, row numbers). Infinite when fewer than ``share``
    of the row numbers are equal; rounding may swap near-equals."""
    import torch
    a, b = (torch.as_tensor(side[1]).cpu() for side in (result, expected))
    return relative_error(result[0], expected[0]) if (a == b).double().mean() >= share else math.inf
