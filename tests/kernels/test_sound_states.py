"""States whose arrays were changed behind the checks: compiled loops follow numbers as addresses, so nothing wrong may get there."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lessons_lib.kernels import GloveState, SubwordState, WindowState, glove_step, subword_update, window_update

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


@pytest.mark.parametrize(("changed", "error", "words"), [
    ({"words": [0.5, 1, 2, 0]}, TypeError, "words=.*float64"), ({"words": [True, False, True, True]}, TypeError, "words=.*bool"),
    ({"words": ["0", "1", "2", "0"]}, TypeError, "words="), ({"words": np.zeros((4, 4), int)}, TypeError, "one axis"),
    ({"words": np.array([2**32, 1, 2, 0])}, ValueError, "words reach from 0 to 4294967296"), ({"offsets": [0, 1.5, 4]}, TypeError, "offsets="),
    ({"offsets": np.array([0, 2**64 - 1, 4], dtype=np.uint64)}, ValueError, "offsets reach from 0 to 18446744073709551615"),
    ({"inputs": ROWS * np.nan}, ValueError, r"inputs\[0\] holds NaN"), ({"outputs": ROWS * 1e60}, ValueError, "beyond float32"),
    ({"inputs": torch.full((3, 4), torch.nan)}, ValueError, "NaN"), ({"inputs": ROWS.astype(complex)}, TypeError, "inputs has dtype complex128"),
    ({"inputs": torch.zeros(3, 4, dtype=torch.complex64)}, TypeError, "complex64"), ({"outputs": ROWS.astype(str)}, TypeError, "outputs has dtype"),
    ({"noise_exponent": 1e4}, ValueError, "noise_exponent=10000 makes the noise of 3 words sum to inf"),
    ({"noise_exponent": -1e4, "counts": [3, 4, 5]}, ValueError, "noise_exponent=-10000 makes the noise of 3 words sum to 0")])
def test_P14_V01_V04_V07_what_would_be_rounded_or_wrapped_silently_is_named(changed, error, words):
    arguments = {"words": [0, 1, 2, 0], "offsets": [0, 4], "inputs": ROWS, "outputs": ROWS, "counts": [2, 1, 1]} | changed
    with pytest.raises(error, match=words):
        WindowState(**arguments)


@pytest.mark.parametrize("rows", [[0.9, 1.9, 2], np.array([2**32, 1, 2]), np.zeros((3, 2), int)])
def test_lists_of_rows_that_would_be_rounded_or_wrapped_silently_are_named(rows):
    with pytest.raises((TypeError, ValueError), match="rows"):
        subword_state(rows=rows)


def test_V09_arrays_in_any_layout_begin_the_same():
    rng = np.random.default_rng(0)
    plain = rng.normal(size=(3, 4)).astype(np.float32)
    frozen = plain.copy()
    frozen.setflags(write=False)
    for rows in (plain[::-1].copy()[::-1], np.asfortranarray(plain), plain.astype(">f4"), frozen, np.repeat(plain, 2, axis=1)[:, ::2]):
        state = WindowState([0, 1, 2, 0], [0, 4], rows, rows, [2, 1, 1], sample=0)
        assert np.array_equal(state.inputs[:, :4].numpy(), plain)
        assert np.array_equal(rows, plain)


# ------------------------------------------------------------------------------------------------ GloVe


def glove_state(offsets=(0, 1, 2), columns=(1, 0), values=(3.0, 4.0), words=ROWS[:2], contexts=ROWS[:2]):
    return GloveState(offsets, columns, values, words, contexts)


@pytest.mark.parametrize(("changed", "words"), [
    ({"columns": np.array([1.0, 0.0])}, "columns.*float64"), ({"columns": np.array([True, False])}, "columns.*bool"),
    ({"columns": [[1], [0]]}, "whole numbers on one axis"), ({"offsets": [0, 1.7, 2]}, "offsets.*float64"),
    ({"offsets": np.zeros((3, 1), int)}, "one axis"), ({"values": ["3", "4"]}, "values"),
    ({"values": np.array([3, 4], dtype=object)}, "values.*object")])
def test_V07_counts_that_are_no_numbers_are_named(changed, words):
    with pytest.raises(TypeError, match=words):
        glove_state(**changed)


@pytest.mark.parametrize("kind", [">", "<"])
def test_V09_counts_in_any_byte_order_are_the_same_and_none_are_none(kind):
    arrays = np.array([0, 1, 2], f"{kind}i8"), np.array([1, 0], f"{kind}i4"), np.array([3.0, 4.0], f"{kind}f4")
    arrays[1].setflags(write=False)
    state, plain = glove_state(*arrays), glove_state()
    assert glove_step(state) == glove_step(plain)
    assert torch.equal(state.words, plain.words)
    assert glove_step(glove_state([0, 0, 0], [], [])) == (0.0, 0)


def test_V04_numbers_beyond_float32_are_named():
    with pytest.raises(ValueError, match=r"words holds 1e\+59; expected numbers within float32"):
        glove_state(words=ROWS[:2] * 1e60)


@pytest.mark.parametrize(("name", "tensor"), [
    ("words", torch.zeros(2, 5)), ("contexts", torch.ones(1, 2, 16)), ("words", torch.zeros(2, 2, 16, dtype=torch.float64)),
    ("rows", torch.zeros(1, dtype=torch.int32)), ("columns", torch.zeros(2)), ("tiles", torch.tensor([0, 9, 9, 9, 2]))])
def test_V05_tensors_put_in_place_of_those_of_a_state_are_refused(name, tensor):
    state = glove_state()
    setattr(state, name, tensor)
    with pytest.raises(ValueError, match=r"has become|tiles was changed"):
        glove_step(state)


def test_rounds_that_are_no_pair_are_named():
    with pytest.raises(TypeError, match="expected \\(first, last"):
        glove_step(glove_state(), rounds=5)
