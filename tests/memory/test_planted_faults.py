"""Planted faults of memory: each must be seen by `fence`, or random cases would prove little.

Each runs in a process of its own, which has to die of it (or to raise IndexError, where bounds of
arrays are checked).
"""

from __future__ import annotations

import ctypes
import os
import signal
import traceback
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from lessons_lib import kernels
from lessons_lib.core.compiled import compiled
from lessons_lib.core.vector_code import put_f32
from lessons_lib.kernels import GloveState, LdaState, glove_step, lda_sweep
from lessons_lib.kernels.window_update import cpu
from lessons_lib.sentences.sums import sum_rows
from lessons_lib.text.growing_array import GrowingArray
from lessons_lib.text.scanner import character_flags, clean_characters

from .test_random_cases import text_of_numbers

pytestmark = pytest.mark.skipif(os.environ.get("LESSONS_DEBUG_MEMORY") != "1",
                                reason="run by the slow test of random cases")


def write_behind_an_array() -> None:
    @compiled
    def put(address: int, i: int) -> None:
        put_f32(address, i, np.float32(1.0))

    row = np.zeros(5, np.float32)
    put(row.ctypes.data, 4)
    put(row.ctypes.data, 5)


def write_where_an_array_was() -> None:
    numbers = np.zeros(1000)
    address = numbers.ctypes.data
    del numbers
    ctypes.memset(address, 0, 8)


def a_slice_of_an_array_that_grew() -> None:
    array = GrowingArray(np.int64)
    array.append(np.arange(10))
    early = array.finish()[2:]
    array.append(np.arange(10_000))
    early[0] = 1


def the_room_for_padded_text_that_there_was_before() -> None:
    text = np.frombuffer(bytearray(b"a\xff" * 3), np.uint8)
    clean_characters(text, character_flags(), np.empty(2 * len(text) + 1, np.uint8), True)


def a_row_behind_the_word_vectors() -> None:
    matrix, out = np.ones((4, 64), np.float32), np.empty((1, 64), np.float32)
    sum_rows(matrix, np.ones(400, np.float32), np.array([399]), np.zeros(1, np.int32),
             np.array([1]), False, False, out, np.empty(1, np.int64))


def a_word_of_a_topic_model_that_is_none() -> None:
    state = LdaState([0, 1], [0, 2], [0, 1], n_topics=20, n_words=2)
    state.words[1] = 1000
    lda_sweep(state, backend="cpu")


def a_column_of_the_counts_that_is_none() -> None:
    state = GloveState([0, 1, 2], [1, 0], [3.0, 3.0], np.full((2, 4), 0.1), np.full((2, 4), 0.1))
    state.columns[1] = 1000
    glove_step(state, backend="cpu")


def _too_little_space(family: str, **less: int) -> None:
    rng = np.random.default_rng(0)
    words = rng.integers(0, 20, size=400)
    rows, outputs = rng.normal(size=(32, 24)), np.zeros((20, 24))
    lists = {"Window": {}, "Subword": {"rows": np.arange(20), "row_offsets": np.arange(21)},
             "Document": {"tags": np.arange(11), "tag_offsets": np.arange(12)}}[family]
    state = getattr(kernels, f"{family}State")(words, np.linspace(0, 400, 12).astype(int),
                                               rows[: 20 if family == "Window" else 32], outputs,
                                               np.bincount(words, minlength=20) + 1, sample=0.0,
                                               **lists)
    update, real = getattr(kernels, f"{family.lower()}_update"), cpu._workspace
    update(state, backend="cpu", window=8, negatives=20)  # compiled before the space is too small
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu, "_workspace",
                      lambda plan, columns, **sizes: real(plan, columns, **sizes | less))
        update(state, backend="cpu", window=8, negatives=20)


FAULTS: list[Callable[[], None]] = [
    write_behind_an_array, write_where_an_array_was, a_slice_of_an_array_that_grew,
    the_room_for_padded_text_that_there_was_before, a_row_behind_the_word_vectors,
    a_word_of_a_topic_model_that_is_none, a_column_of_the_counts_that_is_none,
    *(partial(_too_little_space, family, outputs=1)
      for family in ("Window", "Subword", "Document")),
    partial(_too_little_space, "Subword", seats=1)]


@pytest.mark.essential  # its time is that of compiling, in a process of its own
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: getattr(fault, "__name__", None))
def test_a_planted_fault_of_memory_is_seen(fault):
    child = os.fork()
    if child == 0:
        try:
            fault()
        except IndexError:
            os._exit(7)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended in (7, -signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT)


def test_a_case_without_a_fault_ends_well():
    words, offsets = text_of_numbers(np.random.default_rng(0), 5)
    assert len(words) == offsets[-1]
