"""Bad input: what is refused, by which class of error, and the words its message must hold: the
argument and the remedy. A compiled function refuses what it refuses uncompiled."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import torch
from torch import Tensor

from lessons_lib import kernels
from lessons_lib.core import BackendUnavailable
from lessons_lib.kernels import (LdaState, Moments, alignment, cosent, info_nce,
                                 intra_sentence_similarity, knn, mean_cosine, mean_covariance,
                                 pool, ranks, segment_moments, self_similarity, spearman_resamples,
                                 uniformity, window_update)
from lessons_lib.kernels.contents import as_indices
from lessons_lib.kernels.inputs import as_vectors, check_same_width
from lessons_lib.kernels.lda_sweep import state as lda_state

ONE, TWO, H = torch.ones(5, 4), torch.ones(3, 2), torch.ones(2, 3, 4)
X, KEY = torch.eye(3, 4), torch.eye(5, 4)
M = torch.ones(2, 3)
DRAWS = np.zeros((1, 3), int)
NAN, INF = math.nan, math.inf
V, T, B = ValueError, TypeError, BackendUnavailable
PAIR = Moments(2).update([[1.0, 2.0]])
FAR = Moments(2).update([[1e200, 1.0]])

ROWS: list[tuple[Callable[[], Any], type[Exception], tuple[str, ...]]] = [
    # ---- vectors
    *[(lambda f=f, x=x: f(x), error, words)
      for f in (uniformity, mean_cosine, mean_covariance)
      for x, error, words in (
          ([[1.0, 2.0]], V, ("x has 1 rows", ">= 2")), (["a", "b"], T, ("x has dtype", "real")))],
    *[(lambda t=t: uniformity(TWO, t=t), V, ("t=",)) for t in (0, -1.0, NAN, INF, 101)],
    # ---- alignment
    *[(lambda a=a: alignment(TWO, TWO, alpha=a), V, ("alpha=",)) for a in (0, -1.0, NAN, INF, 101)],
    (lambda: alignment(TWO[:1], TWO), V, ("x has 1 rows and y has 3",)),
    (lambda: alignment(TWO[:0], TWO[:0]), V, ("x has 0 rows", ">= 1")),
    (lambda: alignment(TWO, TWO.double()), T, ("y.to(x.dtype)",)),
    (lambda: alignment(TWO, TWO.long()), T, ("y.float()",)),
    # ---- cosent
    *[(lambda s=s: cosent([0.1, 0.2], [0, 1], scale=s), (V, T), ("scale=",))
      for s in (0, -1.0, NAN, INF, True, "20", 1e31, 1e308)],
    (lambda: cosent([[0.1, 0.2]], [0, 1]), V, ("similarity has shape",)),
    (lambda: cosent([0.1, 0.2], [0, 1, 2]), V, ("label has shape (3,)", "(2,)")),
    (lambda: cosent([0.1, 0.2], [[0, 1]]), V, ("label has shape",)),
    (lambda: cosent([0.1, 0.2], ["low", "high"]), T, ("label",)),
    (lambda: cosent(["a", "b"], [0, 1]), T, ("similarity",)),
    (lambda: cosent([0.1, 0.2], torch.tensor([1j, 2j])), T, ("label",)),
    *[(lambda y=y: cosent([0.1, 0.2, 0.3], y), V, ("label[1]", "1 of 3"))
      for y in ([0.0, NAN, 1.0], np.array([0.0, INF, 1.0]), torch.tensor([0.0, NAN, 1.0]))],
    # ---- info_nce
    *[(lambda t=t: info_nce(X, X, temperature=t), V, ("temperature=",))
      for t in (0, -0.05, NAN, INF)],
    (lambda: info_nce(X, X, temperature=1e-40), V, ("temperature=", "finite in float32")),
    (lambda: info_nce(X, X, temperature="cold"), T, ("temperature='cold'",)),
    (lambda: info_nce(X[:1], X[:1]), V, (">= 2 pairs", "Join")),
    (lambda: info_nce(X[:1], X, symmetric=True), V, (">= 2 pairs",)),
    (lambda: info_nce(KEY, X), V, ("key has 3 rows and query has 5", "positive=")),
    (lambda: info_nce(X, X.double()), T, ("key.to(query.dtype)",)),
    (lambda: info_nce(X.long(), X), T, ("query.float()",)),
    *[(lambda w=w: info_nce(X, X, hard_negative=[1, 2, 0], hard_weight=w), T, ("hard_weight=",))
      for w in (np.array([1.0, 2.0]), torch.tensor([1.0, 2.0]), "heavy")],
    *[(lambda o=o: info_nce(X, KEY, **o), error, words) for o, error, words in (
        ({"positive": [0, 1]}, V, ("positive has shape (2,)",)),
        ({"positive": [0, 1, 5]}, V, ("positive[2]=5", "[0, 4]")),
        ({"positive": [0.0, 1.0, 2.0]}, T, ("positive",)),
        ({"hard_negative": [3, 4, -1]}, V, ("hard_negative[2]=-1",)),
        ({"hard_negative": [3, 1, 4]}, V, ("hard_negative[1]=1", "positive of the same query")),
        ({"hard_weight": 1.0}, V, ("hard_weight", "without hard_negative")),
        ({"hard_weight": -INF}, V, ("without hard_negative",)),
        ({"hard_negative": [3, 4, 4], "hard_weight": INF}, V, ("hard_weight=inf",)),
        ({"hard_negative": [3, 4, 4], "hard_weight": NAN}, V, ("hard_weight=nan",)),
        ({"positive": [1, 2, 1], "symmetric": True}, V, ("positive[2]=1", "symmetric=False")))],
    # ---- ranks
    (lambda: ranks([1.0, NAN, 2.0]), V, ("values[1]", "1 of 3", "torch.isfinite(values)]")),
    (lambda: ranks([[1.0, 2.0], [INF, 0.0]]), V, ("values[1] holds NaN or infinity",)),
    (lambda: ranks(["a", "b"]), T, ("values has dtype <U1",)),
    (lambda: ranks(torch.tensor([1j, 2j])), T, ("values has dtype complex64",)),
    (lambda: ranks(3.0), V, ("values has shape ()",)), (lambda: ranks(3), V, ("1 axes",)),
    (lambda: ranks([[1.0], [1.0, 2.0]]), V, ("values is no array of numbers",)),
    (lambda: ranks([[torch.tensor(1.0, requires_grad=True)]]), V, ("values is no array",)),
    (lambda: ranks([2**64, None]), T, ("values has dtype object",)),
    (lambda: ranks([2**64, "a"]), T, ("real numbers",)),
    *[(lambda g=g, b=b: spearman_resamples(*g, backend=b), error, words)
      for b in ("cpu", "reference") for g, error, words in (
          ((np.ones((1, 3)), np.ones(4), DRAWS), V, ("columns has shape (1, 3) and gold (4,)",)),
          ((np.ones(3), np.ones(3), DRAWS), V, ("columns has shape (3,)", "columns[None]")),
          ((np.ones((0, 3)), np.ones(3), DRAWS), V, (">= 1 of each",)),
          ((np.ones((1, 0)), np.ones(0), DRAWS), V, (">= 1 of each",)),
          ((np.ones((1, 2)), [1.0, NAN], DRAWS), V, ("gold[1] holds NaN",)),
          ((np.ones((1, 3)), np.ones(3), np.array([[0, 3]])), V, ("draws holds 3", "[0, 2]")),
          ((np.ones((1, 3)), np.ones(3), np.array([[0, -1]])), V, ("draws holds -1",)),
          ((np.ones((1, 3)), np.ones(3), np.array([0, 1])), V, ("draws has shape (2,)",)),
          ((np.ones((1, 3)), np.ones(3), np.array([[0.5]])), T, ("row numbers (int)",)),
          ((np.ones((1, 3)), np.ones(3), torch.tensor([[0.5]])), T, ("draws has dtype float32",)),
          ((np.ones((1, 3)), np.ones(3), torch.eye(2).long().to_sparse()), T, ("sparse_coo",)),
          ((np.ones((1, 3)), np.ones(3), 5), V, ("draws has shape ()",)))],
    # ---- knn
    *[(lambda o=o: knn(**{"query": TWO, "x": ONE[:, :2], "k": 2} | o), error, words)
      for o, error, words in (
          ({"k": 0}, V, ("k=0",)), ({"k": 6}, V, ("k=6", "5 rows, 5 available")),
          ({"k": 5, "exclude_self": True, "query": ONE[:, :2]}, V, ("4 available", "k in [1, 4]")),
          ({"k": 2.0}, T, ("k=2.0",)), ({"metric": "cosin"}, V, ("'cosine'",)),
          ({"exclude_self": True}, V, ("exclude_self", "3 query rows and 5 rows of x")),
          ({"query": TWO.int()}, T, ("query.float()",)), ({"x": TWO[:0]}, V, ("x has 0 rows",)),
          ({"query": TWO.double()}, T, ("one type",)),
          ({"x": ONE[:, :2] * NAN}, V, ("x[0] holds NaN",)),
          ({"query": TWO * INF}, V, ("query[0] holds NaN or infinity",)))],
    # ---- mean_covariance and Moments
    *[(lambda b=b, bad=bad: mean_covariance(torch.eye(40) + torch.diag_embed(
        torch.tensor([0.0] * 17 + [bad] + [0.0] * 12 + [bad] + [0.0] * 9)), backend=b), V,
       ("x[17] holds NaN or infinity", "2 of 40")) for b in ("cpu", "reference")
      for bad in (NAN, INF, -INF)],
    (lambda: mean_covariance(torch.eye(3) * 1e25), V, ("float32 products", "x.double()")),
    (lambda: Moments(1).update([[1e154], [-1e154]]), V, ("squares overflow", "scale it down")),
    (lambda: Moments(0), V, ("dim=0",)), (lambda: Moments(2.0), T, ("dim=2.0",)),
    (lambda: Moments(3).mean, V, ("Moments(dim=3, n=0)", "update(batch)")),
    (lambda: PAIR.covariance(), V, ("needs >= 2",)),
    (lambda: PAIR.covariance(ddof=-1), V, ("ddof=-1",)),
    (lambda: PAIR.update([[1.0, 2.0, 3.0]]), V, ("batch has 3 columns", "2")),
    (lambda: PAIR.update([1.0, 2.0]), V, ("batch[None]",)),
    (lambda: PAIR.update([[1.0, 2.0], [NAN, 1.0]]), V, ("batch[1] holds NaN",)),
    (lambda: PAIR.update(TWO, backend="triton", double=True), B, ("float64 are asked for",)),
    (lambda: PAIR.merge(Moments(3)), V, ("other has dim 3",)),
    (lambda: PAIR.merge("moments"), T, ("other='moments'",)),
    (lambda: FAR.update([[-1e200, 2.0]]), V, ("batch", "overflows float64", "scale")),
    (lambda: FAR.merge(Moments(2).update([[-1e200, 2.0]])), V, ("other", "overflows float64")),
    (lambda: Moments(1).update([[9e153], [-9e153]]).update([[9e153], [-9e153]]), V, ("overflows",)),
    (lambda: Moments.of(2, [0.0], torch.eye(2)), V, ("scatter has shape (2, 2)",)),
    (lambda: Moments.of(2, [0.0, 1.0], [[1.0, 2.0], [0.0, 1.0]]), V, ("not symmetric",)),
    (lambda: Moments.of(2, [0.0, NAN], torch.eye(2)), V, ("holds NaN",)),
    (lambda: Moments.of(-1, [0.0], [[1.0]]), V, ("n=-1",)),
    # ---- pool
    *[(lambda g=g, o=o: pool(*g, **o), error, words) for g, o, error, words in (
        ((H[0], M[0]), {}, V, ("hidden[None]",)), ((H[:, :, :0], M), {}, V, (">= 1 column",)),
        ((H, H), {}, V, ("one entry per token",)),
        ((H, M[:, :2]), {}, V, ("mask has shape (2, 2)", "(2, 3)")),
        ((H, [["a", "b", "c"]] * 2), {}, T, ("mask has dtype",)),
        ((H, M * 1j), {}, T, ("mask has dtype",)),
        ((H, [[1, 1, 1], [1, 2, 0]]), {}, V, ("mask[1, 1]=2",)),
        ((H, [[1, 1, 1], [1, 0, 0.5]]), {}, V, ("mask[1, 2]=0.5",)),
        ((H, [[1, 1, NAN], [1, 0, 1]]), {}, V, ("mask[0, 2]=nan",)),
        ((H, M), {"how": "first_last"}, V, ("needs first=",)),
        ((H, M), {"how": "firstlast"}, V, ("Did you mean 'first_last'",)),
        ((H, M), {"first": H}, V, ("how='mean' takes no first=",)),
        ((H, M), {"how": "first_last", "first": H[:, :2]}, V, ("first has shape", "one shape")),
        ((H, M), {"how": "first_last", "first": H.double()}, T, ("one type",)),
        ((H, [[1, 1, 1], [0, 1, 1]]), {"how": "cls"}, V, ("mask[1, 0] is 0", "padding_side")))],
    # ---- segment_moments
    *[(lambda x=x, offsets=offsets: segment_moments(x, offsets), error, words)
      for x, offsets, error, words in (
          (TWO[:, :0], [0, 3], V, (">= 1 column",)), (TWO, [1, 3], V, ("offsets[0]=1",)),
          (TWO, [0, 2, 1, 3], V, ("offsets[2]=1 is less than offsets[1]=2",)),
          (TWO, [0, 2], V, ("offsets[1]=2; expected 3",)), (TWO, [0, 4], V, ("offsets[1]=4",)),
          (TWO, [], T, ("offsets",)), (TWO, [[0, 3]], V, ("expected (s + 1,)",)),
          (TWO, torch.empty(0, dtype=torch.int64), V, ("expected (s + 1,)",)),
          (TWO, [[0], [1, 3]], V, ("offsets is no array of numbers",)),
          (TWO, torch.tensor([0, 3]).to_sparse(), T, ("offsets is a sparse_coo tensor",)),
          (ONE[:4], [0, 2**63 - 1, -5, 4], V, ("offsets[2]=-5 is less than",)),
          (ONE[:4], torch.tensor([0, 2**63 - 1, -(2**63), 4]), V, ("offsets[2]=-92233720",)),
          (TWO, [0.0, 3.0], T, ("whole numbers",)), (TWO, torch.eye(2)[0], T, ("offsets.long()",)),
          (TWO, torch.tensor([False, True]), T, ("whole numbers",)),
          (torch.full((2, 2), 3e38), [0, 2], V, ("overflows float32", "Scale them")))],
    *[(lambda f=f: f(segment_moments(TWO, [0, 1, 3]), [0, 3]), V, ("offsets", "expected 3"))
      for f in (self_similarity, intra_sentence_similarity)],
    # ---- matrices and row numbers, for all operations
    *[(lambda x=x: as_vectors("x", x), error, words) for x, error, words in (
        (torch.ones(2, 2, dtype=torch.int64), T, ("x has dtype int64", "floating", "x.float()")),
        (torch.ones(2, 2, dtype=torch.complex64), T, ("x has dtype complex64", "float64).")),
        (torch.ones(2, 2).to(torch.float8_e4m3fn), T, ("float8_e4m3fn", "x.float()")),
        (torch.eye(2).to_sparse(), T, ("x is a sparse_coo tensor", "x.to_dense()")),
        (torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged), T,
         ("x is a nested tensor", "to_padded_tensor")),
        (scipy.sparse.eye_array(2), T, ("x is a sparse matrix", "x.toarray()")),
        ([torch.ones(2, requires_grad=True)] * 2, T, ("x is a list of tensors", "torch.stack(x)")),
        (np.ones((2, 2), dtype=complex), T, ("x has dtype complex128",)),
        (np.array([["0.5", "1"]]), T, ("x has dtype <U3",)),
        (pd.DataFrame({"a": [1.0, None], "b": ["c", "d"]}), T, ("x has dtype object",)),
        (None, T, ("x has dtype object",)), ("text", T, ("x has dtype <U4",)),
        ([[1.0], [1.0, 2.0]], V, ("x is no array of numbers", "expected rows of one length")),
        (3.0, V, ("x has shape ()", "2 axes")), ([1.0, 2.0], V, ("x has shape (2,)", "x[None]")),
        (np.ones((2, 0)), V, (">= 1 column",)), (np.ones((0, 2)), V, ("x has 0 rows", ">= 1")))],
    *[(lambda y=y: check_same_width(ONE, y, names=("x", "y")), error, words)
      for y, error, words in (
          (TWO, V, ("x has 4 columns and y has 2",)), (ONE.double(), T, ("y.to(x.dtype)",)),
          (ONE.to("meta"), V, ("x lies on cpu and y on meta", "y.to(x.device)")))],
    *[(lambda x=x: as_indices("rows", x, n=2, high=3, device=torch.device("cpu")), error, words)
      for x, error, words in (
          ([0, 3], V, ("rows[1]=3 is no row", "[0, 2]")), ([-1, 0], V, ("rows[0]=-1 is no row",)),
          (np.uint64([0, 2**63]), V, ("rows[1]=", "is no row")),
          ([0, 1, 2], V, ("rows has shape (3,)", "(2,)")),
          ([[0, 1]], V, ("rows has shape (1, 2)",)),
          ([0.0, 1.0], T, ("rows=[0.0, 1.0] has dtype float64", "row numbers")),
          ([True, False], T, ("dtype bool",)), (torch.tensor([True, False]), T, ("dtype bool",)),
          (torch.tensor([0.0, 1.0]), T, ("dtype float32", "rows.long()")),
          ([[0], [0, 1]], V, ("rows is no array of numbers",)))],
]

# ---- states: what does not fit together, by argument

HALF = np.full((3, 4), 0.1)
BIG = np.array([2**32, 1, 2, 0])
GOOD: dict[str, dict[str, Any]] = {
    "Window": {"words": [0, 1, 2, 0], "offsets": [0, 2, 4], "inputs": HALF, "outputs": HALF,
               "counts": [2, 3, 4]}, "Subword": {"words": [0, 1], "offsets": [0, 2], "inputs": HALF,
                                                 "outputs": HALF[:2], "counts": [1, 1],
                                                 "rows": [0, 2, 1], "row_offsets": [0, 2, 3]},
    "Document": {"words": [0, 1], "offsets": [0, 1, 2], "inputs": np.zeros((5, 4)),
                 "outputs": HALF[:2], "counts": [1, 1], "tags": [0, 1], "tag_offsets": [0, 1, 2]},
    "Glove": {"offsets": [0, 1, 2], "columns": [1, 0], "values": [3.0, 4.0], "words": HALF[:2],
              "contexts": HALF[:2]}, "Lda": {"words": [0, 1, 1], "offsets": [0, 2, 3],
                                             "topics": [0, 1, 0], "n_topics": 2, "n_words": 2}}
STATES: dict[str, dict[str, list[tuple[Any, Any, str]]]] = {
    "Window": {
        "words": [([0, 1, 5, 0], V, "reach from 0 to 5"), ([0, 1, -1, 0], V, "reach from -1"),
                  ([0.5, 1, 2, 0], T, "float64"), ([True, False, True, True], T, "bool"),
                  (["0", "1", "2", "0"], T, "words="), (np.zeros((4, 4), int), T, "one axis"),
                  (BIG, V, "reach from 0 to 4294967296")],
        "offsets": [([0, 3], V, "offsets"), ([1, 4], V, "offsets"), ([0, 1.5, 4], T, "offsets="),
                    (np.array([0, 2**64 - 1, 4], np.uint64), V, "offsets reach")],
        "inputs": [(np.zeros((4, 4)), V, "inputs has shape"), (HALF * NAN, V, "[0] holds NaN"),
                   (torch.full((3, 4), NAN), V, "NaN"), (HALF.astype(complex), T, "complex128"),
                   (torch.zeros(3, 4, dtype=torch.complex64), T, "complex64")],
        "outputs": [(np.zeros((3, 5)), V, "outputs"), (HALF * 1e60, V, "beyond float32"),
                    (HALF.astype(str), T, "outputs has dtype")],
        "counts": [([-1, 1, 1], V, "counts"), ([1], V, "words"), ([0, 0, 0], V, "counts")],
        "sample": [(-1, V, "sample=-1"), (NAN, V, "sample=nan")],
        "noise_exponent": [(1e4, V, "noise_exponent=10000"), (-1e4, V, "noise_exponent=-10000")]},
    "Subword": {
        "rows": [([0, 2, 3], V, "reach from 0 to 3"), ([0, -1, 1], V, "reach from -1"),
                 ([0.9, 1.9, 2], T, "rows"), (BIG[:3], V, "rows"), (np.zeros((3, 2), int), T, "")],
        "row_offsets": [([0, 3, 3], V, "rise by >= 1"), ([0, 3], V, "expected 3 whole numbers"),
                        ([0, 2, 4], V, "end with 3")],
        "inputs": [(np.ones((3, 5)), V, "(3, 5)")]},
    "Document": {
        "tags": [([0, 2], V, "reach from 0 to 2"), ([0, -1], V, "reach from -1"),
                 ([0.0, 1.0], T, "whole numbers on one axis"), ([[0, 1]], T, "on one axis")],
        "tag_offsets": [(["0", "1", "2"], T, "whole numbers"), ([0, 0, 2], V, "rise by >= 1"),
                        ([0, 2], V, "tag_offsets")],
        "inputs": [(np.zeros((3, 4)), V, "inputs has shape")],
        "outputs": [(np.zeros((2, 5)), V, "outputs")], "words": [([0, 5], V, "reach from 0 to 5")],
        "device": [("meta", V, "expected 'cpu'")]},
    "Glove": {
        "offsets": [([0, 1], V, "expected 3 numbers"), ([0, 2, 1], V, "offsets="),
                    ([0, 1.7, 2], T, "float64"), (np.zeros((3, 1), int), T, "one axis")],
        "columns": [([0, 2], V, "reach from 0 to 2"), ([-1, 0], V, "reach from -1"),
                    (np.array([1.0, 0.0]), T, "float64"), (np.array([True, False]), T, "bool"),
                    ([[1], [0]], T, "whole numbers on one axis")],
        "values": [([1.0], V, "as many values (1)"), (["3", "4"], T, "values"),
                   (np.array([3, 4], dtype=object), T, "object"),
                   *[([3.0, x], V, f"count of row 1, column 0 is {x:g} (1 of 2 ")
                     for x in (0.0, -1.0, NAN, INF)]],
        "words": [(np.ones((2, 3)), V, "as many columns"), (np.full((2, 4), NAN), V, "NaN"),
                  (HALF[:2] * 1e60, V, "words holds 1e+59; expected numbers within float32")],
        "word_squares": [(np.zeros((2, 4)), V, "smallest number 0")],
        "context_squares": [(np.ones((2, 3)), V, "has shape (2, 3)")],
        "contexts": [(np.ones(4), V, "contexts has shape")], "groups": [(3, V, "groups=3")],
        "x_max": [(0.0, V, "x_max=0")], "exponent": [(-1.0, V, "exponent=-1")]},
    "Lda": {
        "words": [([0, 5, 1], V, "words[1]=5 is no word; expected ints in [0, 1]"),
                  ([0, -1, 1], V, "words[1]=-1 is no word"), ([0.0, 1.0, 1.5], T, "float64"),
                  (["a", "b", "c"], T, "no array of whole numbers"), ([[0, 1, 1]], V, "(1, 3)")],
        "topics": [([0, 2, 0], V, "topics[1]=2 is no topic; expected ints in [0, 1]"),
                   ([0, 1], V, "topics has 2 numbers, words has 3")],
        "offsets": [([0, 2], V, "end with 3"), ([0, 3, 2, 3], V, "never fall"), ([], V, "offsets"),
                    (np.array([0, 2, 2**64 - 5], np.uint64), V, f"out of range … <= {2**63 - 1}")],
        "n_topics": [(0, V, "n_topics=0"), (1.5, T, "n_topics=1.5"), (40_000, V, "32767")],
        "streams": [([1], V, "expected 2 whole numbers >= 0"), ([1, -1], V, "streams"),
                    (np.array([0, 2**63 + 5], np.uint64), V, f"streams[1]={2**63 + 5} is out")],
        "word_topic": [([[0.5, 0.5]], V, "(1, 2); expected (2, 2)"),
                       ([[0.5, 0.5], [NAN, 0.5]], V, "word_topic holds NaN")]}}
ROWS += [(lambda: made("Subword", inputs=np.ones((0, 4))), V, ("number of rows=0",))]
ROWS += [(lambda family=family, name=name, x=x: made(family, **{name: x}), error,
          ("" if name in ("counts", "values") else name, *words.split(" … ")))
         for family, arguments in STATES.items() for name, some in arguments.items()
         for x, error, words in some]
ROWS += [(lambda name=name, form=form, x=x:
              made("Lda", **{name: form([*GOOD["Lda"][name][:2], x])}),
          V, (f"{name}[2]={x} is out of range", f"<= {2**31 - 1}"))
         for form in (list, np.array, lambda x: np.array(x, dtype=np.uint64), torch.tensor)
         for name in ("words", "topics") for x in (2**32, 2**31, 2**62 + 1)]

# ---- settings of a pass over a text: what is refused changes nothing

SETTINGS: dict[str, list[tuple[dict[str, Any], Any, str]]] = {
    "Window": [({"architecture": "skipgram"}, V, "architecture='skipgram' … skip_gram"),
               ({"objective": "ns"}, V, "objective"), ({"window": 0}, V, "window=0"),
               ({"window": 1.5}, T, "window=1.5"), ({"negatives": 0}, V, "negatives=0"),
               ({"learning_rate": NAN}, V, "learning_rate=nan"), ({"epoch": -1}, V, "epoch"),
               ({"learning_rate": (0.1, -1.0)}, V, "learning_rate=-1"),
               ({"threads": 0}, V, "threads=0"), ({"learning_rate": "fast"}, T, "learning_rate"),
               ({"loss_every": 300}, V, "loss_every"), ({"deterministic": 1}, T, "deterministic=1"),
               ({"pieces": (0, 99)}, V, "pieces"),
               *[({"pieces": p}, T, "pieces= … (first, last") for p in (5, (1,), "01")]],
    "Subword": [({"negatives": 0}, V, "negatives=0")],
    "Document": [({"negatives": -5}, V, "negatives=-5"),
                 ({"learning_rate": 0.0}, V, "learning_rate"), ({"seed": -1}, V, "seed=-1"),
                 ({"model": "pv"}, V, "model='pv' … 'dm', 'dbow'"),
                 ({"combine": "max"}, V, "combine='max'"), ({"train_words": 1}, T, "train_words=1"),
                 ({"frozen": "no"}, T, "frozen='no'"),
                 ({"combine": "concat", "window": 2}, V, "outputs … combine='concat', window=2"),
                 ({"frozen": True, "threads": 2}, V, "threads=2 with frozen=True")],
    "Glove": [({"learning_rate": 0.0}, V, "learning_rate=0"), ({"clip": -1.0}, V, "clip=-1"),
              ({"seed": -1}, V, "seed=-1"), ({"epoch": 1.5}, T, "epoch=1.5"),
              ({"rounds": (0, 99)}, V, "rounds[1]=99"), ({"rounds": (1, 0)}, V, "rounds[1]=0"),
              ({"rounds": 5}, T, "(first, last"), ({"threads": 0}, V, "threads=0")], "Lda":
    [({"alpha": 0.0}, V, "alpha=0.0 is out of range … [1e-12, 1e+06], or 2 of them"),
     ({"alpha": NAN}, V, "alpha"), ({"alpha": [0.1] * 3}, V, "alpha has shape (3,)"),
     ({"alpha": "a"}, T, "alpha='a' is str"), ({"alpha": [0.1, 1e-50]}, V, "is out of range"),
     ({"alpha": 1e39}, V, "alpha=1e+39 is out of range"), ({"beta": 0.0}, V, "beta=0.0"),
     ({"beta": INF}, V, "beta=inf"), ({"beta": 1e39}, V, "beta=1e+39 … <= 1e+06"),
     ({"beta": 1e-50}, V, "beta=1e-50 … >= 1e-12"), ({"seed": -1}, V, "seed=-1"),
     ({"seed": 2**63}, V, "seed"), ({"sweep": -1}, V, "sweep"), ({"at_once": 0}, V, "at_once=0"),
     ({"threads": 0}, V, "threads=0"), ({"threads": 2.0}, T, "threads")]}


def made(family: str, **changed: Any) -> Any:
    return getattr(kernels, f"{family}State")(**(GOOD[family] | changed))


def updated(family: str, state: Any, **settings: Any) -> Any:
    name = {"Glove": "glove_step", "Lda": "lda_sweep"}.get(family, f"{family.lower()}_update")
    return getattr(kernels, name)(state, **settings)


@pytest.mark.parametrize(("family", "settings", "error", "words"),
                         [(family, *row) for family, rows in SETTINGS.items() for row in rows])
def test_P02_P04_P06_P12_P24_P25_bad_settings_are_named_and_nothing_moves(family, settings, error,
                                                                          words):
    state = made(family)
    moving = {"Glove": "words", "Lda": "topics"}.get(family, "inputs")
    before = getattr(state, moving).clone()
    with pytest.raises(error) as caught:
        updated(family, state, **settings)
    assert all(word in str(caught.value) for word in words.split(" … ")), caught.value
    assert torch.equal(before, getattr(state, moving))


def test_another_object_is_no_state():
    for family in GOOD:
        for other in ([0, 1], made("Lda" if family != "Lda" else "Window")):
            with pytest.raises(TypeError, match=f"expected an? {family.title()}State"):
                updated(family, other)


def puts(family: str, name: str, *values: Any) -> list[tuple[str, str, Any]]:
    return [(family, name, value) for value in values]


ROW = torch.zeros(3, 32)
CHANGED = [            # after the state was made: compiled loops follow numbers as addresses
    *(row for family, n in (("Window", 4), ("Subword", 2), ("Document", 2))
      for row in puts(family, "words", *[np.full(n, x, np.int32) for x in (900_000_000, -5)])),
    *puts("Window", "pieces", *map(np.array, ([0, 2, 4_000_000_000], [0, 7, 4], [-8, 2, 4],
                                              [0, 0, 2**62]))),
    *(row for name in ("inputs", "outputs") for row in puts(
        "Window", name, torch.zeros(3, 4), torch.zeros(3, 16).double(), torch.zeros(16, 3).T, ROW,
        torch.zeros(48), ROW[:, ::2], torch.zeros(1, 16))),
    *puts("Window", "counts", np.ones(2)),
    *puts("Subword", "rows", np.array([900_000_000, 2, 1], np.int32)),
    *puts("Subword", "row_offsets", np.array([0, 900, 3])),
    *puts("Document", "documents", torch.zeros(2, 5), torch.zeros(2, 32)),
    *puts("Document", "tags", np.full(2, 99, np.int32)),
    *puts("Document", "tag_offsets", np.arange(5)), *puts("Document", "pieces", np.array([0, 2])),
    *puts("Glove", "words", torch.zeros(2, 5), torch.zeros(2, 2, 16).double()),
    *puts("Glove", "contexts", torch.ones(1, 2, 16)), *puts("Glove", "columns", torch.zeros(2)),
    *puts("Glove", "rows", torch.zeros(1, dtype=torch.int32)),
    *puts("Glove", "tiles", torch.tensor([0, 9, 9, 9, 2]))]


@pytest.mark.parametrize(("family", "name", "value"), CHANGED)
def test_P14_V05_V09_what_was_put_in_place_of_a_state_s_arrays_is_refused(family, name, value):
    state = made(family, **({} if family == "Glove" else {"sample": 0}))
    setattr(state, name, value)
    words = "has become|was changed|one for each word|reach|are wrong|frozen=False"
    with pytest.raises(ValueError, match=words):
        updated(family, state)
    if family == "Window" and name == "words":
        state.words[:] = [value[0], value[0], 2, 0]             # the other document is whole
        assert window_update(state, window=2, pieces=(1, 2), loss_every=1)[1] == 2


def test_what_is_too_much_for_a_disk_or_for_float32_counts_is_told_first(tmp_path, monkeypatch):
    from lessons_lib.kernels.glove_step import state as glove_state

    monkeypatch.setattr(glove_state.shutil, "disk_usage", lambda folder: SimpleNamespace(free=10))
    with pytest.raises(OSError, match=r"2 counts need 32 bytes in .*, 10 are free"):
        made("Glove", folder=tmp_path / "new")
    monkeypatch.setattr(lda_state, "MAX_COUNT", 4)
    with pytest.raises(ValueError, match="word 1 occurs 4 times; expected fewer than 4"):
        LdaState([1, 1, 0, 1, 1], [0, 2, 5], [0] * 5, n_topics=1, n_words=2)
    with pytest.raises(ValueError, match="document 1 has 4 tokens; expected fewer than 4. Split"):
        LdaState([0, 1, 2, 3, 4], [0, 1, 5], [0] * 5, n_topics=1, n_words=5)


@pytest.mark.parametrize(("call", "error", "words"), ROWS)
def test_bad_input_is_named_with_its_remedy(call, error, words):
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    assert all(word in message for word in words), message
    assert len(message.splitlines()) <= 3 and len(message) < 500


def test_what_was_refused_changed_nothing():
    assert PAIR.n == FAR.n == 1 and PAIR.mean.tolist() == [1.0, 2.0]
    assert FAR.mean.tolist() == [1e200, 1.0] and not PAIR.covariance(ddof=0).any()


def test_a_limit_of_the_kernels_refuses_by_name_and_is_met_elsewhere(any_backend):
    backend, where = any_backend
    for call, limit, words in (
            (lambda **o: knn(torch.eye(80).to(where), torch.eye(80).to(where), **o), {"k": 65},
             "k=65 is above 64"),
            (lambda **o: pool(torch.ones(1, 1, 8193, device=where), [[1]], **o), {}, "8192"),
            (lambda **o: segment_moments(torch.ones(1, 4097, device=where), [0, 1], **o), {},
             "4096")):
        assert call(**limit)[0].isfinite().all()
        if backend == "triton":
            with pytest.raises(BackendUnavailable, match=words):
                call(**limit, backend="triton")


def test_missing_numbers_are_refused_by_every_implementation_of_segment_moments(any_backend):
    backend, where = any_backend
    for bad in (NAN, INF, -INF):
        x = torch.ones(6, 3)
        x[4, 1] = x[5, 0] = bad
        with pytest.raises(ValueError, match=r"x\[4\] holds NaN or infinity \(2 of 6"):
            segment_moments(x.to(where), [0, 2, 6], backend=backend)


Q, K = (torch.randn(6, 4, generator=torch.Generator().manual_seed(seed)) for seed in (0, 1))
TOKENS, SIX = torch.ones(2, 2, 3), torch.arange(6)


def neighbours(x: Tensor) -> Tensor:
    return knn(x, x, k=1)[0]


def nce(name: str, **settings: Any) -> Callable[..., Tensor]:
    return lambda query, key, rows: info_nce(query, key, **{name: rows}, **settings)


def pooled(how: str) -> Callable[..., Tensor]:
    return lambda hidden, mask: pool(hidden, mask, how=how)


def masks(*rows: list[Any]) -> tuple[Tensor, ...]:
    return TOKENS, torch.tensor(rows)


COMPILED: list[tuple[Callable[..., Any], tuple[Tensor, ...], tuple[Tensor, ...], str]] = [
    *((nce("positive"), (Q, K, SIX.flip(0)), (Q, K, torch.tensor([0, 1, 2, 3, 4, last])),
       f"positive[5]={last}") for last in (99, -1)),
    (nce("positive", symmetric=True), (Q, K, SIX.flip(0)), (Q, K, SIX * 0),
     "positive[1]=0 is the positive of query 0"),
    (nce("hard_negative", hard_weight=-INF), (Q, K, SIX.roll(1)), (Q, K, SIX),
     "hard_negative[0]=0 is the positive"),
    (nce("hard_negative", hard_weight=1.0), (Q, K, SIX.roll(1)), (Q, K, SIX + 6),
     "hard_negative[0]=6 is no row"),
    (pool, masks([1, 1], [1, 0]), masks([1, 1], [7, 0]), "mask[1, 0]=7"),
    (pooled("max"), masks([1.0, 1.0], [1.0, 0.0]), masks([1.0, 1.0], [0.5, 0.0]), "mask[1, 0]=0.5"),
    *((pooled("cls"), masks([one, one], [one, none]), masks([one, one], [none, one]),
       "Pad on the right") for one, none in ((1, 0), (True, False))),
    *((segment_moments, (Q, torch.tensor(good)), (x, torch.tensor(bad)), words)
      for good, x, bad, words in (
          ([0, 3, 6], Q, [0, 3, 1, 6], "offsets[2]"), ([0, 6], Q, [0, 3], "offsets[1]=3"),
          ([0, 6], Q, [1, 6], "offsets[0]=1"), ([0, 6], Q * NAN, [0, 6], "x[0] holds NaN"))),
    *((function, (Q,), (Q * NAN,), "x[0] holds NaN or infinity (6 of 6")
      for function in (neighbours, mean_covariance))]


@pytest.mark.parametrize(("function", "good", "bad", "words"), COMPILED)
@pytest.mark.parametrize("learns", [False, True])
def test_a_compiled_function_refuses_what_it_refuses_uncompiled(function, good, bad, words, learns):
    if learns and function in (segment_moments, neighbours, mean_covariance):
        pytest.skip("no single result to learn from")
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
    results, gradients = [], []
    for call in (compiled, function):
        vectors = good[0].clone().requires_grad_(learns)
        results.append(call(vectors, *good[1:]))
        if learns:
            gradients.append(torch.autograd.grad(results[-1].sum(), vectors)[0])
        with pytest.raises(ValueError) as caught:
            call(bad[0].clone().requires_grad_(learns), *bad[1:])
        assert words in str(caught.value)
    torch.testing.assert_close(*results)
    assert not learns or torch.allclose(*gradients)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_ranks_break_the_graph_and_look_at_their_values(backend):
    torch._dynamo.reset()
    compiled = torch.compile(ranks, backend=backend)
    assert compiled(torch.tensor([3.0, 1.0, 2.0])).tolist() == [3.0, 1.0, 2.0]
    with pytest.raises(ValueError, match=r"values\[1\] holds NaN or infinity \(1 of 3"):
        compiled(torch.tensor([3.0, NAN, 2.0]))


def test_operations_that_are_no_losses_are_known_to_torch_too():
    ops, x = torch.ops.lessons_lib, torch.randn(9, 4)
    offsets = torch.tensor([0, 3, 9])
    for mask in (torch.tensor([[1, 0]]), torch.tensor([[1.0, 0.0]]), torch.tensor([[True, False]]),
                 torch.ones(3, 4, dtype=torch.int32).T):
        torch.library.opcheck(ops.pool_mask.default, (mask, True))
    torch.library.opcheck(ops.knn.default, (x[:4], x, 3, "l2", False, "cpu"))
    torch.library.opcheck(ops.mean_and_scatter.default, (x, "x", "cpu", False))
    for learns in (False, True):
        y = x.clone().requires_grad_(learns)
        torch.library.opcheck(ops.segment_moments.default, (y, offsets, "cpu"))
        h, mask = y[:6].reshape(2, 3, 4).detach().requires_grad_(learns), torch.eye(2, 3).bool()
        for normalize in (False, True):
            for given in ((h.detach() if learns else None, False, normalize, False),
                          (None, True, normalize, learns)):
                torch.library.opcheck(ops.pool.default, (h, mask, *given, "cpu"))
    torch.library.opcheck(ops.segment_moments_gradient.default,
                          (x, offsets, x[:2], x[2:4], x[:2, 0].clone()))


# ------------------------------------------------------------------------------ too much

@pytest.mark.parametrize(("call", "error", "words"), [
    (lambda: kernels.Moments(10**9), MemoryError, "Lower dim=1000000000"),
    (lambda: kernels.LdaState([0], [0, 1], [0], n_topics=2, n_words=10**9), MemoryError,
     "n_words=1000000000"),
    (lambda: kernels.knn(torch.eye(400), torch.eye(400), k=400), MemoryError, "Lower k=400"),
    (lambda: kernels.lda_sweep(kernels.LdaState([0], [0, 1], [0], n_topics=2, n_words=2),
                               alpha=1.0, beta=1.0, threads=10**9), ValueError, "[1, 1024]")])
def test_what_goes_too_far_is_refused_at_once(little_memory, call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
