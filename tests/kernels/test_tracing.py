"""Traces: every call leaves one line, a failed one none, and nothing is timed when nobody asked."""

from __future__ import annotations

import asyncio
import contextvars
import math
from collections.abc import AsyncIterator, Iterator

import pytest
import torch

from lessons_lib.kernels import Trace, trace, uniformity, use_backend
from lessons_lib.kernels.dispatch import Operation
from lessons_lib.kernels.tracing import Run, Scope, launched, recorded

X = torch.eye(4)


def run(**changed: object) -> Run:
    plain = {"operation": "uniformity", "backend": "cpu", "reason": "CPU tensor", "shape": (4, 4),
             "dtype": "float32", "device": "cpu"}
    return Run(**(plain | changed))


@pytest.mark.parametrize(("changed", "caption"), [
    ({"ms": 1.234}, "uniformity · cpu (blocked torch) · CPU tensor · 1.2 ms"),
    ({"ms": 9.96}, "uniformity · cpu (blocked torch) · CPU tensor · 10 ms"),
    ({"ms": 1234.5}, "uniformity · cpu (blocked torch) · CPU tensor · 1234 ms"),
    ({"ms": 0.0123, "processor": "Numba"}, "uniformity · cpu (Numba) · CPU tensor · 0.012 ms"),
    ({"ms": 5, "device": "mps"}, "uniformity · mps (blocked torch) · CPU tensor · 5 ms"),
    ({"ms": 5, "backend": "reference", "reason": "asked for by backend="}, "uniformity · "
     "reference formula on cpu · asked for by backend= · 5 ms"),
    ({"ms": 2, "backend": "triton", "device": "sm_90",
      "launches": [("k", (6,), {"BLOCK_N": 128, "BLOCK_D": 64, "num_warps": 8}), ("l", (2,), {})]},
     "uniformity · triton (sm_90) · 128x64 · 2 ms"),
    ({"ms": 2, "backend": "triton", "device": "interpreter", "launches": []},
     "uniformity · triton (interpreter) · CPU tensor · 2 ms")])
def test_the_caption_says_what_made_a_figure(changed, caption):
    assert run(**changed).caption() == caption


def test_the_table_has_a_row_per_call_and_the_caption_is_that_of_the_slowest():
    assert Trace([run(ms=1), run(ms=3, operation="knn"), run(ms=2)]).caption().startswith("knn")
    assert Trace().caption() == "no kernel ran"
    launches = [("tiles", (6, 2), {"BLOCK_N": 16}), ("rows", (4,), {})]
    runs = [run(ms=1), run(backend="triton", launches=launches, ms=12.345)]
    header, first, second = Trace(runs).table()
    assert header == ("operation", "backend", "reason", "kernels", "grid", "shape", "type", "ms")
    assert first == ("uniformity", "cpu", "CPU tensor", "–", "–", "4x4", "float32", "1")
    assert second[3:5] == ("tiles + rows", "6x2 + 4") and second[-1] == "12.3"


def test_calls_are_collected_in_order_inside_the_block_only():
    uniformity(X)
    with trace() as t:
        uniformity(X)
        uniformity(X.half(), backend="reference")
    uniformity(X)
    assert [(r.backend, r.dtype) for r in t.runs] == [("cpu", "float32"), ("reference", "float16")]
    assert all(r.ms > 0 and r.shape == (4, 4) for r in t.runs)


def test_a_call_that_fails_leaves_no_line_and_the_trace_goes_on():
    broken = Operation("uniformity")
    with trace() as t:
        with pytest.raises(TypeError):
            broken.run("uniformity", X, no_such_argument=1)
        uniformity(X)
    assert len(t.runs) == 1 and t.runs[0].ms > 0


def test_an_operation_inside_another_has_its_own_line_and_launches():
    with trace() as t, recorded("outer", "triton", "", X, device="cpu", processor="") as outer:
        launched("a", (1,), {})
        with recorded("inner", "triton", "", X, device="cpu", processor="") as inner:
            launched("b", (2,), {})
        launched("c", (3,), {})
    assert [launch[0] for launch in outer.launches] == ["a", "c"]
    assert [launch[0] for launch in inner.launches] == ["b"]
    assert [r.operation for r in t.runs] == ["outer", "inner"]
    launched("nowhere", (1,), {})               # outside of every call: nothing to note it in


def test_nothing_is_timed_without_a_trace(monkeypatch):
    monkeypatch.setattr("lessons_lib.kernels.tracing.time.perf_counter",
                        lambda: pytest.fail("the clock was read"))
    assert math.isfinite(uniformity(X).item())


def held() -> tuple[Scope[int], Iterator[int]]:
    scope: Scope[int] = Scope("test")

    def block() -> Iterator[int]:
        with scope.holding(7):
            yield 7

    return scope, block()


def test_a_block_may_be_closed_in_another_context_than_the_one_it_was_opened_in():
    scope, block = held()
    contextvars.copy_context().run(next, block)
    assert scope.get() == 7
    block.close()
    assert scope.get() is None
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
        uniformity(X)
    assert t.runs[0].backend == "cpu"
