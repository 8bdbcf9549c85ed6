"""The one compiled loop under all updates of rows: draws, windows, lists of rows; the arithmetic is
the vector code of `vectors`.

Every window has inputs, which are rows of a list: the words around (word2vec), and the rows of the
document's tags (paragraph vectors), each by itself or as one mean; or the rows of the centre's
parts; or, for CBOW on parts, the sums of rows that tokens keep while they are near (fastText). Its
outputs are drawn for a block of windows, and rows are asked for before a window needs them, so that
memory and arithmetic overlap. Outputs come in blocks of six and three; what is left over points to
a row of zeros with weight 0. Taught in ``04_word2vec``, ``05_glove_and_fasttext`` and
``07_doc2vec``.
"""

from __future__ import annotations

from collections import namedtuple
from typing import NamedTuple

import numpy as np

from ...core.compiled import compiled
from ...core.vector_code import get_f32, get_i32, get_i64, put_f32, put_i32, put_i64
from .draws import GOLDEN, MIXING
from .vectors import (BIG, SMALL, TALL, add_row, apply_big, apply_small, copy_numbers, copy_row,
                      draw_noise, fetch_row, mean_rows, push_big, push_small, tile_1_big,
                      tile_1_small, tile_2_big, tile_2_small, tile_4_big, tile_4_small)

__all__ = ["AHEAD", "SEATS", "Plan", "Tables", "Text", "Workspace", "train"]

_GOLDEN, _8, _24, _31 = np.uint64(GOLDEN), np.uint64(8), np.uint64(24), np.uint64(31)
_32, _33, _24_BITS = np.uint64(32), np.uint64(33), np.uint64(0xFFFFFF)
_31_BITS, _BYTE, _LOW = np.uint64(2**31 - 1), np.uint64(0xFF), np.uint64(0xFFFFFFFF)
_SHIFTS = np.uint64(MIXING[0][0]), np.uint64(MIXING[1][0])
_FACTORS = np.uint64(MIXING[0][1]), np.uint64(MIXING[1][1])
_ONE, _ZERO = np.float32(1.0), np.float32(0.0)
AHEAD = 2  # windows: rows are asked for so far ahead
SEATS = 1024  # a power of two; words that share a seat look like one word, which costs a copy
LEAST = 2.0**-24  # of a probability whose logarithm is noted


# Addresses of text, chance, tree, and lists of rows of words and of tags.
Text = namedtuple("Text", (
    "words pieces keys keep noise paths nodes bits list_bounds lists tags tag_begins tag_ends"))


class Plan(NamedTuple):
    """The settings as plain numbers; ``draws``: the most negatives of a window; ``note``: how many
    of 256 windows have their loss noted; ``block``: windows whose outputs are drawn together.

    Inputs: ``subwords``, words are lists of rows; ``near``, tokens keep sums of them; ``around``,
    the words around are inputs; ``each`` by itself or as one, whose contexts are averaged
    (``mean``) or stand side by side in so many ``parts``, the row ``edge`` beyond the text.
    """

    hierarchical: bool
    window: int
    negatives: int
    draws: int
    first_rate: float
    rate_span: float
    share_error: bool
    note: int
    block: int
    subwords: bool
    near: bool
    around: bool
    each: bool
    mean: bool
    frozen: bool
    parts: int
    edge: int
    n_words: int
    n_tokens: int


# Addresses of the first rows of words, documents and outputs; columns of a row of words.
Tables = namedtuple("Tables", "inputs documents outputs columns")


# Where one thread works, as addresses.
#
# Of each token that stays: word, place, address of its row, half its window, rate, whether its
# loss is noted, and where the last word stands that came again up to here (-1: none). Of outputs
# of a block: where each window begins, addresses, labels, weights. Of one window: addresses of
# its inputs (``contexts``), copies of them, of the document's tags, gains, and the one input of
# all with its error, each behind a table of one address. ``seen``: where a word came last,
# counted in tokens since number 0 of ``serial``; ``seats``: where an output was asked for last;
# ``sums``, ``learned``: what tokens that are near keep, in ``slots`` rows.
Workspace = namedtuple("Workspace", (
    "kept places rows halves rates noted repeats starts outputs labels weights contexts copies "
    "tags gains to_hidden to_error hidden error none seen serial seats sums learned slots"))


