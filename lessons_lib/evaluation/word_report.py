"""Word similarity on several sets, and analogies by both rules, as one table on word vectors.

A number stands beside the share of questions that could be asked at all: vectors for few words
answer few questions, and often the easy ones. Used by ``lessons evaluate`` and in the cards of the
course's own vectors; taught in ``04_word2vec``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core import UnknownWord, check_choice, shown
from .analogies import METHODS, AnalogyResult, analogy_accuracy
from .tables import html_table, spanned, text_table
from .word_similarity import WordSimilarityResult, loaded_pairs, word_similarity
from .word_table import WordTable

__all__ = ["WordReport", "word_report"]

SETS = ("wordsim353", "simlex999")               # these two are on every machine


@dataclass(frozen=True, repr=False)
class WordReport:
    """Results by name; None where too few questions can be asked (fewer than two word pairs, no
    analogy).

    Attributes
    ----------
    name : str
    n_words, dim : int
    similarity : dict of str to WordSimilarityResult or None
        Of each set of word pairs.
    analogies : dict of str to AnalogyResult or None
        Of each rule.
    """

    name: str
    n_words: int
    dim: int
    similarity: dict[str, WordSimilarityResult | None] = field(default_factory=dict)
    analogies: dict[str, AnalogyResult | None] = field(default_factory=dict)

    HEADER = ("measure", "score", "95 % interval", "covered", "questions")

    def rows(self) -> list[tuple[str, ...]]:
        """The table's cells: measure, score, interval, share of questions asked, and their number.

        Returns
        -------
        list of tuple of str
            Scores are Spearman x 100 or percent of right answers.
        """
        cells, none = [], ("–", "–", "0 %", "0")
        for name, r in self.similarity.items():
            cells.append((f"{name}, Spearman x 100", *(none if r is None else (
                f"{100 * r.spearman:.1f}", spanned(r.interval), f"{r.coverage:.0%}",
                f"{r.n_pairs:,}"))))
        for method, a in self.analogies.items():
            cells.append((f"analogies, {method}, % right", *(none if a is None else (
                f"{100 * a.accuracy:.1f}", "–", f"{a.coverage:.0%}", f"{a.n_covered:,}"))))
        return cells

    def summary(self) -> dict[str, dict[str, float]]:
        """Scores and coverage by measure, as JSON for a card; what could not be asked is left out.

        Returns
        -------
        dict
        """
        result = {name: {"spearman": round(r.spearman, 4), "coverage": round(r.coverage, 4)}
                  for name, r in self.similarity.items() if r is not None}
        return result | {
            f"analogies {method}": {"accuracy": round(a.accuracy, 4),
                                    "coverage": round(a.coverage, 4)}
            for method, a in self.analogies.items() if a is not None}

    def _title(self) -> str:
        return f"{self.name}: {self.n_words:,} words x {self.dim}"

    def __repr__(self) -> str:
        return f"{self._title()}\n{text_table([self.HEADER, *self.rows()], left=1)}"

    def _repr_html_(self) -> str:
        return html_table([self.HEADER, *self.rows()], caption=self._title())


def word_report(vectors: Any, *, sets: Iterable[Any] = SETS, methods: Iterable[str] = METHODS,
                questions: Any = "analogies", bootstrap: int = 1000, seed: int = 0) -> WordReport:
    """Score word vectors on sets of graded word pairs and on analogy questions.

    Parameters
    ----------
    vectors : WordVectors, or whatever `word_similarity` takes
    sets : iterable of names or records of word pairs
    methods : iterable of str
        Rules of analogies; () for none.
    questions : str or record of analogies, default "analogies"
    bootstrap : int >= 0, default 1000
        Resamples of the intervals; 0: none.
    seed : int, default 0

    Returns
    -------
    WordReport
        What cannot be asked is noted as not covered.

    Raises
    ------
    TypeError, ValueError
        An argument.
    DataMissing
        A set is not here.
    """
    if isinstance(sets, str) or isinstance(methods, str):
        raise TypeError(f"sets={shown(sets)}, methods={shown(methods)}: expected lists of names. "
                        "Pass [name]")
    table, similarity, analogies = WordTable(vectors), {}, {}
    for one in sets:
        name = one if isinstance(one, str) else str(getattr(one, "name", type(one).__name__))
        pairs = loaded_pairs(one)[1]
        known = sum(None not in (table.row(str(a)), table.row(str(b)))
                    for a, b in zip(pairs.word1, pairs.word2, strict=True))
        similarity[name] = (word_similarity(vectors, one, bootstrap=bootstrap, seed=seed)
                            if known >= 2 else None)
    for method in methods:
        check_choice("method", method, METHODS)
        try:
            analogies[method] = analogy_accuracy(vectors, questions, method=method)
        except UnknownWord:
            analogies[method] = None
    name = ("word vectors" if isinstance(vectors, Mapping | tuple)
            else str(getattr(vectors, "name", type(vectors).__name__)))
    return WordReport(name, len(table.words), table.matrix.shape[1], similarity, analogies)
