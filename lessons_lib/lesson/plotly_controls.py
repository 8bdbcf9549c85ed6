"""The sliders and menus of a plotly figure as controls that the keyboard reaches.

Plotly draws its own as pictures, for a mouse alone. In a live kernel these take their place; a
stored notebook keeps those of plotly, which need no kernel. Used by ``lesson.show``.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from typing import Any

from .explore import choice_widget
from .figures import PLOTLY
from .live import Stage

__all__ = ["has_controls", "show_with_controls"]


def has_controls(fig: Any) -> bool:
    """Whether a plotly figure has sliders or menus of its own."""
    return bool(fig.layout.sliders or _menus(fig))


def _menus(fig: Any) -> list[Any]:
    """Menus to choose from; a button that plays frames does what the slider over them does."""
    return [menu for menu in fig.layout.updatemenus if menu.type != "buttons"]


def _do(fig: Any, step: Any) -> None:
    """What plotly does when a step of a slider, or a line of a menu, is chosen."""
    if step.method == "animate":
        frame = next(frame for frame in fig.frames if frame.name == step.args[0][0])
        for trace, moved in zip(fig.data, frame.data, strict=True):
            trace.update(moved)
    else:                                        # restyle, relayout or update
        getattr(fig, f"plotly_{step.method}")(*step.args)


def _widgets(fig: Any, choose: Callable[[Any], None]) -> list[Any]:
    """A slider or buttons for each control of the figure, at the place where it stands."""
    import ipywidgets as w

    def options(steps: Any) -> list[tuple[str, int]]:
        return [(html.unescape(step.label), k) for k, step in enumerate(steps)]

    made = []
    for slider in fig.layout.sliders:
        name = html.unescape(slider.currentvalue.prefix or "").rstrip(" =:") or "shown"
        made.append((slider.steps,
                     w.SelectionSlider(options=options(slider.steps), value=slider.active or 0,
                                       description=name, style={"description_width": "initial"},
                                       layout={"width": "420px"})))
    made += [(menu.buttons, choice_widget("shown", options(menu.buttons), menu.active or 0))
             for menu in _menus(fig)]
    for steps, widget in made:
        widget.observe(lambda change, steps=steps: choose(steps[change["new"]]), names="value")
    return [widget for _, widget in made]


def show_with_controls(fig: Any, data: dict[str, Any], metadata: dict[str, Any]) -> None:
    """Display a plotly figure without its own controls, under widgets that do the same.

    ``data`` and ``metadata`` are those of `figure_bundle`; the figure itself stays as it is.
    """
    import plotly.graph_objects as go

    live, words = go.Figure(fig), {"text/plain": data["text/plain"]}

    def drawn() -> dict[str, Any]:
        """The output alone: of a still picture, JupyterLab shows that until a mouse passes."""
        drawing = json.loads(live.to_json())
        drawing.pop("frames", None)
        return words | {PLOTLY: drawing}

    def choose(step: Any) -> None:
        stage.heard()
        _do(live, step)
        stage.show(drawn(), metadata)

    widgets = _widgets(live, choose)
    live.layout.sliders = live.layout.updatemenus = ()
    stage = Stage(widgets, drawn(), metadata)
