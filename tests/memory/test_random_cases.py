"""Random cases for every compiled loop against plain code: a wrong number counts as a fault.

``LESSONS_RANDOM_CASES`` says how many for each loop (10 by default). One slow test runs 200 of each
in a process where every fault is seen: bounds of arrays are checked (``NUMBA_BOUNDSCHECK``), arrays
end where memory ends (`fence`), and blocks of memory have guard words (``PYTHONMALLOC=debug``).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import sparse
from scipy.special import digamma, gammaln
from scipy.stats import rankdata
from sklearn.feature_extraction.text import CountVectorizer

from lessons_lib import kernels
from lessons_lib.core import PROJECT
from lessons_lib.counts import BagOfWords
from lessons_lib.counts import cooccurrence_stream as stream
from lessons_lib.counts.bm25 import _dampen
from lessons_lib.counts.rows import count_rows, place_rows
from lessons_lib.counts.tfidf import multiply_columns, scale_rows
from lessons_lib.kernels import GloveState, LdaState, glove_step, lda_sweep
from lessons_lib.kernels.ranks import cpu_spearman_resamples as spearman_resamples
from lessons_lib.kernels.window_update.threads import add_up, merge
from lessons_lib.sentences import sums
from lessons_lib.sentences.directions import remove
from lessons_lib.text import scanner
from lessons_lib.text.scanner import Buffers, CharacterScan, WordScan
from lessons_lib.text.string_table import Strings, StringTable
from lessons_lib.topics import concentrations, online_lda_kernel, plsa
from lessons_lib.topics.coherence import count_windows
from lessons_lib.text.subwords import fnv1a, ngram_buckets, ngrams

CASES = int(os.environ.get("LESSONS_RANDOM_CASES", "10"))
Case = Callable[[np.random.Generator], None]
LETTERS = [*"aabcdeéßİΣσẞⱥȺ我们あ\u0301\u200d👩_12 \t\n.,-\0", "ab", " a ", "the ", "\u2003", "x y"]


def texts(rng: np.random.Generator, most: int = 6, longest: int = 30) -> list[str]:
    """Some texts, among them empty ones and single letters."""
    return ["".join(rng.choice(LETTERS, size=rng.integers(0, rng.integers(1, longest))))
            for _ in range(rng.integers(1, most))]


def upto(rng: np.random.Generator, *highs: int) -> list[int]:
    """A number from 1 to below each of ``highs``."""
    return [int(rng.integers(1, high)) for high in highs]


def ends(rng: np.random.Generator, n: int, most: int = 5) -> np.ndarray:
    """Where some documents end that hold n tokens together; some are empty."""
    return np.append(np.sort(rng.integers(0, n + 1, size=rng.integers(0, most))),
                     n).astype(np.int64)


def counts_matrix(rng: np.random.Generator):
    """A small sparse matrix of counts with at least one token, rows and columns without any among
    its own."""
    dense = rng.integers(0, 4, size=(rng.integers(1, 8), rng.integers(1, 12))) * (rng.random()
                                                                                  > rng.random())
    dense[0, 0] += 1
    return sparse.csr_matrix(dense.astype(np.int32))


_buffers: list = []


def words_of_a_block(rng: np.random.Generator) -> None:
    """One set of buffers for all cases, as for the blocks of a call: larger and smaller texts in
    turn."""
    _buffers or _buffers.append(Buffers())
    some, lowercase, least = texts(rng, 40), bool(rng.integers(2)), int(rng.integers(1, 3))
    block = WordScan(least, lowercase)(some, _buffers[0])
    names = block.strings.to_list()
    pattern = re.compile(r"\b\w\w+\b" if least == 2 else r"\b\w+\b")
    expected = [pattern.findall(text.lower() if lowercase else text) for text in some]
    found = np.split(block.ids, block.document_ends)[:-1]
    assert [[names[i] for i in part] for part in found] == expected
    assert names == list(dict.fromkeys(word for words in expected for word in words))


def character_ngrams_of_a_block(rng: np.random.Generator) -> None:
    """Also many texts of one letter, for which the padded text is longest."""
    _buffers or _buffers.append(Buffers())
    some = ["a"] * int(rng.integers(1, 400)) if rng.integers(4) == 0 else texts(rng, 20)
    low, padded = int(rng.integers(1, 4)), bool(rng.integers(2))
    high = low + int(rng.choice([0, 1, 2, 40]))
    block = CharacterScan(low, high, padded, True)(some, _buffers[0])
    names = block.strings.to_list()
    for text, part in zip(some, np.split(block.ids, block.document_ends)[:-1], strict=True):
        text = re.sub(r"\s\s+", " ", text.lower())
        pieces = [f" {word} " for word in text.split()] if padded else [text]
        expected: Counter = Counter()
        for piece in pieces:
            grams = [piece[i:i + n] for n in range(low, high + 1)
                     for i in range(len(piece) - n + 1)]
            expected.update(grams or ([piece] if padded else []))
        assert Counter(names[i] for i in part) == expected


def strings_in_a_table(rng: np.random.Generator) -> None:
    table, known = StringTable(), {}
    for _ in range(3):
        some = (texts(rng, 30)
                if rng.integers(20) else [f"{i}" for i in rng.integers(0, 10**9, size=3000)])
        strings = Strings.of(some)
        assert table.find(strings).tolist() == [known.get(text, -1) for text in some]
        assert table.add(strings).tolist() == [known.setdefault(text, len(known)) for text in some]
    names = list(known)
    assert table.strings.to_list() == names
    assert [names[i] for i in table.strings.sorted_order()] == sorted(names)


def bags_of_words(rng: np.random.Generator) -> None:
    """All loops of rows, and word n-grams, in one block and in many, with a vocabulary that was
    given or learned."""
    low = int(rng.integers(1, 4))
    chosen = {"ngram_range": (low, low + int(rng.integers(0, 3))),
              "analyzer": str(rng.choice(["word", "word", "char", "char_wb"])),
              "token_pattern": str(rng.choice([r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"\S*"])),
              "binary": bool(rng.integers(2)), "stop_words": [None, ["ab", "a"]][rng.integers(2)]}
    if rng.integers(2):
        chosen["vocabulary"] = sorted({"a", "ab", "ab a", " a", "", "a  b", "the"} -
                                      set(rng.choice(["a", "ab", ""], size=2).tolist()))
    some, others = texts(rng, 30), texts(rng, 30)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if rng.integers(2):
            patch.setattr(scanner, "_CUT", 1)
            patch.setattr("lessons_lib.counts.analysis.BLOCK_CHARACTERS", int(rng.integers(1, 60)))
        ours, theirs = (BagOfWords(threads=int(rng.integers(1, 3)),
                                   **chosen), CountVectorizer(**chosen))
        try:
            expected = theirs.fit_transform(some)
        except ValueError:
            with pytest.raises(ValueError):
                ours.fit_transform(some)
            return
        assert (ours.fit_transform(some) != expected).nnz == 0
        assert (ours.transform(others) != theirs.transform(others)).nnz == 0


def rows_of_numbers(rng: np.random.Generator) -> None:
    n, n_numbers = int(rng.integers(0, 300)), int(rng.integers(1, 200))
    ids, document_ends = rng.integers(0, n_numbers, size=n, dtype=np.int32), ends(rng, n)
    columns, counts, row_ends = (np.empty(n, np.int32), np.empty(n, np.int64),
                                 np.empty(len(document_ends), np.int64))
    in_rows, in_all = np.zeros(n_numbers, np.int64), np.zeros(n_numbers, np.int64)
    count_rows(ids, document_ends, columns, counts, row_ends, in_rows, in_all)
    expected = [Counter(part.tolist()) for part in np.split(ids, document_ends)[:-1]]
    assert in_all.tolist() == np.bincount(ids, minlength=n_numbers).tolist()
    assert in_rows.tolist() == [sum(i in row for row in expected) for i in range(n_numbers)]
    column_of = np.where(rng.random(n_numbers) < 0.8, rng.permutation(n_numbers),
                         -1).astype(np.int32)
    kept = place_rows(columns, counts, row_ends, 0, column_of, False)
    found = [list(zip(*(x[:kept][a:b].tolist() for x in (columns, counts)), strict=True))
             for a, b in zip([0, *row_ends[:-1]], row_ends, strict=True)]
    assert found == [sorted((int(column_of[i]), n) for i, n in row.items() if column_of[i] >= 0)
                     for row in expected]


def cooccurrences(rng: np.random.Generator) -> None:
    """Groups of rows and blocks of text so small that all borders are met."""
    n_words, n, window = upto(rng, 140, 200, 6)
    ids, offsets = (rng.integers(0, n_words, size=n,
                                 dtype=np.int32), np.concatenate([[0], ends(rng, n)]))
    harmonic, symmetric = bool(rng.integers(2)), bool(rng.integers(2))
    dtype = np.dtype(np.float64 if harmonic else np.int64)
    weights, unit = stream.weights_by_distance(window, n, harmonic)
    task = stream.Task(ids, offsets, n_words, weights, unit, 1 if symmetric else -1, dtype)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "GROUP_PAIRS", int(rng.integers(1, 200)))
        patch.setattr(stream, "SMALLEST_BLOCK", int(rng.integers(1, 100)))
        patch.setattr(stream, "STRETCH", int(rng.integers(1, 100)))
        found = stream.count_nonzeros(task, memory=int(rng.choice([1, 10**9])),
                                      folder=Path(os.environ["LESSONS_CACHE"]), threads=int(
                                          rng.integers(1, 3)))
    expected = np.zeros((n_words, n_words))
    for begin, end in pairwise(offsets):
        for i in range(begin, end):
            for j in range(max(begin, i - window), i):
                share = 1 / (i - j) if harmonic else 1
                expected[ids[i], ids[j]] += share
                expected[ids[j], ids[i]] += share * symmetric
    dense = sparse.csr_matrix((found[2], found[1], found[0]), shape=expected.shape).toarray()
    assert np.allclose(dense, expected, rtol=1e-12)


def weights_of_cells(rng: np.random.Generator) -> None:
    x = counts_matrix(rng).astype(np.float64)
    dense, factors, per_row = x.toarray(), rng.random(x.shape[1]), rng.random(x.shape[0])
    multiply_columns(x.data, x.indices, factors)
    dense = dense * factors
    assert np.allclose(x.toarray(), dense)
    _dampen(x.data, x.indptr, per_row, 1.5)
    dense = dense * 2.5 / (dense + per_row[:, None])
    assert np.allclose(x.toarray(), dense)
    square = bool(rng.integers(2))
    scale_rows(x.data, x.indptr, square)
    lengths = np.linalg.norm(dense, 2 if square else 1, axis=1, keepdims=True)
    assert np.allclose(x.toarray(), dense / np.where(lengths > 0, lengths, 1))


def parts_of_words(rng: np.random.Generator) -> None:
    words, low = texts(rng, 12, 12), int(rng.integers(1, 5))
    high, buckets = low + int(rng.integers(0, 4)), int(rng.integers(1, 1000))
    bounds, numbers = ngram_buckets(words, min_n=low, max_n=high, buckets=buckets)
    expected = [[fnv1a(part) % buckets for part in ngrams(word, min_n=low, max_n=high)]
                for word in words]
    assert [part.tolist() for part in np.split(numbers, bounds[1:-1])] == expected


def text_of_numbers(rng: np.random.Generator, n_words: int) -> tuple[np.ndarray, np.ndarray]:
    """Words and offsets of some documents, several of them empty."""
    n = int(rng.integers(0, 60))
    return rng.integers(0, n_words, size=n), np.concatenate([[0], ends(rng, n)])


def settings_of_windows(rng: np.random.Generator) -> dict:
    return {"objective": str(rng.choice(["negative_sampling", "negative_sampling",
                                         "hierarchical_softmax"])),
            "window": int(rng.integers(1, 9)), "negatives": int(rng.integers(1, 14)),
            "learning_rate": (0.05, 0.01), "loss_every": int(rng.integers(0, 3)),
            "seed": int(rng.integers(100))}


def same_learning(make: Callable, update: Callable, settings: dict, *names: str) -> None:
    """The loops leave what the reference leaves, with one thread; with two they only must not
    fault."""
    states = [make(), make()]
    found = [update(state, backend=backend, **settings)
             for state, backend in zip(states, ("cpu", "reference"), strict=True)]
    assert found[0] == pytest.approx(found[1], rel=1e-3, abs=1e-3)
    for name in names:
        ours, theirs = (getattr(state, name) for state in states)
        assert torch.allclose(ours, theirs, rtol=2e-3, atol=2e-5), (ours - theirs).abs().max()


def same_update(rng: np.random.Generator, family: str, settings: dict, text: tuple, n_words: int,
                n_inputs: int, parts: int = 1, **more: object) -> None:
    """One pass over a text by the loops and by the reference; at times by two threads, too."""
    dim = int(rng.integers(1, 40))
    rows = [rng.normal(size=(n, width)) * 0.3
            for n, width in ((n_inputs, dim), (n_words, parts * dim))]
    counts = np.bincount(text[0], minlength=n_words) + 1
    make = partial(getattr(kernels, f"{family}State"), *text, *rows, counts, **more)
    update = getattr(kernels, f"{family.lower()}_update")
    same_learning(make, update, settings, "inputs", "outputs")
    if rng.integers(4) == 0 and not settings.get("frozen"):
        state = make()
        update(state, backend="cpu", threads=2, deterministic=bool(rng.integers(2)), **settings)
        assert torch.isfinite(state.inputs).all()


def windows(rng: np.random.Generator) -> None:
    n_words = int(rng.integers(2, 30))
    settings = settings_of_windows(rng) | {"architecture": str(rng.choice(["skip_gram", "cbow"]))}
    same_update(rng, "Window", settings, text_of_numbers(rng, n_words), n_words, n_words,
                sample=0.05)


def subwords(rng: np.random.Generator) -> None:
    n_words, n_rows = int(rng.integers(2, 30)), int(rng.integers(1, 50))
    sizes = rng.integers(1, 6, size=n_words)
    settings = settings_of_windows(rng) | {"architecture": str(rng.choice(["skip_gram", "cbow"])),
                                           "share_error": bool(rng.integers(2))}
    settings["learning_rate"] = 0.01  # rows that a word holds twice would make differences grow
    same_update(rng, "Subword", settings, text_of_numbers(rng, n_words), n_words, n_rows,
                rows=rng.integers(0, n_rows, size=sizes.sum()),
                row_offsets=np.concatenate([[0], np.cumsum(sizes)]))


def documents(rng: np.random.Generator) -> None:
    n_words, n_tags = int(rng.integers(2, 20)), int(rng.integers(1, 9))
    text, dm = text_of_numbers(rng, n_words), bool(rng.integers(2))
    combine = str(rng.choice(["mean", "sum", "concat"])) if dm else "mean"
    settings = settings_of_windows(rng) | {
        "model": "dm" if dm else "dbow", "learning_rate": 0.01, "combine": combine,
        "train_words": not dm and bool(rng.integers(2)), "frozen": bool(rng.integers(2))}
    concat = combine == "concat"
    each = [rng.permutation(n_tags)[:1 if concat else rng.integers(1, n_tags + 1)]
            for _ in text[1][1:]]
    same_update(rng, "Document", settings, text, n_words, n_words + 1 + n_tags,
                1 + 2 * settings["window"] if concat else 1, tags=np.concatenate(each),
                tag_offsets=np.concatenate([[0], np.cumsum(list(map(len, each)))]))


def glove_steps(rng: np.random.Generator) -> None:
    counts, dim = counts_matrix(rng), int(rng.integers(1, 40))
    rows = [rng.normal(size=(n, dim + 1)) * 0.3 for n in counts.shape]
    groups = int(rng.integers(1, min(counts.shape) + 1))
    same_learning(lambda: GloveState(counts.indptr, counts.indices, counts.data, *rows,
                                     groups=groups), glove_step, {"epoch": 3}, "words", "contexts")


def topics_of_tokens(rng: np.random.Generator) -> None:
    n_words = int(rng.integers(1, 20))
    n_topics = int(rng.choice([1, 2, 15, 16, 17, 33, 1030 if rng.integers(8) == 0 else 100]))
    words, offsets = text_of_numbers(rng, n_words)
    frozen = rng.random((n_words, n_topics)) if rng.integers(3) == 0 else None
    topics = rng.integers(0, n_topics, size=len(words))
    states = [LdaState(words, offsets, topics, n_topics=n_topics, n_words=n_words,
                       word_topic=frozen) for _ in range(2)]
    how = {"seed": int(rng.integers(100)), "at_once": int(rng.integers(1, 4))}
    for state, backend in zip(states, ("cpu", "reference"), strict=True):
        lda_sweep(state, backend=backend, **how)
        assert ((state.topics >= 0) & (state.topics < n_topics)).all()
        if frozen is None:
            fresh = LdaState(words, offsets, state.topics, n_topics=n_topics, n_words=n_words)
            for name in ("word_topic", "totals"):
                assert torch.equal(getattr(fresh, name), getattr(state, name))
    # a draw at a border may fall on its other side, and change later ones
    assert n_topics > 100 or int((states[0].topics != states[1].topics).sum()) <= 2


def rank_correlations(rng: np.random.Generator) -> None:
    n, m, resamples = int(rng.integers(2, 30)), int(rng.integers(2, 40)), int(rng.integers(1, 5))
    *columns, gold = rng.integers(0, 6, size=(3, n)).astype(float)
    columns = np.stack(columns)
    draws = rng.integers(0, n, size=(resamples, m))
    found = spearman_resamples(torch.from_numpy(columns), torch.from_numpy(gold),
                               [torch.from_numpy(draws)]).numpy()
    for r, drawn in enumerate(draws):
        for c in range(2):
            x, y = rankdata(columns[c, drawn]), rankdata(gold[drawn])
            expected = np.corrcoef(x, y)[0, 1] if x.std() * y.std() > 0 else np.nan
            assert found[c, r] == pytest.approx(expected, abs=1e-9, nan_ok=True)


def merged_rows(rng: np.random.Generator) -> None:
    n, columns = upto(rng, 12, 40)
    start = rng.normal(size=(n, columns)).astype(np.float32)
    changes = [(rng.normal(size=(n, columns)) * (rng.random((n, 1)) < 0.5)).astype(np.float32)
               for _ in range(2)]
    base, copies = start.copy(), tuple(start + change for change in changes)
    rows = np.flatnonzero(rng.random(n) < 0.7)
    add_up(base, copies, rows)
    assert np.allclose(base[rows], (start + changes[0] + changes[1])[rows],
                       atol=1e-5) and np.array_equal(base[rows], copies[0][rows])
    base, copies = start.copy(), tuple(start + change for change in changes)
    merge(base, copies, 0, n)
    assert all(np.array_equal(base, copy) for copy in copies) and np.isfinite(base).all()


def plain(loop: Callable, *arguments: object) -> object:
    """The same loop run by Python."""
    return loop.py_func(*arguments)


def copied(arguments: tuple) -> tuple:
    return tuple(x.copy() if isinstance(x, np.ndarray) else copied(x) if isinstance(x, tuple) else x
                 for x in arguments)


def as_python_runs_it(loop: Callable, *arguments: object, tolerance: float = 1e-6) -> None:
    """A loop leaves in its arrays what its source leaves there when Python runs it."""
    ours, theirs = copied(arguments), copied(arguments)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, expected = loop(*ours), plain(loop, *theirs)
    for x, y in ((found, expected), *zip(ours, theirs, strict=True)):
        _assert_close(x, y, tolerance)


def _assert_close(x: object, y: object, tolerance: float) -> None:
    if isinstance(x, tuple):
        for a, b in zip(x, y, strict=True):
            _assert_close(a, b, tolerance)
    elif isinstance(x, np.ndarray) or np.isscalar(x):
        assert np.allclose(x, y, rtol=tolerance, atol=tolerance, equal_nan=True)


def topic_models(rng: np.random.Generator) -> None:
    counts, n_topics = counts_matrix(rng), int(rng.integers(1, 7))
    (n, v), cells = counts.shape, (counts.indptr, counts.indices, counts.data)
    a, b = rng.random((n, n_topics)), rng.random((v, n_topics))
    ratio, expected = np.zeros(counts.nnz), np.empty((n, n_topics))
    as_python_runs_it(plsa.expect_documents, *cells, a, b, ratio, expected, 0, n)
    by_word = counts.tocsc()
    entries = rng.permutation(counts.nnz)
    as_python_runs_it(plsa.expect_words, by_word.indptr, by_word.indices, entries, a, b,
                      rng.random(counts.nnz), np.empty((v, n_topics)), 0, v)
    as_python_runs_it(plsa.fold_in, *cells, b, a / a.sum(axis=1, keepdims=True), 1.0, 5,
                      1e-6, 0, n)
    words, offsets = text_of_numbers(rng, 5)
    topics = rng.integers(0, n_topics, size=len(words)).astype(np.int32)
    as_python_runs_it(concentrations.add_document_counts, offsets, topics,
                      np.zeros((len(offsets) - 1, n_topics), np.int32))
    cap = 3
    table, large = (np.zeros((n_topics, cap + 1),
                             np.int64), np.zeros((len(topics) // cap + 1, 2), np.int64))
    as_python_runs_it(concentrations.sizes_of_documents, offsets, topics, n_topics, table, large)


def windows_of_coherence(rng: np.random.Generator) -> None:
    n_words, size = upto(rng, 12, 12)
    words, offsets = text_of_numbers(rng, n_words)
    number = np.where(rng.random(n_words) < 0.7, 0, -1)
    number[number == 0] = np.arange((number == 0).sum())
    r = int(number.max()) + 1
    together, expected, total = np.zeros((r, r), np.int64), np.zeros((r, r), np.int64), 0
    found = count_windows(offsets, words.astype(np.int32), number.astype(np.int32), size, together,
                          0, len(offsets) - 1)
    for begin, end in pairwise(offsets):
        for first in range(begin, max(begin, end - size) + 1):
            inside = sorted({int(number[w]) for w in words[first:min(first + size, end)]} - {-1})
            expected[np.ix_(inside, inside)] += 1
            total += 1
    assert found == total and np.array_equal(together, expected)


def online_topics(rng: np.random.Generator) -> None:
    counts, n_topics = counts_matrix(rng), int(rng.choice([1, 2, 3, 4, 5, 16, 17, 40]))
    n, v = counts.shape
    x = rng.gamma(1.0, 3.0, size=int(rng.integers(1, 40)))
    for value in x:
        assert np.allclose(online_lda_kernel.log_gamma_digamma(value),
                           (gammaln(value), digamma(value)), rtol=1e-10, atol=1e-12)
    excess, beta = rng.gamma(1.0, 5.0, size=(v, n_topics)).astype(np.float32), np.full(v, 0.1)
    used = np.flatnonzero(counts.getnnz(axis=0))
    slot = np.full(v, -1, np.int32)
    slot[used] = np.arange(len(used))
    factor, table = np.ones(n_topics, np.float32), np.empty((len(used), n_topics), np.float32)
    online_lda_kernel.expected_words(used, excess, (beta, 1.0), factor, table, 0, len(used))
    means = np.exp(digamma(0.1 + excess[used].astype(np.float64)))
    assert np.allclose(table / table.max(axis=1, keepdims=True),
                       means / means.max(axis=1, keepdims=True), rtol=1e-4, atol=1e-6)
    cells = counts.indptr.astype(np.int64), slot[counts.indices], counts.data
    alpha = np.full(n_topics, 0.3, np.float32)
    gamma = np.full((n, n_topics), 1.0, np.float32)
    found = gamma, np.empty_like(gamma), np.empty(counts.nnz, np.float32)
    online_lda_kernel.infer_documents(cells, table, (alpha, 5, 0.0), found, 0, n)
    tokens = np.asarray(counts.sum(axis=1)).ravel()
    assert np.allclose(gamma.sum(axis=1), 0.3 * n_topics + tokens, rtol=1e-3)
    by_word = online_lda_kernel.order_by_word(*cells[:2], len(used))
    assert by_word[0].tolist() == [0, *np.cumsum(np.bincount(cells[1], minlength=len(used)))]
    before = excess.sum()
    added = online_lda_kernel.add_expected(by_word, found[1:], table, (used, excess, 1.0), 0,
                                           len(used))
    assert added.sum() == pytest.approx(tokens.sum(), rel=1e-3)
    assert excess.sum() - before == pytest.approx(tokens.sum(), rel=1e-2)


def sums_of_word_vectors(rng: np.random.Generator) -> None:
    (v, n_words), n = upto(rng, 40, 60), int(rng.choice([0, 5, 60, 700]))
    dim = int(rng.choice([1, 7, 8, 15, 16, 17, 31, 48, 100, 130, 300]))
    matrix, weights = rng.normal(size=(v, dim)).astype(np.float32), rng.random(v).astype(np.float32)
    row_of = rng.integers(-1, v, size=n_words)
    ids = rng.integers(0, n_words, size=n).astype(np.int32)
    stops, once, per_weight = ends(rng, n), bool(rng.integers(2)), bool(rng.integers(2))
    out, known = np.empty((len(stops), dim), np.float32), np.empty(len(stops), np.int64)
    sums.sum_rows(matrix, weights, row_of, ids, stops, once, per_weight, out, known)
    expected, lengths = np.zeros((len(stops), dim)), np.ones((len(stops), dim))
    in_texts = np.zeros(n_words, np.int64)
    for s, part in enumerate(np.split(ids, stops)[:-1]):
        in_texts[np.unique(part)] += 1
        rows = [row for row in row_of[part] if row >= 0]
        squares = (matrix[rows].astype(np.float64)**2).sum(axis=0)
        lengths[s] = np.where(squares > 0, np.sqrt(squares), 1)
        rows = list(dict.fromkeys(rows)) if once else rows
        assert known[s] == len(rows)
        if rows:
            expected[s] = (weights[rows, None] * matrix[rows].astype(np.float64)).sum(axis=0)
            expected[s] /= weights[rows].sum() if per_weight else len(rows)
    assert np.allclose(out, expected, rtol=1e-3, atol=1e-4)
    sums.divide_by_norms(matrix, row_of, ids, stops, out)
    assert np.allclose(out, expected / lengths, rtol=1e-3, atol=1e-4)
    counted = np.zeros(n_words, np.int64)
    sums.add_documents_per_word(ids, stops, counted)
    assert np.array_equal(counted, in_texts)
    assert sums.first_not_finite(out) == -1
    out[-1, -1] = np.nan
    assert sums.first_not_finite(out) == len(out) - 1


def directions_taken_away(rng: np.random.Generator) -> None:
    n, dim, m = (int(rng.integers(1, 20)) for _ in range(3))
    vectors, components, shares = (rng.normal(size=(n, dim)).astype(np.float32),
                                   rng.normal(size=(m, dim)), rng.random(m))
    expected = vectors - (vectors @ components.T * shares) @ components
    remove(vectors, components, shares)
    assert np.allclose(vectors, expected, rtol=1e-3, atol=1e-3)


LOOPS: list[Case] = [words_of_a_block, character_ngrams_of_a_block, strings_in_a_table,
                     bags_of_words, rows_of_numbers, cooccurrences, weights_of_cells,
                     parts_of_words, windows, subwords, documents, glove_steps, topics_of_tokens,
                     rank_correlations, merged_rows, topic_models, windows_of_coherence,
                     online_topics, sums_of_word_vectors, directions_taken_away]


@pytest.mark.essential  # its time is that of the cases asked for
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_loops_do_what_plain_code_does(loop):
    start = int(os.environ.get("LESSONS_RANDOM_START", "0"))
    for number in range(start, start + CASES):
        try:
            loop(np.random.default_rng(number))
        except Exception as error:
            error.add_note(f"case {number} of {loop.__name__}")
            raise


CHECKED = {"NUMBA_BOUNDSCHECK": "1", "PYTHONMALLOC": "debug", "LESSONS_DEBUG_MEMORY": "1"}


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"),
                    reason="the fence needs pages of memory as Linux has them")
def test_two_hundred_cases_of_each_loop_and_planted_faults_with_all_memory_fenced():
    folder = Path(__file__).parent
    path = os.pathsep.join([str(folder), *sys.path])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "fence", "-p", "no:cacheprovider", "-k",
               "plain_code or planted"]
    env = {"LESSONS_RANDOM_CASES": "200"} | os.environ | CHECKED | {"PYTHONPATH": path}
    done = subprocess.run([*command, folder], cwd=PROJECT, env=env, capture_output=True, text=True,
                          check=False, timeout=1800)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
