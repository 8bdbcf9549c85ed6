"""Controls over an output that they change in place, and a word for the reader where they cannot.

A page that is loaded anew has forgotten which output a kernel may change, and a kernel that is
started anew knows no controls. In both cases the reader is told to run the cell. Used by
``lesson.explore``, ``lesson.try_it``, ``lesson.predict`` and ``lesson.show``.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from .figures import PLOTLY

__all__ = ["Stage", "controls_alone", "page_of_now"]

# Shown unless a control lives beside it, as it does not after a restart, in a page without a kernel
# and in an untrusted notebook, which ignores the style.
ASLEEP = """<style>
.jp-OutputArea:has(.widget-box):not(:has(.jupyter-widgets-disconnected)) .lesson-asleep,
.jp-OutputArea:has(.lesson-asleep) .jp-OutputArea-output.jupyter-widgets:not(:has(*))
{{ display: none; }}
</style><p class="lesson-asleep">{words}</p>"""
LOADED_ANEW = "This page was loaded anew. Run this cell"


def page_of_now() -> str:
    """The page of the browser whose wish the kernel is fulfilling; "" outside a kernel."""
    from IPython import get_ipython

    shell = get_ipython()
    parent = shell.get_parent() if hasattr(shell, "get_parent") else {}
    return parent.get("header", {}).get("session", "")


def controls_alone(widgets: Sequence[Any], purpose: str) -> Any:
    """Display controls in a column, with a note for the time when no kernel knows them.

    Parameters
    ----------
    widgets : sequence of ipywidgets
    purpose : str
        What a reader runs the cell for: ``to choose``.

    Returns
    -------
    ipywidgets.VBox
    """
    import ipywidgets
    from IPython.display import display

    box, words = ipywidgets.VBox(list(widgets)), f"Run this cell {purpose}."
    display(box)
    display({"text/html": ASLEEP.format(words=html.escape(words)), "text/plain": words}, raw=True)
    return box


class Stage:
    """One output under controls, in a live kernel.

    The controls stand first: where plotly's output is the first of a cell, JupyterLab draws all
    outputs of the cell again after each step, and the control loses the keyboard's focus.

    Parameters
    ----------
    widgets : sequence of ipywidgets
    data, metadata : dict
        The output at first, by media type.
    """

    def __init__(self, widgets: Sequence[Any], data: dict[str, Any], metadata: dict[str, Any]):
        from IPython.display import display

        self._widgets, self._page = tuple(widgets), page_of_now()
        self._box = controls_alone(widgets, "to move what it shows")
        self._handle = display(data, raw=True, metadata=metadata, display_id=True)

    def heard(self) -> None:
        """Say so where the control that moves stands in a page that the output cannot change."""
        import ipywidgets

        if page_of_now() != self._page and len(self._box.children) == len(self._widgets):
            words = f"{LOADED_ANEW} to move what it shows."
            self._box.children = (*self._widgets, ipywidgets.HTML(f"<b>{words}</b>"))

    def show(self, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        """Put another output in the place of the one that is shown.

        Plotly in JupyterLab keeps its first drawing unless something else stood there between.
        """
        if PLOTLY in data:
            self._handle.update({"text/plain": data.get("text/plain", "")}, raw=True)
        self._handle.update(data, raw=True, metadata=metadata)
