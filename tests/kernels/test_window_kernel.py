"""Window updates as kernels: lists of windows against the textbook's, the kernels against its
numbers, and what they refuse."""

from __future__ import annotations

import itertools
import logging

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.core import BackendUnavailable
from lessons_lib.kernels import WindowState, dispatch, trace, window_update
from lessons_lib.kernels.configs import Blocks, other_blocks
from lessons_lib.kernels.window_update import launching, reference, windows
from lessons_lib.kernels.window_update.cpu import on_host

from .conftest import between_guards, gpu
from .updates import NOISE, OBJECTIVES, TREE, settings_of
from .updates import make as make_any

KINDS = list(itertools.product(("skip_gram", "cbow"), OBJECTIVES))


def make(d, *, n_words=6, n=16, lengths=None, objective=NOISE, **more):
    """A short text of few words: nearly every window holds some word twice."""
    state = make_any("window", {"objective": objective}, d, n_words=n_words, n=n, documents=3,
                     **({"sample": 0.1} | more))
    if lengths is None:
        return state
    return WindowState(state.words, np.cumsum([0, *lengths]), state.inputs[:, :d],
                       state.outputs[:, :d], state.counts, sample=0.1, device=state.device)


def assert_as_the_textbook(start, backend, *, atol=1e-6, **options):
    """Both matrices, the loss and the number of pairs, from the same start."""
    options = {"learning_rate": (0.05, 0.01), "loss_every": 2, "window": 2} | options
    found, twin = (WindowState(start.words, start.offsets, start.inputs[:, :start.dim],
                               start.outputs[:, :start.dim], start.counts, sample=start.sample,
                               device=start.device) for _ in range(2))
    loss, pairs = window_update(found, backend=backend, deterministic=False, **options)
    expected, n = window_update(twin, backend="reference", **options)
    for name in ("inputs", "outputs"):
        torch.testing.assert_close(getattr(found, name), getattr(twin, name), rtol=0, atol=atol)
    assert pairs == n and loss == pytest.approx(expected, rel=1e-5)
    return found


@given(n_words=st.integers(2, 40), lengths=st.lists(st.integers(0, 30), min_size=1, max_size=6),
       window=st.integers(1, 12), negatives=st.integers(1, 20), seed=st.integers(0, 2**63 - 1),
       epoch=st.integers(0, 2**31 - 1), objective=st.sampled_from(OBJECTIVES))
def test_the_lists_hold_the_windows_of_the_textbook(n_words, lengths, window, negatives, seed,
                                                    epoch, objective):
    s = make(4, n_words=n_words, n=sum(lengths), lengths=lengths, objective=objective)
    how = settings_of(s, window=window, negatives=negatives, seed=seed, epoch=epoch,
                      objective=objective)
    found, i = windows.drawn_windows(s, how, (0, s.n_pieces)), 0
    for piece, key in enumerate(s.keys(how).tolist()):
        for centre, contexts, numbers, place in reference.windows_of(s, how, piece, key):
            rows, labels = reference.outputs_of(s, how, centre, numbers)
            inputs = slice(*found.context_bounds[i:i + 2].tolist())
            outputs = slice(int(found.row_begins[i]), int(found.row_ends[i]))
            assert found.contexts[inputs].tolist() == contexts
            assert found.rows[outputs].tolist() == rows.tolist()
            assert found.labels[outputs].tolist() == labels.tolist()
            rate = 0.05 - 0.04 * place / len(s.words)
            assert float(found.rates[i]) == pytest.approx(rate, abs=1e-8)
            assert bool(found.noted[i]) == (int(numbers[0]) % 256 < 128)
            i += 1
    assert i == len(found.rates) == len(found.context_bounds) - 1


def test_slabs_cover_the_text_piece_by_piece_and_are_few_enough_for_memory(monkeypatch):
    s = make(4, n=300, lengths=[3] * 100)
    how = settings_of(s, pieces=(5, 90))
    assert list(windows.slabs(s, how)) == [(5, 90)]
    monkeypatch.setattr(windows, "ENTRIES_PER_SLAB", 30 * 9)
    found = list(windows.slabs(s, how))
    assert (found[0][0] == 5 and found[-1][1] == 90
            and all(a[1] == b[0] for a, b in itertools.pairwise(found)))
    assert max(b - a for a, b in found) <= 12 and len(found) > 7


