"""Bad input: what is refused, by which class of error, and the words its message must hold: the
argument and the remedy. A compiled function refuses what it refuses uncompiled."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from lessons_lib.core import BackendUnavailable
from lessons_lib.kernels import (Moments, alignment, cosent, info_nce, intra_sentence_similarity,
                                 knn, mean_cosine, mean_covariance, pool, ranks, segment_moments,
                                 self_similarity, spearman_resamples, uniformity)

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
          ([[1.0, 2.0]], V, ("x has 1 rows", ">= 2")), ([1.0, 2.0], V, ("x", "2 axes", "x[None]")),
          (TWO.long(), T, ("x has dtype int64", "x.float()")), (TWO[:, :0], V, (">= 1 column",)),
          (["a", "b"], T, ("x has dtype", "real numbers")))],
    *[(lambda t=t: uniformity(TWO, t=t), V, ("t=",)) for t in (0, -1.0, NAN, INF, 101)],
    # ---- alignment
    *[(lambda a=a: alignment(TWO, TWO, alpha=a), V, ("alpha=",)) for a in (0, -1.0, NAN, INF, 101)],
    (lambda: alignment(TWO[:1], TWO), V, ("x has 1 rows and y has 3",)),
    (lambda: alignment(TWO, ONE[:3]), V, ("x has 2 columns and y has 4",)),
    (lambda: alignment(TWO[:0], TWO[:0]), V, ("x has 0 rows", ">= 1")),
    (lambda: alignment(TWO, TWO.double()), T, ("y.to(x.dtype)",)),
    (lambda: alignment(TWO, TWO.long()), T, ("y.float()",)),
    # ---- cosent
    *[(lambda s=s: cosent([0.1, 0.2], [0, 1], scale=s), (V, T), ("scale=",))
      for s in (0, -1.0, NAN, INF, True, "20", 1e31, 1e308)],
    (lambda: cosent([[0.1, 0.2]], [0, 1]), V, ("similarity has shape",)),
    (lambda: cosent([0.1, 0.2], [0, 1, 2]), V, ("label has shape (3,)", "(2,)")),
    (lambda: cosent([0.1, 0.2], [[0, 1]]), V, ("label has shape",)),
    (lambda: cosent(torch.tensor([1, 2]), [0, 1]), T, ("similarity.float()",)),
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
    (lambda: info_nce(X, TWO), V, ("query has 4 columns and key has 2",)),
    (lambda: info_nce(X, X.double()), T, ("key.to(query.dtype)",)),
    (lambda: info_nce(X[0], X), V, ("query has shape (4,)",)),
    (lambda: info_nce(X.long(), X), T, ("query.float()",)),
    (lambda: info_nce(X[:0], X), V, ("query has 0 rows",)),
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
    (lambda: ranks([torch.tensor(1.0, requires_grad=True)]), T, ("torch.stack(values)",)),
    (lambda: ranks([[torch.tensor(1.0, requires_grad=True)]]), V, ("values is no array",)),
    (lambda: ranks(torch.tensor([0, 1]).to_sparse()), T, ("values is a sparse_coo tensor",)),
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
          ({"query": X}, V, ("query has 4 columns and x has 2",)),
          ({"query": TWO[0]}, V, ("query[None]",)), ({"query": TWO.int()}, T, ("query.float()",)),
          ({"query": TWO.double()}, T, ("one type",)), ({"x": TWO[:0]}, V, ("x has 0 rows",)),
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
        ((H[0], M[0]), {}, V, ("hidden[None]",)), ((H.long(), M), {}, T, ("hidden.float()",)),
        ((H[:, :, :0], M), {}, V, (">= 1 column",)), ((H, H), {}, V, ("one entry per token",)),
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
          ([1.0, 2.0], [0, 2], V, ("x[None]",)), (TWO.long(), [0, 3], T, ("x.float()",)),
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
]


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


def drops(query: Tensor, key: Tensor, hard: Tensor) -> Tensor:
    return info_nce(query, key, hard_negative=hard, hard_weight=-INF)


def hard_negatives(query: Tensor, key: Tensor, hard: Tensor) -> Tensor:
    return info_nce(query, key, hard_negative=hard, hard_weight=1.0)


def chosen(query: Tensor, key: Tensor, positive: Tensor) -> Tensor:
    return info_nce(query, key, positive=positive)


def both_ways(query: Tensor, key: Tensor, positive: Tensor) -> Tensor:
    return info_nce(query, key, positive=positive, symmetric=True)


def first_token(hidden: Tensor, mask: Tensor) -> Tensor:
    return pool(hidden, mask, how="cls")


def largest(hidden: Tensor, mask: Tensor) -> Tensor:
    return pool(hidden, mask, how="max")


def neighbours(x: Tensor) -> Tensor:
    return knn(x, x, k=1)[0]


def masks(*rows: list[Any]) -> tuple[Tensor, ...]:
    return TOKENS, torch.tensor(rows)


COMPILED: list[tuple[Callable[..., Any], tuple[Tensor, ...], tuple[Tensor, ...], str]] = [
    (chosen, (Q, K, SIX.flip(0)), (Q, K, torch.tensor([0, 1, 2, 3, 4, 99])), "positive[5]=99"),
    (chosen, (Q, K, SIX.flip(0)), (Q, K, torch.tensor([0, 1, 2, 3, 4, -1])), "positive[5]=-1"),
    (both_ways, (Q, K, SIX.flip(0)), (Q, K, SIX * 0), "positive[1]=0 is the positive of query 0"),
    (drops, (Q, K, SIX.roll(1)), (Q, K, SIX), "hard_negative[0]=0 is the positive"),
    (hard_negatives, (Q, K, SIX.roll(1)), (Q, K, SIX + 6), "hard_negative[0]=6 is no row"),
    (pool, masks([1, 1], [1, 0]), masks([1, 1], [7, 0]), "mask[1, 0]=7"),
    (largest, masks([1.0, 1.0], [1.0, 0.0]), masks([1.0, 1.0], [0.5, 0.0]), "mask[1, 0]=0.5"),
    (first_token, masks([1, 1], [1, 0]), masks([1, 1], [0, 1]), "Pad on the right"),
    (first_token, masks([True, True], [True, False]), masks([True, True], [False, True]),
     "Pad on the right"),
    (segment_moments, (Q, torch.tensor([0, 3, 6])), (Q, torch.tensor([0, 3, 1, 6])), "offsets[2]"),
    (segment_moments, (Q, torch.tensor([0, 6])), (Q, torch.tensor([0, 3])), "offsets[1]=3"),
    (segment_moments, (Q, torch.tensor([0, 6])), (Q, torch.tensor([1, 6])), "offsets[0]=1"),
    (segment_moments, (Q, torch.tensor([0, 6])), (Q * NAN, torch.tensor([0, 6])), "x[0] holds NaN"),
    (neighbours, (Q,), (Q * NAN,), "x[0] holds NaN or infinity (6 of 6"),
    (mean_covariance, (Q,), (Q * NAN,), "x[0] holds NaN or infinity (6 of 6")]


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
