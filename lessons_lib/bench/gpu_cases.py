"""The contests of the kernels on a GPU: sizes and goals as the course planned them, the peers, and the check against float64.

Everything runs on any torch device, so that all but the clock is tested without a GPU. The check is blocked torch in float64 on the same
device: other code than the kernel, and more exact than any peer. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from .. import kernels
from . import naive, work
from .gates import neighbour_error, relative_error
from .measure import PeerMissing
from .naive import with_gradient

__all__ = ["Contest", "GpuSizes", "Peer", "Sides", "contests"]

T, TEMPERATURE, NEIGHBOURS, CHECKED_QUERIES, CHECKED_SEGMENTS = 2.0, 0.05, 10, 512, 64
HALF, FULL = 1e-2, 1e-5                         # allowed relative errors: bfloat16 operands; float32 or tf32x3


@dataclass(frozen=True)
class GpuSizes:
    """How large the inputs are; tests use smaller ones."""

    pairs: int = 32_768
    width: int = 768
    knn: int = 30_522
    covariance: int = 1_000_000
    tokens: int = 16_777_216
    segments: int = 131_072
    pool: tuple[int, int] = (256, 128)
    cosent: int = 1_000_000
    resamples: tuple[int, int] = (10_000, 1379)
    alignment: int = 262_144


@dataclass(frozen=True)
class Peer:
    """Another way to the same result: its name, the work, and how many times faster than it we want to be (None: no goal stated)."""

    name: str
    run: Callable[[], Any]
    goal: float | None = 1.0


@dataclass(frozen=True)
class Sides:
    """One contest with its inputs made: our work, its relative error against float64, the peers; ``gap`` says how far two results differ."""

    ours: Callable[[], Any]
    error: Callable[[], float]
    peers: tuple[Peer, ...] = ()
    gap: Callable[[Any, Any], float] = relative_error


@dataclass(frozen=True)
class Contest:
    """One size of one operation.

    Parameters: make, device -> `Sides`; goal_ms, the time to reach; needs, the work that cannot be avoided, its products in ``precision``;
    items of ``unit``; tolerance of the error; short, whether launching takes longer than computing, so that a recorded graph is timed.
    """

    name: str
    make: Callable[[str], Sides]
    goal_ms: float | None
    needs: work.Work
    precision: str
    items: int
    unit: str
    tolerance: float
    short: bool = False


def _randn(device: str, *shape: int, seed: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.empty(shape, device=device, dtype=dtype).normal_(generator=torch.Generator(device).manual_seed(seed))


def _unit(device: str, n: int, d: int, *, seed: int) -> Tensor:
    """n random directions in bfloat16."""
    return functional.normalize(_randn(device, n, d, seed=seed), dim=1).to(torch.bfloat16)


def _optional(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise PeerMissing(f"{name} is not installed") from None


# ------------------------------------------------------------------------------------------------ InfoNCE


def _autocast(loss: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def call(query: Tensor, key: Tensor) -> Tensor:
        with torch.autocast(query.device.type, dtype=torch.bfloat16):
            return loss(query, key, TEMPERATURE)

    return call


def _inf_cl(query: Tensor, key: Tensor) -> Tensor:
    return _optional("inf_cl").cal_flash_loss(query.float(), key.float(), scale=1 / TEMPERATURE).mean()


def _cached_loss(query: Tensor, key: Tensor) -> tuple[Tensor, ...]:
    """The loss stage of sentence-transformers' CachedMultipleNegativesRankingLoss, fed with finished vectors."""
    loss = _optional("sentence_transformers.losses").CachedMultipleNegativesRankingLoss([None], scale=1 / TEMPERATURE)
    leaves = [x.detach().requires_grad_() for x in (query, key)]
    value = loss.calculate_loss([[leaf] for leaf in leaves], with_backward=True)
    return value, *(leaf.grad for leaf in leaves)