@pytest.mark.parametrize(("arguments", "options"), [
    *(({"d": d, "objective": o}, {"architecture": a, "objective": o}) for d in (5, 20, 100)
      for a, o in KINDS), ({"d": 17, "n": 12, "n_words": 9}, {"negatives": 1, "window": 1}),
    ({"d": 17, "n": 12, "n_words": 9}, {"negatives": 9}),
    ({"d": 17, "n": 12, "n_words": 9}, {"negatives": 3, "window": 7, "architecture": "cbow"}),
    *(({"d": 8, "n": 12}, {"negatives": 2} | more)
      for more in ({"share_error": True, "architecture": "cbow"}, {"loss_every": 0},
                   {"loss_every": 1}, {"pieces": (1, 2)}, {"pieces": (2, 2)}))])
def test_the_kernel_learns_what_the_textbook_learns(arguments, options, triton_here, device):
    state = assert_as_the_textbook(make(device=device, **arguments), triton_here, **options)
    d = arguments["d"]
    assert not state.inputs[:, d:].any() and not state.outputs[:, d:].any()  # padding stays zero


def test_programs_and_launches_that_follow_each_other_are_one_text(triton_here, device,
                                                                   monkeypatch):
    def two_at_once(b):
        return Blocks(b.kernel, b.arch, b.dtype, {"RUN": 2}, b.num_warps, b.num_stages)

    for together in (1, 3):
        monkeypatch.setattr(launching, "TOKENS_PER_PROGRAM", 16 // together)
        with other_blocks(two_at_once), trace() as seen:
            assert_as_the_textbook(make(8, device=device), triton_here, negatives=2)
        launches = next(run for run in seen.runs if run.backend == "triton").launches
        assert len(launches) > 1 and all(grid[0] <= together for _, grid, _ in launches)


@pytest.mark.parametrize("lengths", [(), (0, 0), (1, 1, 0, 1)])
def test_texts_without_a_window_change_nothing(lengths, triton_here, device):
    start = make(8, n=sum(lengths), lengths=lengths or (0,), device=device)
    before = start.inputs.clone()
    assert window_update(start, deterministic=False, backend=triton_here) == (0.0, 0)
    assert torch.equal(start.inputs, before)


def test_the_kernel_reads_and_writes_its_rows_and_no_others(triton_here, device, guarded):
    start = make(20, device=device)
    guards = [between_guards(start, name) for name in ("inputs", "outputs")]
    loss, _ = window_update(start, window=2, negatives=2, deterministic=False, backend=triton_here)
    assert np.isfinite(loss) and all(guard() for guard in guards)


def test_very_large_products_saturate_and_stay_finite(triton_here, device):
    start = make(20, scale=30.0, device=device)
    loss, _ = window_update(start, window=2, negatives=2, loss_every=1, deterministic=False,
                            backend=triton_here)
    assert np.isfinite(loss)
    assert torch.isfinite(start.inputs).all() and torch.isfinite(start.outputs).all()


def test_what_the_kernel_cannot_do_is_refused_with_the_remedy(triton_here, device):
    s = make(20, device=device)
    with pytest.raises(
            BackendUnavailable,
            match=r"deterministic=True asks for one order of additions.*\(deterministic=False\)"):
        window_update(s, backend=triton_here)
    with pytest.raises(BackendUnavailable,
                       match="256 outputs of 112 numbers do not fit into registers"):
        window_update(make(100, device=device), backend=triton_here, negatives=255,
                      deterministic=False)
    torch.use_deterministic_algorithms(True)
    try:
        with pytest.raises(BackendUnavailable,
                           match=r"torch.use_deterministic_algorithms\(True\) asks for one order"):
            window_update(s, backend=triton_here, deterministic=False)
    finally:
        torch.use_deterministic_algorithms(False)


def test_rows_elsewhere_are_copied_to_the_processor_and_back():
    s = make(20)
    rows = [x.clone() for x in (s.inputs, s.outputs)]
    found = on_host(reference.window_update, *rows, s, settings_of(s))
    assert found == reference.window_update(s.inputs, s.outputs, s, settings_of(s))
    assert torch.equal(rows[0], s.inputs) and torch.equal(rows[1], s.outputs)


def test_the_tile_holds_every_output_and_its_rows_are_few_tiles():
    for d, negatives, expected in ((300, 5, (8, 64, 5)), (100, 5, (8, 64, 2)), (16, 1, (2, 16, 1)),
                                   (20, 31, (32, 32, 1))):
        s = make(d)
        sizes = launching.tile(s, settings_of(s, negatives=negatives))
        assert (sizes["MOST"], sizes["UNIT"], sizes["PIECES"]) == expected
    assert (launching.warps({"MOST": 8, "UNIT": 64, "PIECES": 5}) == 2
            and launching.warps({"MOST": 64, "UNIT": 64, "PIECES": 5}) == 16)


def test_few_programs_race_where_the_text_is_short_or_one_word_is_everywhere():
    def programs(counts, n, **options):
        s = WindowState(np.zeros(n, int), [0, n], np.zeros((len(counts), 4)),
                        np.zeros((len(counts), 4)), counts)
        return launching.side_by_side(s, settings_of(s, **options))

    even = np.full(10_000, 100)
    assert programs(even, 1000) == 1 and programs(even, 100_000) == 24
    assert programs(even, 10_000_000) == 2441 and programs([1, 1], 10_000_000) == 25
    assert programs(even, 10_000_000, objective=TREE) == 512


def topical(n=400_000, *, n_words=2000, topics=20, seed=0):
    """A text whose neighbouring words share a topic, word numbers by falling count."""
    rng = np.random.default_rng(seed)
    own = rng.integers(topics, size=n_words)
    weight = 1.0 / np.arange(1, n_words + 1)
    words = np.empty(n, int)
    for t in range(0, n, 100):
        p = weight * np.where(own == rng.integers(topics), 1.0, 0.05)
        words[t:t + 100] = rng.choice(n_words, size=100, p=p / p.sum())
    order = np.argsort(-np.bincount(words, minlength=n_words), kind="stable")
    rank = np.empty(n_words, int)
    rank[order] = np.arange(n_words)
    return rank[words], n_words


@pytest.mark.gpu
@gpu
@pytest.mark.parametrize(("architecture", "objective"), KINDS)
@pytest.mark.parametrize("d", [100, 300])
def test_gpu_an_epoch_ends_with_the_loss_of_the_processor(d, architecture, objective):
    words, n_words = topical()
    counts, rng = np.bincount(words, minlength=n_words), np.random.default_rng(1)
    rows = (rng.random((n_words, d)) - 0.5) / d, np.zeros((n_words - (objective == TREE), d))
    mean = {}
    for device in ("cuda", "cpu"):
        s = WindowState(words, np.arange(0, len(words) + 1, 1000), *rows, counts, device=device)
        for epoch in range(2):
            with trace() as seen:
                loss, pairs = window_update(s, architecture=architecture, objective=objective,
                                            learning_rate=(0.025, 0.005), epoch=epoch, loss_every=1,
                                            deterministic=False)
        assert seen.runs[0].backend == ("triton" if device == "cuda" else "cpu")
        assert torch.isfinite(s.inputs).all() and not s.inputs[:, d:].any()
        mean[device] = loss / pairs
    assert mean["cuda"] == pytest.approx(mean["cpu"], rel=0.01)


@pytest.mark.gpu
@gpu
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_gpu_nothing_is_lost_when_all_programs_write_into_the_same_rows(objective):
    """With a tiny rate every step sees nearly the first numbers, and from zero nothing is rounded
    away: all orders have one sum."""
    words = np.random.default_rng(0).integers(3, size=200_000)
    outputs = np.random.default_rng(1).normal(size=(3 - (objective == TREE), 60))
    rows, moved = (np.zeros((3, 60)), outputs), []
    for device in ("cuda", "cpu"):
        s = WindowState(words, [0, len(words)], *rows, np.bincount(words), sample=0.0,
                        device=device)
        window_update(s, objective=objective, learning_rate=1e-9, deterministic=False, loss_every=0)
        moved.append(s.inputs.cpu())
    assert float((moved[0] - moved[1]).norm() / moved[1].norm()) < 1e-3


@pytest.mark.gpu
@gpu
def test_gpu_a_deterministic_run_takes_the_processor_and_says_so_once(caplog, monkeypatch):
    monkeypatch.setattr(dispatch, "_told", set())
    s = make(20, n=500, n_words=30, device="cuda")
    with caplog.at_level(logging.WARNING, logger="lessons_lib"):
        for _ in range(2):
            window_update(s)
    assert sum("deterministic=True asks for one order" in r.message for r in caplog.records) == 1
