"""Bad input of the room: what is called, which error comes, and what its message holds."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import isotropy
from lessons_lib.core import NotFittedError
from lessons_lib.isotropy import (Whitening, against_chance, group_rows, intra_sentence_similarity,
                                  maximum_explainable_variance, self_similarity, whiten_words)
from lessons_lib.vectors import WordVectors

V, T = ValueError, TypeError
X = np.random.default_rng(0).normal(size=(60, 8))
TABLE, COUNTS = X[:, :5], np.arange(60, 0, -1)
LABELS, ONES, EYE = np.arange(60) % 7, np.ones((2, 2)), np.eye(2)
BAD = np.where(np.arange(60)[:, None] == 7, np.nan, X)
EQUAL = np.tile(X[0], (57, 1))
REPEATED = np.column_stack([X, X[:, 0]])


def fits(x=X, **settings):
    return lambda: Whitening(**settings).fit(x)


def fitted(use, **settings):
    return lambda: use(Whitening(**settings).fit(X))


def knn(**settings):
    return lambda: isotropy.knn_by_frequency(TABLE, COUNTS, **{"edges": (0, 60)} | settings)


BASES = [
    (lambda: isotropy.gram([[1.0, 2.0], [2.0, 4.0]]), V, ["2 vectors that span 1 dimensions"]),
    (lambda: isotropy.gram(np.ones((3, 2))), V, ["3 vectors that span 1"]),
    (lambda: isotropy.cosine_in_basis(np.ones((2, 3)), np.ones((2, 3)), EYE), V,
     ["metric has shape (2, 2)", "coordinates of 3 columns"]),
    (lambda: isotropy.inner_product(ONES, np.ones((3, 2)), EYE), V, ["expected equal shapes"]),
    (lambda: isotropy.inner_product(ONES, ONES, [[1.0, 2.0], [0.0, 1.0]]), V,
     ["metric is not symmetric or not positive definite"]),
    (lambda: isotropy.inner_product(ONES, ONES, [[1.0, 2.0], [2.0, 1.0]]), V,
     ["smallest eigenvalue -1", "gram(basis)"]),
    (lambda: isotropy.inner_product([[1e200, 1.0]], [[1e200, 1.0]], EYE), V,
     ["x[0] has an inner product beyond float64; divide"]),
    (lambda: isotropy.estimated_metric(X[:4, :6]), V, ["4 rows that span 3 of 6 dimensions"]),
    (lambda: isotropy.cosine_in_basis([[np.nan, 1.0]], [[1.0, 1.0]], EYE), V, ["x[0] holds NaN"]),
]
FIGURES = [
    (lambda: isotropy.rogue_dimensions(X, 9), V, ["k=9", "int in [1, 8]"]),
    (lambda: isotropy.rogue_dimensions(X, 0), V, ["k=0"]),
    (lambda: isotropy.random_cosines(X, 0), V, ["n=0"]),
    (lambda: isotropy.random_cosines(X, seed=-1), V, ["seed=-1"]),
    (lambda: isotropy.cone(X, dim=4), V, ["dim=4", "int in [2, 3]"]),
    (lambda: isotropy.cone(X[:, :2], dim=3), V, ["dim=3 is more than x"]),
    (lambda: isotropy.cone(X[:2], dim=3), V, ["dim=3 is more than x"]),
    (lambda: isotropy.cone_angle(X, share=0), V, ["share=0"]),
    (lambda: isotropy.cone_angle(np.zeros((3, 2))), V, ["3 rows of zeros"]),
    (lambda: isotropy.narrowest_sector(X[:, :2], share=1.1), V, ["share=1.1"]),
    (lambda: isotropy.narrowest_sector(X), V, ["expected 2 columns"]),
    (lambda: isotropy.narrowest_sector(np.zeros((3, 2))), V, ["points all lie in the origin"]),
    (lambda: isotropy.isoscore(np.full((4, 3), 0.1)), V, ["4 equal rows", ">= 2 different"]),
    (lambda: isotropy.isoscore(np.ones((4, 1))), V, ["expected >= 2 columns"]),
    (lambda: isotropy.published_layers("gpt-2"), V, ["model='gpt-2'", "Did you mean 'gpt2'?",
                                                     "'bert', 'gpt2', 'elmo'"]),
    (knn(edges=(0, 10, 10)), V, ["edges=", ">= 2 rising ranks"]), (knn(edges=(5,)), V, ["rising"]),
    (knn(edges=(60, 80)), V, ["begin below 60"]), (knn(edges=(-1, 5)), V, ["edges[0]=-1"]),
    (knn(ks=(60,)), V, ["ks[0]=60", "int in [1, 59]"]), (knn(ks=()), V, ["ks is empty"]),
    (knn(ks=(0,)), V, ["ks[0]=0"]), (knn(exclude=[60]), V, ["row numbers in [0, 59]"]),
    (knn(exclude=[0.5]), V, ["exclude="]), (knn(least=0), V, ["least=0"]),
    (knn(least=10**6), V, ["0 rows with a count >= 1000000"]),
    *[(knn(**{name: value}), T, [f"{name}=", "expected a list of"])
      for name, value in [("ks", 3), ("ks", "3"), ("edges", 5), ("exclude", None), ("exclude", 3),
                          ("exclude", "the")]],
    (lambda: isotropy.knn_by_frequency(1e200 * TABLE, COUNTS, edges=(0, 60)), V,
     ["dot products are beyond float64; divide"]),
    (lambda: isotropy.norm_by_frequency(TABLE, [1, 2, 3]), V,
     ["counts has 3 values, the least 1, for 60 rows"]),
    (lambda: isotropy.norm_by_frequency(TABLE, COUNTS - 2), V, ["the least -1"]),
    (lambda: isotropy.norm_by_frequency(TABLE, [1, 2, np.nan]), V, ["counts[2] holds NaN"]),
    (lambda: isotropy.binned_means([0, 1], [1, 2]), V, ["x has 2 values, the least 0"]),
]
GROUPS = [
    *[(lambda labels=labels, settings=settings: group_rows(labels, **settings), error, words)
      for labels, settings, error, words in [
          ([], {}, V, ["labels has shape (0,)"]), ([[1]], {}, V, ["one label per row"]),
          ([0.5], {}, T, ["expected ints or str"]), ([0, 1], {"contexts": [1]}, V, ["2 ints"]),
          ([0, 1], {"contexts": [0.5, 1]}, V, ["2 ints"]), ([-1, -2], {}, V, ["hold 0 groups"]),
          ([0], {"least": 0}, V, ["least=0"]), ([0], {"most": 0}, V, ["most=0"]),
          ([0, 0, 0, 1, 1, 1], {"contexts": [7, 7, 7, 7, 8, 9], "least": 4}, V,
           ["the largest with 3 different contexts", "least=4"]),
          *[(labels, {}, T, ["labels=", "expected a list or an array"])        # T13, T21
            for labels in ("abc", iter([1, 2]), {1, 2}, 5, None)]]],
    *[row for measure in (self_similarity, intra_sentence_similarity, maximum_explainable_variance)
      for row in [
          (lambda measure=measure: measure(X[1:], group_rows(LABELS)), V,                    # V05
           ["vectors has 59 rows", "groups were made of 60 labels"]),
          (lambda measure=measure: measure(X, LABELS), T, ["groups is ndarray", "group_rows"]),
          (lambda measure=measure: measure(BAD, group_rows(LABELS)), V, ["vectors[7] holds NaN"])]],
    (lambda: isotropy.contextuality(X, LABELS, np.where(LABELS == 2, -1, 3), least=1), V,
     ["sentences[2]=-1 of a row whose word counts"]),
    (lambda: against_chance("self_similarity", X, group_rows(LABELS)), T,
     ["measure='self_similarity' is str"]),
]
WHITENING = [
    *[(fits(**settings), error, words) for settings, error, words in [                       # P01
        ({"kind": "zka"}, V, ["Did you mean 'zca'"]), ({"gamma": -0.1}, V, ["gamma=-0.1"]),
        ({"beta": np.nan}, V, ["beta=nan"]), ({"ddof": 2}, V, ["ddof=2"]),
        ({"threshold": -1}, V, ["threshold=-1"]), ({"k": 2.5}, T, ["k=2.5 is float", "int"]),
        ({"gama": 1}, T, ["did you mean 'gamma'"])]],
    *[(call, V, [f"k={k} is out of range"]) for k in (0, -1, 9) for call in (                # V12
        fits(k=k), lambda k=k: Whitening(k).partial_fit(X))],
    (fits(REPEATED, k=9), V, ["k=9 is more than there is", "60 rows", "8 directions of 9", "<= 8"]),
    (fits(X[:5], k=6), V, ["k=6", "the 5 rows of x vary in 4 directions"]),
    *[(call, V, [f"x has {n} rows", ">= 2 different rows"]) for n in (0, 1) for call in (    # V13
        fits(X[:n]), lambda n=n: Whitening().partial_fit(X[:n]).transform(X))],
    *[(fits(equal.astype(kind), **settings), V, [f"x has {len(equal)} rows that are all equal"])
      for equal in (EQUAL, np.tile(1e6 * X[0], (1001, 1)), np.zeros((5, 8)))
      for kind in (np.float32, np.float64)
      for settings in ({}, {"beta": 0, "gamma": 0}, {"kind": "zca", "beta": 0.5})],
    (fits(1e-5 * X * [1, 1e-3, *[1] * 6], gamma=300), V, ["gamma=300", "leaves float64"]),   # V16
    (fits(X + 1, beta=1e200), V, ["beta=1e+200 with means up to", "overflows float64"]),
    (fits(1e200 * X), V, ["x holds numbers up to", "whose squares overflow"]),               # V04
    (fits(1e-160 * X), V, ["x varies by", "whose square leaves float64; scale x up"]),
    (fitted(lambda w: w.transform(1e60 * X)), V, ["x[0] gives numbers beyond float32 (60 of 60"]),
    *[(fits(bad), (T, V), ["real numbers"])                                                  # V07
      for bad in (X.astype(str), X.astype(object), X.astype(complex), ["a text"])],
    *[(fitted(lambda w, use=use: getattr(w, use)(BAD)), V,                                   # V01
       [f"{'z' if use[0] == 'i' else 'x'}[7] holds NaN"])
      for use in ("fit", "partial_fit", "transform", "inverse_transform")],
    *[(fitted(lambda w, use=use: getattr(w, use)(X[0])), V, ["has shape (8,)", "[None]"])    # V06
      for use in ("fit", "partial_fit", "transform", "inverse_transform")],
    (fitted(lambda w: w.transform(X[:, :5])), V, ["x has shape (60, 5)", "8 columns"]),      # V05
    (fitted(lambda w: w.partial_fit(X[:, :5])), V, ["x has 5 columns; expected 8, as before"]),
    (fitted(lambda w: w.inverse_transform(X), k=4), V, ["z has shape (60, 8)", "4 columns"]),
    *[(lambda w=weights: Whitening().fit(X, w), error, ["sample_weight", *words])
      for weights, error, words in [
          (np.ones(59), V, ["59 values", "60 rows"]), (-np.ones(60), V, ["least -1", ">= 0"]),
          (np.zeros(60), V, ["0 of them not 0", "two or more"]), (np.ones((60, 1)), V, ["1 axes"]),
          (np.arange(60) == 3, V, ["1 of them not 0"]), ([], V, ["0 values"]),
          (np.where(LABELS == 3, np.nan, 1.0), V, ["[3] holds NaN"]), (["a"] * 60, T, ["real"])]],
    (lambda: Whitening().fit(Whitening().fit(X).moments_, np.ones(60)), T,
     ["sample_weight", "Moments(dim=8, n=60)", "pass the vectors"]),
    (lambda: Whitening().fit(BAD, np.ones(60)), V, ["x[7] holds NaN"]),
    (lambda: Whitening().fit(1e200 * X, np.ones(60)), V, ["squares overflow", "scale it down"]),
    (lambda: Whitening().fit(EQUAL, np.arange(57)), V, ["x has 57 rows that are all equal"]),
    *[(lambda use=use: use(Whitening()), NotFittedError, ["Whitening is not fitted", "fit first"])
      for use in (lambda w: w.transform(X), lambda w: w.inverse_transform(X), lambda w: w.dim,
                  lambda w: w.save("x"), lambda w: w.spectrum_)],                            # P28
]


THREE = WordVectors(["the", "cat", "sat"], [[4.0], [1.0], [2.0]])
ONCE = dict.fromkeys(THREE.tokens, 1)
WORDS = [
    (lambda vectors=vectors, counts=counts, settings=settings: whiten_words(
        vectors, counts, **settings), error, words)
    for vectors, counts, settings, error, words in [
        (X, ONCE, {}, T, ["vectors=", "ndarray", "expected WordVectors"]),
        (WordVectors([], np.zeros((0, 3))), ONCE, {}, V, ["vectors=", "is empty"]),
        (THREE, [1, 1, 1], {}, T, ["counts=", "list", "a mapping"]),
        (THREE, {"The": 1, "cat": 1}, {}, V, ["counts has 1 of the 3 words", "lower-cased"]),
        (THREE, ONCE | {"cat": -1}, {}, V, ["counts['cat']=-1", "> 0"]),
        (THREE, ONCE, {"whitening": "zca"}, T, ["whitening='zca'", "expected a Whitening"]),
        (THREE, ONCE, {"whitening": Whitening(2)}, V, ["k=2"]),
        (WordVectors(["a", "b"], np.ones((2, 3))), {"a": 1, "b": 2}, {}, V, ["all equal"])]]


@pytest.mark.parametrize(("call", "error", "words"), BASES + FIGURES + GROUPS + WHITENING + WORDS)
def test_what_cannot_be_is_named_with_what_is_allowed(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert [word for word in words if word not in str(caught.value)] == []


def test_a_refused_fit_changes_nothing():
    white = Whitening(7).fit(X)
    before = white.transform(X)
    for use in (white.fit, white.partial_fit):
        for bad in (BAD, X[:, :5] if use == white.partial_fit else X[:6]):
            with pytest.raises(ValueError):
                use(bad)
            assert np.array_equal(white.transform(X), before) and white.moments_.n == 60
