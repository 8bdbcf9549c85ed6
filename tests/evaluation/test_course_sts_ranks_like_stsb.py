"""The course's own pairs earn their place: they put encoders into nearly the order in which STS-B
puts them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.stats import kendalltau

from lessons_lib import datasets, evaluation
from lessons_lib.core import PROJECT, generator
from lessons_lib.counts import LSA, BagOfWords, TfIdf
from lessons_lib.text import split_sentences

WORDS = r"(?u)\b\w+\b"


class Averaged:
    """Mean of word vectors, weighted by a fitted counting method; `name` and `dim` as every encoder
    has.
    """

    def __init__(self, counter: BagOfWords, matrix: np.ndarray):
        self.counter, self.matrix = counter, matrix
        self.name, self.dim = "averaged vectors", matrix.shape[1]

    def encode(self, texts, *, batch_size=256, progress=False):
        return np.asarray(self.counter.transform(texts) @ self.matrix, dtype=np.float32)


def encoders() -> Iterator[tuple[str, object]]:
    """Nineteen encoders from letters to averaged GloVe vectors, fitted on the Wikipedia sample."""
    texts = [s for article in datasets.load("wikipedia-sample")
             for s in split_sentences(article, min_words=4)]
    yield "words", BagOfWords(token_pattern=WORDS).fit(texts)
    yield "presence", BagOfWords(token_pattern=WORDS, binary=True).fit(texts)
    yield "without stop words", BagOfWords(stop_words="english").fit(texts)
    yield "tf-idf", TfIdf(token_pattern=WORDS).fit(texts)
    yield "bigrams", BagOfWords((2, 2), token_pattern=WORDS).fit(texts)
    yield "tf-idf of 1- and 2-grams", TfIdf((1, 2), token_pattern=WORDS, min_df=2).fit(texts)
    for n in (1, 2, 3):
        yield f"characters {n}", BagOfWords((n, n), analyzer="char_wb").fit(texts)
    yield "tf-idf of 3 to 5 characters", TfIdf((3, 5), analyzer="char_wb", min_df=3).fit(texts)
    for dim in (5, 20, 100, 300):
        yield f"LSA {dim}", LSA(dim, vectorizer=TfIdf(token_pattern=WORDS, sublinear_tf=True,
                                                      min_df=2)).fit(texts)
    glove = datasets.load("glove-sample")
    counts = BagOfWords(token_pattern=WORDS, vocabulary=list(glove.tokens))
    yield "GloVe", Averaged(counts, glove.matrix)
    yield "GloVe, tf-idf", Averaged(
        TfIdf(token_pattern=WORDS, vocabulary=list(glove.tokens)).fit(texts), glove.matrix)
    for dim in (5, 25, 300):
        yield f"random {dim}", Averaged(counts, generator(0).normal(size=(len(glove.tokens), dim)))


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.filterwarnings("ignore::lessons_lib.core.DataWarning")
def test_nineteen_encoders_are_ranked_alike_by_the_course_pairs_and_by_stsb(lessons_data):
    sets = {"course": datasets.load("course-sts", split="all"),
            "stsb": datasets.load("stsb", split="test"), "dev": datasets.load("stsb", split="dev")}
    results = {name: evaluation.evaluate(encoder, sets, bootstrap=0)
               for name, encoder in encoders()}
    course, stsb, dev = ([r[key].spearman for r in results.values()] for key in sets)
    notes = (PROJECT / "data" / "README.md").read_text("utf-8")
    stated, ceiling = re.search(r"Kendall's\s+τ between the two rankings is (\d\.\d+)\D+(\d\.\d+)",
                                notes).groups()
    assert len(results) == 19
    assert abs(kendalltau(course, stsb).statistic - float(stated)) < 0.02
    assert abs(kendalltau(dev, stsb).statistic - float(ceiling)) < 0.02
