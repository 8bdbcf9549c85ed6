"""Whitening: what must hold of any whitening, the authors' program beside it, streams, tables that
cannot be whitened, files, and encoders.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.core import DamagedFile, DataWarning, Encoder, NotFittedError
from lessons_lib.isotropy import Whitening, cosine_under, estimated_metric
from lessons_lib.kernels import Moments
from lessons_lib.kernels.mean_covariance import cpu as products


def uneven(n: int, d: int, *, condition: float = 100.0, offset: float = 3.0,
           seed: int = 0) -> np.ndarray:
    """Rows whose variances run from 1 to 1 / condition along turned axes, around a mean of size
    ``offset``.
    """
    rng = np.random.default_rng(seed)
    turn, mean = np.linalg.qr(rng.normal(size=(d, d)))[0], offset * rng.normal(size=d)
    return (rng.normal(size=(n, d)) * condition ** (-np.linspace(0, 0.5, d))) @ turn + mean


def covariance(z: np.ndarray, ddof: int = 1) -> np.ndarray:
    return np.cov(z.T.astype(np.float64), ddof=ddof).reshape(z.shape[1], z.shape[1])


def unit(z: np.ndarray) -> np.ndarray:
    z = z.astype(np.float64)
    return z / np.linalg.norm(z, axis=1, keepdims=True)


def cosines(z: np.ndarray) -> np.ndarray:
    return unit(z) @ unit(z).T


def close(found: np.ndarray, expected: np.ndarray, tolerance: float = 0.0, *,
          rel: float = 0.0) -> bool:
    """``pytest.approx`` looks at one number at a time; tables are too large for that."""
    return (found.shape == expected.shape
            and bool((np.abs(found - expected) <= tolerance + rel * np.abs(expected)).all()))


@pytest.fixture
def x() -> np.ndarray:
    return uneven(300, 12)


@pytest.fixture
def few_rows_at_once(monkeypatch):
    """Blocks of seven rows of twelve numbers."""
    for module in ("principal", "whitening"):
        monkeypatch.setattr(f"lessons_lib.isotropy.{module}.BLOCK", 84)
    monkeypatch.setattr(products, "LONGEST", 7)


# ------------------------------------------------------------------------------ what whitening is


@given(n=st.integers(15, 80), d=st.integers(1, 12), kind=st.sampled_from(["pca", "zca"]),
       ddof=st.integers(0, 1), seed=st.integers(0, 1000))
def test_the_fitted_vectors_leave_with_mean_0_and_covariance_1(n, d, kind, ddof, seed):
    x = uneven(n, d, seed=seed)
    white = Whitening(kind=kind, ddof=ddof).fit(x)
    z = white.transform(x)
    assert z.dtype == np.float32 and z.shape == (n, white.dim) == (n, d)
    assert np.abs(z.mean(axis=0, dtype=np.float64)).max() < 1e-6
    assert close(covariance(z, ddof), np.eye(d), 1e-6)
    assert close(white.matrix_.T @ covariance(x, ddof) @ white.matrix_, np.eye(d), 1e-7)


@pytest.mark.parametrize("condition", [1e2, 1e4, 1e6])
@pytest.mark.parametrize("kind", ["pca", "zca"])
def test_float32_vectors_leave_with_covariance_1_too_however_uneven_they_were(condition, kind):
    x = uneven(4000, 64, condition=condition, offset=30.0).astype(np.float32)
    z = Whitening(kind=kind).fit(x).transform(x)
    assert close(covariance(z), np.eye(64), 2e-6)


def test_float32_products_are_taken_only_where_they_lose_nothing(x):
    even, steep = Whitening().fit(uneven(300, 12, condition=10)), Whitening().fit(
        uneven(300, 12, condition=1e5))
    assert [w._solve().forward.working(np.dtype(kind)) for w in (even, steep)
            for kind in ("f2", "f4", "f8")] == [np.float32, np.float32, np.float64, np.float64,
                                                np.float64, np.float64]
    exact = even.transform(x)
    assert close(even.transform(x.astype(np.float32)), exact, 3e-6 * np.abs(exact).max())


def test_the_numbers_are_those_of_the_authors_program(x):
    mean, u, s = x.mean(axis=0, keepdims=True), *np.linalg.svd(np.cov(x.T))[:2]
    kernel = u @ np.diag(1 / np.sqrt(s))
    for k in (12, 5):
        theirs = (x - mean) @ kernel[:, :k]
        theirs = theirs / np.clip((theirs**2).sum(axis=1, keepdims=True) ** 0.5, 1e-8, np.inf)
        ours = Whitening(k).fit(x).transform(x, normalize=True)
        assert close(ours @ ours.T, theirs @ theirs.T, 1e-6)
        assert close(np.linalg.norm(ours, axis=1), np.ones(300), 1e-6)


def test_ddof_changes_lengths_but_no_cosine(x):
    by_paper, by_program = Whitening(ddof=0).fit(x).transform(x), Whitening(
        ddof=1).fit(x).transform(x)
    assert close(by_paper, by_program * np.sqrt(300 / 299), 1e-5)
    assert close(cosines(by_paper), cosines(by_program), 1e-6)


def test_pca_and_zca_give_the_same_cosines_also_of_new_vectors_and_of_k_directions(x):
    new = uneven(40, 12, seed=5)
    for k in (None, 12, 5, 1):
        pca, zca = Whitening(k).fit(x), Whitening(k, "zca").fit(x)
        assert (pca.dim, zca.dim) == (k or 12, 12)
        assert close(cosines(zca.transform(new)), cosines(pca.transform(new)), 1e-5)


def test_zca_is_the_whitening_that_moves_the_vectors_least(x, rotation):
    centred = x - x.mean(axis=0)
    zca = Whitening(kind="zca").fit(x).transform(x)
    moved = ((zca - centred) ** 2).sum()
    assert moved < ((Whitening().fit(x).transform(x) - centred) ** 2).sum()
    for seed in range(20):
        turned = zca @ rotation(12, seed=seed)
        assert close(covariance(turned), np.eye(12), 1e-5)
        assert moved < ((turned - centred) ** 2).sum()


def test_distances_after_whitening_are_mahalanobis_and_cosines_those_of_the_estimated_metric(x):
    z, (mean, metric) = Whitening().fit(x).transform(x), estimated_metric(x)
    apart = x[:-1] - x[1:]
    assert close(np.linalg.norm(z[:-1] - z[1:], axis=1),
                 np.sqrt(np.einsum("ij,jk,ik->i", apart, metric, apart)), rel=1e-5)
    assert close(np.diag(cosines(z), 1), cosine_under(x[:-1] - mean, x[1:] - mean, metric), 1e-5)


def test_fewer_dimensions_are_the_first_columns_the_strongest_directions_first(x):
    whole, part = Whitening().fit(x), Whitening(4).fit(x)
    assert close(part.transform(x), whole.transform(x)[:, :4], 1e-6)
    assert close(whole.spectrum_, np.linalg.eigvalsh(covariance(x))[::-1], rel=1e-9)
    assert np.array_equal(part.variances_, whole.spectrum_[:4])
    assert part.components_.shape == (4, 12)
    axes = whole.components_                 # orthonormal, the largest entry of each positive
    assert (axes[np.arange(12), np.abs(axes).argmax(axis=1)] > 0).all()
    assert close(axes @ axes.T, np.eye(12), 1e-12)
    assert close(((x - x.mean(axis=0)) @ whole.components_.T).var(axis=0, ddof=1), whole.variances_,
                 rel=1e-9)


# ------------------------------------------------------------------------------ beta and gamma


def test_beta_and_gamma_0_only_turn_and_gamma_0_alone_only_centres(x):
    turn, new = Whitening(beta=0, gamma=0).fit(x), uneven(30, 12, seed=8)
    assert close(turn.matrix_.T @ turn.matrix_, np.eye(12), 1e-12)
    assert close(cosines(turn.transform(new)), cosines(new), 1e-6)
    assert close(np.linalg.norm(turn.transform(new), axis=1), np.linalg.norm(new, axis=1), rel=1e-6)
    fewer = Whitening(3, beta=0, gamma=0).fit(x).transform(new)
    assert np.abs(cosines(fewer) - cosines(new)).max() > 1e-3
    for kind in ("pca", "zca"):
        centred = Whitening(kind=kind, gamma=0).fit(x).transform(x)
        assert close(cosines(centred), cosines(x - x.mean(axis=0)), 1e-5)
    assert close(centred, x - x.mean(axis=0), 1e-5)


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0, 1.7])
def test_the_covariance_is_taken_about_beta_times_the_mean(x, beta, ddof):
    white = Whitening(beta=beta, ddof=ddof).fit(x)
    shifted = x - beta * x.mean(axis=0)
    about = shifted.T @ shifted / (300 - ddof)
    assert close((white.components_.T * white.variances_) @ white.components_, about, 1e-9)
    z = white.transform(x).astype(np.float64)
    assert close(z.T @ z / (300 - ddof), np.eye(12), 1e-6)
    assert close(z, shifted @ white.matrix_, 1e-5)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0, 2.0])
def test_gamma_says_how_far_the_variances_are_evened_out(x, gamma):
    white = Whitening(gamma=gamma).fit(x)
    assert close(covariance(white.transform(x)), np.diag(white.variances_**(1 - gamma)),
                 1e-5 * 100**max(gamma - 1, 0))


def test_one_look_at_the_vectors_serves_every_choice_and_two_looks_can_be_joined(x):
    seen = Moments(12).update(x)
    for choice in ({"k": 3}, {"beta": 0.2, "gamma": 0.7}, {"kind": "zca", "ddof": 0}):
        assert np.array_equal(Whitening(**choice).fit(seen).transform(x),
                              Whitening(**choice).fit(x).transform(x))
    white = Whitening(3).fit(seen)
    before = white.transform(x)
    seen.update(x + 100)                     # what the caller goes on with changes no fit
    assert white.moments_.n == 300 and np.array_equal(white.transform(x), before)
    left, right = Whitening(3).fit(x[:100]), Whitening(3).fit(x[100:])
    joined = Whitening(3).fit(left.moments_.merge(right.moments_))
    assert close(joined.transform(x), before, 1e-5) and left.moments_.n == 100


@pytest.mark.parametrize("choice",
                         [{}, {"kind": "zca"}, {"beta": 0.4, "gamma": 0.6}, {"beta": 0, "gamma": 0},
                          {"kind": "zca", "gamma": 0.3}, {"k": 4}, {"k": 4, "kind": "zca"}])
def test_the_way_back_gives_the_vectors_or_their_projection_where_directions_were_left_out(
        x, choice):
    white = Whitening(**choice).fit(x)
    back, centre = white.inverse_transform(white.transform(x)), white.beta * x.mean(axis=0)
    onto = white.components_.T @ white.components_
    assert back.dtype == np.float32 and close(back, (x - centre) @ onto + centre, 1e-5)


# ------------------------------------------------------------------------------ streams


@given(cuts=st.lists(st.integers(0, 60), max_size=5), seed=st.integers(0, 100))
def test_any_parts_in_any_number_give_what_one_table_gives(cuts, seed):
    x = uneven(60, 6, seed=seed)
    streamed = Whitening()
    for part in np.split(x, sorted(cuts)):
        streamed.partial_fit(part)
    whole = Whitening().fit(x)
    assert streamed.moments_.n == 60 and close(streamed.mean_, whole.mean_, 1e-12)
    assert close(streamed.spectrum_, whole.spectrum_, rel=1e-9)
    assert close(streamed.transform(x), whole.transform(x), 1e-5)


def test_the_recursion_of_the_paper_gives_the_same_mean_and_covariance(x):
    mean, about = np.zeros(12), np.zeros((12, 12))
    for n, row in enumerate(x):
        following = n / (n + 1) * mean + row / (n + 1)
        about = (n / (n + 1) * (about + np.outer(mean, mean)) + np.outer(row, row) / (n + 1) -
                 np.outer(following, following))
        mean = following
    white = Whitening(ddof=0).fit(x)
    assert close(white.mean_, mean, 1e-10)
    assert close((white.components_.T * white.variances_) @ white.components_, about, 1e-9)


def test_fit_begins_anew_and_partial_fit_goes_on(x):
    assert Whitening().fit(x[:50]).fit(x[50:]).moments_.n == 250
    assert Whitening().fit(x[:50]).partial_fit(x[50:]).moments_.n == 300
    once = Whitening(4).fit(x)
    there = once.inverse_transform(once.transform(x[:3]))
    once.fit(2 * x)                               # nothing of the former fit is left
    assert close(once.inverse_transform(once.transform(2 * x[:3])), 2 * there, 1e-4)
    once.set_params(k=2, kind="zca")              # which waits for the next fit
    assert once.dim == 4 and once.name == "whitening 4"
    assert once.fit(x).dim == 12 and once.name == "whitening zca 2"


def test_small_blocks_give_the_same_as_one(x, few_rows_at_once, monkeypatch):
    few, weights = Whitening(5).fit(x), zipfian(300)
    found, ones = few.transform(x), few.transform(x, normalize=True)
    weighted = Whitening().fit(x, weights).matrix_
    monkeypatch.undo()
    whole = Whitening(5).fit(x)
    assert close(found, whole.transform(x), 1e-5)
    assert close(weighted, Whitening().fit(x, weights).matrix_, 1e-8)
    assert close(ones, whole.transform(x, normalize=True), 1e-6)


# ------------------------------------------------------------------------------ rows that weigh


def zipfian(n: int, seed: int = 0) -> np.ndarray:
    """Counts by Zipf's law, in any order."""
    return np.random.default_rng(seed).permutation(1e6 / np.arange(1, n + 1))


