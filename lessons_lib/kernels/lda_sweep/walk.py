"""One document's tokens drawn again, as vector instructions that a compiler would not find in a loop over topics.

Topics lie in columns 0, 1, 2, …, sixteen to a vector, so K topics are B = ⌈K / 16⌉ vectors. What a document knows stays in registers from one token
to the next: its topic counts and the reciprocal totals. A draw is B products, one running sum over the sixteen lanes, and two counts of what lies
below u · total: which lane, then which vector of that lane. No branch depends on chance, so none is mispredicted. The code is LLVM's portable
vector language, written through Numba's ``intrinsic``; a processor with narrower vectors uses several for one. Taught in ``03_topic_models``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["walk_live", "walk_still"]

LANES = 16
WHOLE = 8                                       # vectors of counts that are written back whole; of more, only the two that changed
AHEAD = 8                                       # tokens: the counts of the word so far ahead are on their way into the cache

_I8, _I16, _I32, _I64, _F32 = ir.IntType(8), ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.FloatType()
_VECTOR, _LANES = ir.VectorType(_F32, LANES), ir.VectorType(_I32, LANES)
_ZERO, _ONE = (ir.Constant(_VECTOR, [x] * LANES) for x in (0.0, 1.0))


class _Code:
    """The vector operations that a draw is made of, written at the builder's place."""

    def __init__(self, builder: Any) -> None:
        self.b = builder

    def spread(self, number: Any) -> Any:
        """The same number in all lanes."""
        nothing = ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined)
        return self.b.shuffle_vector(self.b.insert_element(nothing, number, _I32(0)), nothing, ir.Constant(_LANES, [0] * LANES))

    def moved(self, x: Any, lanes: list[int]) -> Any:
        """Lanes of x in another order; lane 16 stands for 0."""
        return self.b.shuffle_vector(x, _ZERO, ir.Constant(_LANES, lanes))

    def place(self, row: Any, j: int) -> Any:
        """Address of vector j of a row."""
        return self.b.gep(self.b.bitcast(row, _VECTOR.as_pointer()), [_I64(j)])

    def load(self, row: Any, j: int) -> Any:
        """Vector j of a row, which begins at a multiple of 64 bytes."""
        found = self.b.load(self.place(row, j))
        found.align = 4 * LANES
        return found

    def store(self, x: Any, row: Any, j: int) -> None:
        """Put a vector where `load` would read it."""
        self.b.store(x, self.place(row, j)).align = 4 * LANES

    def hit(self, topic: Any, j: int) -> Any:
        """Which lanes of vector j are the topic (its number, spread): one lane of one vector."""
        return self.b.icmp_signed("==", topic, ir.Constant(_LANES, list(range(LANES * j, LANES * (j + 1)))))

    def less(self, x: Any, hit: Any, amount: Any) -> Any:
        """x without ``amount`` at the hit."""
        return self.b.fsub(x, self.b.select(hit, amount, _ZERO))

    def more(self, x: Any, hit: Any) -> Any:
        """x with one more at the hit."""
        return self.b.fadd(x, self.b.select(hit, _ONE, _ZERO))

    def running_sum(self, x: Any) -> Any:
        """Sums of lanes 0 to i, in four steps."""
        for step in (1, 2, 4, 8):
            x = self.b.fadd(x, self.moved(x, [LANES] * step + list(range(LANES - step))))
        return x

    def at_most(self, x: Any, bound: Any) -> Any:
        """A bit for each lane of x that is <= its bound, as one 16-bit number."""
        return self.b.bitcast(self.b.fcmp_ordered("<=", x, bound), _I16)

    def one_over(self, total: Any, beta_sum: Any) -> Any:
        """1 / (total + V beta) in all lanes, total a whole number."""
        return self.spread(self.b.fdiv(_F32(1.0), self.b.fadd(self.b.sitofp(total, _F32), beta_sum)))

    def call(self, name: str, result: Any, *arguments: Any) -> Any:
        """Call one of LLVM's own functions."""
        kind = ir.FunctionType(result, [a.type for a in arguments])
        return self.b.call(cgutils.get_or_insert_function(self.b.module, kind, name), list(arguments))


