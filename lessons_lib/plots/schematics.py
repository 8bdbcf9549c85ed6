"""Schematics of methods: boxes, arrows, vectors as strips of cells, matrices, masks and plates.

All places are in inches from the lower left corner, so letters and marks keep their proportions.
`Schematic.draw` refuses a label that lies on a mark, an arrow that runs under a label or through a
box, and what leaves the page. Used by every lesson for the picture of its method.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import check_array
from .labels import CENTRED, checked_title
from .primitives import arrow, readable_on, rectangle, same_length
from .style import BLACK, BLUE, GREY, PALE, VERMILLION, plain, styled, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.text import Text

__all__ = ["Part", "Schematic"]

Place = tuple[float, float]
SIZE = 10.5                                       # points of all letters
GAP = 0.06                                        # between an arrow and what it points at
MARGIN = 0.1                                      # between a text and the edge of its box
NAME_GAP, NAME_ABOVE = 0.1, 0.17                  # of a name beside its part, and above it
CELL = 0.22                                       # side of a cell of a vector
TITLE_HEIGHT = 0.42                               # of one line
TITLE_CHARS_PER_INCH = 9


@dataclass(frozen=True)
class Part:
    """A thing of a schematic that arrows can join, by its centre and size in inches.

    Parameters
    ----------
    name : str
    x, y : float
    width, height : float
    round : bool, default False
    names : tuple of float, default zeros
        Inches that names take left, right, below and above it: arrows end before them.
    """

    name: str
    x: float
    y: float
    width: float
    height: float
    round: bool = False
    names: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)

    @property
    def corners(self) -> np.ndarray:
        """Lower left and upper right corner, (2, 2)."""
        half = np.array([self.width, self.height]) / 2
        return np.array([self.x, self.y]) + np.array([-half, half])

    def edge(self, towards: Place) -> Place:
        """Say where an arrow that comes from a place ends: a little before the part.

        Parameters
        ----------
        towards : (x, y)

        Returns
        -------
        (x, y)
        """
        centre = np.array([self.x, self.y])
        way = np.array(towards) - centre
        length = float(np.hypot(*way))
        if self.round:
            share = self.width / 2 / length
        else:
            left, right, below, above = self.names
            half = np.array([self.width, self.height]) / 2
            half += (left if way[0] < 0 else right, below if way[1] < 0 else above)
            share = float(np.min(half / np.maximum(np.abs(way), 1e-9)))
        return tuple(centre + way * (share + GAP / length))


def _shade(colour: str, share: float) -> tuple[float, ...]:
    """A colour mixed with white: 0 is white, 1 the colour."""
    from matplotlib.colors import to_rgb

    return tuple(1 - share * (1 - channel) for channel in to_rgb(colour))


def _touch(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two rectangles, (2, 2) each, share some of their area."""
    return bool((np.minimum(a[1], b[1]) - np.maximum(a[0], b[0]) > 0.01).all())


def _crosses(begin: np.ndarray, end: np.ndarray, corners: np.ndarray) -> bool:
    """Whether a line passes through a rectangle."""
    places = begin + np.linspace(0, 1, 200)[:, None] * (end - begin)
    return bool(((places > corners[0]) & (places < corners[1])).all(axis=1).any())


