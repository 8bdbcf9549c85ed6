"""Two instructions of the processor that a compiled loop can name: fetch memory before it is
needed, and find the lowest bit.

Written through Numba's ``intrinsic`` in LLVM's portable language, so every processor has them. Used
by `cooccurrence` of lessons ``02_bag_of_words`` and ``05_glove_and_fasttext``, whose loops visit
text in an order that no processor guesses.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["fetch", "lowest_bit"]

_BIT, _I32, _I64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)
_ADDRESS = ir.IntType(8).as_pointer()


@intrinsic
def fetch(context: Any, array: Any, index: Any) -> Any:
    """Bring ``array[index]`` and what lies beside it into the cache; nothing waits for it, and an
    index outside the array does no harm.
    """

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
