"""Sliders that nobody needs: the default picture is always drawn, controls change it in place.

The default is an ordinary output with a display id; a moved control updates it. So a saved notebook
holds a picture and no widget state, and a page without a kernel loses nothing but the movement.
Used by ``lesson.explore``.
"""

from __future__ import annotations

import importlib.util
import inspect
import numbers
import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import FunctionType
from typing import Any

from ..core import shown, unknown_keyword
from .figures import figure_bundle, is_plotly, layout_of, moved_bundle, save_figure
from .live import Stage
from .typed import Pause, complaint, text_widget

__all__ = ["BUILD_VARIABLE", "Draw", "bound", "choice_widget", "defaults_of", "drawer", "explore",
           "widgets_work"]

Draw = Callable[..., tuple[dict, dict, dict]]    # arguments -> data, metadata, parts of files

BUILD_VARIABLE = "LESSONS_BUILD"  # set by `lessons build`: stored outputs hold no widgets
WHOLE_NAME = {"description_width": "initial"}    # else ipywidgets cuts a long one off
KEPT = 100                       # pictures of 100 kB, so that to go back costs nothing


def widgets_work() -> bool:
    """Whether controls can be shown: a live kernel with ipywidgets, no build that stores outputs.
    """
    from IPython import get_ipython

    shell = get_ipython()
    in_kernel = shell is not None and "IPKernelApp" in shell.config
    return (in_kernel and not os.environ.get(BUILD_VARIABLE)
            and importlib.util.find_spec("ipywidgets") is not None)


def bound(function: Callable) -> Callable:
    """A notebook's function with all names as they are now.

    A control is moved long after its cell has run; by then another cell may have given a name that
    the function reads to something else. Functions that it calls are kept in the same way.
    """
    if getattr(function, "__module__", "") != "__main__" or not isinstance(function, FunctionType):
        return function
    names = dict(function.__globals__)

    def rebound(old: FunctionType) -> FunctionType:
        new = FunctionType(old.__code__, names, old.__name__, old.__defaults__, old.__closure__)
        new.__kwdefaults__ = old.__kwdefaults__
        return new

    names |= {name: rebound(value) for name, value in names.items()
              if isinstance(value, FunctionType) and value.__globals__ is function.__globals__}
    return rebound(function)


def _is_range(control: Any) -> bool:
    return (isinstance(control, tuple) and len(control) in (2, 3)
            and all(isinstance(v, numbers.Real) for v in control))


def _first(name: str, control: Any) -> Any:
    if isinstance(control, bool):
        return control
    if isinstance(control, str) and not complaint([name], [control]):
        return control
    if _is_range(control) and control[0] < control[1]:
        return control[0]
    if isinstance(control, (list, Mapping)) and len(control):
        return next(iter(control.values())) if isinstance(control, Mapping) else control[0]
    raise ValueError(f"{name}={shown(control)} is no control; expected (low, high), (low, high, "
                     "step), a list of choices, a dict label -> value, True, False or a text")


def _allows(control: Any, value: Any) -> bool:
    if isinstance(control, bool):
        return isinstance(value, bool)
    if isinstance(control, str):
        return isinstance(value, str) and not complaint([""], [value])
    if _is_range(control):
        return control[0] <= value <= control[1]
    return value in (list(control.values()) if isinstance(control, Mapping) else control)


def defaults_of(function: Callable, controls: Mapping[str, Any]) -> dict[str, Any]:
    """The value each control starts with: the function's own default, else the first choice.

    Refuses controls as `Lesson.explore` does.
    """
    parameters = inspect.signature(function).parameters
    values = {}
    for name, control in controls.items():
        if name not in parameters:
            raise unknown_keyword(getattr(function, "__name__", "function"), name, parameters)
        first, default = _first(name, control), parameters[name].default
        values[name] = first if default is inspect.Parameter.empty else default
        if not _allows(control, values[name]):
            raise ValueError(f"{name}={shown(values[name])} is the default of the function, but "
                             f"the control {shown(control)} does not allow it")
    return values


def _in_words(name: str, control: Any) -> str:
    if isinstance(control, bool):
        return f"`{name}` on or off"
    if isinstance(control, str):
        return f"`{name}`: your own text"
    if _is_range(control):
        return f"`{name}` from {control[0]} to {control[1]}"
    return f"`{name}`: {', '.join(map(str, control))}"


def _rendered(result: Any, *, id: str | None, alt: str | None,
              moved: tuple | None) -> tuple[dict, dict, dict]:
    """Output data, metadata and file parts of whatever the explored function returned.

    ``moved``: the layout of the first picture, where this one follows a control; it is not kept as
    a file.
    """
    pair = isinstance(result, tuple) and len(result) == 2 and is_plotly(result[0])
    fig = result[0] if pair else result
    if hasattr(fig, "savefig") or is_plotly(fig):
        if moved is not None:
            return *moved_bundle(fig, alt=alt, layout=moved), {}
        return figure_bundle(fig, id=id, alt=alt, static=result[1] if pair else None)
    if hasattr(result, "_repr_mimebundle_"):
        return result._repr_mimebundle_(), {}, {}
    if isinstance(result, (str, numbers.Number)):
        return {"text/plain": str(result)}, {}, {}
    raise TypeError(f"the explored function returned {shown(result)} ({type(result).__name__}); "
                    "expected a figure, a pair (plotly, matplotlib), a lesson table, a text or a "
                    "number")