@dataclass(frozen=True)
class _Task:
    """The arguments of a walk as LLVM values, in the order of the call, without the first."""

    words: Any
    topics: Any
    n: Any
    left: Any
    uniforms: Any
    word_topic: Any
    document: Any
    alpha: Any
    inverse: Any
    totals: Any
    beta: Any
    beta_sum: Any
    own: Any
    n_topics: Any


_KINDS = (types.intp, types.intp, types.int64, types.int64, types.intp, types.intp, types.intp, types.intp, types.intp, types.intp,
          types.float32, types.float32, types.int64, types.int64)
_POINTERS = {"words": _I32, "topics": _I32, "uniforms": _F32, "word_topic": _F32, "document": _F32, "alpha": _F32, "inverse": _F32, "totals": _I64}


def _topic(code: _Code, weights: list[Any], u: Any, n_topics: Any) -> Any:
    """The topic in whose share of the weights u lies; the shares are laid end to end lane by lane, and in a lane vector by vector."""
    b, sums = code.b, weights[:1]
    for weight in weights[1:]:
        sums.append(b.fadd(sums[-1], weight))
    up_to = code.running_sum(sums[-1])
    target = b.fmul(code.spread(u), code.moved(up_to, [LANES - 1] * LANES))
    lane = b.zext(code.call("llvm.ctpop.i16", _I16, code.at_most(up_to, target)), _I32)
    last = b.sub(n_topics, _I32(1))                                     # rounding must not lead to a lane without topics
    last = b.select(b.icmp_signed("<", last, _I32(LANES - 1)), last, _I32(LANES - 1))
    lane = b.select(b.icmp_signed("<", lane, last), lane, last)
    before, vector = code.moved(up_to, [LANES, *range(LANES - 1)]), _I32(0)
    for j, total in enumerate(sums[:-1]):
        passed = code.at_most(b.fadd(before, total), target)
        if j == len(sums) - 2:                                          # nor into a lane of the last vector that has none
            lanes = b.sub(n_topics, _I32(LANES * (len(sums) - 1)))
            passed = b.and_(passed, b.trunc(b.sub(b.shl(_I32(1), lanes), _I32(1)), _I16))
        vector = b.add(vector, b.and_(b.lshr(b.zext(passed, _I32), lane), _I32(1)))
    return b.add(b.mul(vector, _I32(LANES)), lane)


def _row(b: Any, task: _Task, index: Any, size: int) -> Any:
    """Address of the counts of the word at a place of the text."""
    word = b.sext(b.load(b.gep(task.words, [index])), _I64)
    return b.gep(task.word_topic, [b.mul(word, _I64(LANES * size))])


def _fetch_ahead(code: _Code, task: _Task, t: Any, size: int, live: bool) -> None:
    """Ask for the counts of a word further on; the last word of the text stands for those after it."""
    b = code.b
    later = b.add(t, _I64(AHEAD))
    row = _row(b, task, b.select(b.icmp_signed("<", later, task.left), later, b.sub(task.left, _I64(1))), size)
    for j in range(size):
        code.call("llvm.prefetch.p0", ir.VoidType(), b.bitcast(code.place(row, j), _I8.as_pointer()), _I32(int(live)), _I32(3), _I32(1))


