"""What holds for every measure of the room: how it answers bad tables, and that neither layout nor
type of the numbers shows.
"""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
import torch

from lessons_lib import isotropy

COUNTS = np.arange(60, 0, -1)
LABELS = np.arange(60) % 7
MEASURES = {
    "anisotropy": lambda x: list(vars(isotropy.anisotropy(x, counts=COUNTS[:len(x)])).values()),
    "cone": lambda x: isotropy.cone(x).points, "cone_angle": isotropy.cone_angle,
    "cosine_contributions": isotropy.cosine_contributions,
    "cosine_regulariser": isotropy.cosine_regulariser, "effective_rank": isotropy.effective_rank,
    "estimated_metric": lambda x: isotropy.estimated_metric(x)[1],
    "isoscore": isotropy.isoscore, "knn_by_frequency": lambda x: isotropy.knn_by_frequency(
        x, COUNTS[:len(x)], edges=(0, 20, 60)).distances, "mean_cosine": isotropy.mean_cosine,
    "norm_by_frequency": lambda x: isotropy.norm_by_frequency(x, COUNTS[:len(x)]).norms,
    "partition_isotropy": isotropy.partition_isotropy,
    "participation_ratio": isotropy.participation_ratio,
    "random_cosines": lambda x: isotropy.random_cosines(x, 40),
    "rogue_dimensions": lambda x: isotropy.rogue_dimensions(x).shares,
    "self_similarity": lambda x: isotropy.self_similarity(x, isotropy.group_rows(LABELS[:len(x)])),
    "intra_sentence_similarity": lambda x: isotropy.intra_sentence_similarity(
        x, isotropy.group_rows(LABELS[:len(x)])),
    "maximum_explainable_variance": lambda x: isotropy.maximum_explainable_variance(
        x, isotropy.group_rows(LABELS[:len(x)])), "singular_values": isotropy.singular_values,
    "standardise": isotropy.standardise, "top_share": isotropy.top_share,
    "whitening": lambda x: isotropy.Whitening().fit(x).transform(x)
}
ONE_ROW_IS_ENOUGH = {"cone_angle", "effective_rank", "partition_isotropy", "participation_ratio",
                     "self_similarity", "intra_sentence_similarity", "maximum_explainable_variance",
                     "singular_values", "top_share"}
SCALE_FREE = set(MEASURES) - {"anisotropy", "cone", "estimated_metric", "knn_by_frequency",
                              "norm_by_frequency", "partition_isotropy", "singular_values",
                              "standardise", "whitening"}


@pytest.fixture(params=MEASURES)
def measure(request):
    return MEASURES[request.param]


@pytest.fixture
def x(cloud):
    return cloud(60, 8, mean=0.3)


def test_V01_nan_names_the_first_row_and_how_many(measure, x):
    for bad in (np.nan, np.inf):
        x[[3, 50], 2] = bad
        with pytest.raises(
                ValueError,
                match=r"(x|vectors|table)\[3\] holds NaN or infinity \(2 of 60 rows do\)"):
            measure(x)


def test_V06_one_axis_where_two_are_needed(measure, x):
    with pytest.raises(ValueError,
                       match=r"has shape \(60,\); expected 2 axes. For one row pass \w+\[None\]"):
        measure(x[:, 0])
    with pytest.raises(ValueError, match="expected >= 1 column"):
        measure(x[:, :0])


def test_V07_text_and_objects_are_refused_and_integers_converted(measure, x):
    for bad in (x.astype(str), x.astype(object), x.astype(complex)):
        with pytest.raises(TypeError, match="expected real numbers"):
            measure(bad)
    whole = np.round(10 * x)
    assert np.array_equal(measure(whole.astype(np.int64)), measure(whole))


@pytest.mark.parametrize("name", MEASURES)
def test_V08_half_precision_is_taken_as_the_numbers_it_holds(name, x):
    half = x.astype(np.float16)
    # which hand out float32
    rough = {"cosine_regulariser", "mean_cosine", "rogue_dimensions", "standardise", "anisotropy",
             "whitening"}
    assert MEASURES[name](half) == pytest.approx(MEASURES[name](half.astype(np.float64)),
                                                 abs=1e-5 if name in rough else 1e-12)
    brain = torch.from_numpy(x).bfloat16().requires_grad_()
    assert MEASURES[name](brain) == pytest.approx(MEASURES[name](brain.detach().double().numpy()),
                                                  abs=1e-5 if name in rough else 1e-12)