def drawer(function: Callable, *, id: str | None, alt: str | Callable[..., str] | None,
           still: bool = False) -> Draw:
    """A function of the same arguments that gives what a notebook displays for their result.

    Its first drawing is complete, for the file and for pages without a kernel; others are quick.
    ``still``: their axes stay where those of the first are, so no label may grow much longer.
    """
    words, moved = bound(alt) if callable(alt) else lambda *_, **__: alt, None

    def draw(*arguments: Any, **controls: Any) -> tuple[dict, dict, dict]:
        nonlocal moved
        result = function(*arguments, **controls)
        try:
            drawn = _rendered(result, id=id, alt=words(*arguments, **controls), moved=moved)
            moved = (layout_of(result) if still else ()) if moved is None else moved
            return drawn
        finally:
            _close(result)

    return draw


def _close(result: Any) -> None:
    """Forget drawn matplotlib figures, or the notebook shows them again and keeps them in memory.
    """
    for fig in result if isinstance(result, tuple) else (result,):
        if hasattr(fig, "savefig"):
            import matplotlib.pyplot as plt

            plt.close(fig)


def _widget(name: str, control: Any, value: Any) -> Any:
    import ipywidgets as w

    if isinstance(control, bool):
        return w.Checkbox(value=value, description=name, style=WHOLE_NAME)
    if isinstance(control, str):
        return text_widget(name, value)
    if not _is_range(control):
        options = list(control.items()) if isinstance(control, Mapping) else control
        return choice_widget(name, options, value)
    whole = all(isinstance(v, numbers.Integral) for v in (*control, value))
    step = control[2] if len(control) == 3 else 1 if whole else (control[1] - control[0]) / 100
    slider = w.IntSlider if whole else w.FloatSlider
    return slider(value=value, min=control[0], max=control[1], step=step, description=name,
                  continuous_update=False, style=WHOLE_NAME, layout={"width": "420px"})


def choice_widget(name: str, options: Any, value: Any) -> Any:
    """Buttons, one for each choice: values, or pairs (label, value).

    Not a list that opens: JupyterLab takes the arrow keys and letters that are meant for it.
    """
    import ipywidgets as w

    return w.ToggleButtons(options=options, value=value, description=name,
                           style=WHOLE_NAME | {"button_width": "max-content"})


def explore(function: Callable, *, id: str, alt: str | Callable[..., str],
            names: Mapping[str, str] | None, controls: Mapping[str, Any]) -> None:
    """Draw ``function`` at its defaults, with controls where a live kernel can show them.

    See `Lesson.explore`.
    """
    from IPython.display import display

    values = defaults_of(function, controls)
    for name in names or {}:
        if name not in controls:
            raise unknown_keyword("names", name, controls)
    said = {name: name.replace("_", " ") for name in controls} | dict(names or {})
    draw = drawer(bound(function), id=id, alt=alt, still=True)
    data, metadata, parts = draw(**values)
    if parts:
        save_figure(id, parts)
    if not widgets_work():
        display(data, raw=True, metadata=metadata)
        text = "Run this cell to move: " + " · ".join(
            _in_words(said[name], control) for name, control in controls.items())
        display({"text/markdown": text, "text/plain": text.replace("`", "")}, raw=True)
        return
    widgets = {name: _widget(said[name], control, values[name])
               for name, control in controls.items()}
    stage = Stage(list(widgets.values()), data, metadata)

    @lru_cache(KEPT)
    def drawn(*places: Any) -> tuple[dict, dict]:
        return draw(**{name: widget.value for name, widget in widgets.items()})[:2]

    typed = {widget.description: widget for name, widget in widgets.items()
             if isinstance(controls[name], str)}

    def output() -> tuple[dict, dict]:
        sentence = complaint(list(typed), [widget.value for widget in typed.values()])
        try:                                     # a value may be a list, its place is a number
            if not sentence:
                return drawn(*(getattr(w, "index", w.value) for w in widgets.values()))
        except Exception as error:  # an error in a callback would vanish; here the learner sees it
            told = typed and isinstance(error, ValueError)   # of a text: it says what would do
            sentence = str(error) if told else f"{type(error).__name__}: {error}"
        return {"text/plain": sentence}, {}

    pause = Pause(lambda: stage.show(*output()))

    def moved(change: Any) -> None:
        stage.heard()
        if change["owner"] in typed.values():
            pause()
        else:
            stage.show(*output())

    for widget in widgets.values():
        widget.observe(moved, names="value")
