"""A lesson as a reader has it, in JupyterLab; what a page is asked stands in ``notebook.js``."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

HERE = ("127.0.0.1", "localhost")
MINUTE = 60_000                                  # milliseconds, as Playwright counts
PATIENCE = 4 * MINUTE  # for one answer of a machine that has other work; a quiet one takes seconds
SCRIPT = Path(__file__).with_name("notebook.js")
CONTROLS = (".noUi-handle, .widget-toggle-buttons button:not(.mod-active), .widget-checkbox input, "
            ".widget-text input")


class Requests:
    """All addresses that the pages of a window ask for, and those outside this machine."""

    def __init__(self, window: Any) -> None:
        self.all: list[str] = []
        window.on("request", lambda request: self.all.append(request.url))
        window.on("page",
                  lambda page: page.on("websocket", lambda socket: self.all.append(socket.url)))

    def outside(self) -> list[str]:
        """Addresses of other machines; a page's own data (``data:``, ``blob:``) is no request."""
        return ([url for url in self.all if urlsplit(url).scheme in ("http", "https", "ws", "wss")
                 and urlsplit(url).hostname not in HERE])


class LessonPage:
    """One lesson in a page of the browser: opened, and waiting for its reader."""

    def __init__(self, page: Any, address: str) -> None:
        self.page, self.crashes = page, []
        page.on("pageerror", lambda error: self.crashes.append(str(error)))
        page.add_init_script(path=SCRIPT)
        page.goto(address, timeout=PATIENCE)
        page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=PATIENCE)
        page.wait_for_function("notebook.ready()", timeout=PATIENCE)

    def start_all(self) -> None:
        """Forget all committed outputs, then *Run All Cells*."""
        self.page.evaluate("() => notebook.clear()")
        assert not any(cell["outputs"] for cell in self.cells())
        self.page.evaluate("() => notebook.run()")

    def finish(self, *, minutes: float = 8) -> None:
        """Come back when the last cell has run, each in order and without an error."""
        self.page.wait_for_function("notebook.ran !== null", timeout=minutes * MINUTE)
        assert self.page.evaluate("notebook.ran") == "done"
        assert self.errors() == []
        assert [cell["count"] for cell in self.cells()] == list(
            range(1, len(self.cells()) + 1)), "a cell was left out, or the kernel was not fresh"

    def cells(self) -> list[dict[str, Any]]:
        """Code cells: ``count`` of the execution, ``source``, stored ``outputs``."""
        return self.page.evaluate("notebook.cells()")

    def errors(self) -> list[str]:
        """What went wrong in a cell."""
        return ([f"{output['ename']}: {output['evalue']}" for cell in self.cells()
                 for output in cell["outputs"] if output["output_type"] == "error"])

    def scroll_to(self, mark: str) -> None:
        """Bring the picture of the cell whose source holds ``mark`` into view."""
        self.page.evaluate("mark => notebook.scroll(mark)", mark)
        self.page.wait_for_function("mark => notebook.picture(mark)", arg=mark)

    def picture(self, mark: str) -> str:
        """What the picture of the cell shows, as a text that differs where the picture does."""
        return self.page.evaluate("mark => notebook.picture(mark)", mark)

    def tab_to(self, mark: str, *, most: int = 60) -> str:
        """Go from the cell to its control by the Tab key alone; what has the focus then."""
        self.page.wait_for_function(
            "([mark, controls]) => "
            "notebook.find(mark).node.querySelector(controls)", arg=[mark, CONTROLS])
        self.page.evaluate("mark => notebook.choose(mark)", mark)
        for _ in range(most):
            self.page.keyboard.press("Tab")
            if focused := self.page.evaluate("([mark, controls]) => notebook.focused(mark, "
                                             "controls)", [mark, CONTROLS]):
                return focused
        raise AssertionError(f"{most} times Tab did not reach the control of the cell with {mark}")

    def wait_for_another_picture(self, mark: str, before: str) -> None:
        """Come back when the kernel has changed the picture of the cell."""
        self.page.wait_for_function("arguments => notebook.changed(arguments)", arg=[mark, before])

    def press(self, key: str, times: int) -> None:
        """Press a key as a reader does who waits for the picture each time."""
        for _ in range(times):
            self.page.keyboard.press(key)
            self.page.wait_for_timeout(300)

    def load_anew(self) -> None:
        """Save the notebook and load the page again, with the kernel as it is."""
        self.page.evaluate("() => notebook.save()")
        self.page.wait_for_function("notebook.saved === true")
        self.page.goto(self.page.url)
        self.page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=PATIENCE)
        self.page.wait_for_function("notebook.ready()", timeout=PATIENCE)

    def restart_kernel(self) -> None:
        """Start the kernel anew and run nothing."""
        self.page.evaluate("() => { notebook.restarted = false; notebook.panel().sessionContext"
                           ".restartKernel().then(() => { notebook.restarted = true; }); }")
        self.page.wait_for_function("notebook.restarted && notebook.ready()", timeout=PATIENCE)

    def sideways(self) -> list[str]:
        """Cells whose code or output is wider than its place, so that it scrolls sideways."""
        return self.page.evaluate("notebook.sideways()")

    def close(self) -> None:
        """End the kernel, which would keep its memory until the server stops."""
        self.page.evaluate("() => notebook.panel().sessionContext.shutdown()")
        self.page.close()

    def keep_screenshot(self, folder: Path, name: str) -> Path:
        """Write what is seen to ``<name>.png``."""
        path = folder / f"{name}.png"
        self.page.screenshot(path=path)
        return path
