"""The errors and the warning that callers may catch, one class per kind of trouble.

Wrong kinds and values raise Python's own ``TypeError`` and ``ValueError``; the classes here say
more than those can. A message names the argument, the value received, what is allowed, where it was
found, and the remedy. Used by every lesson.
"""

from __future__ import annotations

__all__ = [
    "BackendUnavailable", "DamagedFile", "DataMissing", "DataWarning", "DownloadFailed",
    "NotFittedError", "TrainingDiverged", "UnknownWord"
]


class NotFittedError(ValueError, AttributeError):
    """An estimator was used before ``fit``.

    Inherits as scikit-learn's class of the same name does.
    """


class UnknownWord(KeyError):
    """A word that has no vector and no column."""

    def __str__(self) -> str:                   # KeyError would print the message inside quotes
        return str(self.args[0]) if self.args else ""


class DataMissing(FileNotFoundError):
    """A dataset or model is not on this machine, and the network was not allowed."""


class DamagedFile(ValueError):
    """A file is cut, changed, or of another kind than the one asked for."""


class DownloadFailed(OSError):
    """A transfer did not end with the expected bytes."""


class BackendUnavailable(RuntimeError):
    """A backend or device was asked for by name and cannot be used here."""


class ProgramFailed(RuntimeError):
    """A program that was started for a task ended without its result; the message has its last
    words."""


class TrainingDiverged(FloatingPointError):
    """A loss or a weight stopped being finite."""


class DataWarning(UserWarning):
    """Allowed, but rarely meant.

    ``warnings.simplefilter("error", DataWarning)`` turns it into an error.
    """