@compiled(inline=True)
def mixed(x: int) -> int:
    """The SplitMix64 mix of a number."""
    x = (x ^ (x >> _SHIFTS[0])) * _FACTORS[0]
    x = (x ^ (x >> _SHIFTS[1])) * _FACTORS[1]
    return x ^ (x >> _31)


@compiled(inner=True)
def _kept_tokens(piece: int, text: Text, plan: Plan, ws: Workspace, tables: Tables) -> int:
    """Subsample a piece: note what windows need to know of each token that stays; returns how
    many."""
    begin, key = get_i64(text.pieces, piece), np.uint64(get_i64(text.keys, piece))
    draws, stride = np.uint64(1 + plan.draws), 4 * tables.columns
    n, repeat, serial = 0, -1, get_i32(ws.serial, 0)
    for i in range(get_i64(text.pieces, piece + 1) - begin):
        x, word = mixed(key + np.uint64(i) * draws * _GOLDEN), get_i32(text.words, begin + i)
        half = np.int64((((x >> _8) & _24_BITS) * np.uint64(plan.window)) >> _24) + 1
        rate = plan.first_rate + plan.rate_span * ((begin + i) / plan.n_tokens)
        put_i32(ws.kept, n, word)
        put_i32(ws.places, n, i)
        put_i64(ws.rows, n, tables.inputs + word * stride)
        put_i32(ws.halves, n, half)
        put_f32(ws.rates, n, np.float32(rate))
        put_i32(ws.noted, n, np.int64(np.int64(x & _BYTE) < plan.note))
        if np.int64(x >> _33) < get_i64(text.keep, word):
            repeat = max(repeat, get_i32(ws.seen, word % SEATS) - serial)
            put_i32(ws.seen, word % SEATS, serial + n)
            put_i32(ws.repeats, n, repeat)
            n += 1
    put_i32(ws.serial, 0, serial + n)
    return n


@compiled(inline=True)
def _put_output(k: int, row: int, label: float, weight: float, ws: Workspace) -> None:
    put_i64(ws.outputs, k, row)
    put_f32(ws.labels, k, label)
    put_f32(ws.weights, k, weight)


@compiled(inline=True)
def _path_outputs(i: int, at: int, text: Text, ws: Workspace, start: int, stride: int) -> int:
    """The nodes on the path of a word; returns how many."""
    word = get_i32(ws.kept, i)
    begin = get_i64(text.paths, word)
    n = get_i64(text.paths, word + 1) - begin
    for k in range(n):
        row = start + get_i32(text.nodes, begin + k) * stride
        _put_output(at + k, row, _ONE - get_f32(text.bits, begin + k), _ONE, ws)
    return n


@compiled(inline=True)
def _word_outputs(i: int, at: int, key: int, text: Text, plan: Plan, ws: Workspace, start: int,
                  stride: int) -> int:
    """A word and the negatives drawn against it; returns how many."""
    word, n = get_i32(ws.kept, i), 1 + plan.negatives
    first = np.uint64(get_i32(ws.places, i)) * np.uint64(1 + plan.draws) + np.uint64(1)
    outputs, labels, weights = (ws.outputs + 8 * (at + 1), ws.labels + 4 * (at + 1),
                                ws.weights + 4 * (at + 1))
    _put_output(at, start + word * stride, _ONE, _ONE, ws)
    draw_noise(key + first * _GOLDEN, plan.negatives, text.noise, plan.n_words, word, start, stride,
               outputs, labels, weights)
    if plan.negatives >= BIG:
        # A word that was drawn twice is put into one place: blocks of outputs follow each other,
        # and the second would see what the first moved.
        for k in range(at + 2, at + n):
            for j in range(at + 1, k):
                if get_i64(ws.outputs, j) == get_i64(ws.outputs, k):
                    put_f32(ws.weights, j, get_f32(ws.weights, j) + get_f32(ws.weights, k))
                    put_f32(ws.weights, k, _ZERO)
                    break
    return n