def _token(code: _Code, task: _Task, t: Any, counts: list[Any], inverses: list[Any], live: bool) -> tuple[list[Any], list[Any], Any]:
    """Take token t out, draw its topic, put it back. Returns the document's counts, the reciprocal totals, and whether the topic changed."""
    b, size = code.b, len(counts)
    _fetch_ahead(code, task, t, size, live)
    row, place = _row(b, task, t, size), b.gep(task.topics, [t])
    old = b.load(place)
    old_place, spread = b.gep(task.totals, [b.zext(old, _I64)]), code.spread(old)
    total = b.load(old_place)
    without = code.one_over(b.sub(total, task.own), task.beta_sum)
    own, beta = code.spread(b.sitofp(task.own, _F32)), code.spread(task.beta)
    hits = [code.hit(spread, j) for j in range(size)]
    rest = [code.less(counts[j], hits[j], _ONE) for j in range(size)]
    others = [code.less(code.load(row, j), hits[j], own) for j in range(size)]
    scale = [b.select(hits[j], without, inverses[j]) for j in range(size)]
    weights = [b.fmul(b.fmul(b.fadd(rest[j], code.load(task.alpha, j)), b.fadd(others[j], beta)), scale[j]) for j in range(size)]
    new = _topic(code, weights, b.load(b.gep(task.uniforms, [t])), b.trunc(task.n_topics, _I32))
    b.store(new, place)
    spread = code.spread(new)
    hits = [code.hit(spread, j) for j in range(size)]
    if live:
        b.store(b.sub(total, _I64(1)), old_place)
        new_place = b.gep(task.totals, [b.zext(new, _I64)])
        total = b.add(b.load(new_place), _I64(1))
        b.store(total, new_place)
        within = code.one_over(total, task.beta_sum)
        inverses = [b.select(hits[j], within, scale[j]) for j in range(size)]
        _count(code, row, old, new, others, hits)
    return [code.more(rest[j], hits[j]) for j in range(size)], inverses, b.zext(b.icmp_signed("!=", new, old), _I64)


def _count(code: _Code, row: Any, old: Any, new: Any, others: list[Any], hits: list[Any]) -> None:
    """Write the word's counts: whole vectors where they are few, so that the next token reads what was stored; else two numbers."""
    b = code.b
    if len(others) <= WHOLE:
        for j, counts in enumerate(others):
            code.store(code.more(counts, hits[j]), row, j)
        return
    for topic, step in ((old, -1.0), (new, 1.0)):
        place = b.gep(row, [b.zext(topic, _I64)])
        b.store(b.fadd(b.load(place), _F32(step)), place)


def _generate(b: Any, size: int, live: bool, task: _Task) -> Any:
    """The loop over the tokens; what it carries from token to token lies in registers."""
    code = _Code(b)
    start = [_I64(0), _I64(0), *(code.load(row, j) for row in (task.document, task.inverse) for j in range(size))]
    before, loop, done = b.block, b.append_basic_block("token"), b.append_basic_block("done")
    b.cbranch(b.icmp_signed(">", task.n, _I64(0)), loop, done)
    b.position_at_end(loop)
    carried = [b.phi(value.type) for value in start]
    counts, inverses, moved = _token(code, task, carried[0], carried[2 : 2 + size], carried[2 + size :], live)
    after = [b.add(carried[0], _I64(1)), b.add(carried[1], moved), *counts, *inverses]
    b.cbranch(b.icmp_signed("<", after[0], task.n), loop, done)
    b.position_at_end(done)
    end = [b.phi(value.type) for value in start]
    for phi, first, then in zip((*carried, *end), (*start, *start), (*after, *after), strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(then, loop)
    for j in range(size):
        code.store(end[2 + j], task.document, j)
        if live:
            code.store(end[2 + size + j], task.inverse, j)
    return end[1]


def _walk(live: bool) -> Any:
    @intrinsic
    def walk(typing: Any, blocks: Any, words: Any, topics: Any, n: Any, left: Any, uniforms: Any, word_topic: Any, document: Any, alpha: Any,
             inverse: Any, totals: Any, beta: Any, beta_sum: Any, own: Any, n_topics: Any) -> Any:
        def generate(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
            task = _Task(*arguments[1:])
            pointers = {name: b.inttoptr(getattr(task, name), kind.as_pointer()) for name, kind in _POINTERS.items()}
            return _generate(b, len(blocks), live, _Task(**{**vars(task), **pointers}))

        return types.int64(blocks, *_KINDS), generate

    return walk


# Draw the topics of n tokens of one document in place; returns how many changed.
# blocks: a tuple of B zeros, whose length the compiler reads. words, topics: addresses of the first token; left: tokens from there to the end of the
# text; uniforms: n numbers in [0, 1); word_topic: the first row; document, alpha, inverse: rows of 16 B float32 at multiples of 64 bytes: the
# document's counts, the prior (0 where no topic is), 1 / (totals + beta_sum); own: 1 where word_topic and totals hold the token itself, else 0.
# `walk_live` keeps word_topic, totals and inverse up to date; `walk_still` leaves them as they are.
walk_live, walk_still = _walk(True), _walk(False)
