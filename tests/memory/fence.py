"""Arrays that end where memory ends: whoever passes an end, by any address, is stopped there.

Each array lies at the end of pages of its own. The pages behind it and before it may not be
touched, and once the array is freed neither may its own; what is left before it holds guard words
that are looked at when it is freed. So a loop that reads or writes outside of an array, through
whatever address it came, or uses an address after its owner is gone, is a segmentation fault at
that very place, every time, and Python's fault handler names the line. Arrays that compiled loops
make for themselves get the guard words of ``PYTHONMALLOC=debug``.

It is a plugin, for any test: ``LESSONS_DEBUG_MEMORY=1 PYTHONPATH=tests/memory python -m pytest -p
fence tests/counts``. Linux and macOS.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
import threading
from collections import deque

import numpy as np
import pytest

# addresses cost nothing, so a fence is wider than most jumps
PAGE, FENCE, JUNK = mmap.PAGESIZE, 1 << 20, 0xA5
KEPT = 2000  # freed blocks that stay forbidden; then the system may give their place away
_SET_HANDLER = 304  # its place in NumPy's table of functions, which is only ever appended to
_ANONYMOUS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS

_c = ctypes.CDLL(None, use_errno=True)
_c.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_c.mprotect.argtypes = [*_c.munmap.argtypes, ctypes.c_int]
_c.mmap.argtypes = [*_c.munmap.argtypes, *[ctypes.c_int] * 3, ctypes.c_long]
_c.mmap.restype = ctypes.c_void_p
# where an array begins: (pages from, their bytes, bytes of the array)
_blocks: dict[int, tuple[int, int, int]] = {}
_freed: deque[tuple[int, int]] = deque()


def _allocate(_: int | None, size: int, fill: int = JUNK) -> int | None:
    inside = max(1, -(-size // PAGE)) * PAGE
    base = _c.mmap(None, inside + 2 * FENCE, 0, _ANONYMOUS, -1, 0)
    if base in (None, ctypes.c_void_p(-1).value):
        return None
    _c.mprotect(base + FENCE, inside, mmap.PROT_READ | mmap.PROT_WRITE)
    first = base + FENCE + inside - size
    ctypes.memset(base + FENCE, JUNK, inside - size)
    ctypes.memset(first, fill, size)
    _blocks[first] = (base, inside + 2 * FENCE, size)
    return first


def _zeros(_: int | None, n: int, size: int) -> int | None:
    return _allocate(None, n * size, fill=0)


def _free(_: int | None, first: int | None, __: int) -> None:
    if not first:
        return
    base, total, size = _blocks.pop(first)
    before = first - base - FENCE
    if ctypes.string_at(base + FENCE, before) != bytes([JUNK]) * before:
        sys.stderr.write(f"fence: something wrote before an array of {size} bytes\n")
        os.abort()
    _c.mprotect(base, total, 0)
    _freed.append((base, total))
    while len(_freed) > KEPT:
        _c.munmap(*_freed.popleft())


def _move(_: int | None, first: int | None, size: int) -> int | None:
    new = _allocate(None, size)
    if first and new:
        ctypes.memmove(new, first, min(size, _blocks[first][2]))
        _free(None, first, 0)
    return new


class _Handler(ctypes.Structure):
    """``PyDataMem_Handler`` of NumPy (NEP 49)."""

    _pointer, _size = ctypes.c_void_p, ctypes.c_size_t
    _kinds = (ctypes.CFUNCTYPE(_pointer, _pointer, _size),
              ctypes.CFUNCTYPE(_pointer, _pointer, _size, _size),
              ctypes.CFUNCTYPE(_pointer, _pointer, _pointer, _size),
              ctypes.CFUNCTYPE(None, _pointer, _pointer, _size))
    _fields_ = [("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("context", _pointer)]
    _fields_ += list(zip(("malloc", "calloc", "realloc", "free"), _kinds, strict=True))


_handler = _Handler(b"fence", 1, None, *(
    kind(f) for kind, f in zip(_Handler._kinds, (_allocate, _zeros, _move, _free), strict=True)))
_python = ctypes.pythonapi
_python.PyCapsule_New.restype, _python.PyCapsule_New.argtypes = (
    ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p])
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p
_python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_name = b"mem_handler"  # held here, because a capsule keeps only its address
_capsule = _python.PyCapsule_New(ctypes.addressof(_handler), _name, None)


def _set() -> None:
    """Let this thread's arrays be fenced; NumPy asks for it thread by thread."""
    table = _python.PyCapsule_GetPointer(np._core._multiarray_umath._ARRAY_API, None)
    address = ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[_SET_HANDLER]
    ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(address)(_capsule)


def install() -> None:
    """Fence all arrays that are made from now on, in this thread and in those started later."""
    from numba.core.runtime import _nrt_python

    _nrt_python.memsys_use_cpython_allocator()
    run = threading.Thread.run

    def fenced(self: threading.Thread) -> None:
        _set()
        run(self)

    threading.Thread.run = fenced
    _set()


def pytest_sessionfinish(exitstatus: int) -> None:
    """Note how the tests ended."""
    global _status
    _status = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """End at once: arrays that live longer would be freed by functions that Python has already
    taken apart."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(_status)


_status = 0
if os.environ.get("LESSONS_DEBUG_MEMORY") == "1":
    install()
