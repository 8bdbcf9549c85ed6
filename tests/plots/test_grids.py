"""Cells: each shows its number in readable letters, the best is outlined, tiles are numbered."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import to_hex

from lessons_lib.plots.style import GREEN

from .colour_vision import linear
from .conftest import draw, texts, tick_names

TABLE = np.array([[1.0, 2.0], [30.25, 4.0], [5.0, 6.0]])
POOLED = {"layers": [0, 1, 2], "poolings": ["[CLS]", "mean, all"]}


def outlined(ax) -> list[tuple[int, int]]:
    """(row, column) of the cells with a frame."""
    return [(round(y + 0.44), round(x + 0.46)) for x, y in (box.get_xy() for box in ax.patches)]


def test_similarity_matrix_writes_every_cell_and_numbers_long_names():
    values = np.array([[1, 0.25], [0.25, 1]])
    ax = draw("similarity_matrix", values=values, labels=["a", "b"], outlined=[(1, 0)],
              axis_names=("word", "neighbour")).axes[0]
    assert texts(ax) == ["1.00", "0.25", "0.25", "1.00"] and outlined(ax) == [(1, 0)]
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("word", "neighbour")
    long = draw("similarity_matrix", values=values, labels=["a sentence " * 4, "b " * 20]).axes[0]
    assert tick_names(long.xaxis) == ["1", "2"]
    assert [name[:3] for name in tick_names(long.yaxis)] == ["1  ", "2  "]
    named = draw("similarity_matrix", values=values[:1], labels=["row"], columns=["x", "y"],
                 limits=None, form="{:.0f}").axes[0]
    assert tick_names(named.xaxis) == ["x", "y"] and texts(named) == ["1", "0"]


def test_every_cell_text_has_a_contrast_of_4_to_1_on_its_cell():
    values = np.linspace(0, 1, 14 * 14).reshape(14, 14)
    ax = draw("similarity_matrix", values=values, labels=[f"w{k}" for k in range(14)]).axes[0]
    for text, value in zip(ax.texts, values.ravel(), strict=True):
        red, green, blue, _ = ax.images[0].to_rgba(value, bytes=True)
        cell = linear(f"#{red:02x}{green:02x}{blue:02x}") @ (0.2126, 0.7152, 0.0722)
        ink = {"white": 1.0, "black": 0.0}[text.get_color()]
        assert (max(cell, ink) + 0.05) / (min(cell, ink) + 0.05) >= 4


def test_counts_are_white_at_zero_and_darkest_at_the_largest_number_of_their_row():
    ax = draw("count_table").axes[0]
    image = ax.images[0]
    assert texts(ax) == ["4", "0", "1", "200", "3", "0"]
    assert tick_names(ax.xaxis) == ["the", "moon", "law"]
    shades = image.to_rgba(image.get_array(), bytes=True)
    assert (shades[0, 1] == 255).all() and (shades[0, 0] == shades[1, 0]).all()


def test_a_column_is_lit_where_two_texts_share_its_word_and_such_columns_are_kept():
    words = [f"w{k}" for k in range(30)]
    ax = draw("overlap_rows", texts={"long": words, "short": ["w29", "w2", "new"]}).axes[0]
    lit = [to_hex(cell.get_facecolor()) for cell in ax.patches].count(GREEN.lower())
    names = [tick.get_text() for tick in ax.get_xticklabels()]
    assert lit == 4 and len(names) == 24 and {"w2", "w29"} <= set(names)
    assert ax.get_xlabel() == "31 columns, one for each distinct word (24 are drawn)"


def test_lanes_at_minus_infinity_are_crossed_out_and_not_coloured():
    values = np.zeros((8, 8))
    values[1, 2] = values[3, 3] = -np.inf
    ax = draw("tile_lanes", panels={"masked": values}).axes[0]
    x, y = ax.lines[0].get_data()
    assert list(zip(y, x, strict=True)) == [(1, 2), (3, 3)]
    assert np.isnan(ax.images[0].get_array().filled(np.nan)[1, 2])


def test_a_note_stands_in_the_first_square_at_its_row_and_column():
    panels = {"one": np.zeros((4, 4)), "two": np.zeros((4, 4))}
    first, second = draw("tile_lanes", panels=panels, rows=range(8, 12), cols=range(20, 24), n=99,
                         notes={"here": (9, 22)}).axes
    assert [text.xy for text in first.texts] == [(2, 1)] and not second.texts
