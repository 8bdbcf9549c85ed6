"""Points: each is drawn once at its place, groups have names, origins and areas are true."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.text import Text

from lessons_lib import isotropy, plots
from lessons_lib.plots.points import CORNERS
from lessons_lib.plots.primitives import group_looks

from .conftest import P, draw, texts, tick_names

CLOUD = np.random.default_rng(0).normal(size=(300, 2))
WAY = np.array([[0.0, 0.0], [0.5, 0.5], [2.0, 1.0]])
PLANE = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
FRAMES = np.random.default_rng(0).normal(size=(3, 12, 2)) * np.array([1, 2, 3])[:, None, None]
TRAINING = {"frames": FRAMES, "labels": ["noun", "verb", "<b>"] * 4,
            "steps": ["0 tokens", "half", "all"]}


def test_groups_differ_in_colour_or_marker_up_to_twenty():
    looks = group_looks([f"g{k}" for k in range(20)]).values()
    assert len({(colour, marker) for colour, marker, _ in looks}) == 20
    eight = group_looks(range(8)).values()
    assert len({colour for colour, _, _ in eight}) == len({mark for _, mark, _ in eight}) == 8


def test_document_map_draws_every_point_once_and_names_every_group():
    ax = draw("document_map", labels=["$a$", "b", "c"] * 20, names={4: "the one"}).axes[0]
    drawn = np.concatenate([line.get_xydata() for line in ax.lines[:3]])
    assert sorted(map(tuple, drawn)) == sorted(map(tuple, P))
    assert texts(ax) == [r"\$a\$", "b", "c", "the one"]


def test_names_of_groups_that_lie_on_each_other_are_moved_apart():
    ax = draw("document_map", points=np.zeros((6, 2)), labels=list("abcabc"), names=None).axes[0]
    assert (np.diff(sorted(text.xyann[1] for text in ax.texts)) >= 13).all()


def test_the_panels_of_a_training_show_two_moments_on_the_same_axes():
    left, right = draw("training_panels", shapes=None, **TRAINING).axes
    assert [left.get_title(), right.get_title()] == ["0 tokens", "all"]
    assert left.get_xlim() == right.get_xlim()
    drawn = np.vstack([line.get_xydata() for line in right.lines if len(line.get_xdata())])
    assert np.allclose(np.sort(drawn, axis=0), np.sort(FRAMES[2], axis=0), atol=1e-5)


def test_the_legend_of_a_training_has_labels_and_shapes():
    fig = draw("training_panels", shapes=["round", "square"] * 6, **TRAINING)
    names = [text.get_text() for text in fig.legends[0].get_texts()]
    assert names == ["noun", "verb", "<b>", "round", "square"]


def test_the_origin_is_in_the_middle_of_every_cone_and_the_sector_is_that_of_the_points():
    clouds = {"around": CLOUD, "cone": CLOUD + 4}
    axes = draw("cone", panels=clouds, marked=None).axes
    for ax, points in zip(axes, clouds.values(), strict=True):
        assert ax.get_xlim()[0] == -ax.get_xlim()[1] == ax.get_ylim()[0] and ax.get_aspect() == 1
        begin, width = isotropy.narrowest_sector(points)
        assert f"95% within {width:.0f}°" in ax.get_title()
        for wedge in ax.patches:
            assert (wedge.theta1, wedge.theta2) == pytest.approx((begin, begin + width))
    assert [len(ax.patches) for ax in axes] == [0, 1]     # more than half a turn is no cone


def test_marked_points_of_a_cone_have_another_colour_and_a_name():
    fig = draw("cone", panels={"all": CLOUD}, marked={"all": np.arange(300) < 20},
               marked_name="20 words")
    drawn = {len(line.get_xdata()): line.get_color() for line in fig.axes[0].lines}
    assert drawn[280] != drawn[20]
    assert [text.get_text() for text in fig.legends[0].get_texts()] == ["words", "20 words"]


def test_of_many_points_a_sample_is_drawn_and_three_panels_stay_readable(tmp_path):
    many = np.random.default_rng(1).normal(size=(20_000, 2)) + 2
    fig = draw("cone", panels={"a": many - 2, "b": many, "c": many - 1}, marked=None)
    assert len(fig.axes) == 3 and plots.count_marks(fig) < 2 * plots.MAX_MARKS
    letters = [text for ax in fig.axes for text in (ax.title, ax.xaxis.label, *ax.texts)]
    assert min(text.get_fontsize() for text in letters) >= 10
    path = plots.save(fig, tmp_path / "cone", "Three scatter plots of words around the origin")
    assert path.stat().st_size < plots.MAX_BYTES


def test_every_step_of_whitening_has_the_same_scale_and_its_own_ellipse():
    cloud = np.random.default_rng(0).normal(size=(900, 2)) @ [[3, 0], [2, 1]] + 4
    left, right = draw("whitening_steps", panels={"before": cloud, "after": (cloud - 4) / 3},
                       marked=[5]).axes
    assert [left.get_title(), right.get_title()] == ["before", "after"]
    assert left.get_xlim() == right.get_xlim() and len(left.lines[0].get_xdata()) <= 400
    away, inverse = left.lines[1].get_xydata() - cloud.mean(axis=0), np.linalg.inv(np.cov(cloud.T))
    assert np.allclose(((away @ inverse) * away).sum(axis=1), 1)
    followed = next(line for line in right.lines if line.get_marker() == "^")
    assert np.allclose(followed.get_xydata(), (cloud[5] - 4) / 3)


@pytest.mark.parametrize("matrix", [[[1.0, 1.0], [0.0, 2.0]], [[0.0, 1.0], [1.0, 0.0]],
                                    [[1.0, 1.0], [1.0, 1.0]]])
def test_the_heading_of_a_moved_plane_has_the_determinant_as_signed_area(matrix):
    fig = draw("deformed_plane", move=lambda p: p @ np.array(matrix).T, headings=("z", "x"))
    area = f"{round(np.linalg.det(matrix), 2) + 0.0:.2f}".replace("-", "−")
    assert [ax.get_title() for ax in fig.axes] == ["z: signed area 1.00", f"x: signed area {area}"]


def test_signed_area_is_that_of_the_shape_wherever_it_lies():
    angle = np.linspace(0, 2 * np.pi, 2001)[:-1]
    circle = np.column_stack([np.cos(angle), np.sin(angle)]) * 3 + [10, -4]
    assert plots.signed_area(circle) == pytest.approx(9 * np.pi, rel=1e-5)
    assert plots.signed_area(circle[::-1]) == pytest.approx(-9 * np.pi, rel=1e-5)


def test_few_words_are_dots_and_many_are_densities_with_the_line_on_top():
    counts, norms = np.arange(1.0, 3001), np.linspace(3, 1, 3000)
    few, many = draw("norm_by_frequency", panels={"few": (counts[:50], norms[:50]),
                                                  "many": (counts, norms)}).axes
    assert len(few.collections) == 0 and len(few.lines[0].get_xdata()) == 50
    middle, mean, _ = isotropy.binned_means(counts, norms)
    assert len(many.collections) == 1
    assert np.allclose(many.lines[-1].get_data(), [np.log10(middle), mean])
    assert tick_names(many.xaxis) == ["1", "10", "100", "1 k"]


def test_an_arrow_points_against_the_gradient_and_pairs_without_a_pull_are_hollow():
    left, right = draw("pulls").axes
    (_, down), (_, up) = [text.xy for text in left.texts if text.arrow_patch is not None]
    assert down < 0.6 and up > 0.5 and np.isclose(0.6 - down, 2 * (up - 0.5))
    still = left.lines[-1]
    assert still.get_xdata().tolist() == [2, 3] and still.get_markerfacecolor() == "white"
    assert right.lines[0].get_linestyle() == "--" and "cosine = target" in texts(right)


ENCODERS = {f"encoder {k}": (-4 + 0.2 * k, 0.6 - 0.02 * k, 50.0 + k) for k in range(12)}


def test_every_encoder_stands_at_its_place_with_its_score_as_colour_and_its_name_once():
    ax = draw("plane_of_encoders", points=ENCODERS, marked=["encoder 3"]).axes[0]
    shown = np.column_stack([ax.collections[0].get_offsets(), ax.collections[0].get_array()])
    assert np.allclose(shown, list(ENCODERS.values())) and sorted(texts(ax)) == sorted(ENCODERS)
    ring = next(line for line in ax.lines if line.get_markersize() == 13)
    assert ring.get_xydata().tolist() == [list(ENCODERS["encoder 3"][:2])]


def test_names_do_not_cover_each_other_where_points_crowd():
    crowd = {f"method {k}": (-3.8 + 0.01 * k, 0.55 + 0.001 * k, 60.0) for k in range(8)}
    fig = draw("plane_of_encoders", points=crowd | {"far": (-0.2, 0.05, 50.0)}, marked=())
    fig.draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in fig.axes[0].texts]    # without its line
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])


@pytest.mark.parametrize(("limits", "extend"), [
    (None, "neither"), ((50, 61), "neither"), ((50, 58), "max"), ((52, 70), "min"),
    ((52, 58), "both")])
def test_scores_beyond_the_limits_of_the_colours_are_announced_at_the_scale(limits, extend):
    fig = draw("plane_of_encoders", points=ENCODERS, marked=(), score_limits=limits)
    bar = fig.axes[0].collections[0].colorbar
    assert bar.extend == extend and (bar.vmin, bar.vmax) == (limits or (50, 61))


def test_a_path_of_training_begins_hollow_and_ends_filled_with_its_name():
    ax = draw("plane_of_trainings").axes[0]
    way, begin, end = ax.lines[:3]
    assert way.get_xydata().tolist() == [[-1.7, 0.2], [-2.2, 0.25], [-2.6, 0.3]]
    assert begin.get_markerfacecolor() == "white" and end.get_xydata().tolist() == [[-2.6, 0.3]]
    assert texts(ax) == ["start weights", r"\$dropout\$", "none"]


def test_an_arrow_of_an_offset_goes_from_every_start_to_its_end():
    two = np.array([[0.0, 0.0], [1.0, 2.0]])
    ax = draw("offset_arrows", panels={"x": (two, two + 1, ["a", "b"], ["c", "d"])}).axes[0]
    arrows = [text for text in ax.texts if not text.get_text()]
    assert [arrow.xy for arrow in arrows] == [(1, 1), (2, 3)]
    assert [arrow.xyann for arrow in arrows] == [(0, 0), (1, 2)]


def places(ax, label: str) -> np.ndarray:
    return next(line for line in ax.lines if line.get_label() == label).get_xydata()


def test_the_posterior_shows_samples_their_mean_and_the_estimate_in_each_panel():
    samples = np.random.default_rng(0).dirichlet([1, 1, 1], size=50)
    short, long = draw("posterior_simplex", panels={
        "short": (samples, np.eye(3)[1]), "long": (samples, np.full(3, 1 / 3))}).axes
    assert [short.get_title(), long.get_title()] == ["short", "long"]
    assert np.allclose(places(short, "posterior samples"), samples @ CORNERS)
    assert np.allclose(places(short, "their mean"), samples.mean(axis=0) @ CORNERS)
    assert np.allclose(places(short, "point estimate"), CORNERS[1])
