"""What every method that is fitted has in common: stored settings, a readable repr, and a clear word when `fit` was forgotten.

The shape is scikit-learn's: ``__init__`` stores its arguments unchanged, ``fit`` validates and returns ``self``, learned attributes
end in ``_``. `Encoder` is the contract between a method and its evaluation: texts in, one vector per text out. Used by every lesson.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from .checks import keyword_guard, shown
from .errors import NotFittedError

__all__ = ["Composed", "Encoder", "Estimator"]


@runtime_checkable
class Encoder(Protocol):
    """Anything that maps texts to vectors: ``encode(texts) -> (n, dim) float32``, with ``dim`` and ``name``.

    A third-party model needs no base class: what has these three can be evaluated.
    """

    name: str

    @property
    def dim(self) -> int: ...

    def encode(self, texts: Sequence[str], *, batch_size: int = ..., progress: bool = ...) -> np.ndarray: ...


def _same(value: Any, default: Any) -> bool:
    """Whether a setting has its default; an array, which compares item by item, never has."""
    if value is default:
        return True
    equal = value == default
    return isinstance(equal, (bool, np.bool_)) and bool(equal)


class Estimator:
    """Base of fitted methods: settings as attributes, `get_params`, a repr, guarded keywords, `_check_fitted`, and ``|``."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in cls.__dict__:
            cls.__init__ = keyword_guard(cls.__init__, cls.__name__)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings this object was made with, by name. ``deep`` exists for scikit-learn's ``clone`` and changes nothing."""
        return {name: getattr(self, name) for name in inspect.signature(type(self).__init__).parameters if name != "self"}

    def set_params(self, **settings: Any) -> Estimator:
        """Change settings by name; takes effect at the next `fit`. Raises TypeError for a name this method does not have."""
        from .checks import unknown_keyword

        names = list(self.get_params())
        for name, value in settings.items():
            if name not in names:
                raise unknown_keyword(type(self).__name__, name, names)
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = {n: p.default for n, p in inspect.signature(type(self).__init__).parameters.items()}
        changed = [f"{n}={shown(v)}" for n, v in self.get_params().items() if not _same(v, defaults[n])]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _check_fitted(self, attribute: str) -> None:
        if not hasattr(self, attribute):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")

    def __or__(self, step: Any) -> Composed:
        """``encoder | step``: encode, then transform with a fitted post-processor."""
        return Composed(self, step) if hasattr(self, "encode") and hasattr(step, "transform") else NotImplemented

    def __ror__(self, encoder: Any) -> Composed:
        """``encoder | self`` for an encoder of another library, which knows no ``|``."""
        encodes = hasattr(encoder, "encode") and not isinstance(encoder, str)                # a str has another ``encode``
        return Composed(encoder, self) if encodes and hasattr(self, "transform") else NotImplemented


class Composed(Estimator):
    """An encoder followed by a fitted post-processor; itself an `Encoder`, so that another step may follow.

    Parameters: encoder, an `Encoder`; step, an object whose ``transform`` maps (n, dim) to (n, dim of the step), each row by itself. All texts of a
    call go to the encoder at once, because it may sort them, or look at them together as SIF does.
    """

    def __init__(self, encoder: Encoder, step: Any):
        self.encoder, self.step = encoder, step

    @property
    def name(self) -> str:
        """Name of the encoder and of the step, joined by ``+``."""
        return f"{self.encoder.name} + {getattr(self.step, 'name', type(self.step).__name__)}"

    @property
    def dim(self) -> int:
        """Width of the vectors that leave the last step: what the step says, else that of the encoder. Raises NotFittedError as the step does."""
        for name in ("dim", "dim_", "n_components_"):            # ours, ours after the fit, scikit-learn's
            if name in vars(self.step) or hasattr(type(self.step), name):
                return int(getattr(self.step, name))             # no default: NotFittedError is an AttributeError
        return int(self.encoder.dim)

    def encode(self, texts: Sequence[str], *, batch_size: int = 256, progress: bool = False) -> np.ndarray:
        """Encode, then transform. Returns (n, dim) float32."""
        vectors = self.encoder.encode(texts, batch_size=batch_size, progress=progress)
        return np.asarray(self.step.transform(vectors), dtype=np.float32)
