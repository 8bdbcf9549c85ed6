"""Figures about anisotropy: lengths with their line, cones with their sector, bars by rank, spectra on log axes."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import isotropy, plots

from .conftest import FINDING

RNG = np.random.default_rng(0)
CLOUD = RNG.normal(size=(300, 2))


def bars(edges=((0, 100), (100, 500)), distances=((1.0, 2.0), (3.0, 4.0)), dots=((4.0, 3.0), (2.0, 1.0)), ks=(3, 5)):
    return plots.knn_by_frequency(edges, distances, dots, ks=ks, title=FINDING)


def test_few_words_are_dots_and_many_are_densities_with_the_line_on_top():
    counts, lengths = np.arange(1.0, 3001), np.linspace(3, 1, 3000)
    few, many = plots.norm_by_frequency({"few": (counts[:50], lengths[:50]), "many": (counts, lengths)}, title=FINDING).axes
    assert len(few.collections) == 0 and len(few.lines[0].get_xdata()) == 50 and len(many.collections) == 1
    middle, mean, _ = isotropy.binned_means(counts, lengths)
    line = many.lines[-1]
    assert np.allclose(line.get_data(), [np.log10(middle), mean])
    assert [tick.get_text() for tick in many.get_xticklabels()] == ["1", "10", "100", "1 k"]


def test_the_heading_has_the_correlation_of_length_and_log_count():
    counts = np.array([1.0, 10, 100])
    ax = plots.norm_by_frequency({"falling": (counts, 5 - np.log(counts))}, title=FINDING).axes[0]
    assert ax.get_title() == "falling (r = −1.00)"
    assert plots.norm_by_frequency({"even": (counts, np.ones(3))}, title=FINDING).axes[0].get_title() == "even (r = 0.00)"


def test_the_origin_is_in_the_middle_of_every_cone_and_the_sector_is_that_of_the_points():
    shifted = CLOUD + 4
    left, right = plots.cone({"around": CLOUD, "cone": shifted}, title=FINDING).axes
    for ax, points in ((left, CLOUD), (right, shifted)):
        assert ax.get_xlim()[0] == -ax.get_xlim()[1] == ax.get_ylim()[0] and ax.get_aspect() == 1
        begin, width = isotropy.narrowest_sector(points)
        assert f"95% within {width:.0f}°" in ax.get_title()
        if width <= 180:
            assert (ax.patches[0].theta1, ax.patches[0].theta2) == pytest.approx((begin, begin + width))
    assert len(right.patches) == 1 and not left.patches                     # more than half a turn is no cone


def test_marked_points_have_another_colour_and_a_name():
    fig = plots.cone({"all": CLOUD}, title=FINDING, marked={"all": np.arange(300) < 20}, marked_name="20 words")
    drawn = {len(line.get_xdata()): line.get_color() for line in fig.axes[0].lines if len(line.get_xdata()) > 2}
    assert set(drawn) == {280, 20} and drawn[280] != drawn[20]
    assert [text.get_text() for text in fig.legends[0].get_texts()] == ["words", "20 words"]


def test_of_many_points_a_sample_is_drawn_and_three_panels_stay_readable(tmp_path):
    many = RNG.normal(size=(20_000, 2)) + 2
    fig = plots.cone({"random": many - 2, "trained": many, "skip-gram": many - 1}, title=FINDING)
    assert len(fig.axes) == 3 and plots.count_marks(fig) < 2 * plots.MAX_MARKS
    fig.draw_without_rendering()
    assert min(text.get_fontsize() for ax in fig.axes for text in (ax.title, ax.xaxis.label, *ax.texts)) >= 10
    assert plots.save(fig, tmp_path / "cone", "Three scatter plots of words around the origin").stat().st_size < plots.MAX_BYTES


def test_bars_stand_at_their_bins_one_for_each_k():
    fig = bars()
    for ax, values in zip(fig.axes, ([1, 3, 2, 4], [4, 2, 3, 1]), strict=True):
        assert [bar.get_height() for bar in ax.patches] == values
        assert [tick.get_text() for tick in ax.get_xticklabels()] == ["≤ 100", "≤ 500"]
    assert [text.get_text() for text in fig.legends[0].get_texts()] == ["k = 3", "k = 5"]


def test_spectra_start_at_1_on_log_axes_and_zeros_are_left_out():
    ax = plots.singular_spectrum({"a": [4.0, 2.0, 1.0], "b": [5.0, 1.0, 0.0]}, title=FINDING).axes[0]
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert [line.get_ydata().tolist() for line in ax.lines[:2]] == [[1, 0.5, 0.25], [1, 0.2]]
    assert [text.get_text() for text in ax.texts] == ["a", "b"]


@pytest.mark.parametrize(("call", "said"), [
    (lambda: plots.norm_by_frequency({}, title="x"), "panels holds 0 pictures"),
    (lambda: plots.norm_by_frequency({"a": ([0, 1], [1, 2])}, title="x"), "x > 0"),
    (lambda: plots.norm_by_frequency({"a": ([1, 2], [1, 2, 3])}, title="x"), "expected as many"),
    (lambda: plots.cone({str(k): CLOUD for k in range(4)}, title="x"), "panels holds 4 pictures; expected 1 to 3"),
    (lambda: plots.cone({"a": CLOUD}, title="x", marked={"a": [True]}), "marked\\['a'\\] has 1 values for 300"),
    (lambda: plots.cone({"a": CLOUD}, title="x", share=2), "share=2"),
    (lambda: bars(ks=(3,)), "for 1 numbers of neighbours"),
    (lambda: bars(edges=((0, 100, 3), (1, 2, 3))), "expected \\(bins, 2\\)"),
    (lambda: plots.singular_spectrum({"a": [1.0, 2.0]}, title="x"), "'a' no singular values"),
    (lambda: plots.singular_spectrum({}, title="x"), "curves holds 0 lines"),
])
def test_V_what_does_not_fit_is_named(call, said):
    with pytest.raises(ValueError, match=said):
        call()
