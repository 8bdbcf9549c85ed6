"""Updates of words with parts: gradients against autograd, window updates as the special case, and
threads. What they share with windows is tested there."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from lessons_lib.kernels import SubwordState, WindowState, subword_update, window_update
from lessons_lib.kernels.subword_update import cpu
from lessons_lib.kernels.subword_update.reference import _learned
from lessons_lib.kernels.window_update import threads
from lessons_lib.kernels.window_update.draws import draws, piece_key
from lessons_lib.kernels.window_update.reference import drawn_word

from .updates import NOISE, TREE, assert_moved_by_gradients


def with_parts(d=12, *, objective=NOISE):
    """Three words of five, each of 1 to 8 rows out of nine, some of them twice."""
    rng = np.random.default_rng(4)
    bounds = np.concatenate([[0], np.cumsum(rng.integers(1, 9, size=5))])
    rows = rng.integers(0, 9, size=bounds[-1])
    inputs, outputs = (rng.normal(size=(n, d)) * 0.3 for n in (9, 5 - (objective == TREE)))
    text, lists = ([0, 3, 1], [0, 3]), {"rows": rows, "row_offsets": bounds}
    return SubwordState(*text, inputs, outputs, [3, 2, 1, 4, 1], sample=0.0, **lists)


def lists_of(state):
    return [state.rows[a:b].tolist() for a, b in itertools.pairwise(state.row_offsets.tolist())]


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("backend", ["cpu", "reference"])
@pytest.mark.parametrize("objective", [NOISE, TREE])
@pytest.mark.parametrize("architecture", ["skip_gram", "cbow"])
def test_windows_move_both_matrices_by_the_gradient_of_their_loss(architecture, objective, backend,
                                                                  share):
    """Three words, a window to each side as wide as one word: the loss as a formula of all rows,
    and what a tiny rate moves."""
    k, cbow, start = 4, architecture == "cbow", with_parts(objective=objective)
    most = 0 if objective == TREE else k * (1 if cbow else 2)
    lists, says = lists_of(start), torch.nn.functional.logsigmoid
    numbers = draws(3, most, piece_key(0, 0, 0))

    def loss_of(a, b):
        loss = 0.0
        for at in range(3):
            contexts = [j for j in (at - 1, at + 1) if 0 <= j < 3]
            inputs, targets = (contexts, [at]) if cbow else ([at], contexts)
            x = a[[row for j in inputs for row in lists[start.words[j]]]].mean(dim=0)
            for word in (int(start.words[j]) for j in targets):
                if objective == TREE:
                    path = slice(*start.paths.offsets[word : word + 2])
                    signs = torch.from_numpy(1.0 - 2.0 * start.paths.bits[path]).double()
                    loss = loss - says(signs * (b[start.paths.nodes[path].tolist()] @ x)).sum()
                    continue
                loss = loss - says(b[word] @ x)
                for z in map(int, numbers[at, 1 : 1 + k * len(targets)]):
                    if (drawn := drawn_word(start, z)) != word:
                        loss = loss - says(-(b[drawn] @ x)) / len(targets)
        return loss

    # without sharing rows learn n times their gradient, n differing from window to window
    gradients, moves = assert_moved_by_gradients(
        start, loss_of, rate=1e-3, atol=3e-3, follows=(share, True),
        update=lambda: subword_update(start, architecture=architecture, objective=objective,
                                      window=1, negatives=k, learning_rate=1e-3, share_error=share,
                                      backend=backend))
    assert share or moves[0].norm() > 1.5 * gradients[0].norm()


def test_one_row_for_each_word_and_cbow_of_one_context_is_what_window_updates_do():
    """Documents of two words: every window has one context, which nothing else moves while it is
    near."""
    rng = np.random.default_rng(0)
    text = np.array([0, 1, 2, 3, 4, 5, 2, 1]), np.arange(0, 9, 2)
    rows = rng.normal(size=(6, 9)), rng.normal(size=(6, 9))
    lists = {"rows": np.arange(6), "row_offsets": np.arange(7)}
    one = WindowState(*text, *rows, np.ones(6), sample=0.0)
    two = SubwordState(*text, *rows, np.ones(6), sample=0.0, **lists)
    how = {"architecture": "cbow", "window": 1, "learning_rate": 0.1, "loss_every": 1}
    found = window_update(one, **how), subword_update(two, **how)
    assert found[0][1] == found[1][1] and found[0][0] == pytest.approx(found[1][0], rel=1e-5)
    for name in ("inputs", "outputs"):
        torch.testing.assert_close(getattr(one, name), getattr(two, name), rtol=0, atol=2e-6)


@pytest.mark.parametrize("tokens", [10, 1000])
def test_threads_on_text_without_common_rows_learn_what_one_learns(tokens, monkeypatch):
    """Two languages that share no word, one half of the text each; the nodes of the tree that both
    use hardly move at this rate."""
    monkeypatch.setattr(threads, "TOKENS_PER_SUM", tokens)
    words = np.concatenate([np.tile([0, 1, 2], 20), np.tile([3, 4, 5], 20)])
    rng, lists = np.random.default_rng(3), {"rows": np.arange(6), "row_offsets": np.arange(7)}
    rows = rng.normal(size=(6, 8)), rng.normal(size=(5, 8))
    start, one, both = (SubwordState(words, np.arange(0, 121, 6), *rows, np.ones(6), sample=0.0,
                                     **lists) for _ in range(3))
    pairs = [subword_update(s, objective=TREE, threads=n, learning_rate=1e-4, loss_every=2)[1]
             for s, n in ((one, 1), (both, 2))]
    assert pairs[0] == pairs[1]
    for name in ("inputs", "outputs"):
        moved = (getattr(one, name) - getattr(start, name)).norm()
        assert 0 < (getattr(one, name) - getattr(both, name)).norm() < 0.02 * moved


def test_an_answer_that_is_beyond_doubt_costs_nothing_and_one_that_is_wrong_has_no_finite_loss():
    for product, label, cost in ((-800.0, 0.0, 0.0), (40.0, 1.0, 0.0), (-800.0, 1.0, np.inf)):
        b = np.array([[product]])
        with np.errstate(over="ignore"):
            move, loss = _learned(np.ones(1), b, np.zeros(1, int), np.array([label]), np.ones(1),
                                  0.5)
        assert loss == cost and move == 0.5 * (label - (product > 0)) * product
        assert b == product + 0.5 * (label - (product > 0))


def test_rows_that_pieces_of_text_touch_are_those_of_their_words():
    s = with_parts()
    assert cpu._touched(s, 0, 1).tolist() == sorted({r for w in s.words for r in lists_of(s)[w]})
