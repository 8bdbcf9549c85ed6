"""The process of one submission: confine yourself, then run cells and call functions as the grader
asks, and answer with plain data.

It knows inputs only: right answers, judges and cases stay with the grader, which compares. Prints
go nowhere.
"""

from __future__ import annotations

import builtins
import code
import contextlib
import linecache
import os
import signal
import sys
import types
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import confine
import wire

sys.path.pop(0)


class OutOfTime(BaseException):
    """The soft limit; the grader ends the process when it is ignored."""


class _Cells(code.InteractiveInterpreter):
    """Runs the code of cells in one namespace and remembers the error."""

    error: BaseException | None = None

    def showtraceback(self) -> None:
        """Keep the error instead of showing it."""
        self.error = sys.exc_info()[1]


class _Sheet:
    """In place of ``ll.classroom.sheet`` and ``ll.start``: checks and hints do nothing here."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **keywords: None


def _stand_in() -> types.ModuleType:
    """A ``lessons_lib`` that lets the first cell run, and says why the rest is missing."""
    module = types.ModuleType("lessons_lib")
    module.classroom = types.SimpleNamespace(sheet=lambda *args, **keywords: _Sheet())
    module.start = lambda *args, **keywords: _Sheet()

    def missing(name: str) -> Any:
        raise AttributeError(f"lessons_lib.{name} is out of reach while answers are graded: write "
                             "it with NumPy and the standard library")

    module.__getattr__ = missing
    return module


def _without_magics(source: str) -> str:
    """A cell without lines for the notebook itself (%, !), where it is no Python with them."""
    try:
        compile(source, "cell", "exec", dont_inherit=True)
        return source
    except SyntaxError:
        lines = ["" if line.lstrip().startswith(("%", "!", "?"))
                 or line.rstrip().endswith("?") else line for line in source.splitlines()]
        return "\n".join(lines)  # as many lines, so that an error names the right one


@contextlib.contextmanager
def _soft_limit(seconds: float) -> Any:
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise OutOfTime(f"took longer than {seconds:g} s")

    # Seconds of the processor, so that a busy machine takes no points from anybody; who sleeps
    # meets the grader's own clock.
    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _line(error: BaseException) -> int | None:
    """The line of a cell in which an error arose."""
    if isinstance(error, SyntaxError):
        return error.lineno
    trace, line = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith("<cell "):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _told(error: BaseException) -> list[Any]:
    """Kind, text and line of an error."""
    try:
        text = error.msg if isinstance(error, SyntaxError) else error
        line = _line(error)
        return [type(error).__name__[:60], " ".join(str(text).split())[:300],
                line if type(line) is int else None]
    except BaseException:
        return ["Error", "", None]               # an error whose text fails, too


class _Process:
    def __init__(self, incoming: Any, outgoing: Any):
        self.incoming, self.outgoing = incoming, outgoing
        # Who spoils the first cell, which makes the sheet, loses no answer in the cells that check
        # with it.
        names = {"__name__": "__main__", "__builtins__": builtins, "sheet": _Sheet()}
        self.cells, self.n_cells = _Cells(names), 0

    def _ask(self, number: int) -> Any:
        """A function of the grader, such as the net of a case, called from here."""
        def asked(*args: Any) -> Any:
            wire.send(self.outgoing, {"ask": number, "args": wire.pack(args)})
            reply = wire.receive(self.incoming)
            if reply is None or "error" in reply:
                raise ValueError((reply or {}).get("error", "the grader has gone"))
            return wire.unpack(reply["value"])
        return asked

    def cell(self, request: dict) -> dict:
        self.n_cells += 1
        name, source = f"<cell {self.n_cells}>", _without_magics(request["source"])
        lines = [line + "\n" for line in source.split("\n")]
        linecache.cache[name] = (len(source), None, lines, name)
        self.cells.error = None
        try:
            with _soft_limit(request["seconds"]):
                self.cells.runcode(compile(source, name, "exec", dont_inherit=True))
        except BaseException as error:
            self.cells.error = error
        return {"error": _told(self.cells.error) if self.cells.error is not None else None}

    def value(self, request: dict) -> dict:
        name = request["name"]
        if name not in self.cells.locals:
            return {"missing": True}
        return {"value": wire.pack(self.cells.locals[name])}

    def call(self, request: dict) -> dict:
        args, keywords = (wire.unpack(request[part], lambda number, *_: self._ask(number))
                          for part in ("args", "keywords"))
        with _soft_limit(request["seconds"]):
            return {"value": wire.pack(self.cells.locals[request["name"]](*args, **keywords))}

    def launch(self, request: dict) -> dict:
        """Run a Triton kernel in the interpreter; its arrays come back as it left them."""
        import torch
        import triton

        args, keywords = (wire.unpack(request[part]) for part in ("args", "keywords"))
        args = [torch.from_numpy(arg) if hasattr(arg, "dtype") and arg.shape else arg
                for arg in args]
        kernel = self.cells.locals[request["name"]]
        with _soft_limit(2 * request["seconds"]):                  # Triton is slow to begin with
            try:
                triton.jit(getattr(kernel, "fn", kernel))[tuple(request["grid"])](*args, **keywords)
            except Exception as error:
                # the interpreter wraps what the kernel raises
                raise error.__cause__ or error from None
        return {"value": wire.pack([arg.numpy() for arg in args if isinstance(arg, torch.Tensor)])}

    def serve(self) -> None:
        """Answer until the grader closes the line."""
        jobs = {"cell": self.cell, "value": self.value, "call": self.call, "launch": self.launch}
        while (request := wire.receive(self.incoming)) is not None:
            try:
                reply = jobs[request["op"]](request)
            except BaseException as error:
                reply = {"error": _told(error)}
            try:
                wire.send(self.outgoing, reply)
            except wire.WireError as error:
                wire.send(self.outgoing, {"error": ["WireError", str(error), None]})


def _main() -> None:
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(nowhere, stream)
    settings = wire.receive(incoming)
    if settings is None:
        return                                   # the grader has gone
    sys.argv = [""]
    held = confine.confine(**settings)
    sys.modules["lessons_lib"] = _stand_in()
    wire.send(outgoing, {"held": held})
    _Process(incoming, outgoing).serve()


_main()
