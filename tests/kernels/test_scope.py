"""Scopes: a value that holds inside a ``with`` block, in whatever context and thread the block is opened and closed."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator, Iterator

from lessons_lib.kernels import alignment, trace, use_backend
from lessons_lib.kernels.scope import Scope


def held() -> tuple[Scope[int], Iterator[int]]:
    scope: Scope[int] = Scope("test")

    def block() -> Iterator[int]:
        with scope.holding(7):
            yield 7

    return scope, block()


def test_a_generator_may_be_closed_in_another_context_than_the_one_it_was_opened_in():
    scope, block = held()
    contextvars.copy_context().run(next, block)
    assert scope.get() == 7
    block.close()
    assert scope.get() is None


def test_a_block_that_was_closed_elsewhere_holds_no_longer_where_it_was_opened():
    scope, block = held()
    next(block)
    contextvars.copy_context().run(block.close)
    assert scope.get() is None
    with scope.holding(8):
        assert scope.get() == 8
    assert scope.get() is None


def test_an_asynchronous_generator_with_a_backend_and_a_trace_can_be_closed_by_another_task():
    async def stream() -> AsyncIterator[int]:
        with use_backend("reference"), trace():
            yield 1
            yield 2

    async def main() -> None:
        items = stream()
        await asyncio.create_task(anext(items))
        await items.aclose()

    asyncio.run(main())
    with trace() as t:
        alignment([[1.0]], [[2.0]])
    assert t.runs[0].backend == "cpu"
