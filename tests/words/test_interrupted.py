"""What is left of a model when learning is stopped before the first step, or settings were changed
since; settings given as NumPy numbers.
"""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import kernels
from lessons_lib.words import FastText, GloVe, Word2Vec

TEXT = [["a", "rose", "is", "a", "rose", "is"]] * 40
MORE = [["a", "tulip", "is", "no", "rose"]] * 30
STATES = {Word2Vec: "WindowState", FastText: "SubwordState", GloVe: "GloveState"}
METHODS = pytest.mark.parametrize("method", list(STATES), ids=lambda method: method.__name__)


def made(method, **settings):
    return method(**({"dim": 4, "min_count": 1, "epochs": 1} | settings))


@METHODS
@pytest.mark.parametrize("way", ["fit", "partial_fit"])
def test_ctrl_c_before_the_first_step_leaves_the_model_as_it_was(method, way, monkeypatch,
                                                                 tmp_path):
    model, twin = made(method).fit(TEXT), made(method).fit(TEXT)

    def pressed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(kernels, STATES[method], pressed, raising=False)
        with pytest.raises(KeyboardInterrupt):
            getattr(model, way)(MORE)
    model.save(tmp_path / "model")
    model = method.load(tmp_path / "model")
    np.testing.assert_array_equal(model.vectors_.matrix, twin.vectors_.matrix)
    np.testing.assert_array_equal(model.counts_, twin.counts_)
    np.testing.assert_array_equal(
        model.partial_fit(MORE).vectors_.matrix,
        twin.partial_fit(MORE).vectors_.matrix)


@METHODS
def test_ctrl_c_before_the_first_step_of_a_first_fit_leaves_it_not_fitted(method, monkeypatch):
    model = made(method)

    def pressed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(kernels, STATES[method], pressed, raising=False)
    with pytest.raises(KeyboardInterrupt):
        model.fit(TEXT)
    assert set(vars(model)) == set(vars(made(method)))


@METHODS
def test_settings_may_be_small_numbers_of_numpy(method, tmp_path):
    plain = {
        "dim": 4, "window": 5, "epochs": 3, "seed": 250, "threads": 1, "learning_rate": 0.03125
    }
    kinds = {
        "dim": np.int8, "window": np.int8, "epochs": np.int8, "seed": np.uint8, "threads": np.int8,
        "learning_rate": np.float32
    }
    model = made(method, **{name: kinds[name](value) for name, value in plain.items()})
    twin = made(method, **plain)
    for one in (model, twin):
        one.fit(TEXT).partial_fit(MORE)
    np.testing.assert_array_equal(model.vectors_.matrix, twin.vectors_.matrix)
    model.save(tmp_path / "model")
    assert method.load(tmp_path / "model").get_params() == twin.get_params()


@METHODS
@pytest.mark.parametrize("changed", [{"dim": 5}, {"epochs": -1}])
def test_settings_that_load_would_refuse_are_not_saved_over_a_good_model(method, changed, tmp_path):
    model = made(method).fit(TEXT)
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match=next(iter(changed))):
        model.set_params(**changed).save(tmp_path / "model")
    np.testing.assert_array_equal(
        method.load(tmp_path / "model").vectors_.matrix, model.vectors_.matrix)


def test_the_parts_of_a_fit_stay_those_of_its_words_when_the_settings_change():
    model = made(FastText, buckets=1000).fit(TEXT)
    before = model.vector("roses")
    np.testing.assert_array_equal(model.set_params(buckets=7, min_n=1).vector("roses"), before)
    with pytest.raises(ValueError, match="buckets"):
        model.save("never-written")
