"""Cleverdon 1967: single words find as well as cleverer index languages. Here words stand beside
vectors, on the collection of that paper. Leads to the lesson on search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core import BackendUnavailable
from ..datasets import load
from ..evaluation import question_set, retrieval_scores, titled
from ..search import ExactNeighbours, InvertedIndex, reciprocal_rank_fusion
from ..sentences import MeanEncoder, named_encoder
from .entry import OTHER_CONTROL, Rows, Series, declared
from .models import model_of
from .pictures import HIGH, LOW, interval_dots
from .trained import quiet

__all__ = ["ENTRIES", "both_rankings", "with_intervals"]

DEEP, CONSTANT, WORDS = 100, 5, r"(?u)\b\w+\b"  # as in the lesson: of both searches, their fusion
MEASURES = ("nDCG@10", "recall@10", "MRR@10")  # x = 0 to 2
OTHERS = {"mean of word2vec": lambda: MeanEncoder(load("course-vectors")),
          "uSIF of word2vec": lambda: named_encoder("usif-course")}
SCALES = {"smoke": {"questions": 20, "encoders": ["lesson-bag", *OTHERS]},
          "laptop": {"questions": 225, "encoders": ["lesson-bag", "minilm", *OTHERS]}}
SCALES |= {"paper": SCALES["laptop"]}


def both_rankings(texts: Sequence[str], questions: Sequence[str], encoder: Any,
                  deep: int = DEEP) -> tuple[list[list[int]], list[list[int]], list[list[int]]]:
    """The first texts for each question by words, by vectors, and by both."""
    index = InvertedIndex(token_pattern=WORDS).fit(texts)
    words = [[row for row, _ in hits] for hits in index.search_each(questions, k=deep)]
    space = ExactNeighbours().fit(encoder.encode(texts))
    near = space.search(encoder.encode(questions), k=min(deep, len(texts)))[1].tolist()
    joined = [[row for row, _ in reciprocal_rank_fusion(pair, k=deep, constant=CONSTANT)]
              for pair in zip(words, near, strict=True)]
    return words, near, joined


def with_intervals(name: str, rankings: Sequence[Sequence[int]], relevant: Sequence[Any],
                   seed: int, ending: str = "") -> Rows:
    """nDCG@10, recall@10 and MRR@10, x 100, and the ends of their intervals."""
    scores = retrieval_scores(rankings, relevant, seed=seed)
    ends = (scores.ndcg_interval, scores.recall_interval, scores.mrr_interval)
    numbers = {"": (scores.ndcg, scores.recall, scores.mrr)}
    numbers |= {end: [pair[k] for pair in ends] for k, end in enumerate((LOW, HIGH))}
    return {name + end + ending: {x: 100 * y for x, y in enumerate(row)}
            for end, row in numbers.items()}


def _measure(settings: Mapping[str, Any], seed: int) -> Series:
    """Rankings of all texts; their control is judged by the answers of the question half the
    questions further (neighbours are often about one paper)."""
    whole = question_set("cranfield")
    n = min(settings["questions"], len(whole))
    asked, right = whole.question[:n], whole.relevant[:n]
    texts, rankings = titled(whole), {}
    for name in settings["encoders"]:
        try:
            encoder = OTHERS[name]() if name in OTHERS else model_of(name)
        except BackendUnavailable:
            continue
        with quiet():  # two of the texts are empty
            words, near, joined = both_rankings(texts, asked, encoder)
        rankings |= {"BM25": words, name: near}
        if name == "lesson-bag":
            rankings["BM25 + lesson-bag"] = joined
    others = [*right[n // 2:], *right[:n // 2]]
    result: Rows = {}
    for name, ranking in rankings.items():
        result |= with_intervals(name, ranking, right, seed)
        result |= with_intervals(name, ranking, others, seed, OTHER_CONTROL)
    return result


def _draw(entry: Any, measured: Series) -> Any:
    own = [row for row in measured if row + LOW in measured]
    return interval_dots(measured, MEASURES, sorted(own, key=lambda row: -measured[row][0]),
                         title="Words are ahead of one vector of LessonBag", xlabel="× 100",
                         control="judged by another question's answers")


ENTRIES = (declared("cleverdon1967_cranfield", _measure, _draw, SCALES,
                    # no, where it is not installed
                    minilm=lambda m: "minilm" in m and m["minilm"][0] > m["BM25"][0] + 1),)
