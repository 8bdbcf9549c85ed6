"""Machine code on disk: a file for each function and types, taken for no other.

Numba keeps an index of numbered files. Two processes that compile two signatures of one function at
the same moment may give both the same number, and a process that reads the index between its
writing and that of the file gets the code of former sources; then the next one runs code made for
other types, which may crash it. Here a file's name is a hash of all that its code depends on, its
content repeats that in full, and a checksum covers both: there is no index, so there is nothing to
race for, and a file that is cut, damaged or someone else's is compiled again, not run. Used by all
compiled loops, first in ``01_one_hot``.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core import config
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps, loads
from numba.core.sigutils import normalize_signature

from .files import atomic_open

__all__ = ["OverloadCache"]

PACKAGE = Path(__file__).parents[1]
SUFFIX = ".code"
MOST_FILES = 128  # of one function; the oldest go
_DIGEST = hashlib.sha256().digest_size
_IMPORT = re.compile(r"^\s*from (\.*)([\w.]+) import", re.MULTILINE)
# These say where files lie or how many threads run; all others may change the code.
_ELSEWHERE = ("NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS", "NUMBA_DEBUG_CACHE")


@functools.lru_cache(maxsize=1024)
def _read(path: Path, modified: int, size: int) -> tuple[bytes, tuple[Path, ...]]:
    """Hash of a module, and the modules of ours that it imports from; read again when the file
    changes."""
    text, names = path.read_text("utf-8"), []
    for dots, module in _IMPORT.findall(text) if path.parent != Path(__file__).parent else ():
        if dots or module.startswith(f"{PACKAGE.name}."):
            base = path.parents[len(dots) - 1] if dots else PACKAGE.parent
            names.append(base.joinpath(*module.split(".")).with_suffix(".py"))
    return hashlib.sha256(text.encode()).digest(), tuple(names)


def sources(path: Path) -> dict[Path, bytes]:
    """A module and all modules of ours that it imports from, directly or not, with a hash of each.

    Machine code holds copies of the loops that it calls and of constants, which may stand in other
    files. What a room hands on (``from ..core import …``) is not followed, nor what is imported in
    ``core``: no loop and no constant comes that way.
    """
    hashes: dict[Path, bytes] = {}
    new = {path}
    while new:
        imported: set[Path] = set()
        for each in new:
            with contextlib.suppress(OSError):  # a cell of a notebook, or a room
                stat = each.stat()
                hashes[each], more = _read(each, stat.st_mtime_ns, stat.st_size)
                imported.update(more)
        new = imported - hashes.keys() - new
    return hashes


@functools.cache
def _machine() -> tuple[str, ...]:
    """This processor, by which vector code chooses its lanes, and what compiles for it."""
    features = sorted(name for name, there in llvm.get_host_cpu_features().items() if there)
    versions = [f"{module.__name__} {module.__version__}" for module in (numba, llvmlite, np)]
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return llvm.get_host_cpu_name(), " ".join(features), python, *versions


def _constants(namespace: dict[str, Any], seen: set[int]) -> Iterator[str]:
    """A module's constants as they are now, which a test may have set; also of those it calls."""
    seen.add(id(namespace))
    for name, value in sorted(namespace.items()):
        if isinstance(value, (bool, int, float, np.generic)) or (isinstance(value, tuple)
                                                                 and "0x" not in repr(value)):
            yield f"{name}={value!r}"
        elif isinstance(value, Dispatcher) and id(value.py_func.__globals__) not in seen:
            yield from _constants(value.py_func.__globals__, seen)


def _settings() -> list[str]:
    """What Numba is told by the environment; the checks of bounds may also be set by a program."""
    told = sorted(
        f"{k}={v}" for k, v in os.environ.items() if k.startswith("NUMBA_") and k not in _ELSEWHERE)
    return [*told, f"boundscheck={config.BOUNDSCHECK}"]


class _Files:
    """What Numba takes for its index: files in a folder, names by a key that is written in them."""
    def __init__(self, folder: str, name: str):
        self._folder, self._name = Path(folder), name

    def _path(self, key: bytes) -> Path:
        return self._folder / f"{self._name}.{hashlib.sha256(key).hexdigest()[:32]}{SUFFIX}"

    def load(self, key: bytes) -> Any:
        """What was saved under the key, or None: also for a file that is not whole or holds another
        key."""
        try:
            content = self._path(key).read_bytes()
        except OSError:
            return None
        checksum, body = content[:_DIGEST], content[_DIGEST:]
        if hashlib.sha256(body).digest() != checksum or not body.startswith(key):
            return None
        return loads(body[len(key):])

    def save(self, key: bytes, data: Any) -> None:
        """Write the file in one step, and remove the oldest others of too many: not this one, which
        looks the oldest where the clock went back."""
        body, new = key + dumps(data), self._path(key)
        with atomic_open(new, "wb") as file:
            file.write(hashlib.sha256(body).digest() + body)
        others = sorted({*self._folder.glob(f"{self._name}.*{SUFFIX}")} - {new},
                        key=lambda path: path.stat().st_mtime)
        for old in others[:1 - MOST_FILES]:
            old.unlink(missing_ok=True)

    def flush(self) -> None:
        """Forget all that was saved for the function."""
        for path in self._folder.glob(f"{self._name}.*{SUFFIX}"):
            path.unlink(missing_ok=True)


class OverloadCache(FunctionCache):
    """The cache of one compiled function, in the folder where Numba would have its own.

    Raises RuntimeError ("cannot cache") where no folder can be written.
    """
    def __init__(self, function: Any):
        super().__init__(function)
        path = Path(function.__code__.co_filename)
        self._cache_file = _Files(self.cache_path,
                                  re.sub(r"[^\w.]", "", f"{path.stem}.{function.__qualname__}"))
        # now, not when it is compiled: then the files may be newer than the function
        texts = b"".join(text for _, text in sorted(sources(path).items()))
        self._sources = (
            f"{self._impl.locator.get_source_stamp()} {hashlib.sha256(texts).hexdigest()}")

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save what was compiled. Where that fails (a full disk), the code in memory serves this
        process."""
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)

    def _index_key(self, sig: Any, codegen: Any) -> bytes:
        """All that the machine code depends on, in words."""
        function, arguments = self._py_func, normalize_signature(sig)[0]
        bytecode, cells = super()._index_key(sig, codegen)[2]
        parts = (function.__module__, function.__qualname__, str(
            function.__code__.co_firstlineno), bytecode, cells, self._sources, *map(str, arguments),
                 *map(str, codegen.magic_tuple()), *_machine(), *_settings(),
                 *_constants(function.__globals__, set()))
        return "\n".join((*parts, "", "")).encode()