@compiled(inner=True)
def _ask(number: int, at: int, n: int, label: float, weight: float, ws: Workspace,
         address: int) -> int:
    """Ask for an output row: labels and weights of one that a window asks for again add up. Returns
    how many rows are asked for now.

    A row is found again by where it stood last, which is right where the list says so too and needs
    no clearing."""
    seat = get_i32(ws.seats, number)
    if seat < n and get_i64(ws.outputs, at + seat) == address:
        put_f32(ws.labels, at + seat, get_f32(ws.labels, at + seat) + label)
        put_f32(ws.weights, at + seat, get_f32(ws.weights, at + seat) + weight)
        return n
    put_i32(ws.seats, number, n)
    _put_output(at + n, address, label, weight, ws)
    return n + 1


@compiled(inner=True)
def _asked_outputs(i: int, n: int, at: int, key: int, text: Text, plan: Plan, ws: Workspace,
                   start: int, stride: int) -> int:
    """Outputs that are met once, however often they are asked for: the words to guess, all around
    token i (or i itself where tokens are near), and negatives, which they share but for those that
    they are themselves. Returns how many; 0 for a token that stands alone."""
    half, found = get_i32(ws.halves, i), np.int64(0)
    low, high = max(0, i - half), min(n, i + half + 1)
    if high - low < 2:
        return 0
    targets = np.int64(1) if plan.near else high - low - 1
    for j in range(i if plan.near else low, i + 1 if plan.near else high):
        if j == i and not plan.near:
            continue
        word = get_i32(ws.kept, j)
        if not plan.hierarchical:
            found = _ask(word, at, found, _ONE, _ONE, ws, start + word * stride)
            continue
        for k in range(get_i64(text.paths, word), get_i64(text.paths, word + 1)):
            node, label = get_i32(text.nodes, k), _ONE - get_f32(text.bits, k)
            found = _ask(node, at, found, label, _ONE, ws, start + node * stride)
    first = np.uint64(get_i32(ws.places, i)) * np.uint64(1 + plan.draws)
    for k in range(1, 1 + plan.negatives * targets):
        x = mixed(key + (first + np.uint64(k)) * _GOLDEN)
        word = np.int64(((x >> _32) * np.uint64(plan.n_words)) >> _32)
        entry = np.uint64(get_i64(text.noise, word))
        if (x & _31_BITS) >= entry >> _32:
            word = np.int64(entry & _LOW)
        seat, address, right = get_i32(ws.seats, word), start + word * stride, _ZERO
        if seat < found and get_i64(ws.outputs, at + seat) == address:
            right = get_f32(ws.labels, at + seat)
        found = _ask(word, at, found, _ZERO, _ONE - right / np.float32(targets), ws, address)
    for k in range(at, at + found):
        if get_f32(ws.labels, k) > 0:
            put_f32(ws.labels, k, get_f32(ws.labels, k) / get_f32(ws.weights, k))
    return found


@compiled(inline=True)
def _draw_outputs(first: int, last: int, n: int, key: int, text: Text, plan: Plan, ws: Workspace,
                  tables: Tables) -> None:
    """Outputs of a block of windows around some of the n tokens of a piece."""
    at, start, stride = np.int64(0), tables.outputs, 4 * tables.columns * plan.parts
    for i in range(first, last):
        if plan.subwords:
            size = _asked_outputs(i, n, at, key, text, plan, ws, start, stride)
        elif plan.hierarchical:
            size = _path_outputs(i, at, text, ws, start, stride)
        else:
            size = _word_outputs(i, at, key, text, plan, ws, start, stride)
        end = at + (size + SMALL - 1) // SMALL * SMALL
        for k in range(at + size, end):
            _put_output(k, ws.none, _ZERO, _ZERO, ws)
        at = end
        put_i64(ws.starts, i - first + 1, at)


