"""Where things lie: the project's folders, the user's output and cache folders, and the evaluation
data somebody else holds.

Every path can be moved by an environment variable, read at each call: ``LESSONS_OUTPUT`` (what
notebooks write), ``LESSONS_CACHE`` (downloads, leaderboard, compiled indices), ``LESSONS_DATA``
(real evaluation sets). Nothing is created by asking for a path.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["PROJECT", "cache_folder", "external_data_folder", "output_folder"]

PROJECT = Path(__file__).resolve().parent.parent.parent


def _from_environment(variable: str, default: Path) -> Path:
    value = os.environ.get(variable)
    try:
        return Path(value).expanduser().resolve() if value else default
    except RuntimeError as error:               # links in a circle, or a user that there is not
        raise ValueError(f"{variable}={value[:60]!r} leads nowhere: {error}. "
                         "Set it to a folder") from error


def cache_folder() -> Path:
    """Where downloads and the leaderboard lie: ``LESSONS_CACHE``, else the platform's cache.

    Returns
    -------
    path
    """
    import platformdirs

    return _from_environment(
        "LESSONS_CACHE", Path(platformdirs.user_cache_dir("embeddings-measured", appauthor=False)))


def output_folder() -> Path:
    """Where lessons write: ``LESSONS_OUTPUT``, else ``.output`` in the project.

    Committed figures are written by `lessons build` only.

    Returns
    -------
    path
    """
    return _from_environment("LESSONS_OUTPUT", PROJECT / ".output")


def external_data_folder() -> Path | None:
    """The folder named by ``LESSONS_DATA``.

    Returns
    -------
    path or None
        None when it is not set.
    """
    return _from_environment("LESSONS_DATA", None) if os.environ.get("LESSONS_DATA") else None