@given(n=st.integers(40, 80), d=st.integers(1, 8), kind=st.sampled_from(["pca", "zca"]),
       seed=st.integers(0, 1000))
def test_weighted_rows_leave_with_weighted_mean_0_and_weighted_covariance_1(n, d, kind, seed):
    x, weights = uneven(n, d, seed=seed), zipfian(n, seed)
    z = Whitening(kind=kind, ddof=0).fit(x, weights).transform(x).astype(np.float64)
    share = weights / weights.sum()
    assert np.abs(share @ z).max() < 1e-5
    assert close((z.T * share) @ z, np.eye(d), 1e-5)


def test_equal_weights_are_none_and_whole_numbers_are_so_many_copies(x):
    even = Whitening(k=7, beta=0.5, gamma=0.8)
    plain = even.fit(x).matrix_
    for weights in (np.ones(300), np.full(300, 0.3), [5] * 300):
        assert close(even.fit(x, weights).matrix_, plain, 1e-12)
    counts = np.random.default_rng(1).integers(0, 5, size=300)
    copies = np.repeat(x, counts, axis=0)
    weighted, repeated = Whitening(ddof=0).fit(x, counts), Whitening(ddof=0).fit(copies)
    assert close(weighted.mean_, repeated.mean_, 1e-12)
    assert close(weighted.matrix_, repeated.matrix_, 1e-9)
    assert close(cosines(Whitening().fit(x, counts).transform(x)),
                 cosines(Whitening().fit(copies).transform(x)), 1e-5)      # ddof is a factor


