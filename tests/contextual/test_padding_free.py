"""Texts that lie one after the other give the hidden states that each gives alone, and that padded rows give."""

from __future__ import annotations

import pytest
import torch

from lessons_lib.contextual import BertSize, LessonBert
from lessons_lib.contextual.padding_free import packed_states, padded_states, runs_of

LENGTHS = [9, 9, 7, 4, 4, 4, 1]
SIZE = BertSize(50, dim=24, layers=3, heads=2, feed_forward=40, positions=12)


@pytest.fixture(scope="module")
def model():
    return LessonBert(SIZE, seed=2).eval().requires_grad_(False)


@pytest.fixture(scope="module")
def rows():
    chance = torch.Generator().manual_seed(1)
    return [torch.randint(0, 50, (length,), generator=chance) for length in LENGTHS]


def packed(model, rows, wanted):
    places = torch.cat([torch.arange(len(row)) for row in rows])
    return packed_states(model, torch.cat(rows), places, [len(row) for row in rows], wanted)


def test_every_hidden_state_equals_that_of_a_text_alone(model, rows):
    found = packed(model, rows, range(SIZE.layers + 1))
    parts = {number: state.split(LENGTHS) for number, state in found.items()}
    for i, row in enumerate(rows):
        for number, expected in enumerate(model.hidden_states(row[None])):
            assert (parts[number][i] - expected[0]).abs().max() <= 1e-6


def test_39_padded_rows_give_the_same_and_do_not_see_their_padding(model, rows):
    ids, mask = torch.full((len(rows), 12), 7), torch.zeros((len(rows), 12), dtype=torch.bool)
    for i, row in enumerate(rows):
        ids[i, : len(row)], mask[i, : len(row)] = row, True
    wanted = (0, 2, 3)
    of_rows, of_tokens = padded_states(model, ids, mask, wanted), packed(model, rows, wanted)
    for number in wanted:
        assert (of_rows[number][mask] - of_tokens[number]).abs().max() <= 1e-6


def test_blocks_above_the_highest_wanted_state_are_not_run(model, rows):
    ran = []
    handles = [block.output.LayerNorm.register_forward_hook(lambda *_, number=number: ran.append(number))
               for number, block in enumerate(model.encoder["layer"], start=1)]
    assert set(packed(model, rows, (1,))) == {1} and ran == [1]
    assert set(packed(model, rows, (0,))) == {0} and ran == [1]
    for handle in handles:
        handle.remove()


def test_runs_are_neighbours_of_equal_length():
    assert runs_of(LENGTHS) == [(0, 2, 9), (18, 1, 7), (25, 3, 4), (37, 1, 1)] and runs_of([]) == []
