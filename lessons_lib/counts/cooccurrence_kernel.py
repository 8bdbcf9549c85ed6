"""The compiled loops under `cooccurrence`, in a module of their own so that Numba is loaded only
when something is counted.

Documents are parted by BREAK, which ends a window without a look at the offsets. A row is summed in
a dense array; a bit per column remembers which were met, so that the row can be read out in order
without sorting. Taught in lessons ``02_bag_of_words`` and ``05_glove_and_fasttext``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ..core.compiled import compiled

__all__ = ["BREAK", "count_rows", "count_words", "merge_rows", "place_words", "spread"]

BREAK = np.uint32(0xFFFFFFFF)                  # stands between documents; larger than any token id
AHEAD = 12  # centres: the text around the one so far ahead is on its way into the cache
LINE = 16                                      # ids that one fetch brings, at least
ONE, NONE = np.uint64(1), np.uint64(0)


# ------------------------------------------------------------------------------ instructions
# Written in LLVM's portable language, so every processor has them.

_BIT, _I32, _I64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)
_ADDRESS = ir.IntType(8).as_pointer()


@intrinsic
def fetch(context: Any, array: Any, index: Any) -> Any:
    """Bring what lies at ``array[index]`` into the cache; any index is harmless."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.bitcast(builder.gep(data, [arguments[1]]), _ADDRESS)
        kind = ir.FunctionType(ir.VoidType(), [_ADDRESS, _I32, _I32, _I32])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0"),
                     [place, _I32(0), _I32(3), _I32(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), code


@intrinsic
def lowest_bit(context: Any, word: Any) -> Any:
    """Index of the lowest bit that is set in a 64-bit word other than 0."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        count = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_I64, [_I64, _BIT]),
                                               "llvm.cttz.i64")
        return builder.call(count, [arguments[0], _BIT(1)])

    return types.int64(types.uint64), code


@compiled
def spread(tokens: np.ndarray, breaks: np.ndarray, padded: np.ndarray) -> None:
    """Copy tokens into ``padded`` after its first BREAK, a BREAK before each of ``breaks``."""
    at, b = 1, 0
    for t in range(len(tokens)):
        while b < len(breaks) and breaks[b] == t:             # empty documents leave several
            at += 1
            b += 1
        padded[at] = tokens[t]
        at += 1


@compiled
def count_words(padded: np.ndarray, counts: np.ndarray) -> None:
    """Add the words of a stretch of text to their counts."""
    for word in padded:
        if word != BREAK:
            counts[word] += 1


@compiled
def place_words(padded: np.ndarray, first: int, filled: np.ndarray, positions: np.ndarray) -> None:
    """Counting sort of a stretch of text: a word at p goes to ``positions[filled[word]]``."""
    for p in range(len(padded)):
        if padded[p] != BREAK:
            positions[filled[padded[p]]] = first + p
            filled[padded[p]] += 1


@compiled
def _read_out(row: np.ndarray, met: tuple[np.ndarray, np.ndarray],
              out: tuple[np.ndarray, np.ndarray], span: tuple[int, int], unit: float) -> None:
    """Order the columns of a row, write its values beside them, empty it; ``met`` stays all 0."""
    columns, values = out
    words, summary = met  # a bit per column; a bit per word of those
    for k in range(span[0], span[1]):
        word = columns[k] >> 6
        words[word] |= ONE << np.uint64(columns[k] & 63)
        summary[word >> 6] |= ONE << np.uint64(word & 63)
    size = span[0]
    for s in range(len(summary)):
        while summary[s] != NONE:
            word = 64 * s + lowest_bit(summary[s])
            summary[s] &= summary[s] - ONE
            left, words[word] = words[word], NONE
            while left != NONE:
                j = 64 * word + lowest_bit(left)
                left &= left - ONE
                columns[size] = j
                values[size] = row[j] if unit is None else row[j] / unit
                row[j] = 0
                size += 1


@compiled
def count_rows(block: tuple[np.ndarray, np.ndarray, np.ndarray], weights: np.ndarray,
               last_side: int, group: tuple[int, int],
               work: tuple[np.ndarray, tuple[np.ndarray, np.ndarray]],
               out: tuple[np.ndarray, np.ndarray], row_sizes: np.ndarray, unit: float) -> int:
    """Fill ``out`` (columns, values) and ``row_sizes`` with a group of rows, (first, one after the
    last); returns the number of entries.

    Parameters: block, padded tokens, where each word's positions begin, and these; weights by
    distance; last_side, 1 to look back and ahead, -1 back; work, a dense row and the bits of its
    columns, all 0; unit, what sums are divided by, or None.
    """
    padded, starts, positions = block
    (row, met), columns = work, out[0]
    size, reach = 0, len(weights) - 1
    for i in range(group[0], group[1]):
        begin = size
        for at in range(starts[i], starts[i + 1]):
            ahead = positions[min(at + AHEAD, len(positions) - 1)]
            for near in range(ahead - reach, ahead + reach + LINE, LINE):
                fetch(padded, near)
            for side in range(-1, last_side + 1, 2):
                place = positions[at]
                for distance in range(1, len(weights)):
                    place += side
                    j = padded[place]
                    if j == BREAK:
                        break
                    columns[size] = j
                    # kept by moving on: a branch here is guessed wrong half of the time
                    size += row[j] == 0
                    row[j] += weights[distance]
        _read_out(row, met, out, (begin, size), unit)
        row_sizes[i - group[0]] = size - begin
    return size


@compiled
def merge_rows(parts: tuple[np.ndarray, np.ndarray], starts: np.ndarray,
               work: tuple[np.ndarray, tuple[np.ndarray, np.ndarray]],
               out: tuple[np.ndarray, np.ndarray], row_sizes: np.ndarray, unit: float) -> int:
    """Add up rows of several parts, whose columns and counts are ``parts``: row i of part p lies
    from ``starts[p, i]`` to ``starts[p, i + 1]``; the rest and the result as in `count_rows`.
    """
    (row, met), columns, size = work, out[0], 0
    for i in range(starts.shape[1] - 1):
        begin = size
        for p in range(len(starts)):
            for k in range(starts[p, i], starts[p, i + 1]):
                j = parts[0][k]
                columns[size] = j
                size += row[j] == 0
                row[j] += parts[1][k]
        _read_out(row, met, out, (begin, size), unit)
        row_sizes[i] = size - begin
    return size
