"""Cases of the kernels on the processor: each operation beside the code most people write and the strongest package for the job.

Values and gradients have to agree before a time counts; both sides have two threads; the ceilings of the machine are measured first, so a
row says how far its time lies above the floor. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
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
from . import ceilings, naive, work
from .gates import agree, relative_error, same_neighbours
from .kernel_memory import memory_rows
from .measure import Case, Row, fixed_threads, race, wall_timer
from .naive import with_gradient

__all__ = ["GROUP", "Sizes", "cases", "rows"]

GROUP = "kernels"
Side = Callable[[], Any]
THREADS = 2
LEAST_SECONDS = 1.0                             # of all runs of one case: work of milliseconds runs more often
T, TEMPERATURE, SCALE, NEIGHBOURS = 2.0, 0.05, 20.0, 10
GATED_TOKENS = 20_000


@dataclass(frozen=True)
class Sizes:
    """How large the inputs are; tests use smaller ones."""

    uniformity: tuple[int, int] = (4096, 256)
    uniformity_value: tuple[int, int] = (16384, 256)
    info_nce: tuple[int, ...] = (512, 2048, 4096)
    width: int = 768
    pairs: int = 1_000_000
    pairs_naive: int = 2000
    covariance: int = 100_000
    knn: tuple[int, int, int] = (2048, 50_000, 256)
    cosines: int = 8192
    pool: tuple[int, int] = (256, 128)
    tokens: int = 65_536
    segments: int = 4096
    alignment: int = 32_768
    resamples: tuple[int, int] = (500, 1379)
    lda: tuple[int, int, int] = (1_000_000, 20_000, 100)
    windows: tuple[int, int, int] = (20_000, 5_000, 100)
    glove: tuple[int, int, int] = (2000, 20, 100)


def _rng(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _unit(n: int, d: int, seed: int = 0) -> Tensor:
    """n random vectors of length 1."""
    return functional.normalize(torch.randn(n, d, generator=_rng(seed)), dim=1)


def _case(name: str, peer: str, ours: Side, theirs: Side | None, *, of: tuple[int, str], needs: work.Work, goal: float = 1.0,
          tolerance: float = 1e-5, equal: Callable[[Any, Any], bool] | None = None, gate: str = "", memory: bool = True) -> Case:
    """A case of this group.

    ``of`` is the number and the name of the items of one run; ``memory=False`` where the same size is measured in a process of its own.
    """
    gate = gate or ("equal" if tolerance == 0 else f"equal to {tolerance:g} of the largest value")
    return Case(GROUP, name, peer, ours, theirs, equal or agree(tolerance), *of, goal, gate, needs, memory=memory)


# ------------------------------------------------------------------------------------------------ one maker per operation


def _uniformity(sizes: Sizes) -> Iterator[Case]:
    (n, d), (m, e) = sizes.uniformity, sizes.uniformity_value
    x, y = _unit(n, d), _unit(m, e)
    for peer, theirs, goal in (("torch.pdist", naive.uniformity_pdist, 15.0), ("one whole product", naive.uniformity_gram, 1.0)):
        yield _case(f"uniformity {n} x {d}, forward + backward", peer, partial(with_gradient, kernels.uniformity, x),
                    partial(with_gradient, theirs, x), of=(n * (n - 1) // 2, "pairs"), goal=goal, memory=False,
                    needs=work.uniformity(n, d, itemsize=4, backward=True, one_pass=True))
    yield _case(f"uniformity {m} x {e}, forward", "torch.pdist", lambda: kernels.uniformity(y), lambda: naive.uniformity_pdist(y),
                of=(m * (m - 1) // 2, "pairs"), goal=10, memory=False, needs=work.uniformity(m, e, itemsize=4))


def _info_nce(sizes: Sizes) -> Iterator[Case]:
    d, loss = sizes.width, partial(kernels.info_nce, temperature=TEMPERATURE)
    peers = (("cross_entropy(a @ b.T / t)", naive.info_nce), ("torch.compile of it", naive.compiled(naive.info_nce)))
    for n in sizes.info_nce:
        query, key = _unit(n, d, 1), _unit(n, d, 2)
        for peer, theirs in peers:
            yield _case(f"info_nce {n} x {d}, forward + backward", peer, partial(with_gradient, loss, query, key),
                        partial(with_gradient, theirs, query, key), of=(n * n, "pairs"), goal=1.1 if (n, theirs) == (512, naive.info_nce) else 1.0,
                        needs=work.info_nce(n, n, d, itemsize=4))


def _cosent_value(similarity: Tensor, label: Tensor) -> float:
    """CoSENT in float64 by a running log of sums over rising labels: another way to the value, for a gate at any size."""
    y, order = label.sort(stable=True)
    s = SCALE * similarity[order].double().numpy()
    running = np.concatenate([[-np.inf], np.logaddexp.accumulate(s)])
    smaller = torch.searchsorted(y, y).numpy()                         # how many pairs have a smaller label
    return float(np.logaddexp(0.0, np.logaddexp.reduce(running[smaller] - s)))


def _cosent(sizes: Sizes) -> Iterator[Case]:
    n, m = sizes.pairs, sizes.pairs_naive
    similarity, label = torch.rand(n, generator=_rng(3)) * 2 - 1, torch.randint(0, 26, (n,), generator=_rng(4)) / 5
    few, few_labels = similarity[:m], label[:m]

    def equal(found: tuple[Tensor, Tensor], nothing: None) -> bool:
        value, gradient = found[0].double(), found[1].double()
        same_value = abs(value.item() / _cosent_value(similarity, label) - 1) <= 1e-5
        return same_value and gradient.sum().abs().item() <= 1e-4 * gradient.abs().sum().item()

    yield _case(f"cosent {n} pairs, forward + backward", "", lambda: with_gradient(lambda s: kernels.cosent(s, label, scale=SCALE), similarity), None,
                of=(n, "pairs"), goal=2.0, needs=work.cosent(n, itemsize=4), equal=equal,
                gate="value to 1e-5 of a running log of sums in float64; the gradients sum to 0 within 1e-4")
    yield _case(f"cosent {m} pairs, forward + backward", "n x n logsumexp",
                lambda: with_gradient(lambda s: kernels.cosent(s, few_labels, scale=SCALE), few),
                lambda: with_gradient(lambda s: naive.cosent(s, few_labels, SCALE), few), of=(m, "pairs"), needs=work.cosent(m, itemsize=4))


def _mean_covariance(sizes: Sizes) -> Iterator[Case]:
    n, d = sizes.covariance, sizes.width
    x = torch.randn(n, d, generator=_rng(5)) + 1
    array, mean = x.numpy(), x.double().mean(dim=0)

    def equal(found: tuple[Tensor, Tensor], covariance: Any) -> bool:
        return relative_error(found, (mean, covariance)) <= 1e-5

    for peer, theirs, goal in (("np.cov", lambda: np.cov(array, rowvar=False), 1.8), ("torch.cov", lambda: naive.covariance(x), 1.0)):
        yield _case(f"mean_covariance {n} x {d}", peer, lambda: kernels.mean_covariance(x), theirs, of=(n, "vectors"), goal=goal, equal=equal,
                    needs=work.mean_covariance(n, d, itemsize=4), gate="covariance equal to 1e-5 of the largest value, mean to that in float64")


def _knn(sizes: Sizes) -> Iterator[Case]:
    m, n, d = sizes.knn
    query, x = _unit(m, d, 6), torch.randn(n, d, generator=_rng(7))

    def brute() -> tuple[Any, Any]:
        return NearestNeighbors(n_neighbors=NEIGHBOURS, algorithm="brute").fit(x.numpy()).kneighbors(query.numpy())

    for metric, peer, theirs in (("l2", "scikit-learn NearestNeighbors(brute)", brute),
                                 ("cosine", "torch.mm + topk in chunks", lambda: naive.knn_chunks(query, x, NEIGHBOURS))):
        yield _case(f"knn {m} of {n} x {d}, k={NEIGHBOURS}, {metric}", peer, partial(kernels.knn, query, x, k=NEIGHBOURS, metric=metric), theirs,
                    of=(m * n, "pairs"), needs=work.knn(m, n, d, NEIGHBOURS, itemsize=4), equal=same_neighbours(1e-5),
                    gate="values equal to 1e-5, 99.9 % of the row numbers equal")


def _mean_cosine(sizes: Sizes) -> Iterator[Case]:
    n, d = sizes.cosines, sizes.width
    x = torch.randn(n, d, generator=_rng(8)) + 0.5
    yield _case(f"mean_cosine {n} x {d}", "(u @ u.T).mean()", lambda: kernels.mean_cosine(x), lambda: naive.mean_cosine(x),
                of=(n * (n - 1) // 2, "pairs"), needs=work.mean_cosine(n, d, itemsize=4))


def _pool(sizes: Sizes) -> Iterator[Case]:
    (b, length), d = sizes.pool, sizes.width
    hidden = torch.randn(b, length, d, generator=_rng(9))
    mask = (torch.arange(length) < torch.randint(1, length + 1, (b, 1), generator=_rng(10))).to(torch.int64)
    yield _case(f"pool {b} x {length} x {d}, mean", "masked torch expression", lambda: kernels.pool(hidden, mask), lambda: naive.pool(hidden, mask),
                of=(b, "texts"), needs=work.pool(1, int(mask.sum()), d, itemsize=4))


def _segment_moments(sizes: Sizes) -> Iterator[Case]:
    n, d, segments = sizes.tokens, sizes.width, sizes.segments
    x = torch.randn(n, d, generator=_rng(11)) + 0.1
    inner = torch.randperm(n - 1, generator=_rng(12))[: segments - 1].sort().values + 1
    offsets = torch.cat([torch.tensor([0]), inner, torch.tensor([n])])

    def ours() -> tuple[Tensor, Tensor, Tensor]:
        found = kernels.segment_moments(x, offsets)
        return found.sum, found.unit_sum, found.norm_sum

    for peer, theirs in (("Python loop over segments", naive.segment_loop), ("torch index_add", naive.segment_index_add)):
        yield _case(f"segment_moments {n} x {d} in {segments}", peer, ours, partial(theirs, x, offsets), of=(n, "tokens"),
                    needs=work.segment_moments(n, d, segments, itemsize=4))


def _alignment(sizes: Sizes) -> Iterator[Case]:
    n, d = sizes.alignment, sizes.width
    x, y = _unit(n, d, 13), _unit(n, d, 14)
    yield _case(f"alignment {n} x {d}, forward + backward", "(x - y).norm().pow(2).mean()", partial(with_gradient, kernels.alignment, x, y),
                partial(with_gradient, naive.alignment, x, y), of=(n, "pairs"), needs=work.alignment(n, d, itemsize=4, backward=True))


def _ranks(sizes: Sizes) -> Iterator[Case]:
    resamples, n = sizes.resamples
    scores, gold = torch.randn(n, generator=_rng(15)), torch.randint(0, 26, (n,), generator=_rng(16)) / 5
    draws = torch.randint(0, n, (resamples, n), generator=_rng(17))
    drawn = (scores[draws].numpy(), gold[draws].numpy())
    yield _case(f"ranks, Spearman of {resamples} resamples of {n} pairs", "scipy.stats.spearmanr in a loop",
                lambda: kernels.spearman_resamples(scores[None], gold, draws)[0],
                lambda: torch.tensor(naive.spearman_loop(*drawn), dtype=torch.float64), tolerance=1e-9, of=(resamples, "resamples"),
                needs=work.ranks(2 * resamples, n, itemsize=4))
    yield _case(f"ranks, {resamples} rows of {n} with ties", "scipy.stats.rankdata", lambda: kernels.ranks(drawn[1]),
                lambda: rankdata(drawn[1], axis=1), tolerance=0.0, of=(resamples, "rows"), needs=work.ranks(resamples, n, itemsize=4))


def _lda_sweep(sizes: Sizes) -> Iterator[Case]:
    n, n_words, n_topics = sizes.lda
    rng = np.random.default_rng(18)
    words, topics = np.minimum(rng.zipf(1.3, size=n), n_words) - 1, rng.integers(n_topics, size=n)
    states = [kernels.LdaState(words, [*range(0, n, 200), n], topics, n_topics=n_topics, n_words=n_words) for _ in range(2)]

    def ours() -> Tensor:
        kernels.lda_sweep(states[0])
        return states[0].topics

    def theirs() -> Tensor:
        naive.lda_sweep(states[1])
        return states[1].topics

    def equal(found: Tensor, expected: Tensor) -> bool:                 # later draws see the counts of earlier ones, so one last digit spreads
        return (found[:GATED_TOKENS] == expected[:GATED_TOKENS]).double().mean().item() > 0.99

    yield _case(f"lda_sweep {n} tokens, {n_topics} topics", "compiled loop over topics", ours, theirs, of=(n, "tokens"), equal=equal, goal=2.0,
                needs=work.lda_sweep(n, n_words, n_topics), gate=f"99 % of the first {GATED_TOKENS} topics equal after the first sweep")


def _window_update(sizes: Sizes) -> Iterator[Case]:
    n, n_words, d = sizes.windows
    rng = np.random.default_rng(19)
    words, rows = np.minimum(rng.zipf(1.3, size=n), n_words) - 1, [(rng.random((n_words, d)) - 0.5) / d for _ in range(2)]
    counts, offsets = np.bincount(words, minlength=n_words), [*range(0, n, 20), n]
    for architecture, inputs in (("skip_gram", 6.0), ("cbow", 1.0)):                    # 2 · mean of 1 … 5 contexts
        def learned(backend: str, architecture: str = architecture) -> Tensor:
            state = kernels.WindowState(words, offsets, *rows, counts, sample=0.0)
            kernels.window_update(state, architecture=architecture, backend=backend)
            return state.inputs

        yield _case(f"window_update {architecture} {n} words, d={d}", "NumPy, window by window", partial(learned, "cpu"),
                    partial(learned, "reference"), of=(n, "words"), needs=work.window_update(n, inputs, 6, d), goal=20.0, tolerance=1e-4)


def _subword_update(sizes: Sizes) -> Iterator[Case]:
    n, n_words, d = sizes.windows
    parts = 20                                  # rows of a word: its own and those of its n-grams
    rng = np.random.default_rng(20)
    words, lists = np.minimum(rng.zipf(1.3, size=n), n_words) - 1, rng.integers(0, 5 * n_words, size=parts * n_words)
    rows = [(rng.random((m, d)) - 0.5) / d for m in (5 * n_words, n_words)]
    counts, offsets = np.bincount(words, minlength=n_words), [*range(0, n, 20), n]
    for architecture, outputs in (("skip_gram", 11.0), ("cbow", 6.0)):                  # words to guess and noise
        def learned(backend: str, architecture: str = architecture) -> Tensor:
            state = kernels.SubwordState(words, offsets, *rows, counts, sample=0.0, rows=lists, row_offsets=parts * np.arange(n_words + 1))
            kernels.subword_update(state, architecture=architecture, backend=backend)
            return state.inputs

        yield _case(f"subword_update {architecture} {n} words of {parts} rows, d={d}", "NumPy, window by window", partial(learned, "cpu"),
                    partial(learned, "reference"), of=(n, "words"), needs=work.subword_update(n, parts, outputs, d), goal=20.0, tolerance=1e-4)


def _document_update(sizes: Sizes) -> Iterator[Case]:
    n, n_words, d = sizes.windows
    rng = np.random.default_rng(22)
    words, offsets = np.minimum(rng.zipf(1.3, size=n), n_words) - 1, np.array([*range(0, n, 200), n])
    n_documents, counts = len(offsets) - 1, np.bincount(words, minlength=n_words)
    rows = [(rng.random((m, d)) - 0.5) / d for m in (n_words + 1 + n_documents, n_words)]
    for model, inputs in (("dbow", 1.0), ("dm", 7.0)):                                   # the document alone, or beside 2 · mean of 1 … 5 words
        def learned(backend: str, model: str = model) -> Tensor:
            state = kernels.DocumentState(words, offsets, *rows, counts, sample=0.0, tags=np.arange(n_documents),
                                          tag_offsets=np.arange(n_documents + 1))
            kernels.document_update(state, model=model, backend=backend)
            return state.inputs

        yield _case(f"document_update {model} {n} words, d={d}", "NumPy, window by window", partial(learned, "cpu"),
                    partial(learned, "reference"), of=(n, "words"), needs=work.document_update(n, inputs, 6, d), goal=20.0, tolerance=1e-4)


def _glove_step(sizes: Sizes) -> Iterator[Case]:
    n_words, per_word, d = sizes.glove
    n, rng = n_words * per_word, np.random.default_rng(21)
    columns = np.concatenate([rng.choice(n_words, size=per_word, replace=False) for _ in range(n_words)])
    state = kernels.GloveState(np.arange(0, n + 1, per_word), columns, rng.exponential(30.0, size=n) + 0.5,
                               *((rng.random((n_words, d + 1)) - 0.5) / d for _ in range(2)))
    start = state.words.clone(), state.contexts.clone()

    def learned(backend: str) -> Tensor:
        state.words.copy_(start[0])
        state.contexts.copy_(start[1])
        kernels.glove_step(state, backend=backend)
        return state.words[:, 0].clone()

    yield _case(f"glove_step {n} counts, d={d}", "NumPy, count by count", partial(learned, "cpu"), partial(learned, "reference"), of=(n, "counts"),
                needs=work.glove_step(n, d), goal=20.0, tolerance=1e-4)


_MAKERS = {"uniformity": _uniformity, "info_nce": _info_nce, "cosent": _cosent, "mean_covariance": _mean_covariance, "knn": _knn,
           "mean_cosine": _mean_cosine, "pool": _pool, "segment_moments": _segment_moments, "alignment": _alignment, "ranks": _ranks,
           "lda_sweep": _lda_sweep, "window_update": _window_update, "subword_update": _subword_update, "document_update": _document_update,
           "glove_step": _glove_step}


def cases(*, sizes: Sizes | None = None, only: str = "") -> Iterator[Case]:
    """The races of all operations, one after the other; inputs are made when a case is asked for. ``only``: a part of the names wanted."""
    for operation, make in _MAKERS.items():
        if only.split(" ")[0] in operation:
            yield from (case for case in make(sizes or Sizes()) if only in case.name)


def rows(*, repeats: int, tell: Callable[[str], None], only: str = "", sizes: Sizes | None = None) -> Iterator[Row]:
    """The group: ceilings, races with floor and memory, then the memory goals (left out when ``only`` picks cases)."""
    with fixed_threads(min(THREADS, available_cores())):
        tell(f"{GROUP}: ceilings")
        found = ceilings.cpu_ceilings(wall_timer(5))
        yield from ceilings.rows(GROUP, found)
        yield from race(cases(sizes=sizes, only=only), repeats=repeats, tell=tell, ceilings=found, at_least=LEAST_SECONDS)
    if not only:
        tell(f"{GROUP}: memory, each in a process of its own")
        yield from memory_rows(GROUP)
