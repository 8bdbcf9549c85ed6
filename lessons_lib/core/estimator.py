"""What every method that is fitted has in common: declared settings, a repr, saving and loading.

The shape is scikit-learn's: ``__init__`` stores its arguments unchanged, ``fit`` validates and
returns ``self``, learned attributes end in ``_``. `Encoder` is the contract between a method and
its evaluation: texts in, one vector per text out. Used by every lesson.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from .checks import keyword_guard, shown, unknown_keyword
from .errors import DamagedFile, NotFittedError
from .learned import Learned
from .parameters import Packed, Parameter, make_init, numpydoc_table, with_sections
from .store import load_model, save_model

__all__ = ["Composed", "Encoder", "Estimator", "SavedEstimator"]


@runtime_checkable
class Encoder(Protocol):
    """Anything that maps texts to vectors: ``encode(texts) -> (n, dim) float32``, and two names.

    A third-party model needs no base class: what has these three can be evaluated.
    """

    name: str

    @property
    def dim(self) -> int: ...

    def encode(self, texts: Sequence[str], *, batch_size: int = ...,
               progress: bool = ...) -> np.ndarray:
        """Vectors of texts.

        Parameters
        ----------
        texts : sequence of str
        batch_size : int >= 1
            Texts worked on at a time.
        progress : bool
            Show a bar.

        Returns
        -------
        (n, dim) float32
        """


class Estimator:
    """Base of fitted methods: declared settings and learned state, and what follows from them.

    A subclass declares its settings in its body (``dim = Int(100, "columns of a vector")``), and
    what it learns (``counts_ = Array("words", dtype="int64", file="counts")``). From these come the
    constructor, `get_params`, the checks at the beginning of `fit`, and the tables in its
    docstring; of a `SavedEstimator` `save` and `load`, too. What one setting alone cannot tell is
    checked in ``_check_together``.
    """

    _PARAMETERS: ClassVar[dict[str, Parameter]] = {}
    _LEARNED: ClassVar[dict[str, Learned]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declared = {}
        for base in reversed(cls.__mro__):
            declared |= vars(base)
        cls._PARAMETERS = {n: p for n, p in declared.items() if isinstance(p, Parameter)}
        cls._LEARNED = {n: a for n, a in declared.items() if isinstance(a, Learned)}
        if "__init__" in cls.__dict__:
            cls.__init__ = keyword_guard(cls.__init__, cls.__name__)
        elif cls._PARAMETERS:
            cls.__init__ = make_init(cls.__name__, cls._PARAMETERS)
            settings = [(n, p.described(), p.doc) for n, p in cls._PARAMETERS.items()]
            learned = [(n, a.kind, a.doc) for n, a in cls._LEARNED.items() if n[0] != "_"]
            learned += [(n, "", (p.__doc__ or "").split("\n\n")[0]) for n, p in declared.items()
                        if isinstance(p, property) and n.endswith("_")]
            tables = {"Parameters": numpydoc_table(settings), "Attributes": numpydoc_table(learned)}
            cls.__doc__ = with_sections(cls.__doc__ or "", tables)

    # ------------------------------------------------------------------------------ settings

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings this object was made with.

        Parameters
        ----------
        deep : bool, default True
            Exists for scikit-learn's ``clone`` and changes nothing.

        Returns
        -------
        dict
            Settings by name.
        """
        names = inspect.signature(type(self).__init__).parameters
        return {name: getattr(self, name) for name in names if name != "self"}

    def set_params(self, **settings: Any) -> Estimator:
        """Change settings by name; takes effect at the next `fit`.

        Parameters
        ----------
        **settings
            New values by name.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            A name that this method does not have.
        """
        names = list(self.get_params())
        for name, value in settings.items():
            if name not in names:
                raise unknown_keyword(type(self).__name__, name, names)
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        arguments = inspect.signature(type(self).__init__).parameters
        changed = [f"{name}={shown(value)}" for name, value in self.get_params().items()
                   if not _same(value, arguments[name].default)]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _check_settings(self) -> dict[str, Any]:
        """The settings as plain values, each checked. Raises TypeError or ValueError."""
        settings = {name: parameter.check(name, getattr(self, name))
                    for name, parameter in self._PARAMETERS.items()}
        self._check_together(settings)
        return settings

    def _check_together(self, settings: Mapping[str, Any]) -> None:
        """Raise ValueError for settings that do not go together; a subclass says which."""

    def _check_fitted(self, attribute: str) -> None:
        if not hasattr(self, attribute):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")

    # ------------------------------------------------------------------------------ pipelines

    def __or__(self, step: Any) -> Composed:
        """``encoder | step``: encode, then transform with a fitted post-processor."""
        fits = hasattr(self, "encode") and hasattr(step, "transform")
        return Composed(self, step) if fits else NotImplemented

    def __ror__(self, encoder: Any) -> Composed:
        """``encoder | self`` for an encoder of another library, which knows no ``|``."""
        encodes = hasattr(encoder, "encode") and not isinstance(encoder, str)    # of another kind
        return Composed(encoder, self) if encodes and hasattr(self, "transform") else NotImplemented