def _info_nce(n: int, d: int, backward: bool, device: str) -> Sides:
    query, key = _unit(device, n, d, seed=1), _unit(device, n, d, seed=2)
    ours, exact = (partial(kernels.info_nce, temperature=TEMPERATURE, backend=backend) for backend in (None, "cpu"))
    run = with_gradient if backward else lambda loss, *inputs: loss(*inputs)
    compiled = _autocast(naive.compiled(naive.info_nce))
    peers = [Peer("cross_entropy(a @ b.T / t), autocast", lambda: run(_autocast(naive.info_nce), query, key)),
             Peer("torch.compile of it", lambda: run(compiled, query, key))]
    if backward:
        peers += [Peer("Inf-CL", lambda: run(_inf_cl, query, key), 2.0),
                  Peer("sentence-transformers, cached loss stage", lambda: _cached_loss(query, key), 20.0)]
    return Sides(lambda: run(ours, query, key),
                 lambda: relative_error(run(ours, query, key), run(exact, query.double(), key.double())), tuple(peers))


# ------------------------------------------------------------------------------------------------ uniformity, neighbours


def _keops(x: Tensor) -> Tensor:
    lazy, n = _optional("pykeops.torch").LazyTensor, len(x)
    rows, columns = lazy(x.float()[:, None, :]), lazy(x.float()[None, :, :])
    kernel = (-T * ((rows - columns) ** 2).sum(-1)).exp()
    return ((kernel.sum(1).sum() - n) / (n * (n - 1))).log()


def _uniformity(n: int, d: int, backward: bool, device: str) -> Sides:
    x = _unit(device, n, d, seed=3)
    ours, exact = (partial(kernels.uniformity, t=T, backend=backend) for backend in (None, "cpu"))
    run = with_gradient if backward else lambda loss, *inputs: loss(*inputs)
    compiled = naive.compiled(naive.uniformity_gram)
    peers = (Peer("torch.pdist", lambda: run(naive.uniformity_pdist, x.float()), 100.0),
             Peer("one whole product", lambda: run(naive.uniformity_gram, x)),
             Peer("torch.compile of it", lambda: run(compiled, x)), Peer("KeOps", lambda: run(_keops, x), 5.0))
    return Sides(lambda: run(ours, x), lambda: relative_error(run(ours, x), run(exact, x.double())), peers)


def _faiss(x: Tensor) -> tuple[Tensor, Tensor]:
    faiss = _optional("faiss")
    _optional("faiss.contrib.torch_utils")
    if not hasattr(faiss, "knn_gpu"):
        raise PeerMissing("faiss is installed without its GPU part")
    distances, indices = faiss.knn_gpu(faiss.StandardGpuResources(), x, x, NEIGHBOURS, metric=faiss.METRIC_L2)
    return distances.clamp(min=0).sqrt(), indices


def _knn(n: int, d: int, device: str) -> Sides:
    x = _randn(device, n, d, seed=4)
    few = x[:CHECKED_QUERIES]
    backend = "triton" if device == "cuda" else None                    # by itself the library takes blocked torch at this size
    ours = partial(kernels.knn, x, x, k=NEIGHBOURS, metric="l2", backend=backend)

    def error() -> float:
        found = tuple(part[: len(few)] for part in ours())
        return neighbour_error(found, kernels.knn(few.double(), x.double(), k=NEIGHBOURS, metric="l2", backend="cpu"))

    return Sides(ours, error, (Peer("torch.cdist + topk", lambda: naive.knn_cdist(x, x, NEIGHBOURS)),
                               Peer("our blocked torch", partial(kernels.knn, x, x, k=NEIGHBOURS, metric="l2", backend="cpu")),
                               Peer("faiss", lambda: _faiss(x))), partial(neighbour_error, share=0.99))


# ------------------------------------------------------------------------------------------------ one read of the input


