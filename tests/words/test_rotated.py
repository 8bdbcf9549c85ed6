"""word2vec over two processes is as good as in one, because rows meet and are never averaged."""

from __future__ import annotations

import copy
import os
from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from lessons_lib.core import NotFittedError
from lessons_lib.kernels import WindowState
from lessons_lib.vectors import WordVectors
from lessons_lib.words import Word2Vec
from lessons_lib.words.replay import windows
from lessons_lib.words.rotated import LEAST_TOKENS, learn_pairs, train_rotated
from tests.words.two_processes import FEW, SETTINGS, TEXTS, WORDS, stopped, work

SEEDS = range(5)


def similarity(model):
    """Spearman x 100 of the cosine of two words with how near they are on the circle."""
    rows = model.vectors_.matrix[[model.vectors_.tokens.index(f"w{i}") for i in range(WORDS)]]
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    i, j = np.triu_indices(WORDS, 1)
    return 100 * spearmanr((rows @ rows.T)[i, j], -np.minimum(j - i, WORDS + i - j))[0]


def averaged(n_partitions, seed):
    """Spark's way: partitions of the text learn from the same vectors, and are averaged."""
    start = Word2Vec(**SETTINGS, seed=seed, learning_rate=1e-9).fit(TEXTS)
    parts = []
    for p in range(n_partitions):
        part = Word2Vec(**SETTINGS, seed=seed)
        part.vectors_, part.output_, part.counts_, part._run = (
            start.vectors_, start.output_, start.counts_, start._run)
        parts.append(part.partial_fit(TEXTS[p::n_partitions]))
    tokens = start.vectors_.tokens
    assert all(part.vectors_.tokens == tokens for part in parts)
    start.vectors_ = WordVectors(tokens, np.mean([p.vectors_.matrix for p in parts], axis=0))
    return start


@pytest.fixture(scope="module")
def answers(two_processes):
    return dict(two_processes(work, 2))


@pytest.fixture
def alone(tmp_path):
    """A group of one process."""
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path / 'group'}",
                                         rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


