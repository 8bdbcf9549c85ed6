"""The contests of the kernels on a GPU: sizes and goals as planned, peers, checks against float64.

Everything runs on any torch device, so that all but the clock is tested without a GPU. The check is
blocked torch in float64 on the same device: other code than the kernel, and more exact than any
peer. A pass of a kernel that trains changes its model, so what is timed goes on from pass to pass;
what is checked is a short text, learned by the kernel and by the processor from the same start.
Racing programs cannot be equal to it: there the losses are compared. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from .. import kernels
from . import naive, work
from .gates import neighbour_error, relative_error
from .measure import PeerMissing, peer_module
from .naive import with_gradient

T, TEMPERATURE, NEIGHBOURS, CHECKED_QUERIES, CHECKED_SEGMENTS = 2.0, 0.05, 10, 512, 64
HALF, FULL = 1e-2, 1e-5                         # allowed: bfloat16 operands; float32 or tf32x3
LOSS, NUMBERS = 1e-2, 1e-3                      # of a loss learned in a race; of numbers in order
WINDOW, NEGATIVES, SAMPLE = 5, 5, 1e-3


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
    text: int = 4_000_000
    n_words: int = 70_000
    counts: int = 20_000_000
    topics: int = 128
    lda_tokens: int = 10_000_000
    checked: int = 200_000                      # tokens or counts compared with the processor


@dataclass(frozen=True)
class Sides:
    """One contest with its inputs made: our work, its relative error against float64, and for each
    peer its work and how many times faster we want to be; ``gap`` says how far two results differ.
    """

    ours: Callable[[], Any]
    error: Callable[[], float]
    peers: Mapping[str, tuple[Callable[[], Any], float]] = field(default_factory=dict)
    gap: Callable[[Any, Any], float] = relative_error


@dataclass(frozen=True)
class Contest:
    """One size of one operation: ``make`` gives its sides on a device. ``goal_ms`` is the time to
    reach; ``needs`` the work that cannot be avoided, with products in ``precision``; ``tolerance``
    of the error; ``short`` where launching takes longer than computing, so that a recorded graph is
    timed."""

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
    generator = torch.Generator(device).manual_seed(seed)
    return torch.empty(shape, device=device, dtype=dtype).normal_(generator=generator)


def _unit(device: str, n: int, d: int, *, seed: int) -> Tensor:
    """n random directions in bfloat16."""
    return functional.normalize(_randn(device, n, d, seed=seed), dim=1).to(torch.bfloat16)


def _sides(ours: Callable[..., Any], inputs: tuple[Tensor, ...],
           peers: Mapping[str, tuple[Callable[..., Any], float]], *, backward: bool = False,
           gap: Callable[[Any, Any], float] = relative_error) -> Sides:
    """All sides on the same inputs, with gradients where ``backward``."""
    def run(function: Callable[..., Any], *inputs: Tensor) -> Any:
        return with_gradient(function, *inputs) if backward else function(*inputs)

    def error() -> float:
        exact = run(partial(ours, backend="cpu"), *(x.double() for x in inputs))
        return relative_error(run(ours, *inputs), exact)

    works = {name: (partial(run, theirs, *inputs), goal) for name, (theirs, goal) in peers.items()}
    return Sides(partial(run, ours, *inputs), error, works, gap)


# ---------------------------------------------------------------------- all pairs


def _autocast(loss: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def call(query: Tensor, key: Tensor) -> Tensor:
        with torch.autocast(query.device.type, dtype=torch.bfloat16):
            return loss(query, key, TEMPERATURE)
    return call


def _inf_cl(query: Tensor, key: Tensor) -> Tensor:
    loss = peer_module("inf_cl").cal_flash_loss
    return loss(query.float(), key.float(), scale=1 / TEMPERATURE).mean()


def _cached_loss(query: Tensor, key: Tensor) -> tuple[Tensor, ...]:
    """The loss stage of CachedMultipleNegativesRankingLoss, fed with finished vectors: products of
    them, as ours; its cosines would take norms once more, and their gradient is another one.
    """
    losses = peer_module("sentence_transformers.sentence_transformer.losses")
    product = peer_module("sentence_transformers.util").dot_score
    loss = losses.CachedMultipleNegativesRankingLoss([None], scale=1 / TEMPERATURE,
                                                     similarity_fct=product)
    leaves = [x.detach().requires_grad_() for x in (query, key)]
    value = loss.calculate_loss([[leaf] for leaf in leaves], with_backward=True)
    return value, *(leaf.grad for leaf in leaves)


def _info_nce(n: int, d: int, backward: bool, device: str) -> Sides:
    pair = _unit(device, n, d, seed=1), _unit(device, n, d, seed=2)
    peers = {"cross_entropy(a @ b.T / t), autocast": (_autocast(naive.info_nce), 1.0),
             "torch.compile of it": (_autocast(naive.compiled(naive.info_nce)), 1.0)}
    ours = partial(kernels.info_nce, temperature=TEMPERATURE)
    if not backward:
        return _sides(ours, pair, peers)
    sides = _sides(ours, pair, peers | {"Inf-CL": (_inf_cl, 2.0)}, backward=True)
    cached = {"sentence-transformers, cached loss stage": (partial(_cached_loss, *pair), 20.0)}
    return replace(sides, peers=sides.peers | cached)


def _keops(x: Tensor) -> Tensor:
    lazy, n = peer_module("pykeops.torch").LazyTensor, len(x)
    rows, columns = lazy(x.float()[:, None, :]), lazy(x.float()[None, :, :])
    kernel = (-T * ((rows - columns) ** 2).sum(-1)).exp()
    return ((kernel.sum(1).sum() - n) / (n * (n - 1))).log()


def _uniformity(n: int, d: int, backward: bool, device: str) -> Sides:
    return _sides(partial(kernels.uniformity, t=T), (_unit(device, n, d, seed=3),), {
        "torch.pdist": (lambda x: naive.uniformity_pdist(x.float()), 100.0),
        "one whole product": (naive.uniformity_gram, 1.0),
        "torch.compile of it": (naive.compiled(naive.uniformity_gram), 1.0),
        "KeOps": (_keops, 5.0)}, backward=backward)


def _faiss(x: Tensor) -> tuple[Tensor, Tensor]:
    faiss = peer_module("faiss", "faiss-gpu")
    peer_module("faiss.contrib.torch_utils", "faiss-gpu")
    if not hasattr(faiss, "StandardGpuResources"):
        raise PeerMissing("faiss is installed without its GPU part")
    distances, indices = faiss.knn_gpu(faiss.StandardGpuResources(), x, x, NEIGHBOURS,
                                       metric=faiss.METRIC_L2)
    return distances.clamp(min=0).sqrt(), indices


def _knn(n: int, d: int, device: str) -> Sides:
    x = _randn(device, n, d, seed=4)
    few, search = x[:CHECKED_QUERIES], partial(kernels.knn, k=NEIGHBOURS, metric="l2")
    # by itself the library takes blocked torch at this size
    ours = partial(search, x, x, backend="triton" if device == "cuda" else None)

    def error() -> float:
        result = tuple(part[: len(few)] for part in ours())
        return neighbour_error(result, search(few.double(), x.double(), backend="cpu"))

    peers = {"torch.cdist + topk": (partial(naive.knn_cdist, x, x, NEIGHBOURS), 1.0),
             "our blocked torch": (partial(search, x, x, backend="cpu"), 1.0),
             "faiss": (partial(_faiss, x), 1.0)}
    return Sides(ours, error, peers, partial(neighbour_error, share=0.99))


# ---------------------------------------------------------------------- one read of the input


def _pool(b: int, length: int, d: int, device: str) -> Sides:
    pair = tuple(_randn(device, b, length, d, seed=seed, dtype=torch.bfloat16) for seed in (5, 6))
    mask = torch.ones(b, length, dtype=torch.bool, device=device)

    def ours(first: Tensor, last: Tensor, backend: str | None = None) -> Tensor:
        return kernels.pool(last, mask, first=first, how="first_last", normalize=True,
                            backend=backend)

    def plain(first: Tensor, last: Tensor) -> Tensor:
        return functional.normalize(naive.pool((first + last) / 2, mask), dim=1)
    return _sides(ours, pair, {"masked torch expression": (plain, 1.0),
                               "torch.compile of it": (naive.compiled(plain), 1.0)})


def _segment_moments(n: int, d: int, segments: int, device: str) -> Sides:
    x = _randn(device, n, d, seed=7, dtype=torch.bfloat16)
    offsets = torch.arange(segments + 1, device=device) * (n // segments)
    offsets[-1] = n
    few = min(CHECKED_SEGMENTS, segments)

    def ours(x: Tensor = x, offsets: Tensor = offsets, **options: Any) -> tuple[Tensor, ...]:
        moments = kernels.segment_moments(x, offsets, **options)
        return moments.sum, moments.unit_sum, moments.norm_sum

    def error() -> float:
        exact = ours(x[: int(offsets[few])].double(), offsets[: few + 1], backend="cpu")
        return relative_error(tuple(part[:few] for part in ours()), exact)

    plain = {"torch index_add": naive.segment_index_add,
             "torch.compile of it": naive.compiled(naive.segment_index_add)}
    return Sides(ours, error, {name: (partial(sums, x, offsets), 1.0)
                               for name, sums in plain.items()})


def _mean_covariance(n: int, d: int, device: str) -> Sides:
    def gap(result: Any, ours: tuple[Tensor, Tensor]) -> float:
        """The peers give no mean."""
        return relative_error(result if isinstance(result, Tensor) else result[1], ours[1])
    return _sides(kernels.mean_covariance, (_randn(device, n, d, seed=8) + 1,), {
        "torch.cov": (naive.covariance, 1.0),
        "torch.compile of it": (naive.compiled(naive.covariance), 1.0)}, gap=gap)


def _mean_cosine(n: int, d: int, device: str) -> Sides:
    return _sides(kernels.mean_cosine, (_randn(device, n, d, seed=9) + 0.5,),
                  {"(u @ u.T).mean()": (naive.mean_cosine, 1.0)})


def _alignment(n: int, d: int, device: str) -> Sides:
    pair = _randn(device, n, d, seed=10), _randn(device, n, d, seed=11)
    return _sides(kernels.alignment, pair, {
        "(x - y).norm().pow(2).mean()": (naive.alignment, 1.0),
        "torch.compile of it": (naive.compiled(naive.alignment), 1.0)}, backward=True)


# ---------------------------------------------------------------------- sorts


def _cosent(n: int, device: str) -> Sides:
    rng = torch.Generator(device).manual_seed(12)
    similarity = torch.rand(n, device=device, generator=rng) * 2 - 1
    label = torch.randint(0, 26, (n,), device=device, generator=rng) / 5
    return _sides(lambda s, **options: kernels.cosent(s, label, **options), (similarity,),
                  {"n x n logsumexp": (lambda s: naive.cosent(s, label), 1.0)}, backward=True)


def _ranks(resamples: int, n: int, device: str) -> Sides:
    rng = torch.Generator(device).manual_seed(13)
    scores = torch.randn(n, device=device, generator=rng)
    gold = torch.randint(0, 26, (n,), device=device, generator=rng).float()
    draws = torch.randint(0, n, (resamples, n), device=device, generator=rng)
    few = draws[:8]

    def error() -> float:
        result = kernels.spearman_resamples(scores[None], gold, draws)[0, : len(few)]
        exact = naive.spearman_loop(scores[few].cpu().numpy(), gold[few].cpu().numpy())
        return relative_error(result, torch.tensor(exact, dtype=torch.float64))
    return Sides(lambda: kernels.spearman_resamples(scores[None], gold, draws), error)


# ---------------------------------------------------------------------- kernels that train


def _shares(n_words: int) -> np.ndarray:
    """How frequent the words of a language are, roughly (Zipf and Mandelbrot)."""
    p = 1.0 / (np.arange(n_words) + 2.7)
    return p / p.sum()


def _text(n: int, n_words: int) -> np.ndarray:
    uniform = np.random.default_rng(0).random(n)
    return np.searchsorted(np.cumsum(_shares(n_words)), uniform).clip(max=n_words - 1)


def _on_both(start: Callable[[], Any], learn: Callable[..., Any]) -> list[Any]:
    """What the kernel and the processor learn from the same start."""
    return [learn(start(), backend=backend) for backend in (None, "cpu")]


def _window_update(s: GpuSizes, d: int, architecture: str, objective: str, device: str) -> Sides:
    run = partial(kernels.window_update, architecture=architecture, objective=objective,
                  window=WINDOW, negatives=NEGATIVES, deterministic=False)

    def start(n: int, n_words: int) -> kernels.WindowState:
        words, rng = _text(n, n_words), np.random.default_rng(1)
        outputs = np.zeros((n_words - (objective == "hierarchical_softmax"), d), dtype=np.float32)
        inputs = (rng.random((n_words, d), dtype=np.float32) - 0.5) / d
        return kernels.WindowState(words, [*range(0, n, 1000), n], inputs, outputs,
                                   np.bincount(words, minlength=n_words) + 1, sample=SAMPLE,
                                   device=device)

    def second_loss(state: kernels.WindowState, backend: str | None) -> float:
        return [run(state, loss_every=1, epoch=epoch, backend=backend)[0] for epoch in range(2)][-1]

    def error() -> float:
        ours, exact = _on_both(partial(start, s.checked, max(2, s.n_words // 20)), second_loss)
        return abs(ours - exact) / exact
    return Sides(partial(run, start(s.text, s.n_words)), error)


def _degrees(n: int, n_words: int) -> np.ndarray:
    """How many different contexts each word has: n in all, by its share of the text."""
    low, high = 0.0, float(n * n_words)
    for _ in range(60):
        middle = (low + high) / 2
        total = np.minimum(n_words, middle * _shares(n_words)).astype(int).sum()
        low, high = (middle, high) if total <= n else (low, middle)
    degrees = np.minimum(n_words, low * _shares(n_words)).astype(int)
    degrees[np.flatnonzero(degrees < n_words)[: n - degrees.sum()]] += 1
    return degrees


def _cooccurrences(n: int, n_words: int, d: int, device: str) -> kernels.GloveState:
    """n counts of words as unequal as in a language, of contexts that are all alike, which is
    harder for a cache."""
    rng, degrees = np.random.default_rng(2), _degrees(n, n_words)
    offsets = np.concatenate([[0], np.cumsum(degrees)])
    first = np.repeat(rng.integers(n_words, size=n_words) - offsets[:-1], degrees)
    start = [(rng.random((n_words, d + 1)) - 0.5) / d for _ in range(2)]
    return kernels.GloveState(offsets, (first + np.arange(n)) % n_words,
                              rng.lognormal(2.0, 2.0, size=n), *start, device=device)


def _glove_step(s: GpuSizes, d: int, device: str) -> Sides:
    def words(state: kernels.GloveState, backend: str | None) -> Tensor:
        kernels.glove_step(state, backend=backend)
        return state.words[:, 0]

    def error() -> float:
        ours, exact = _on_both(
            partial(_cooccurrences, s.checked, max(20, s.checked // 100), d, device), words)
        return float((ours - exact).norm() / exact.norm())

    state = _cooccurrences(s.counts, s.n_words, d, device)
    return Sides(lambda: kernels.glove_step(state), error)


def _lda_sweep(s: GpuSizes, device: str) -> Sides:
    def start(n: int) -> kernels.LdaState:
        topics = np.random.default_rng(3).integers(s.topics, size=n)
        return kernels.LdaState(_text(n, s.n_words), [*range(0, n, 200), n], topics,
                                n_topics=s.topics, n_words=s.n_words, device=device)

    def swept(state: kernels.LdaState, backend: str | None = None) -> Tensor:
        kernels.lda_sweep(state, at_once=max(2, s.lda_tokens // 200 // 16), backend=backend)
        return state.topics

    def error() -> float:
        ours, exact = _on_both(partial(start, s.checked), swept)
        return float((ours != exact).double().mean())
    return Sides(partial(swept, start(s.lda_tokens)), error)


# ---------------------------------------------------------------------- the list


def contests(sizes: GpuSizes | None = None) -> Iterator[Contest]:
    """All contests, the most telling first: when time runs out the last ones are left out. Making
    the list makes no inputs."""
    s = sizes or GpuSizes()
    n, d, k, (b, length), (resamples, m) = s.pairs, s.width, s.knn, s.pool, s.resamples
    for what, goals in {"forward + backward": (12, 9), "forward": (3.8, 2.2)}.items():
        backward = "backward" in what
        yield Contest(f"info_nce {n} x {d} bf16, {what}", partial(_info_nce, n, d, backward),
                      goals[0], work.info_nce(n, n, d, itemsize=2, backward=backward), "bfloat16",
                      n * n, "pairs", HALF)
        yield Contest(f"uniformity {n} x {d} bf16, {what}", partial(_uniformity, n, d, backward),
                      goals[1], work.uniformity(n, d, itemsize=2, backward=backward), "bfloat16",
                      n * (n - 1) // 2, "pairs", HALF)
    yield Contest(f"knn {k} x {d} fp32, k={NEIGHBOURS}, l2", partial(_knn, k, d), 20,
                  work.knn(k, k, d, NEIGHBOURS, itemsize=4), "tf32x3", k * k, "pairs", FULL)
    yield Contest(f"mean_covariance {s.covariance} x {d} fp32",
                  partial(_mean_covariance, s.covariance, d), 9,
                  work.mean_covariance(s.covariance, d, itemsize=4), "tf32x3", s.covariance,
                  "vectors", FULL)
    yield Contest(f"segment_moments {s.tokens} x {d} bf16",
                  partial(_segment_moments, s.tokens, d, s.segments), 7.5,
                  work.segment_moments(s.tokens, d, s.segments, itemsize=2), "float32", s.tokens,
                  "tokens", FULL)
    yield Contest(f"pool {b} x {length} x {d} bf16, first-last, normalised",
                  partial(_pool, b, length, d), 0.035,
                  work.pool(b, length, d, itemsize=2, layers=2), "float32", b, "texts", HALF,
                  short=True)
    yield Contest(f"mean_cosine {k} x {d} fp32", partial(_mean_cosine, k, d), None,
                  work.mean_cosine(k, d, itemsize=4), "float32", k, "vectors", FULL)
    yield Contest(f"alignment {s.alignment} x {d} fp32, forward + backward",
                  partial(_alignment, s.alignment, d), None,
                  work.alignment(s.alignment, d, itemsize=4, backward=True), "float32",
                  s.alignment, "pairs", FULL)
    yield Contest(f"cosent {s.cosent} pairs, forward + backward", partial(_cosent, s.cosent), 5,
                  work.cosent(s.cosent, itemsize=4), "float32", s.cosent, "pairs", FULL)
    yield Contest(f"ranks, Spearman of {resamples} resamples of {m} pairs",
                  partial(_ranks, resamples, m), 5, work.ranks(2 * resamples, m, itemsize=4),
                  "float32", resamples, "resamples", FULL)


def training_contests(sizes: GpuSizes | None = None) -> Iterator[Contest]:
    """The contests of the kernels that train."""
    s = sizes or GpuSizes()
    ratio = SAMPLE / _shares(s.n_words)
    shares_left = np.minimum(1.0, np.sqrt(ratio) + ratio) * _shares(s.n_words)
    n = int(s.text * shares_left.sum())         # tokens that subsampling leaves, on average
    for architecture, objective, d, millions in (("skip_gram", "negative_sampling", 300, 40),
                                                 ("skip_gram", "negative_sampling", 128, 100),
                                                 ("skip_gram", "hierarchical_softmax", 300, 30),
                                                 ("cbow", "negative_sampling", 300, None)):
        outputs = NEGATIVES + 1 if objective == "negative_sampling" else np.log2(s.n_words)
        needs = work.window_update(n, WINDOW + 1 if architecture == "skip_gram" else 1, outputs, d)
        yield Contest(f"window_update {architecture} {objective}, {n} words, d={d}",
                      partial(_window_update, s, d, architecture, objective),
                      millions and n / millions / 1e3, needs, "float32", n, "words", LOSS)
    yield Contest(f"glove_step {s.counts} counts, d=300", partial(_glove_step, s, 300),
                  s.counts / 250e3, work.glove_step(s.counts, 300), "float32", s.counts, "counts",
                  NUMBERS)
    yield Contest(f"lda_sweep {s.lda_tokens} tokens, {s.topics} topics", partial(_lda_sweep, s),
                  s.lda_tokens / 1.5e6, work.lda_sweep(s.lda_tokens, s.n_words, s.topics),
                  "float32", s.lda_tokens, "tokens", NUMBERS)