def _pool(b: int, length: int, d: int, device: str) -> Sides:
    first, last = (_randn(device, b, length, d, seed=seed, dtype=torch.bfloat16) for seed in (5, 6))
    mask = torch.ones(b, length, dtype=torch.bool, device=device)

    def plain(first: Tensor, last: Tensor) -> Tensor:
        return functional.normalize(naive.pool((first + last) / 2, mask), dim=1)

    ours, exact = (partial(kernels.pool, how="first_last", normalize=True, backend=backend) for backend in (None, "cpu"))
    compiled = naive.compiled(plain)
    return Sides(lambda: ours(last, mask, first=first),
                 lambda: relative_error(ours(last, mask, first=first), exact(last.double(), mask, first=first.double())),
                 (Peer("masked torch expression", lambda: plain(first, last)), Peer("torch.compile of it", lambda: compiled(first, last))))


def _parts(moments: Any) -> tuple[Tensor, Tensor, Tensor]:
    return moments.sum, moments.unit_sum, moments.norm_sum


def _segment_moments(n: int, d: int, segments: int, device: str) -> Sides:
    x = _randn(device, n, d, seed=7, dtype=torch.bfloat16)
    offsets = torch.arange(segments + 1, device=device) * (n // segments)
    offsets[-1] = n

    def error() -> float:
        few = min(CHECKED_SEGMENTS, segments)
        exact = kernels.segment_moments(x[: int(offsets[few])].double(), offsets[: few + 1], backend="cpu")
        return relative_error(tuple(part[:few] for part in _parts(kernels.segment_moments(x, offsets))), _parts(exact))

    compiled = naive.compiled(naive.segment_index_add)
    return Sides(lambda: _parts(kernels.segment_moments(x, offsets)), error,
                 (Peer("torch index_add", lambda: naive.segment_index_add(x, offsets)),
                  Peer("torch.compile of it", lambda: compiled(x, offsets))))


def _mean_covariance(n: int, d: int, device: str) -> Sides:
    x = _randn(device, n, d, seed=8) + 1
    compiled = naive.compiled(naive.covariance)

    def gap(found: Any, ours: tuple[Tensor, Tensor]) -> float:
        return relative_error(found if isinstance(found, Tensor) else found[1], ours[1])       # the peers give no mean

    return Sides(lambda: kernels.mean_covariance(x),
                 lambda: relative_error(kernels.mean_covariance(x), kernels.mean_covariance(x.double(), backend="cpu")),
                 (Peer("torch.cov", lambda: naive.covariance(x)), Peer("torch.compile of it", lambda: compiled(x))), gap)


def _mean_cosine(n: int, d: int, device: str) -> Sides:
    x = _randn(device, n, d, seed=9) + 0.5
    return Sides(lambda: kernels.mean_cosine(x), lambda: relative_error(kernels.mean_cosine(x), kernels.mean_cosine(x.double())),
                 (Peer("(u @ u.T).mean()", lambda: naive.mean_cosine(x)),))


def _alignment(n: int, d: int, device: str) -> Sides:
    x, y = _randn(device, n, d, seed=10), _randn(device, n, d, seed=11)
    compiled = naive.compiled(naive.alignment)
    return Sides(lambda: with_gradient(kernels.alignment, x, y),
                 lambda: relative_error(with_gradient(kernels.alignment, x, y), with_gradient(kernels.alignment, x.double(), y.double())),
                 (Peer("(x - y).norm().pow(2).mean()", lambda: with_gradient(naive.alignment, x, y)),
                  Peer("torch.compile of it", lambda: with_gradient(compiled, x, y))))


# ------------------------------------------------------------------------------------------------ sorts


def _cosent(n: int, device: str) -> Sides:
    rng = torch.Generator(device).manual_seed(12)
    similarity = torch.rand(n, device=device, generator=rng) * 2 - 1
    label = torch.randint(0, 26, (n,), device=device, generator=rng) / 5
    run = partial(with_gradient, lambda s: kernels.cosent(s, label))
    return Sides(lambda: run(similarity), lambda: relative_error(run(similarity), run(similarity.double())),
                 (Peer("n x n logsumexp", lambda: with_gradient(lambda s: naive.cosent(s, label), similarity)),))


def _ranks(resamples: int, n: int, device: str) -> Sides:
    rng = torch.Generator(device).manual_seed(13)
    scores, gold = torch.randn(n, device=device, generator=rng), torch.randint(0, 26, (n,), device=device, generator=rng).float()
    draws = torch.randint(0, n, (resamples, n), device=device, generator=rng)
    few = draws[:8]

    def error() -> float:
        found = kernels.spearman_resamples(scores[None], gold, draws)[0, : len(few)]
        exact = naive.spearman_loop(scores[few].cpu().numpy(), gold[few].cpu().numpy())
        return relative_error(found, torch.tensor(exact, dtype=torch.float64))

    return Sides(lambda: kernels.spearman_resamples(scores[None], gold, draws), error)


def contests(sizes: GpuSizes | None = None) -> tuple[Contest, ...]:
    """All contests, the most telling first: when time runs out the last ones are left out. Making the list makes no inputs."""
    s = sizes or GpuSizes()
    return (*_pairwise(s), *_streaming(s), *_sorting(s))


def _pairwise(s: GpuSizes) -> Iterator[Contest]:
    n, d, k = s.pairs, s.width, s.knn
    for backward, what, goals in ((True, "forward + backward", (12, 9)), (False, "forward", (3.8, 2.2))):
        yield Contest(f"info_nce {n} x {d} bf16, {what}", partial(_info_nce, n, d, backward), goals[0],
                      work.info_nce(n, n, d, itemsize=2, backward=backward), "bfloat16", n * n, "pairs", HALF)
        yield Contest(f"uniformity {n} x {d} bf16, {what}", partial(_uniformity, n, d, backward), goals[1],
                      work.uniformity(n, d, itemsize=2, backward=backward), "bfloat16", n * (n - 1) // 2, "pairs", HALF)
    yield Contest(f"knn {k} x {d} fp32, k={NEIGHBOURS}, l2", partial(_knn, k, d), 20, work.knn(k, k, d, NEIGHBOURS, itemsize=4), "tf32x3",
                  k * k, "pairs", FULL)


def _streaming(s: GpuSizes) -> Iterator[Contest]:
    d, (b, length) = s.width, s.pool
    yield Contest(f"mean_covariance {s.covariance} x {d} fp32", partial(_mean_covariance, s.covariance, d), 9,
                  work.mean_covariance(s.covariance, d, itemsize=4), "tf32x3", s.covariance, "vectors", FULL)
    yield Contest(f"segment_moments {s.tokens} x {d} bf16", partial(_segment_moments, s.tokens, d, s.segments), 7.5,
                  work.segment_moments(s.tokens, d, s.segments, itemsize=2), "float32", s.tokens, "tokens", FULL)
    yield Contest(f"pool {b} x {length} x {d} bf16, first-last, normalised", partial(_pool, b, length, d), 0.035,
                  work.pool(b, length, d, itemsize=2, layers=2), "float32", b, "texts", HALF, short=True)
    yield Contest(f"mean_cosine {s.knn} x {d} fp32", partial(_mean_cosine, s.knn, d), None, work.mean_cosine(s.knn, d, itemsize=4), "float32",
                  s.knn, "vectors", FULL)
    yield Contest(f"alignment {s.alignment} x {d} fp32, forward + backward", partial(_alignment, s.alignment, d), None,
                  work.alignment(s.alignment, d, itemsize=4, backward=True), "float32", s.alignment, "pairs", FULL)


def _sorting(s: GpuSizes) -> Iterator[Contest]:
    resamples, n = s.resamples
    yield Contest(f"cosent {s.cosent} pairs, forward + backward", partial(_cosent, s.cosent), 5, work.cosent(s.cosent, itemsize=4), "float32",
                  s.cosent, "pairs", FULL)
    yield Contest(f"ranks, Spearman of {resamples} resamples of {n} pairs", partial(_ranks, resamples, n), 5,
                  work.ranks(2 * resamples, n, itemsize=4), "float32", resamples, "resamples", FULL)