def in_blocks(n_groups, tree):
    """The same windows in one process: block after block, in whole matrices."""
    from lessons_lib.core import generator
    from lessons_lib.words.encoded_corpus import encode_corpus
    from lessons_lib.words.window_method import random_rows

    encoded = encode_corpus(FEW, min_count=1)
    n, dim = len(encoded.tokens), SETTINGS["dim"]
    a, b = random_rows(generator(0), n, dim, reach=0.5), np.zeros((n, dim), np.float32)
    state = WindowState(encoded.words, encoded.offsets, np.zeros((n, 1)), np.zeros((n - tree, 1)),
                        encoded.counts, sample=0)
    # one window for each token, as texts have more than one and nothing is left out
    listed = list(windows(state, seed=int(generator(0).integers(1 << 62)), negatives=5,
                          objective="hierarchical_softmax" if tree else "negative_sampling"))
    ends = np.arange(len(listed)) / len(encoded.words)
    rates = (0.025 + (0.025e-4 - 0.025) * ends).astype(np.float32)
    n_parts = len(encoded.words) // LEAST_TOKENS
    cuts = [*np.searchsorted(state.pieces, state.pieces[-1] * np.arange(n_parts) // n_parts),
            state.n_pieces]
    for first, last in pairwise(cuts):
        marks = [state.pieces[first + (last - first) * g // n_groups] for g in range(n_groups + 1)]
        pairs = [(c, o, y, rates[i]) for i in range(marks[0], marks[-1])
                 for c in listed[i].contexts
                 for o, y in zip(listed[i].outputs, listed[i].labels, strict=True)]
        contexts, rows, labels, each = (
            np.array(column, kind) for column, kind in
            zip(zip(*pairs, strict=True), ("i4", "i4", "f4", "f4"), strict=True))
        for turn in range(n_groups):
            for rank in range(n_groups):
                group = (rank + turn) % n_groups
                block = (contexts % n_groups == rank) & (rows % n_groups == group)
                learn_pairs(a, b, tuple(x[block] for x in (contexts, rows, labels, each)), 0, 1)
    return a, b[: n - tree]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["few", "tree"])
def test_two_processes_do_what_one_does_block_after_block(answers, name):
    tokens, inputs, outputs, history, counts = answers[0][name]
    a, b = in_blocks(2, name == "tree")
    assert np.abs(a).max() > 0.05
    assert sorted(tokens) == sorted({word for text in FEW for word in text})
    np.testing.assert_array_equal(inputs, a)
    np.testing.assert_array_equal(outputs, b)
    assert len(history) == 1 and 1 < history[0] < 8 and counts.sum() == sum(map(len, FEW))


@pytest.mark.slow
def test_every_process_has_all_vectors_and_a_run_repeats_itself(answers):
    for mine, theirs in zip(answers[0]["few"], answers[1]["again"], strict=True):
        assert np.array_equal(mine, theirs)
    assert all("learning_rate" in answers[rank]["diverged"] for rank in (0, 1))


@pytest.mark.slow
@pytest.mark.parametrize("tree", [False, True])
def test_a_run_whose_processes_were_killed_goes_on_to_the_same_bits(two_processes, tmp_path, tree):
    whole = dict(two_processes(stopped, 2, tmp_path / "whole", tree, None, False))
    assert two_processes(stopped, 1, tmp_path / "killed", tree, 2, False) == [(0, None)]
    left = Word2Vec.load(tmp_path / "killed")
    assert 1 <= len(left.history_) <= 2           # of three epochs
    again = dict(two_processes(stopped, 2, tmp_path / "killed", tree, None, True))
    for rank in range(2):
        for mine, theirs in zip(again[rank], whole[rank], strict=True):
            assert np.array_equal(mine, theirs)
    assert not np.array_equal(whole[0][1], left.vectors_.matrix)


@pytest.mark.slow
def test_similarity_is_in_the_interval_of_one_process_and_averages_are_not(answers):
    alone = [similarity(Word2Vec(**SETTINGS, seed=seed).fit(TEXTS)) for seed in SEEDS]
    # where a further run of one process falls in 99.5 of 100 cases: t of 4 degrees of freedom
    margin = 5.6 * np.std(alone, ddof=1) * np.sqrt(1 + 1 / len(alone))
    low, high = np.mean(alone) - margin, np.mean(alone) + margin
    for tokens, inputs, *_ in answers[0]["whole"]:
        model = Word2Vec(**SETTINGS)
        model.vectors_ = WordVectors(tokens, inputs)
        assert low <= similarity(model) <= high
    two, eight = similarity(averaged(2, 0)), similarity(averaged(8, 0))
    assert eight < two < low - 10                 # the more partitions, the less is learned


def test_one_process_learns_as_word2vec_does(alone):
    ours = train_rotated(Word2Vec(**SETTINGS), FEW)
    right = Word2Vec(**SETTINGS).fit(FEW)
    assert ours.vectors_.tokens == right.vectors_.tokens
    # of each window all products are taken before anything moves, or not: nearly the same
    between = np.corrcoef(ours.vectors_.matrix.ravel(), right.vectors_.matrix.ravel())[0, 1]
    assert between > 0.99
    assert ours.history_ == pytest.approx(right.history_, rel=0.05)


def test_a_pair_is_one_step_of_gradient_descent():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 3, 4)).astype(np.float32)
    contexts, rows = np.array([0, 2, 0], np.int32), np.array([1, 1, 2], np.int32)
    labels, rates = np.array([1, 0, 0], np.float32), np.array([0.1, 0.2, 0.3], np.float32)
    x, y, loss = a.astype(float), b.astype(float), 0.0
    for c, o, label, rate in zip(contexts, rows, labels, rates, strict=True):
        p = 1 / (1 + np.exp(-x[c] @ y[o]))
        loss -= np.log(p if label else 1 - p)
        gain = rate * (label - p)
        x[c], y[o] = x[c] + gain * y[o], y[o] + gain * x[c]
    assert learn_pairs(a, b, (contexts, rows, labels, rates), 0, 1) == pytest.approx(loss, rel=1e-5)
    np.testing.assert_allclose(a, x, rtol=1e-5)
    np.testing.assert_allclose(b, y, rtol=1e-5)


def test_one_process_goes_on_after_an_epoch_to_the_same_bits(alone):
    settings, kept = SETTINGS | {"epochs": 3}, []

    def keep(model):
        kept.append(copy.deepcopy(model))

    right = train_rotated(Word2Vec(**settings), FEW, on_epoch=keep)
    assert [len(model.history_) for model in kept] == [1, 2]
    for model in kept:
        ours = train_rotated(model, FEW, resume=True)
        assert np.array_equal(ours.vectors_.matrix, right.vectors_.matrix)
        assert np.array_equal(ours.output_, right.output_)
        assert np.array_equal(ours.history_, right.history_)


def test_what_cannot_be_cut_into_blocks_or_gone_on_with_is_refused(alone):
    with pytest.raises(ValueError, match="architecture='cbow'"):
        train_rotated(Word2Vec(architecture="cbow"), FEW)
    with pytest.raises(NotFittedError):
        train_rotated(Word2Vec(**SETTINGS), FEW, resume=True)
    model = Word2Vec(**SETTINGS).fit(FEW)
    with pytest.raises(ValueError, match="not those of the interrupted run"):
        train_rotated(model, FEW[1:], resume=True)
    with pytest.raises(ValueError, match="leave torchrun out"):
        train_rotated(model.partial_fit(FEW), FEW, resume=True)


@pytest.mark.slow
def test_the_command_trains_under_torchrun(tmp_path):
    import subprocess
    import sys

    (tmp_path / "t.txt").write_text("\n".join(map(" ".join, FEW)), "utf-8")
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2",
               "--standalone", "-m", "lessons_lib", "train", "word2vec", str(tmp_path / "t.txt"),
               "--out", str(tmp_path / "m"), "--dim", "20", "--min-count", "1", "--epochs", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100,
                          env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("words x 20") == 1   # told once, not by each process
    assert len(Word2Vec.load(tmp_path / "m").vectors_) == WORDS
