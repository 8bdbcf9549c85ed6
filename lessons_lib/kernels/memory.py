"""Numbers at raw addresses, for compiled loops that call each other millions of times.

Numba hands an array from function to function as seven numbers and counts its users at every call;
where a call does little, that is most of the time. An address is one number and nobody counts it,
so who calls keeps the arrays alive. Taught in ``05_glove_and_fasttext``.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

__all__ = ["get_f32", "get_i32", "get_i64", "put_f32", "put_i32", "put_i64"]


def _place(b: Any, address: Any, i: Any, kind: Any) -> Any:
    return b.gep(b.inttoptr(address, kind.as_pointer()), [i])


def _reader(kind: Any, shown: Any) -> Any:
    @intrinsic
    def get(typing: Any, address: Any, i: Any) -> Any:
        def generate(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
            number = b.load(_place(b, *arguments, kind))
            narrow = shown is types.int64 and kind.width < 64
            return b.sext(number, ir.IntType(64)) if narrow else number

        return shown(types.int64, types.int64), generate

    return get


def _writer(kind: Any, shown: Any) -> Any:
    @intrinsic
    def put(typing: Any, address: Any, i: Any, value: Any) -> Any:
        def generate(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
            address, i, value = arguments
            b.store(b.trunc(value, kind) if shown is types.int64 and kind.width < 64 else value,
                    _place(b, address, i, kind))
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, shown), generate

    return put


# get(address, i) is number i of an array that begins at the address, put(address, i, value) writes
# it; int32 is read and written as int64.
get_i32, put_i32 = _reader(ir.IntType(32), types.int64), _writer(ir.IntType(32), types.int64)
get_i64, put_i64 = _reader(ir.IntType(64), types.int64), _writer(ir.IntType(64), types.int64)
get_f32, put_f32 = _reader(ir.FloatType(), types.float32), _writer(ir.FloatType(), types.float32)