def test_V09_no_memory_layout_shows_and_nothing_is_written(measure, x, tmp_path):
    before, expected = x.copy(), measure(x)
    np.save(tmp_path / "x.npy", x)
    views = [np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], x[::-1].copy()[::-1],
             x.astype(">f8"), np.load(tmp_path / "x.npy", mmap_mode="r")]
    for view in views:
        view.flags.writeable = False
        assert np.array_equal(measure(view), expected)
    assert np.array_equal(x, before)


@pytest.mark.parametrize("name", MEASURES)
def test_V23_blocks_give_the_figure_of_the_whole(name, x, request):
    whole = MEASURES[name](x)
    request.getfixturevalue("small_blocks")
    assert MEASURES[name](x) == pytest.approx(whole, abs=1e-5 if name == "whitening" else 1e-11)


@pytest.mark.parametrize("name", sorted(SCALE_FREE))
@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_V04_huge_and_tiny_numbers_give_the_same_figure(name, scale, x):
    assert MEASURES[name](scale * x) == pytest.approx(MEASURES[name](x), abs=1e-9)


@pytest.mark.parametrize("name", sorted(set(MEASURES) - ONE_ROW_IS_ENOUGH))
def test_V21_fewer_than_two_vectors_are_refused(name, x):
    with pytest.raises(ValueError, match=r"has 1 rows; expected >= 2"):
        MEASURES[name](x[:1])


@pytest.mark.parametrize("name", sorted(ONE_ROW_IS_ENOUGH))
def test_V21_no_vector_is_refused_and_one_is_measured(name, x):
    with pytest.raises(ValueError, match=r"has 0 rows; expected >= 1|labels has shape \(0,\)"):
        MEASURES[name](x[:0])
    assert np.isfinite(MEASURES[name](x[:1])).all()


@pytest.mark.parametrize("name", sorted(set(MEASURES) - {
    "cone", "cone_angle", "anisotropy", "isoscore", "estimated_metric", "whitening"}))
def test_V02_a_table_of_zeros_gives_finite_figures(name):
    assert np.isfinite(MEASURES[name](np.zeros((60, 4)))).all()


# ------------------------------------------------------------------------------ all at once


def test_every_figure_is_that_of_its_own_function(cloud):
    x = cloud(80, 6, mean=0.4)
    found, rogue = isotropy.anisotropy(x), isotropy.rogue_dimensions(x)
    expected = {
        "n": 80, "dim": 6, "mean_cosine": rogue.mean_cosine, "standardised": rogue.standardised,
        "top_share": isotropy.top_share(x), "angle": isotropy.cone_angle(x),
        "effective_rank": isotropy.effective_rank(x), "isoscore": isotropy.isoscore(x),
        "partition": isotropy.partition_isotropy(x), "rogue_share": rogue.shares.sum(),
        "mean_norm": np.linalg.norm(x, axis=1).mean(), "norm_frequency": None
    }
    assert asdict(found) == {name: pytest.approx(value, abs=1e-12) if value is not None else None
                             for name, value in expected.items()}


def test_counts_choose_the_rows_of_every_figure(cloud):
    x, counts = cloud(80, 6, mean=0.4), np.arange(1, 81)
    more = np.vstack([100 * cloud(3, 6, seed=5), x, -50 * np.ones((2, 6))])
    found = isotropy.anisotropy(more, counts=np.concatenate([[999] * 3, counts, [0, 0]]),
                                exclude=[0, 1, 2])
    alone = isotropy.anisotropy(x[::-1], counts=counts[::-1])
    assert asdict(found) == {name: pytest.approx(value, abs=1e-10)
                             for name, value in asdict(alone).items()} and found.n == 80
    assert found.norm_frequency == pytest.approx(
        np.corrcoef(np.linalg.norm(x, axis=1), np.log(counts))[0, 1], abs=1e-12)


def test_an_isotropic_cloud_and_a_cone_differ_in_every_figure(cloud):
    even, narrow = (isotropy.anisotropy(cloud(3000, 10, mean=m)) for m in (0.0, 3.0))
    assert abs(even.mean_cosine) < 0.01 < 0.85 < narrow.mean_cosine
    assert even.top_share < 0.12 and narrow.top_share > 0.85
    assert even.angle > 80 and narrow.angle < 30
    assert even.effective_rank > 9.9 and narrow.effective_rank < 8
    assert even.partition > 0.8 and narrow.partition < 0.01
    # which looks at the spread around the mean alone
    assert even.isoscore > 0.98 and narrow.isoscore > 0.98
    assert abs(narrow.standardised) < 0.01
