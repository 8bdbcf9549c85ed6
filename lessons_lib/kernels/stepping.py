"""Watch a kernel work: every line of one program, and what each line changed.

Triton's interpreter runs a kernel as Python, line by line, one program after the other. `watch`
looks over its shoulder at one of them and keeps the values as NumPy arrays, so that a masked lane
or a running maximum can be looked at. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import ast
import contextlib
import linecache
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from ..core import BackendUnavailable, check_choice, check_int, shown
from .interpreter import interpret, interpreting

__all__ = ["Step", "Watched", "can_step", "kernel_text", "watch"]


def can_step() -> bool:
    """Switch Triton's interpreter on where that is possible; call it first in a fresh Python.

    Returns
    -------
    bool
        Whether it is on. False where Triton is missing or was loaded before as a compiler: then a
        lesson goes on without the steps.
    """
    with contextlib.suppress(BackendUnavailable):
        interpret()
        return True
    return False


def kernel_text(kernel: str) -> str:
    """The source of one of the library's Triton kernels, also where Triton is missing.

    Parameters
    ----------
    kernel : str
        Name of the ``@triton.jit`` function.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        Unknown kernel (nearest name, all names).
    """
    texts: dict[str, str] = {}
    for path in sorted(Path(__file__).parent.glob("*/gpu.py")):
        source = path.read_text("utf-8")
        for node in ast.parse(source).body:
            decorators = [ast.unparse(d) for d in getattr(node, "decorator_list", [])]
            if any("triton.jit" in decorator for decorator in decorators):
                texts[node.name] = f"@triton.jit\n{ast.get_source_segment(source, node)}"
    return texts[check_choice("kernel", kernel, texts)]


def _plain(value: Any) -> Any:
    """A variable of a kernel as NumPy array, number or text; a pointer as "… addresses"."""
    handle = getattr(value, "handle", None)
    if handle is None:
        return getattr(value, "value", value)
    data = np.array(handle.data)
    if value.dtype.is_ptr():
        return f"{data.size:,} addresses"
    return data if value.type.is_block() else data.reshape(-1)[0].item()


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    return type(a) is type(b) and a == b


@dataclass(frozen=True)
class Step:
    """One line that ran: its text, and the variables that it made or changed, by name."""

    line: str
    changed: dict[str, Any]

    def text(self) -> str:
        """What changed, in words: name, shape and range of an array, the value of a number."""
        return " · ".join(f"{name} {_in_words(v)}" for name, v in self.changed.items()) or "–"


def _in_words(value: Any) -> str:
    if isinstance(value, float):
        return f"= {value:.4g}"
    if not isinstance(value, np.ndarray):
        return f"= {shown(value)}" if isinstance(value, int) else f"= {value}"
    shape = " x ".join(map(str, value.shape))
    if value.dtype == bool:
        return f"({shape}): {value.sum()} of {value.size} true"
    return f"({shape}): {value.min():.4g} … {value.max():.4g}"


@dataclass
class Watched:
    """The steps of the chosen program, its variables at the end, how many programs ran in all."""

    kernel: str
    program: int
    programs: int = 0
    steps: list[Step] = field(default_factory=list)
    variables: dict[str, Any] = field(default_factory=dict)

    def _note(self, line: str, frame: FrameType) -> None:
        now = {name: _plain(value) for name, value in frame.f_locals.items()}
        changed = {name: value for name, value in now.items() if name not in self.variables
                   or not _same(value, self.variables[name])}
        self.steps.append(Step(line, changed))
        self.variables = now

    def _tracer(self) -> Callable[..., Any]:
        """Traces the chosen program's frame: a line is noted when the next one is reached."""
        before: list[int] = []

        def each_line(frame: FrameType, event: str, _: Any) -> Any:
            if event == "exception":
                return each_line
            if before:
                text = linecache.getline(frame.f_code.co_filename, before.pop())
                self._note(text.split("  #")[0].strip(), frame)
            else:
                self.variables = {name: _plain(value) for name, value in frame.f_locals.items()}
            if event == "line":
                before.append(frame.f_lineno)
            return each_line

        return each_line

    def _enter(self, frame: FrameType, event: str, _: Any) -> Any:
        if event != "call" or frame.f_code.co_name != self.kernel:
            return None
        number, self.programs = self.programs, self.programs + 1
        return self._tracer() if number == self.program else None


@contextlib.contextmanager
def watch(kernel: str, *, program: int = 0) -> Iterator[Watched]:
    """Keep what one program of a kernel does inside the ``with`` block, line by line.

    Parameters
    ----------
    kernel : str
        Name of the ``@triton.jit`` function.
    program : int >= 0, default 0
        Its place in the order in which programs start.

    Returns
    -------
    context manager of Watched
        To be read after the block: steps (line, changed, text()), variables, programs.

    Raises
    ------
    BackendUnavailable
        The interpreter is off.
    ValueError
        The kernel started fewer programs.
    """
    check_int("program", program, low=0)
    if not interpreting():
        raise BackendUnavailable("kernels can be watched in Triton's interpreter only; call "
                                 "kernels.interpret() first, in a fresh Python")
    seen, before = Watched(kernel, program), sys.gettrace()
    sys.settrace(seen._enter)
    try:
        yield seen
    finally:
        sys.settrace(before)
    if seen.programs <= program:
        raise ValueError(f"program={program}: {shown(kernel)} started {seen.programs} programs in "
                         f"this block; expected more than {program}")
