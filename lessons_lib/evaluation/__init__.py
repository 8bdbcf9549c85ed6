"""Measuring embeddings: similarity of sentences and words, analogies, geometry, the leaderboard.

Every lesson turns its method into an `Encoder`, calls `evaluate` on the same sets and adds one row
to the `Leaderboard`. Undefined figures are errors or None, never NaN. Taught in ``01_one_hot``
(Spearman), ``04_word2vec`` (analogies) and ``14_simcse`` (geometry).
"""

from .analogies import AnalogyResult, analogy_accuracy
from .bootstrap import PairedDifference, bootstrap_interval, paired_difference, spearman_interval
from .geometry import alignment, pair_cosines, uniformity, unit_rows
from .leaderboard import Leaderboard, LeaderboardRow
from .probe import linear_probe
from .question_sets import QUESTION_SETS, evaluate_retrieval, question_set, titled
from .ranks import average_ranks, pearson, spearman
from .retrieval import (RetrievalResult, ndcg_at, recall_at, reciprocal_rank,
                        retrieval_scores)
from .sts import Results, STSResult, evaluate
from .word_report import WordReport, word_report
from .word_similarity import WordSimilarityResult, word_similarity

__all__ = ["QUESTION_SETS", "AnalogyResult", "Leaderboard", "LeaderboardRow", "PairedDifference",
           "Results", "RetrievalResult", "STSResult", "WordReport", "WordSimilarityResult",
           "alignment", "analogy_accuracy", "average_ranks", "bootstrap_interval", "evaluate",
           "evaluate_retrieval", "linear_probe", "ndcg_at", "pair_cosines", "paired_difference",
           "pearson", "question_set", "recall_at", "reciprocal_rank", "retrieval_scores",
           "spearman", "spearman_interval", "titled", "uniformity", "unit_rows", "word_report",
           "word_similarity"]