@compiled(inline=True)
def _fetch_outputs(first: int, last: int, ws: Workspace, width: int) -> None:
    """Ask for the outputs of windows ``first`` to ``last`` of a block."""
    for k in range(get_i64(ws.starts, first), get_i64(ws.starts, last)):
        fetch_row(get_i64(ws.outputs, k), width)


@compiled(inline=True)
def _learn(inputs: int, targets: int, m: int, start: int, n: int, rate: float, frozen: bool,
           ws: Workspace, width: int) -> None:
    """One step of m inputs and n outputs: gains tile by tile, then what they move; the outputs stay
    where they are if they are frozen."""
    k = 0
    while k < n:
        outputs, labels = ws.outputs + 8 * (start + k), ws.labels + 4 * (start + k)
        weights, size, r = ws.weights + 4 * (start + k), BIG if n - k >= BIG else SMALL, 0
        while r < m:
            step = TALL if m - r >= TALL else (2 if m - r >= 2 else 1)
            rows, gains = inputs + 8 * r, ws.gains + 4 * (k * m + r * size)
            if size == BIG:
                if step == 4:
                    tile_4_big(rows, outputs, width, labels, weights, rate, gains)
                elif step == 2:
                    tile_2_big(rows, outputs, width, labels, weights, rate, gains)
                else:
                    tile_1_big(rows, outputs, width, labels, weights, rate, gains)
            elif step == 4:
                tile_4_small(rows, outputs, width, labels, weights, rate, gains)
            elif step == 2:
                tile_2_small(rows, outputs, width, labels, weights, rate, gains)
            else:
                tile_1_small(rows, outputs, width, labels, weights, rate, gains)
            r += step
        k += size
    k = 0
    while k < n:
        outputs, gains, size = ws.outputs + 8 * (start + k), ws.gains + 4 * k * m, SMALL
        if n - k >= BIG:
            size = BIG
            if frozen:
                push_big(inputs, targets, m, outputs, width, gains)
            else:
                apply_big(inputs, targets, m, outputs, width, gains)
        elif frozen:
            push_small(inputs, targets, m, outputs, width, gains)
        else:
            apply_small(inputs, targets, m, outputs, width, gains)
        k += size


@compiled(inner=True)
def _sum_of_losses(m: int, start: int, n: int, rate: float, ws: Workspace) -> float:
    """Sum of −log p over a window, from its gains: rate · weight · (label − p)."""
    total, k = 0.0, 0
    while k < n:
        size = BIG if n - k >= BIG else SMALL
        for r in range(m):
            for j in range(size):
                weight = np.float64(get_f32(ws.weights, start + k + j))
                if weight > 0:
                    label = np.float64(get_f32(ws.labels, start + k + j))
                    gain = np.float64(get_f32(ws.gains, k * m + r * size + j))
                    p, cost = label - gain / (np.float64(rate) * weight), 0.0
                    if label > 0:
                        cost = label * np.log(max(p, LEAST))
                    if label < 1:
                        cost += (1.0 - label) * np.log(max(1.0 - p, LEAST))
                    total -= weight * cost
        k += size
    return total


@compiled(inner=True)
def _list_rows(word: int, text: Text, ws: Workspace, tables: Tables) -> int:
    """Put the rows of a word into ``contexts``; returns how many there are."""
    begin = get_i64(text.list_bounds, word)
    n = get_i64(text.list_bounds, word + 1) - begin
    for k in range(n):
        row = tables.inputs + get_i32(text.lists, begin + k) * 4 * tables.columns
        put_i64(ws.contexts, k, row)
    return n


@compiled(inner=True)
def _fetch_list(word: int, text: Text, tables: Tables) -> None:
    """Ask for the rows of a word."""
    for k in range(get_i64(text.list_bounds, word), get_i64(text.list_bounds, word + 1)):
        fetch_row(tables.inputs + get_i32(text.lists, k) * 4 * tables.columns, tables.columns)


