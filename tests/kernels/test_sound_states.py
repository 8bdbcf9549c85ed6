"""States whose arrays were changed behind the checks: compiled loops follow numbers as addresses, so nothing wrong may get there."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lessons_lib.kernels import SubwordState, WindowState, subword_update, window_update

ROWS = np.full((3, 4), 0.1)


def window_state(words=(0, 1, 2, 0), offsets=(0, 2, 4)):
    return WindowState(words, offsets, ROWS, np.zeros((3, 4)), [2, 1, 1], sample=0)


def subword_state(rows=(0, 2, 1), words=(0, 1, 0)):
    return SubwordState(words, [0, 3], ROWS, np.zeros((2, 4)), [2, 1], sample=0, rows=rows, row_offsets=[0, 2, 3])


@pytest.mark.parametrize("number", [900_000_000, -5])
def test_P14_words_changed_after_the_state_was_made_are_refused(number):
    words = np.array([0, 1, 2, 0], dtype=np.int32)
    state = window_state(words)
    state.words[1] = number
    with pytest.raises(ValueError, match=r"state\.words was changed and reaches"):
        window_update(state)
    assert window_update(state, pieces=(1, 2), loss_every=1)[1] == 2          # the other document is whole
    few = subword_state(words=np.array([0, 1, 0], dtype=np.int32))
    few.words[1] = number
    with pytest.raises(ValueError, match=r"state\.words was changed"):
        subword_update(few)


@pytest.mark.parametrize("bounds", [[0, 2, 4_000_000_000], [0, 7, 4], [-8, 2, 4], [0, 0, 2 ** 62]])
def test_pieces_changed_after_the_state_was_made_are_refused(bounds):
    offsets = np.array([0, 2, 4], dtype=np.int64)
    state = window_state(offsets=offsets)
    state.pieces[:] = bounds
    with pytest.raises(ValueError, match=r"state\.pieces was changed"):
        window_update(state)


@pytest.mark.parametrize("rows", [torch.zeros(3, 4), torch.zeros(3, 16, dtype=torch.float64), torch.zeros(16, 3).T, torch.zeros(3, 32),
                                  torch.zeros(48), torch.zeros(3, 32)[:, ::2]])
@pytest.mark.parametrize("name", ["inputs", "outputs"])
def test_V05_V09_matrices_put_in_place_of_the_padded_ones_are_refused(name, rows):
    state = window_state()
    setattr(state, name, rows)
    with pytest.raises(ValueError, match=r"has become|one for each word"):
        window_update(state)


def test_too_few_rows_and_other_tables_are_refused():
    state = window_state()
    state.inputs = state.inputs[:1]
    with pytest.raises(ValueError, match="1 rows of inputs, 3 needed"):
        window_update(state)
    state = window_state()
    state.counts, state.outputs = np.ones(5), torch.zeros(5, 16)
    with pytest.raises(ValueError, match=r"state\.counts or state\.inputs was changed"):
        window_update(state)


def test_P14_lists_of_rows_changed_after_the_state_was_made_are_refused():
    rows = np.array([0, 2, 1], dtype=np.int32)
    state = subword_state(rows=rows)
    state.rows[0] = 900_000_000
    with pytest.raises(ValueError, match="rows reach from 1 to 900000000"):
        subword_update(state)
    state = subword_state()
    state.row_offsets[1] = 900
    with pytest.raises(ValueError, match="row_offsets"):
        subword_update(state)


@pytest.mark.parametrize("pieces", [5, (1,), (0, 1, 2), "01"])
def test_pieces_that_are_no_pair_are_named(pieces):
    with pytest.raises(TypeError, match="expected \\(first, last"):
        window_update(window_state(), pieces=pieces)
