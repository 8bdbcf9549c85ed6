"""The shape every fitted method shares."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.core import Encoder, Estimator, NotFittedError


class Letters(Estimator):
    """Counts two letters; the smallest encoder there can be."""

    name = "letters"

    def __init__(self, letters: str = "ab", *, scale: float = 1.0):
        self.letters, self.scale = letters, scale

    @property
    def dim(self) -> int:
        return len(self.letters)

    def encode(self, texts, *, batch_size=256, progress=False):
        return np.array(
            [[self.scale * text.count(letter) for letter in self.letters] for text in texts],
            dtype=np.float32)

    def fit(self, texts):
        self.total_ = len(texts)
        return self

    def total(self):
        self._check_fitted("total_")
        return self.total_


class Double:
    """A post-processor."""

    name = "double"

    def transform(self, x):
        return 2 * x


def test_P26_an_unknown_keyword_names_the_nearest():
    with pytest.raises(TypeError, match=r"Letters has no argument 'scal'; did you mean 'scale'\?"):
        Letters(scal=2)


def test_P28_use_before_fit_says_so_and_is_both_kinds_of_error():
    with pytest.raises(NotFittedError, match="this Letters is not fitted yet; call fit "
                                             "first") as caught:
        Letters().total()
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, AttributeError)


def test_settings_are_stored_unchanged_and_shown_when_changed():
    assert Letters("xyz").get_params() == {"letters": "xyz", "scale": 1.0}
    assert repr(Letters("xyz")) == "Letters(letters='xyz')" and repr(Letters()) == "Letters()"
    assert Letters().set_params(scale=3.0).scale == 3.0
    with pytest.raises(TypeError, match="did you mean 'scale'"):
        Letters().set_params(scael=3.0)


def test_the_repr_shows_an_array_setting():
    assert repr(Letters(np.array(["a", "b"]))) == "Letters(letters=array(['a', 'b'], dtype='<U1'))"


def test_scikit_learn_can_clone_it():
    from sklearn.base import clone

    assert clone(Letters("q", scale=2.0)).get_params() == {"letters": "q", "scale": 2.0}


def test_an_encoder_and_a_step_compose_into_an_encoder():
    both = Letters() | Double()
    assert isinstance(both, Encoder) and both.name == "letters + double" and both.dim == 2
    assert both.encode(["aab"]).tolist() == [[4.0, 2.0]]
    with pytest.raises(TypeError):
        Letters() | 5


def test_steps_follow_each_other_and_the_width_is_that_of_the_last():
    class Half:
        name = "half"

        def __init__(self):
            self.n_components_ = 1

        def transform(self, x):
            return x[:, :1]

    chain = Letters("abc") | Double() | Half() | Double()
    assert chain.name == "letters + double + half + double" and chain.encode(["aab"
                                                                              ]).tolist() == [[8.0]]
    assert (Letters("abc") | Double()).dim == 3 and (Letters("abc") | Half()).dim == 1


def test_an_encoder_of_another_library_comes_before_a_step_of_ours():
    class Foreign:
        name = "foreign"
        dim = 1

        def encode(self, texts, *, batch_size=256, progress=False):
            return np.array([[len(text)] for text in texts], dtype=np.float32)

    class Step(Estimator):
        name = "step"

        def transform(self, x):
            return x + 1

    both = Foreign() | Step()
    assert isinstance(both, Encoder) and both.name == "foreign + step" and both.encode(
        ["ab"]).tolist() == [[3.0]]
    for wrong in (5, {"a": 1}, "text"):
        with pytest.raises(TypeError):
            wrong | Step()


def test_P28_the_width_after_a_step_that_is_not_fitted_is_an_error():
    class Step(Estimator):
        @property
        def dim(self):
            self._check_fitted("dim_")

        def transform(self, x):
            return x

    with pytest.raises(NotFittedError, match="this Step is not fitted yet"):
        (Letters() | Step()).dim