def test_the_scale_of_weights_changes_nothing_and_a_row_of_weight_0_is_not_there(x):
    weights = zipfian(300)
    expected = Whitening().fit(x, weights).matrix_
    for scale in (2.0**-900, 2.0**900, 1e300 / weights.max()):
        assert close(Whitening().fit(x, scale * weights).matrix_, expected, 1e-9)
    weights[:20], other = 0, x.copy()
    other[:20] *= 100
    assert close(Whitening().fit(other, weights).matrix_, Whitening().fit(x, weights).matrix_, 1e-9)


def test_a_weighted_fit_can_be_saved_and_goes_on_as_so_many_rows(x, tmp_path):
    weights = zipfian(200)
    white = Whitening().fit(x[:200], weights)
    white.save(tmp_path / "w")
    both = Whitening.load(tmp_path / "w").partial_fit(x[200:])
    assert np.array_equal(Whitening.load(tmp_path / "w").transform(x), white.transform(x))
    joined = np.append(200 * weights / weights.sum(), np.ones(100))
    assert both.moments_.n == 300
    assert close(both.matrix_, Whitening().fit(x, joined).matrix_, 1e-9)


# ---------------------------------------------------------------------- tables that lack something


def lacking(what: str) -> np.ndarray:
    x = uneven(200, 12)
    if what == "fewer rows than columns":
        return x[:6]
    x[:, 3] = ({"a constant column": 7.7, "a repeated column": x[:, 8], "a sum of "
                "columns": x[:, :3].sum(axis=1)}[what])
    return x


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("what", "rank"), [("fewer rows than columns", 5),
                                            ("a constant column", 11), ("a repeated column", 11),
                                            ("a sum of columns", 11)])
