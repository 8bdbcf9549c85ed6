"""Athens is to Greece as Baghdad is to what? The word nearest to Greece - Athens + Baghdad.

3CosAdd adds the three cosines, 3CosMul multiplies them, so that no single one can outweigh the
others. The three words of the question are never accepted as answers (without that rule the nearest
word is mostly one of them). Taught in ``04_word2vec``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import check_choice, check_int, shown
from .geometry import unit_rows
from .word_table import WordTable

__all__ = ["AnalogyResult", "analogy_accuracy", "answers"]

BLOCK = 1 << 22                                   # scores per block: questions x candidate words
METHODS = ("3cosadd", "3cosmul")
EPSILON = 0.001  # keeps the division of 3CosMul finite [levy2014linguistic]


@dataclass(frozen=True, repr=False)
class AnalogyResult:
    """Right answers to analogy questions whose four words have vectors.

    Attributes
    ----------
    method : str
    accuracy : float
        Share of right answers among the covered questions.
    n_covered, n_questions : int
    by_section : dict of str to (accuracy, covered, questions)
        Accuracy is None in a section without a covered question.
    missing : tuple of str
        The words without vector, each once.
    """

    method: str
    accuracy: float
    n_covered: int
    n_questions: int
    by_section: dict[str, tuple[float | None, int, int]]
    missing: tuple[str, ...]

    @property
    def coverage(self) -> float:
        """Share of the questions that could be asked."""
        return self.n_covered / self.n_questions

    def __repr__(self) -> str:
        lines = [f"AnalogyResult({self.method}: {self.accuracy:.1%} of {self.n_covered:,} covered "
                 f"questions, {self.coverage:.0%} covered)"]
        for name, (accuracy, covered, total) in self.by_section.items():
            lines.append(f"  {name:<28} {'–' if accuracy is None else format(accuracy, '.1%'):>7}  "
                         f"{covered:>5} of {total}")
        return "\n".join(lines)


def analogy_accuracy(vectors: Any, dataset: Any = "analogies", *, method: str = "3cosadd",
                     first: int | None = None) -> AnalogyResult:
    """Ask every analogy question and count right answers, in all and per section.

    Parameters
    ----------
    vectors
        As for `word_similarity`.
    dataset : str or object with ``questions`` (n, 4) of words and ``section`` (n,)
        A word is looked up as written, then in lower case.
    method : {"3cosadd", "3cosmul"}
    first : int >= 1, optional
        Use only that many words of the table, for tables sorted by frequency.

    Returns
    -------
    AnalogyResult

    Raises
    ------
    UnknownWord
        No question is covered.
    TypeError, ValueError

    Notes
    -----
    [mikolov2013distributed], [levy2014linguistic]
    """
    check_choice("method", method, METHODS)
    table = WordTable(vectors)
    if first is not None:
        table = WordTable((table.words[: check_int("first", first)], table.matrix[:first]))
    questions, sections = _loaded(dataset)
    rows, missing = table.rows([list(column) for column in questions.T])
    known = (rows >= 0).all(axis=1)
    right = np.zeros(len(rows), dtype=bool)
    given = answers(unit_rows(table.matrix), rows[known, :3], method=method)
    right[known] = given == rows[known, 3]
    by_section = {}
    for name in dict.fromkeys(sections.tolist()):
        here = sections == name
        covered = int((here & known).sum())
        by_section[str(name)] = (float(right[here].sum() / covered) if covered else None, covered,
                                 int(here.sum()))
    return AnalogyResult(method, float(right[known].mean()), int(known.sum()), len(rows),
                         by_section, tuple(missing))


def answers(unit: np.ndarray, questions: np.ndarray, *, method: str = "3cosadd") -> np.ndarray:
    """The best fourth word of each question "a is to b as c is to ?", among all words but a, b, c.

    ``unit`` are (words, dim) vectors of norm 1, ``questions`` (n, 3) row numbers. Returns (n,) row
    numbers, the lower of a tie, -1 where no word is left. Works in blocks, never questions x words.
    """
    if method == "3cosadd":
        return _nearest(unit, questions)
    best = np.empty(len(questions), dtype=np.intp)
    step = max(1, BLOCK // len(unit))
    for start in range(0, len(questions), step):
        asked = questions[start : start + step]
        a, b, c = ((unit[asked[:, k]] @ unit.T + 1) / 2 for k in range(3))  # cosines, in [0, 1]
        score = b * c / (a + EPSILON)
        np.put_along_axis(score, asked, -np.inf, axis=1)
        best[start : start + step] = np.where(np.isneginf(score.max(axis=1)), -1,
                                              score.argmax(axis=1))
    return best


def _nearest(unit: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """3CosAdd is a neighbour search: three of the 4 words nearest to b - a + c may be asked."""
    from ..kernels import knn

    a, b, c = (unit[asked[:, k]] for k in range(3))
    near = knn(b - a + c, unit, k=min(4, len(unit)))[1].numpy()
    free = (near[:, :, None] != asked[:, None, :]).all(axis=2)
    return np.where(free.any(axis=1), near[np.arange(len(near)), free.argmax(axis=1)], -1)


def _loaded(dataset: Any) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(dataset, str):
        from .. import datasets

        dataset = datasets.load(dataset)
    if not (hasattr(dataset, "questions") and hasattr(dataset, "section")):
        raise TypeError(f"dataset={shown(dataset)} is {type(dataset).__name__}; expected analogies "
                        "with questions (n, 4) and section (n,)")
    questions = np.asarray(dataset.questions, dtype=object)
    sections: Sequence[str] = dataset.section
    if questions.ndim != 2 or questions.shape[1] != 4 or len(sections) != len(questions):
        raise ValueError(f"dataset.questions has shape {questions.shape} for {len(sections)} "
                         "sections; expected (n, 4) and n sections")
    if not len(questions):
        raise ValueError("dataset.questions holds 0 questions; expected >= 1")
    return questions, np.asarray(sections, dtype=object)
