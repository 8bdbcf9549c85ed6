"""The kernels on the processor: each operation beside the code most people write and the strongest
package for the job.

Values and gradients have to agree before a time counts; both sides have two threads; the ceilings
of the machine are measured first, so a row says how far its time lies above the floor. Taught in
``15_gpu_kernels``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from scipy.stats import rankdata
from sklearn.neighbors import NearestNeighbors
from torch import Tensor
from torch.nn import functional

from .. import kernels
from ..core import available_cores
from . import naive, work
from .ceilings import cpu_ceilings
from .gates import agree, neighbour_error, relative_error
from .measure import Case, Row, ceiling_rows, fixed_threads, race, wall_timer
from .naive import with_gradient

GROUP = "kernels"
THREADS = 2
Side = Callable[..., Any]
LEAST_SECONDS = 1.0                             # of all runs: work of milliseconds runs more often
TEMPERATURE, SCALE, NEIGHBOURS = 0.05, 20.0, 10
GATED_TOKENS = 20_000
SLOW = 20.0                                     # goal beside loops of NumPy


def _randn(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def _integers(low: int, high: int, *shape: int, seed: int) -> Tensor:
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed))


def _unit(n: int, d: int, seed: int = 0) -> Tensor:
    """n random vectors of norm 1."""
    return functional.normalize(_randn(n, d, seed=seed), dim=1)


def _beside(name: str, ours: Side, inputs: Sequence[Any], peers: Mapping[str, tuple[Side, float]],
            items: int, unit: str, needs: work.Work, *, backward: bool = False, gate: str = "",
            tolerance: float = 1e-5, equal: Callable[[Any, Any], bool] | None = None,
            memory: bool = True) -> Iterator[Case]:
    """A case for each peer, with its goal: functions of the same inputs, with their gradients where
    ``backward``; results equal to ``tolerance`` of the largest value, if ``equal`` is not given."""
    gate = gate or ("equal" if tolerance == 0 else f"equal to {tolerance:g} of the largest value")
    name += ", forward + backward" if backward else ""
    run = partial(with_gradient, ours, *inputs) if backward else partial(ours, *inputs)
    for peer, (theirs, goal) in peers.items():
        side = partial(with_gradient, theirs, *inputs) if backward else partial(theirs, *inputs)
        yield Case(GROUP, name, peer, run, side, equal or agree(tolerance), items, unit, goal, gate,
                   needs, memory=memory)


def _uniformity(n: int = 4096, d: int = 256, m: int = 16_384) -> Iterator[Case]:
    yield from _beside(
        f"uniformity {n} x {d}", kernels.uniformity, [_unit(n, d)],
        {"torch.pdist": (naive.uniformity_pdist, 15.0),
         "one whole product": (naive.uniformity_gram, 1.0)},
        n * (n - 1) // 2, "pairs", work.uniformity(n, d, itemsize=4, backward=True, one_pass=True),
        backward=True, memory=False)            # measured in processes of their own
    yield from _beside(f"uniformity {m} x {d}, forward", kernels.uniformity, [_unit(m, d)],
                       {"torch.pdist": (naive.uniformity_pdist, 10.0)}, m * (m - 1) // 2, "pairs",
                       work.uniformity(m, d, itemsize=4), memory=False)


def _info_nce(d: int = 768, ns: Sequence[int] = (512, 2048, 4096)) -> Iterator[Case]:
    loss = partial(kernels.info_nce, temperature=TEMPERATURE)
    compiled = naive.compiled(naive.info_nce)
    for n in ns:
        yield from _beside(
            f"info_nce {n} x {d}", loss, [_unit(n, d, 1), _unit(n, d, 2)],
            {"cross_entropy(a @ b.T / t)": (naive.info_nce, 1.1 if n == 512 else 1.0),
             "torch.compile of it": (compiled, 1.0)},
            n * n, "pairs", work.info_nce(n, n, d, itemsize=4), backward=True)


def _cosent_value(similarity: Tensor, label: Tensor) -> float:
    """CoSENT in float64 by a running log of sums over rising labels: for a gate at any size."""
    y, order = label.sort(stable=True)
    s = SCALE * similarity[order].double().numpy()
    running = np.concatenate([[-np.inf], np.logaddexp.accumulate(s)])
    smaller = torch.searchsorted(y, y).numpy()  # how many pairs have a smaller label
    return float(np.logaddexp(0.0, np.logaddexp.reduce(running[smaller] - s)))


def _cosent(n: int = 1_000_000, m: int = 2000) -> Iterator[Case]:
    similarity = torch.rand(n, generator=torch.Generator().manual_seed(3)) * 2 - 1
    label = _integers(0, 26, n, seed=4) / 5

    def loss(cosent: Callable[..., Tensor]) -> Callable[[Tensor], Tensor]:
        return lambda s: cosent(s, label[: len(s)], scale=SCALE)

    def equal(result: tuple[Tensor, Tensor], nothing: None) -> bool:
        value, gradient = result[0].double(), result[1].double()
        same_value = abs(value.item() / _cosent_value(similarity, label) - 1) <= 1e-5
        return same_value and gradient.sum().abs().item() <= 1e-4 * gradient.abs().sum().item()

    yield Case(
        GROUP, f"cosent {n} pairs, forward + backward", "",
        partial(with_gradient, loss(kernels.cosent), similarity), None, equal, n, "pairs", 2.0,
        "value to 1e-5 of a running log of sums in float64; the gradients sum to 0 within 1e-4",
        work.cosent(n, itemsize=4), memory=True)
    yield from _beside(
        f"cosent {m} pairs", loss(kernels.cosent), [similarity[:m]],
        {"n x n logsumexp": (loss(naive.cosent), 1.0)}, m, "pairs", work.cosent(m, itemsize=4),
        backward=True)


def _mean_covariance(n: int = 100_000, d: int = 768) -> Iterator[Case]:
    x = _randn(n, d, seed=5) + 1
    array, mean = x.numpy(), x.double().mean(dim=0)
    yield from _beside(
        f"mean_covariance {n} x {d}", kernels.mean_covariance, [x],
        {"np.cov": (lambda x: np.cov(array, rowvar=False), 1.8),
         "torch.cov": (naive.covariance, 1.0)},
        n, "vectors", work.mean_covariance(n, d, itemsize=4),
        equal=lambda result, covariance: relative_error(result, (mean, covariance)) <= 1e-5,
        gate="covariance equal to 1e-5 of the largest value, mean to that in float64")


def _knn(m: int = 2048, n: int = 50_000, d: int = 256) -> Iterator[Case]:
    pair = _unit(m, d, 6), _randn(n, d, seed=7)

    def brute(query: Tensor, x: Tensor) -> tuple[Any, Any]:
        search = NearestNeighbors(n_neighbors=NEIGHBOURS, algorithm="brute")
        return search.fit(x.numpy()).kneighbors(query.numpy())

    chunks = partial(naive.knn_chunks, k=NEIGHBOURS)
    for metric, peer, theirs in (("l2", "scikit-learn NearestNeighbors(brute)", brute),
                                 ("cosine", "torch.mm + topk in chunks", chunks)):
        yield from _beside(
            f"knn {m} of {n} x {d}, k={NEIGHBOURS}, {metric}",
            partial(kernels.knn, k=NEIGHBOURS, metric=metric), pair, {peer: (theirs, 1.0)},
            m * n, "pairs", work.knn(m, n, d, NEIGHBOURS, itemsize=4),
            equal=lambda result, expected: neighbour_error(result, expected) <= 1e-5,
            gate="values equal to 1e-5, 99.9 % of the row numbers equal")


def _mean_cosine(n: int = 8192, d: int = 768) -> Iterator[Case]:
    yield from _beside(f"mean_cosine {n} x {d}", kernels.mean_cosine, [_randn(n, d, seed=8) + 0.5],
                       {"(u @ u.T).mean()": (naive.mean_cosine, 1.0)}, n * (n - 1) // 2, "pairs",
                       work.mean_cosine(n, d, itemsize=4))


def _pool(b: int = 256, length: int = 128, d: int = 768) -> Iterator[Case]:
    mask = (torch.arange(length) < _integers(1, length + 1, b, 1, seed=10)).to(torch.int64)
    yield from _beside(
        f"pool {b} x {length} x {d}, mean", kernels.pool, [_randn(b, length, d, seed=9), mask],
        {"masked torch expression": (naive.pool, 1.0)}, b, "texts",
        work.pool(1, int(mask.sum()), d, itemsize=4))


def _segment_moments(n: int = 65_536, d: int = 768, segments: int = 4096) -> Iterator[Case]:
    places = torch.randperm(n - 1, generator=torch.Generator().manual_seed(12))[: segments - 1]
    offsets = torch.cat([torch.tensor([0]), places.sort().values + 1, torch.tensor([n])])

    def ours(x: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        moments = kernels.segment_moments(x, offsets)
        return moments.sum, moments.unit_sum, moments.norm_sum

    yield from _beside(
        f"segment_moments {n} x {d} in {segments}", ours, [_randn(n, d, seed=11) + 0.1, offsets],
        {"Python loop over segments": (naive.segment_loop, 1.0),
         "torch index_add": (naive.segment_index_add, 1.0)},
        n, "tokens", work.segment_moments(n, d, segments, itemsize=4))


def _maxsim(m: int = 32, texts: int = 1000, d: int = 128) -> Iterator[Case]:
    lengths = _integers(20, 150, texts, seed=22)
    offsets = torch.cat([torch.tensor([0]), lengths.cumsum(0)])
    n = int(offsets[-1])
    inputs = [_unit(m, d, 23), _unit(n, d, 24), offsets]
    yield from _beside(
        f"maxsim {m} against {texts} texts of 20 to 149 x {d}", kernels.maxsim, inputs,
        {"Python loop over texts": (naive.maxsim_loop, 1.0),
         "padded texts, one product": (naive.maxsim_padded, 1.0)},
        texts, "texts", work.maxsim(m, n, d, texts, itemsize=4))


def _alignment(n: int = 32_768, d: int = 768) -> Iterator[Case]:
    yield from _beside(
        f"alignment {n} x {d}", kernels.alignment, [_unit(n, d, 13), _unit(n, d, 14)],
        {"(x - y).norm().pow(2).mean()": (naive.alignment, 1.0)}, n, "pairs",
        work.alignment(n, d, itemsize=4, backward=True), backward=True)


def _ranks(resamples: int = 500, n: int = 1379) -> Iterator[Case]:
    scores, gold = _randn(n, seed=15), _integers(0, 26, n, seed=16) / 5
    draws = _integers(0, n, resamples, n, seed=17)
    drawn = scores[draws].numpy(), gold[draws].numpy()

    def loop() -> Tensor:
        return torch.tensor(naive.spearman_loop(*drawn), dtype=torch.float64)

    yield from _beside(f"ranks, Spearman of {resamples} resamples of {n} pairs",
                       lambda: kernels.spearman_resamples(scores[None], gold, draws)[0], [],
                       {"scipy.stats.spearmanr in a loop": (loop, 1.0)}, resamples, "resamples",
                       work.ranks(2 * resamples, n, itemsize=4), tolerance=1e-9)
    yield from _beside(f"ranks, {resamples} rows of {n} with ties", kernels.ranks, [drawn[1]],
                       {"scipy.stats.rankdata": (partial(rankdata, axis=1), 1.0)}, resamples,
                       "rows", work.ranks(resamples, n, itemsize=4), tolerance=0.0)


def _lda_sweep(n: int = 1_000_000, n_words: int = 20_000, n_topics: int = 100) -> Iterator[Case]:
    rng = np.random.default_rng(18)
    words = np.minimum(rng.zipf(1.3, size=n), n_words) - 1
    topics, offsets = rng.integers(n_topics, size=n), [*range(0, n, 200), n]

    def swept(sweep: Callable[..., Any]) -> Callable[[], Tensor]:
        state = kernels.LdaState(words, offsets, topics, n_topics=n_topics, n_words=n_words)

        def run() -> Tensor:
            sweep(state)
            return state.topics
        return run

    def equal(result: Tensor, expected: Tensor) -> bool:
        """Later draws see the counts of earlier ones, so one last digit spreads."""
        same = result[:GATED_TOKENS] == expected[:GATED_TOKENS]
        return same.double().mean().item() > 0.99

    yield from _beside(f"lda_sweep {n} tokens, {n_topics} topics", swept(kernels.lda_sweep), [],
                       {"compiled loop over topics": (swept(naive.lda_sweep), 2.0)}, n, "tokens",
                       work.lda_sweep(n, n_words, n_topics), equal=equal,
                       gate=f"99 % of the first {GATED_TOKENS} topics equal after the first sweep")


SUBWORDS = 20                                   # rows of a word: its own and those of its n-grams
# An option, its values with the rows of a window (of subwords: the outputs), and what is counted.
UPDATES = {
    "window_update": ("architecture", {"skip_gram": 6.0, "cbow": 1.0}, "words"),
    "subword_update": ("architecture", {"skip_gram": 11.0, "cbow": 6.0},
                       f"words of {SUBWORDS} rows"),
    "document_update": ("model", {"dbow": 1.0, "dm": 7.0}, "words"),
}


def _update(operation: str, n: int = 20_000, n_words: int = 5_000, d: int = 100) -> Iterator[Case]:
    rng = np.random.default_rng(19)
    words, length = np.minimum(rng.zipf(1.3, size=n), n_words) - 1, 20
    inputs, state, more = n_words, kernels.WindowState, {}
    if operation == "subword_update":
        inputs, state = 5 * n_words, kernels.SubwordState
        more = {"rows": rng.integers(0, inputs, size=SUBWORDS * n_words),
                "row_offsets": SUBWORDS * np.arange(n_words + 1)}
    elif operation == "document_update":
        length, state = 200, kernels.DocumentState
        tags = np.arange(len(range(0, n, length)))
        inputs = n_words + 1 + len(tags)
        more = {"tags": tags, "tag_offsets": np.arange(len(tags) + 1)}
    rows = [(rng.random((m, d)) - 0.5) / d for m in (inputs, n_words)]
    offsets, counts = [*range(0, n, length), n], np.bincount(words, minlength=n_words)
    option, variants, unit = UPDATES[operation]
    for variant, read in variants.items():
        def learned(backend: str, variant: str = variant) -> Tensor:
            start = state(words, offsets, *rows, counts, sample=0.0, **more)
            getattr(kernels, operation)(start, backend=backend, **{option: variant})
            return start.inputs

        window = {"window_update": (read, 6), "document_update": (read, 6),
                  "subword_update": (SUBWORDS, read)}[operation]
        yield from _beside(f"{operation} {variant} {n} {unit}, d={d}", partial(learned, "cpu"), [],
                           {"NumPy, window by window": (partial(learned, "reference"), SLOW)}, n,
                           "words", getattr(work, operation)(n, *window, d), tolerance=1e-4)


def _glove_step(n_words: int = 2000, per_word: int = 20, d: int = 100) -> Iterator[Case]:
    n, rng = n_words * per_word, np.random.default_rng(21)
    columns = np.concatenate([rng.choice(n_words, size=per_word, replace=False)
                              for _ in range(n_words)])
    state = kernels.GloveState(np.arange(0, n + 1, per_word), columns,
                               rng.exponential(30.0, size=n) + 0.5,
                               *((rng.random((n_words, d + 1)) - 0.5) / d for _ in range(2)))
    start = state.words.clone(), state.contexts.clone()

    def learned(backend: str) -> Tensor:
        state.words.copy_(start[0])
        state.contexts.copy_(start[1])
        kernels.glove_step(state, backend=backend)
        return state.words[:, 0].clone()

    yield from _beside(f"glove_step {n} counts, d={d}", partial(learned, "cpu"), [],
                       {"NumPy, count by count": (partial(learned, "reference"), SLOW)}, n,
                       "counts", work.glove_step(n, d), tolerance=1e-4)


MAKERS = {
    "uniformity": _uniformity, "info_nce": _info_nce, "cosent": _cosent,
    "mean_covariance": _mean_covariance, "knn": _knn, "mean_cosine": _mean_cosine, "pool": _pool,
    "segment_moments": _segment_moments, "maxsim": _maxsim, "alignment": _alignment,
    "ranks": _ranks, "lda_sweep": _lda_sweep,
    **{name: partial(_update, name) for name in UPDATES}, "glove_step": _glove_step}


def cases(*, only: str = "", sizes: Mapping[str, Sequence[Any]] | None = None) -> Iterator[Case]:
    """The races, one after the other, whose names hold ``only``; inputs are made when asked for.
    ``sizes`` of an operation are the arguments of its maker."""
    for operation, make in MAKERS.items():
        if only.split(" ")[0] in operation:
            made = make(*(sizes or {}).get(operation, ()))
            yield from (case for case in made if only in case.name)


def races(*, repeats: int, tell: Callable[[str], None], only: str = "") -> Iterator[Row]:
    """Ceilings, then the races with floor and memory."""
    with fixed_threads(min(THREADS, available_cores())):
        tell(f"{GROUP}: ceilings")
        ceilings = cpu_ceilings(wall_timer(5))
        yield from ceiling_rows(GROUP, ceilings)
        yield from race(cases(only=only), repeats=repeats, tell=tell, ceilings=ceilings,
                        at_least=LEAST_SECONDS)


def _prepared(loss: Callable[..., Tensor], d: int, *, inputs: int = 1,
              gradient: bool = True) -> Callable[[int], Callable[[], int]]:
    """A function that makes n inputs and gives the work, which gives the bytes of its results."""
    def make(n: int) -> Callable[[], int]:
        x = [_unit(n, d, seed) for seed in range(inputs)]
        run = partial(with_gradient, loss, *x) if gradient else lambda: (loss(*x),)
        return lambda: sum(tensor.nbytes for tensor in run())
    return make


uniformity = _prepared(kernels.uniformity, 256)
naive_uniformity = _prepared(naive.uniformity_pdist, 256)
uniformity_value = _prepared(kernels.uniformity, 256, gradient=False)
naive_uniformity_value = _prepared(naive.uniformity_pdist, 256, gradient=False)
info_nce = _prepared(kernels.info_nce, 768, inputs=2)
naive_info_nce = _prepared(naive.info_nce, 768, inputs=2)

MEMORY = tuple(
    {"group": GROUP, "name": f"{name}: memory", "n": n, "unit": unit, "goal_mb": goal,
     "prepared": True, "function": f"{__name__}:{function}", "peer": peer,
     "peer_function": f"{__name__}:naive_{function}", "peer_needs": needs}
    for name, n, unit, goal, function, peer, needs in (
        ("uniformity 4096 x 256, forward + backward", 4096, "points", 100, "uniformity",
         "torch.pdist", 0),
        ("uniformity 16384 x 256, forward", 16_384, "points", 100, "uniformity_value",
         "torch.pdist", 0),
        ("info_nce 16384 x 768, forward + backward", 16_384, "queries", 300, "info_nce",
         "cross_entropy(a @ b.T / t)", 8e9)))