@pytest.mark.parametrize("kind", ["pca", "zca"])
def test_V11_only_directions_that_vary_are_kept_and_new_vectors_stay_small(what, rank, kind, dtype):
    x, new = lacking(what).astype(dtype), uneven(700, 12)[200:].astype(dtype)
    with pytest.warns(DataWarning, match=rf"the {len(x)} rows of x vary in {rank} directions of "
                                         rf"12 .*; only these {rank} are kept"):
        white = Whitening(kind=kind).fit(x)
    assert white.rank_ == rank == len(white.components_)
    assert white.dim == (rank if kind == "pca" else 12)
    z = white.transform(x)
    assert np.linalg.matrix_rank(z, tol=1e-3) == rank
    assert close(np.linalg.eigvalsh(covariance(z))[-rank:], np.ones(rank), 1e-5)
    assert np.linalg.norm(white.transform(new), axis=1).max() < 10 * np.linalg.norm(z, axis=1).max()
    assert close(white.inverse_transform(z), x, 1e-4)


def test_V11_the_direction_that_a_layer_norm_takes_away_is_found():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        norm = torch.nn.LayerNorm(32)
        torch.nn.init.uniform_(norm.weight, 0.3, 2.0)
        torch.nn.init.normal_(norm.bias)
        x = norm(torch.randn(500, 32)).detach()
    with pytest.warns(DataWarning, match="vary in 31 directions of 32"):
        assert Whitening().fit(x).dim == 31