@compiled(inner=True)
def _come(i: int, text: Text, ws: Workspace, tables: Tables) -> None:
    """Token i comes near: its rows are summed."""
    slot = i % ws.slots * 4 * tables.columns
    n = _list_rows(get_i32(ws.kept, i), text, ws, tables)
    mean_rows(ws.contexts, n, tables.columns, _ONE, ws.sums + slot)
    copy_row(ws.none, ws.learned + slot, tables.columns)


@compiled(inner=True)
def _leave(i: int, text: Text, ws: Workspace, tables: Tables) -> None:
    """Token i is no longer near: what it has learned goes to its rows."""
    learned = ws.learned + i % ws.slots * 4 * tables.columns
    for k in range(_list_rows(get_i32(ws.kept, i), text, ws, tables)):
        add_row(get_i64(ws.contexts, k), learned, tables.columns, _ONE)


@compiled(inner=True)
def _gather(i: int, n: int, left: int, right: int, tags: int, size: int, text: Text, plan: Plan,
            ws: Workspace, tables: Tables) -> tuple[int, int, int]:
    """Put the rows of window i into ``contexts``, and into ``hidden`` what is made of them; returns
    where the table of inputs lies, how many rows there are, and of how many the mean is taken."""
    m, total, width, stride = np.int64(0), np.int64(0), tables.columns, 4 * tables.columns
    if plan.near:
        for j in range(i - left, i + right + 1):
            if j != i:
                word = get_i32(ws.kept, j)
                put_i64(ws.contexts, m, ws.sums + j % ws.slots * stride)
                total += get_i64(text.list_bounds, word + 1) - get_i64(text.list_bounds, word)
                m += 1
    elif plan.subwords:
        m = total = _list_rows(get_i32(ws.kept, i), text, ws, tables)
    elif plan.parts > 1:  # beyond the text's edge stands a row of its own
        for j in range(i - plan.window, i + plan.window + 1):
            if j != i:
                edge = tables.inputs + plan.edge * stride
                put_i64(ws.contexts, m, get_i64(ws.rows, j) if 0 <= j < n else edge)
                copy_row(get_i64(ws.contexts, m), ws.hidden + m * stride, width)
                m += 1
        put_i64(ws.contexts, m, get_i64(ws.tags, 0))
        copy_row(get_i64(ws.tags, 0), ws.hidden + m * stride, width)
        copy_row(ws.none, ws.error, plan.parts * width)
        return ws.to_hidden, m + 1, m + 1
    else:
        around = left + right if plan.around else np.int64(0)
        if around > 0:
            copy_numbers(ws.rows + 8 * (i - left), ws.contexts, left + 1)
            copy_numbers(ws.rows + 8 * (i + 1), ws.contexts + 8 * left, right + 1)
        if tags > 0:
            copy_numbers(ws.tags, ws.contexts + 8 * around, tags)
        m = total = around + tags
        repeats = around > 0 and get_i32(ws.repeats, i + right) >= i - left
        if plan.each and not plan.frozen and (size > BIG or repeats):
            for j in range(m):  # a row moves before it was last read
                copy_row(get_i64(ws.contexts, j), get_i64(ws.copies, j), width)
            return ws.copies, m, total
    if plan.each or m == 0:
        return ws.contexts, m, total
    mean_rows(ws.contexts, m, width, _ONE / np.float32(total) if plan.mean else _ONE, ws.hidden)
    copy_row(ws.none, ws.error, width)
    return ws.to_hidden, m, total


