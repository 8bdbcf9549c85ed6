"""Cells: each shows its number in readable letters, the best is outlined, tiles are numbered."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from lessons_lib.plots.grids import pooled

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


def test_the_best_cell_of_a_table_of_layers_or_parameters_is_outlined():
    ax = draw("layer_pooling_heatmap", scores=TABLE, **POOLED).axes[0]
    assert texts(ax) == ["1.0", "2.0", "30.2", "4.0", "5.0", "6.0"] and outlined(ax) == [(1, 0)]
    assert tick_names(ax.xaxis) == ["[CLS]", "mean, all"] and ax.get_ylabel() == "layer"
    assert outlined(draw("parameter_map").axes[0]) == [(1, 2)]


def test_every_row_of_attention_is_outlined_where_it_looks_most():
    ax = draw("attention_map", weights=np.array([[0.2, 0.8], [0.9, 0.1]]), pieces="ab").axes[0]
    assert outlined(ax) == [(0, 1), (1, 0)]


def test_maps_of_poolings_share_their_colours_and_have_the_input_at_the_bottom():
    axes = draw("pooling_maps", panels={"a": TABLE, "b": TABLE[::-1] / 2}, **POOLED).axes
    assert {image.get_clim() for ax in axes for image in ax.images} == {(0.5, 30.25)}
    assert all(ax.images[0].origin == "lower" for ax in axes)
    assert [ax.get_title() for ax in axes] == ["a", "b"]
    assert [outlined(ax) for ax in axes] == [[(1, 0)], [(1, 0)]]


def test_a_cell_without_a_score_says_so_and_is_never_the_best():
    holes = np.where(np.eye(3, 2) == 1, np.nan, TABLE)
    ax = draw("pooling_maps", panels={"a": holes, "b": TABLE}, **POOLED).axes[0]
    assert texts(ax) == ["none", "2.0", "30.2", "none", "5.0", "6.0"]
    assert ax.images[0].get_clim() == (1.0, 30.25) and outlined(ax) == [(1, 0)]


def test_every_neighbour_stands_in_its_cell_and_a_hit_is_framed():
    rows = {"a": [("x", 0.9), ("y", 0.5)], "b": [("z", 0.4), ("x", 0.35)]}
    ax = draw("neighbour_grid", rows=rows, hits={"b": "x", "a": "nobody"}).axes[0]
    assert {text.get_text(): text.xy for text in ax.texts}["z"] == (0, 1)
    assert outlined(ax) == [(1, 1)]


def test_all_covariances_share_their_colours_and_large_ones_show_their_first_columns():
    fig = draw("covariance_maps", panels={"a": np.diag(np.arange(1.0, 101)), "b": np.eye(3)})
    first, second = (ax.images[0] for ax in fig.axes[:2])
    assert first.get_array().shape == (64, 64)
    assert first.get_clim() == second.get_clim() == (-64, 64)
    limited = draw("covariance_maps", panels={"b": np.eye(3)}, limit=2).axes[0].images[0]
    assert limited.get_clim() == (-2, 2)


def test_spy_counts_shows_each_cell_of_a_small_matrix_and_each_filled_block_of_a_large_one():
    rng = np.random.default_rng(0)
    small = sparse.random_array((20, 50), density=0.2, rng=rng, format="csr")
    image = draw("spy_counts", matrix=small).axes[0].images[0].get_array()
    assert ((image == 0) == (small.toarray() != 0)).all()
    large = sparse.random_array((1000, 5000), density=0.001, rng=rng, format="csr")
    assert pooled(large, 100, 100).sum() == large.nnz
    heading = draw("spy_counts", matrix=large).axes[0].get_title(loc="left")
    assert "0.1% of the cells are filled; a dot stands for a block" in heading


@pytest.mark.parametrize(("n", "block", "programs", "hatched"), [
    (70, 16, 15, 2), (64, 16, 10, 0), (5, 16, 1, 2), (17, 16, 3, 2)])
def test_every_tile_of_the_upper_triangle_is_numbered_once_and_padding_is_hatched(
        n, block, programs, hatched):
    ax = draw("tile_map", n=n, block=block).axes[0]
    assert [int(text) for text in texts(ax) if text.isdigit()] == list(range(programs))
    assert sum(patch.get_hatch() is not None for patch in ax.patches) == hatched


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