def test_V11_a_warning_comes_once_at_the_first_use_and_points_to_the_caller(tmp_path):
    x = lacking("a constant column")
    stream = Whitening().partial_fit(x)
    for use in (lambda: stream.transform(np.zeros((1, 12))), lambda: Whitening().fit(x)):
        with pytest.warns(DataWarning) as caught:
            use()
        assert [warning.filename for warning in caught] == [__file__]
    # nobody is warned who asked for no more, divides by nothing, or loads what was saved
    stream.save(tmp_path)
    assert Whitening.load(tmp_path).dim == Whitening(11).fit(x).dim == 11
    turn = Whitening(beta=0, gamma=0).fit(x)
    assert turn.dim == 12 and close(cosines(turn.transform(x)), cosines(x), 1e-6)


def test_V02_V04_V13_V16_V21_limits_that_are_allowed(x):
    expected = Whitening().fit(x).transform(x)
    for scale in (1e100, 1e-100, 2.0**-40):
        assert close(Whitening().fit(scale * x).transform(scale * x), expected, 1e-5)
    small = (1e-25 * x).astype(np.float32)
    assert close(Whitening().fit(small).transform(small), expected, 1e-4)
    line = np.array([[1.0, 2.0], [3.0, 4.0]])                   # two different rows
    white = Whitening(1).fit(line).transform(line)
    assert close(np.abs(white), np.full((2, 1), np.sqrt(0.5)), 1e-6)
    steep = uneven(50, 3) * [1.0, 1e-3, 1.0]
    assert np.isfinite(Whitening(gamma=3).fit(steep).transform(steep)).all()
    white = Whitening(5, beta=0).fit(x)
    assert white.transform(x[:0]).shape == (0, 5) and white.transform(x[:0]).dtype == np.float32
    assert white.inverse_transform(np.zeros((0, 5))).shape == (0, 12)
    assert not white.transform(np.zeros((2, 12)), normalize=True).any()
    assert np.abs(Whitening().fit(x).transform(x.mean(axis=0)[None])).max() < 1e-6