@compiled(inner=True)
def _hand_out(i: int, left: int, right: int, m: int, tags: int, total: int, text: Text, plan: Plan,
              ws: Workspace, width: int) -> None:
    """Move the m rows of window i, or of tags alone, by the error of the one input made of them;
    tokens that are near note it for their rows."""
    share = _ONE / np.float32(total) if plan.mean and plan.share_error else _ONE
    if plan.near:
        for j in range(i - left, i + right + 1):
            if j != i:
                word, slot = get_i32(ws.kept, j), j % ws.slots * 4 * width
                n = get_i64(text.list_bounds, word + 1) - get_i64(text.list_bounds, word)
                add_row(ws.learned + slot, ws.error, width, share)
                add_row(ws.sums + slot, ws.error, width, share * np.float32(n))
        return
    apart = 4 * width if plan.parts > 1 else 0
    for j in range(m - tags if plan.frozen else 0, m):
        add_row(get_i64(ws.contexts, j), ws.error + j * apart, width, share)


@compiled(inline=True)
def _windows(first: int, last: int, n: int, tags: int, loss: float, text: Text, plan: Plan,
             ws: Workspace, tables: Tables) -> tuple[float, int]:
    """Learn from a block of windows around some of the n tokens of a piece; returns ``loss`` and
    the noted losses, and the number of their pairs."""
    pairs, width = 0, tables.columns * plan.parts
    reach = 0 if plan.subwords and not plan.near else plan.window
    _fetch_outputs(0, min(AHEAD, last - first), ws, width)
    for i in range(first, last):
        later = min(i + AHEAD, last) - first
        _fetch_outputs(later, min(later + 1, last - first), ws, width)
        if plan.subwords:
            _fetch_list(get_i32(ws.kept, min(i + AHEAD + reach, n - 1)), text, tables)
        elif plan.around:
            fetch_row(get_i64(ws.rows, min(i + AHEAD + reach, n - 1)), tables.columns)
        if plan.near:
            for j in range(0 if i == 0 else i + reach, min(n, i + reach + 1)):
                _come(j, text, ws, tables)
        rate, start = get_f32(ws.rates, i), get_i64(ws.starts, i - first)
        left, right = min(get_i32(ws.halves, i), i), min(get_i32(ws.halves, i), n - 1 - i)
        size = get_i64(ws.starts, i - first + 1) - start
        inputs, m, total = _gather(i, n, left, right, tags, size, text, plan, ws, tables)
        if size > 0 and m > 0:
            made = m if plan.each else np.int64(1)
            targets = ws.contexts if plan.each else ws.to_error
            _learn(inputs, targets, made, start, size, rate, plan.frozen, ws, width)
            if not plan.each:
                _hand_out(i, left, right, m, tags, total, text, plan, ws, tables.columns)
            if get_i32(ws.noted, i):
                loss += _sum_of_losses(made, start, size, rate, ws)
                pairs += left + right if plan.subwords and not plan.near else made
        if plan.near and i >= reach:
            _leave(i - reach, text, ws, tables)
    if plan.near and last == n:
        for i in range(max(0, n - reach), n):
            _leave(i, text, ws, tables)
    return loss, pairs


@compiled
def train(text: Text, plan: Plan, ws: Workspace, tables: Tables, first: int,
          last: int) -> tuple[float, int]:
    """Go over pieces ``first`` to ``last``; returns the sum of the noted losses and the number of
    their pairs."""
    loss, pairs, stride = 0.0, 0, 4 * tables.columns
    for piece in range(first, last):
        n, key = _kept_tokens(piece, text, plan, ws, tables), np.uint64(get_i64(text.keys, piece))
        begin = get_i64(text.tag_begins, piece) if tables.documents else np.int64(0)
        tags = get_i64(text.tag_ends, piece) - begin if tables.documents else np.int64(0)
        for k in range(tags):
            put_i64(ws.tags, k, tables.documents + get_i32(text.tags, begin + k) * stride)
            fetch_row(get_i64(ws.tags, k), tables.columns)
        part = 0.0
        for start in range(0, n, plan.block):
            end = min(start + plan.block, n)
            _draw_outputs(start, end, n, key, text, plan, ws, tables)
            part, found = _windows(start, end, n, tags, part, text, plan, ws, tables)
            pairs += found
            if not plan.subwords:  # their blocks have no fixed size, which must not round the sum
                loss, part = loss + part, 0.0
        loss += part
    return loss, pairs