class Schematic:
    """A drawing of a method, part by part.

    Parameters
    ----------
    width, height : float
        Of the drawing in inches; a notebook shows 7.2 across at full size.
    title : str, default ""
        What the picture says.

    Examples
    --------
    >>> s = Schematic(5, 1.5, title="A text becomes a vector")
    >>> text, vector = s.box("A dog runs.", 1, 0.7), s.strip([0.2, 0.9, 0.5], 4, 0.7)
    >>> s.arrow(text, vector, "encode")
    >>> fig = s.draw()
    """

    def __init__(self, width: float, height: float, *, title: str = ""):
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import PlaceHolderLayoutEngine

        text = wrapped(checked_title(title), width=int(width * TITLE_CHARS_PER_INCH))
        above = TITLE_HEIGHT * 0.6 * (text.count("\n") + 1.6) if text else 0.0
        with styled():
            # without any engine, saving in the course's look would lay the drawing out anew
            engine = PlaceHolderLayoutEngine(adjust_compatible=True, colorbar_gridspec=True)
            self._fig = Figure(figsize=(width, height + above), layout=engine)
            self._ax = self._fig.add_axes((0, 0, 1, height / (height + above)))
            self._ax.set(xlim=(0, width), ylim=(0, height))
            self._ax.axis("off")
            if text:
                self._fig.suptitle(text, x=0.1 / width, y=1 - 0.08 / (height + above), ha="left",
                                   va="top", fontweight="bold", fontsize=13)
        self._page = np.array([[0.0, 0.0], [width, height]])
        self._parts: list[Part] = []
        self._inner: list[tuple[Text, Part]] = []
        self._labels: list[Text] = []
        self._arrows: list[tuple[str, np.ndarray, tuple[Part, Part]]] = []

    def _text(self, text: str, x: float, y: float, colour: str, **look: Any) -> Text:
        with styled():
            return self._ax.text(x, y, text, color=colour, **({"fontsize": SIZE} | CENTRED | look))

    def _extent(self, text: Text) -> np.ndarray:
        """The rectangle of a text in inches, (2, 2)."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        box = text.get_window_extent(FigureCanvasAgg(self._fig).get_renderer())
        return np.array(box.get_points()) / self._fig.dpi

    def _part(self, name: str, x: float, y: float, width: float, height: float, *,
              round: bool = False) -> Part:
        self._parts.append(Part(name, x, y, width, height, round))
        return self._parts[-1]

    def label(self, text: str, x: float, y: float, *, colour: str = BLACK,
              align: str = "center", bold: bool = False) -> Place:
        """Write words that belong to no box.

        Parameters
        ----------
        text : str
            Formulas between dollar signs.
        x, y : float
        colour : str, default black
        align : {"center", "left", "right"}, default "center"
            Which part of the words stands at x.
        bold : bool, default False

        Returns
        -------
        (width, height)
            Of the words, in inches.
        """
        self._labels.append(self._text(text, x, y, colour, ha=align,
                                       fontweight="bold" if bold else "normal"))
        return tuple(np.diff(self._extent(self._labels[-1]), axis=0)[0])

    def box(self, text: str, x: float, y: float, *, width: float | None = None,
            height: float | None = None, colour: str = BLUE, filled: bool = False) -> Part:
        """Draw a box with words around a centre.

        Parameters
        ----------
        text : str
        x, y : float
        width, height : float, optional
            None: as the words need it.
        colour : str, default blue
        filled : bool, default False
            White words on the colour.

        Returns
        -------
        Part
        """
        from matplotlib.patches import FancyBboxPatch

        words = self._text(text, x, y, readable_on(_shade(colour, 1)) if filled else colour)
        needed = np.diff(self._extent(words), axis=0)[0] + 2 * MARGIN
        part = self._part(text, x, y, width or needed[0], height or needed[1])
        left, low = part.corners[0]
        self._ax.add_patch(FancyBboxPatch(
            (left, low), part.width, part.height, boxstyle="round,pad=0,rounding_size=0.08",
            ec=colour, fc=colour if filled else "white", lw=1.5, zorder=0.5))
        self._inner.append((words, part))
        return part

    def node(self, text: str, x: float, y: float, *, observed: bool = False,
             colour: str = BLACK, size: float = 0.6) -> Part:
        """Draw a circle of a plate diagram: a random variable.

        Parameters
        ----------
        text : str
        x, y : float
        observed : bool, default False
            Grey inside.
        colour : str, default black
        size : float, default 0.6
            Its diameter.

        Returns
        -------
        Part
        """
        from matplotlib.patches import Circle

        self._ax.add_patch(Circle((x, y), size / 2, ec=colour, fc=PALE if observed else "white",
                                  lw=1.5, zorder=0.5))
        part = self._part(text, x, y, size, size, round=True)
        self._inner.append((self._text(text, x, y, colour), part))
        return part

    def plate(self, x: float, y: float, width: float, height: float, text: str, *,
              colour: str = GREY) -> None:
        """Draw a frame around what is repeated, with how often in its lower right corner.

        Parameters
        ----------
        x, y : float
            The centre.
        width, height : float
        text : str
            "N words"
        colour : str, default grey
        """
        left, low = x - width / 2, y - height / 2
        self._ax.add_patch(rectangle(left, low, width, height, fill=False, ec=colour, lw=1.3,
                                     zorder=0.2))
        self._labels.append(self._text(text, left + width - 0.08, low + 0.07, colour, ha="right",
                                       va="bottom"))

    def strip(self, values: Sequence[float], x: float, y: float, *, hidden: Sequence[int] = (),
              upright: bool = False, colour: str = BLUE, label: str = "") -> Part:
        """Draw a vector as a strip of cells, the darker the larger the number.

        Parameters
        ----------
        values : sequence of float
        x, y : float
        hidden : sequence of int, default ()
            Places that a mask sets to zero: white with a cross.
        upright : bool, default False
            A column instead of a row.
        colour : str, default blue
        label : str, default ""
            Its name: right of a row, above a column.

        Returns
        -------
        Part
        """
        values = check_array("values", values, ndim=1, min_rows=1)
        mask = np.isin(np.arange(len(values)), hidden)
        grid = (values[:, None], mask[:, None]) if upright else (values[None], mask[None])
        part = self.matrix(grid[0], x, y, hidden=grid[1], cell=CELL, colour=colour,
                           name=label or "vector")
        if label and upright:
            self.label(label, x, part.corners[1, 1] + NAME_ABOVE, colour=colour)
            return self._named(part, above=2 * NAME_ABOVE)
        if label:
            wide, _ = self.label(label, part.corners[1, 0] + NAME_GAP, y, colour=colour,
                                 align="left")
            return self._named(part, right=wide + NAME_GAP)
        return part

    def _named(self, part: Part, *, left: float = 0.0, right: float = 0.0,
               above: float = 0.0) -> Part:
        """The last part, with names beside it."""
        self._parts[-1] = replace(part, names=(left, right, 0.0, above))
        return self._parts[-1]

    def matrix(self, values: np.ndarray, x: float, y: float, *, cell: float = 0.5,
               texts: Sequence[Sequence[str]] | None = None, rows: Sequence[str] = (),
               columns: Sequence[str] = (), hidden: np.ndarray | None = None, colour: str = BLUE,
               name: str = "matrix") -> Part:
        """Draw a table of cells: numbers above 0 in a colour, below 0 in vermillion, 0 white.

        Parameters
        ----------
        values : array, shape (n, m)
        x, y : float
            The centre of the cells.
        cell : float, default 0.5
            Side of a cell.
        texts : (n, m) str, optional
            What stands in the cells.
        rows, columns : sequence of str, default ()
            Names, left of the cells and above them.
        hidden : array of bool, shape (n, m), optional
            A mask: these cells are white with a cross.
        colour : str, default blue
        name : str, default "matrix"
            For messages.

        Returns
        -------
        Part
        """
        values = check_array("values", values, ndim=2, min_rows=1).astype(float)
        if rows:
            same_length(values=values, rows=rows)
        if columns:
            same_length(**{"columns of values": values.T, "columns": columns})
        masked = np.zeros(values.shape, bool) if hidden is None else np.asarray(hidden, bool)
        n, m = values.shape
        part = self._part(name, x, y, m * cell, n * cell)
        left, top = part.corners[0, 0], part.corners[1, 1]
        reach = np.abs(values).max() or 1.0
        for (i, j), value in np.ndenumerate(values):
            fill = _shade(colour if value >= 0 else VERMILLION, abs(value) / reach)
            at = (left + j * cell, top - (i + 1) * cell)
            self._ax.add_patch(rectangle(*at, cell, cell, ec=GREY, lw=0.8, zorder=0.5,
                                         fc="white" if masked[i, j] else fill))
            if masked[i, j]:
                ends = np.array([0.25, 0.75]) * cell
                self._ax.plot(at[0] + ends, at[1] + ends, "-", color=GREY, lw=1)
                self._ax.plot(at[0] + ends, at[1] + ends[::-1], "-", color=GREY, lw=1)
            elif texts is not None:
                inside = Part(f"cell {texts[i][j]!r}", at[0] + cell / 2, at[1] + cell / 2, cell,
                              cell)
                words = self._text(texts[i][j], inside.x, inside.y, readable_on(fill), fontsize=10)
                self._inner.append((words, inside))
        wide = [self.label(text, left - NAME_GAP, top - (i + 0.5) * cell, align="right")[0]
                for i, text in enumerate(rows)]
        for j, text in enumerate(columns):
            self.label(text, left + (j + 0.5) * cell, top + NAME_ABOVE)
        return self._named(part, left=max(wide, default=-NAME_GAP) + NAME_GAP,
                           above=2 * NAME_ABOVE if columns else 0.0)

    def arrow(self, begin: Part, end: Part, label: str = "", *, colour: str = GREY,
              via: Sequence[Place] = ()) -> None:
        """Draw an arrow from one part to another, with words beside it.

        Parameters
        ----------
        begin, end : Part
        label : str, default ""
            Above a level arrow, right of a steep one.
        colour : str, default grey
        via : sequence of (x, y), default ()
            Corners of an arrow that goes round something.
        """
        inner = [tuple(map(float, place)) for place in via]
        first, last = (inner[0], inner[-1]) if inner else ((end.x, end.y), (begin.x, begin.y))
        places = np.array([begin.edge(first), *inner, end.edge(last)])
        self._ax.plot(*places[:-1].T, "-", color=colour, lw=1.5, solid_capstyle="butt")
        arrow(self._ax, places[-2], places[-1], colour, lw=1.5)
        self._arrows.append((f"{begin.name} → {end.name}", places, (begin, end)))
        if label:
            k = int(np.argmax(np.hypot(*np.diff(places, axis=0).T)))
            (x, y), (dx, dy) = places[k : k + 2].mean(axis=0), places[k + 1] - places[k]
            level = abs(dx) >= abs(dy)
            # above the line where it passes, however much it slopes
            self.label(label, x + (0 if level else 0.12),
                       y + (NAME_ABOVE + abs(dy) / 6 if level else 0),
                       colour=colour, align="center" if level else "left")

    def _faults(self) -> Iterator[str]:
        """What is in the way of what, in words."""
        labels = [(plain(text.get_text()), self._extent(text)) for text in self._labels]
        inner = [(plain(text.get_text()), self._extent(text), part) for text, part in self._inner]
        for name, extent, part in inner:
            if not (extent[0] > part.corners[0]).all() or not (extent[1] < part.corners[1]).all():
                yield f"{name!r} does not fit into its {part.width:.2f} × {part.height:.2f} inches"
        for name, extent in [*labels, *((part.name, part.corners) for part in self._parts)]:
            if (extent[0] < self._page[0]).any() or (extent[1] > self._page[1]).any():
                yield f"{name!r} leaves the page of {self._page[1, 0]} × {self._page[1, 1]} inches"
        for a, b in combinations(self._parts, 2):
            if _touch(a.corners, b.corners):
                yield f"{a.name!r} and {b.name!r} overlap"
        for k, (name, extent) in enumerate(labels):
            yield from (f"the label {name!r} lies on {part.name!r}" for part in self._parts
                        if _touch(extent, part.corners))
            yield from (f"the labels {name!r} and {other!r} overlap"
                        for other, place in labels[:k] if _touch(extent, place))
        for way, places, ends in self._arrows:
            things = [(f"the label {name!r}", extent) for name, extent in labels]
            things += [(repr(part.name), part.corners) for part in self._parts if part not in ends]
            yield from (f"the arrow {way} runs through {name}" for name, corners in things
                        if any(_crosses(*line, corners) for line in pairwise(places)))

    def draw(self) -> Figure:
        """Give the figure, for `lesson.show` or `plots.save`.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ValueError
            Where something covers something else, does not fit, or leaves the page: all of it.
        """
        if faults := list(self._faults()):
            raise ValueError("the schematic cannot be read: " + "; ".join(faults) + ". Move them, "
                             "or make the page larger")
        return self._fig