# ------------------------------------------------------------------------------ files


def test_a_saved_one_gives_the_same_numbers_and_goes_on_with_the_stream(x, tmp_path):
    white = Whitening(np.int64(5), beta=0.5).fit(x[:200])
    white.save(tmp_path / "w")
    loaded = Whitening.load(tmp_path / "w")
    assert repr(loaded) == "Whitening(k=5, beta=0.5)" and loaded.name == white.name
    assert np.array_equal(loaded.transform(x), white.transform(x)) and np.array_equal(
        loaded.spectrum_, white.spectrum_)
    assert np.array_equal(loaded.partial_fit(x[200:]).transform(x),
                          white.partial_fit(x[200:]).transform(x))


def test_a_damaged_or_foreign_folder_is_named(x, tmp_path):
    from lessons_lib.core import load_model, save_model

    Whitening().fit(x).save(tmp_path / "w")
    config, arrays, extra = load_model(tmp_path / "w", "Whitening")
    for name, wrong in (("axes", arrays["axes"][:5]), ("scatter", arrays["scatter"] * np.nan),
                        ("spectrum", arrays["spectrum"].astype(np.float32))):
        save_model(tmp_path / "bad", "Whitening", settings=config, arrays=arrays | {name: wrong},
                   extra=extra)
        with pytest.raises(DamagedFile, match="cannot read"):
            Whitening.load(tmp_path / "bad")
    save_model(tmp_path / "other", "Flow", settings=config, arrays=arrays, extra=extra)
    with pytest.raises(DamagedFile, match="holds a Flow, not a Whitening"):
        Whitening.load(tmp_path / "other")
    assert "threshold" in json.loads((tmp_path / "w" / "model.json").read_text("utf-8"))["settings"]


# ------------------------------------------------------------------------------ encoders


class Letters:
    """An encoder that knows nothing of this library: counts of letters."""

    name = "letters"
    dim = 6

    def encode(self, texts, *, batch_size=256, progress=False):
        return np.array([[text.count(letter) for letter in "abcdef"] for text in texts],
                        dtype=np.float32)


@pytest.fixture
def texts() -> list[str]:
    rng = np.random.default_rng(0)
    return ["".join(rng.choice(list("abcdefg"), size=20)) for _ in range(100)]


def test_after_any_encoder_it_is_an_encoder_and_before_another_step(texts):
    white = Whitening(4, gamma=0.5).fit(Letters().encode(texts))
    both = Letters() | white
    assert isinstance(both, Encoder)
    assert both.name == "letters + whitening 4 γ=0.5" and both.dim == 4
    assert np.array_equal(both.encode(texts), white.transform(Letters().encode(texts)))
    chain = both | Whitening(3).fit(both.encode(texts))
    assert chain.dim == 3 and chain.name.endswith(" + whitening 4 γ=0.5 + whitening 3")
    assert close(covariance(chain.encode(texts)), np.eye(3), 1e-5)
    with pytest.raises(NotFittedError, match="this Whitening is not fitted yet"):
        (Letters() | Whitening()).encode(["abc"])


def test_it_can_be_evaluated_like_any_other(texts):
    from lessons_lib.evaluation import evaluate
    from lessons_lib.isotropy import mean_cosine

    white = Whitening(3).fit(Letters().encode(texts))
    results = evaluate(Letters() | white, "course-sts", bootstrap=0)
    assert "letters + whitening 3" in repr(results)
    encoded = Letters().encode(texts)
    assert abs(mean_cosine(white.transform(encoded))) < 0.05 < mean_cosine(encoded)