def _same(value: Any, default: Any) -> bool:
    """Whether a setting has its default; an array, which compares item by item, never has."""
    if value is default:
        return True
    equal = value == default
    return isinstance(equal, (bool, np.bool_)) and bool(equal)


class SavedEstimator(Estimator):
    """An estimator whose declared state is all of it: `save` and `load` follow from that."""

    def save(self, path: str | os.PathLike) -> None:
        """Write the model into a folder: settings as JSON, numbers as safetensors, atomically.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        NotFittedError, OSError
        TypeError, ValueError
            Settings with which `load` could not read the folder; nothing is written then.
        """
        settings, arrays, extra = self._contents()
        save_model(path, type(self).__name__, settings=settings, arrays=arrays, extra=extra)

    @classmethod
    def load(cls, path: str | os.PathLike, *, verify: bool = True) -> Self:
        """Read a folder that `save` wrote.

        Parameters
        ----------
        path : str or path
        verify : bool, default True
            Compare every number with the checksums it was saved with (about 0.5 s per GB).

        Returns
        -------
        The model

        Raises
        ------
        FileNotFoundError, DamagedFile, ValueError
            Not there; cut, changed, or of another kind; of a newer format.
        """
        settings, arrays, extra = load_model(path, cls.__name__, verify=verify)
        try:
            return cls._from_contents(settings, arrays, extra)
        except DamagedFile:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedFile(f"{path} is a {cls.__name__} that this version cannot read "
                              f"({error}). Save the model again") from error

    def _contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray], dict[str, Any]]:
        """What a file holds: settings, arrays, and what else JSON keeps. Raises as `save`."""
        stored = {name: learned for name, learned in self._LEARNED.items() if learned.file}
        for name, learned in stored.items():
            if not getattr(learned, "optional", False):
                self._check_fitted(name)
        settings, extra = self._saved_settings()
        self._check_consistent()
        values = [(parameter, settings.pop(name)) for name, parameter in self._PARAMETERS.items()
                  if isinstance(parameter, Packed)]
        values += [(learned, getattr(self, name, None)) for name, learned in stored.items()]
        arrays: dict[str, np.ndarray] = {}
        for declared, value in values:
            packed, noted = declared.pack(value)
            arrays |= packed
            extra |= noted
        return settings, arrays, extra

    @classmethod
    def _from_contents(cls, settings: dict[str, Any], arrays: Mapping[str, np.ndarray],
                       extra: Mapping[str, Any]) -> Self:
        """The model of what `_contents` gave. Raises KeyError, TypeError or ValueError."""
        settings, sizes = dict(settings), {}
        for name, parameter in cls._PARAMETERS.items():
            if isinstance(parameter, Packed):
                settings[name] = parameter.unpack(arrays, extra, sizes)
        model = cls(**cls._loaded_settings(settings, extra))
        checked = model._check_settings()
        sizes |= {name: value for name, value in checked.items()
                  if isinstance(value, int) and not isinstance(value, bool)}
        for name, learned in cls._LEARNED.items():
            if learned.file:
                setattr(model, name, learned.unpack(arrays, extra, sizes))
        model._after_load(arrays, extra)
        model._check_consistent()
        return model

    def _saved_settings(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Settings as JSON has them, and what else is noted beside the arrays."""
        return self._check_settings(), {}

    @classmethod
    def _loaded_settings(cls, settings: dict[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the constructor from what `_saved_settings` gave."""
        return settings

    def _after_load(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any]) -> None:
        """Set what follows from the loaded attributes. Raises KeyError, TypeError or ValueError."""

    def _check_consistent(self) -> None:
        """Raise ValueError where settings were changed and no longer fit what was learned."""


class Composed(Estimator):
    """An encoder followed by a fitted post-processor; itself an `Encoder`, so another may follow.

    All texts of a call go to the encoder at once, because it may sort them, or look at them
    together as SIF does.

    Parameters
    ----------
    encoder : Encoder
    step : object
        Its ``transform`` maps (n, dim) to (n, dim of the step), each row by itself.
    """

    def __init__(self, encoder: Encoder, step: Any):
        self.encoder, self.step = encoder, step

    @property
    def name(self) -> str:
        """Name of the encoder and of the step, joined by ``+``."""
        return f"{self.encoder.name} + {getattr(self.step, 'name', type(self.step).__name__)}"

    @property
    def dim(self) -> int:
        """Width of the vectors that leave the last step: what the step says, else the encoder.

        Raises
        ------
        NotFittedError
            As the step does.
        """
        for name in ("dim", "dim_", "n_components_"):    # ours, ours after the fit, scikit-learn's
            if name in vars(self.step) or hasattr(type(self.step), name):
                return int(getattr(self.step, name))     # may raise NotFittedError
        return int(self.encoder.dim)

    def encode(self, texts: Sequence[str], *, batch_size: int = 256,
               progress: bool = False) -> np.ndarray:
        """Encode, then transform.

        Parameters
        ----------
        texts, batch_size, progress
            Handed on to the encoder.

        Returns
        -------
        (n, dim) float32
        """
        vectors = self.encoder.encode(texts, batch_size=batch_size, progress=progress)
        return np.asarray(self.step.transform(vectors), dtype=np.float32)
