"""The last cell of a lesson: its encoders on the leaderboard, beside those of lessons before it.

``stsb`` is used where it is present; nothing is downloaded. Used by ``lesson.leaderboard_cell``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..core import DataMissing, shown
from .tables import MAX_ROWS, Table

__all__ = ["BOARD_VARIABLE", "board_finding", "board_rows", "board_table", "few_rows",
           "named_encoders", "present_sets", "user_board"]

# set by `lessons build` to a file of its own, so that a build never shows a user's rows
BOARD_VARIABLE = "LESSONS_LEADERBOARD"
ALWAYS, WHERE_PRESENT = "course-sts", "stsb"


def user_board() -> Any:
    """The leaderboard of this user, or of the build that runs."""
    from ..evaluation import Leaderboard

    return Leaderboard(os.environ.get(BOARD_VARIABLE))


def named_encoders(encoders: Any) -> dict[str, Any]:
    """Encoders by the name of their row: those of a mapping, else the encoders' own names.

    Raises TypeError for what is no encoder, ValueError for no encoder or two of one name.
    """
    if isinstance(encoders, Mapping):
        named = list(encoders.items())
    else:
        items = list(encoders) if isinstance(encoders, (list, tuple)) else [encoders]
        wrong = next((e for e in items if not hasattr(e, "encode") or not hasattr(e, "name")), None)
        if wrong is not None:
            raise TypeError(f"encoders={shown(wrong)} is {type(wrong).__name__}; expected an "
                            "encoder, a list of them, or {name: encoder}")
        named = [(encoder.name, encoder) for encoder in items]
    names = [name for name, _ in named]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"encoders holds {len(names)} encoders named "
                         f"{', '.join(map(str, names))}; expected >= 1, each with a name of its "
                         "own: {'TF-IDF': a, 'TF-IDF, bigrams': b}")
    return dict(named)


def present_sets(datasets: Sequence[Any] | None) -> list[Any]:
    """The sets asked for, else the course's own and, where it lies on this machine, STS-B."""
    if datasets is not None:
        return [datasets] if isinstance(datasets, str) else list(datasets)
    from .. import datasets as room

    try:
        room.load(WHERE_PRESENT)
    except DataMissing:
        return [ALWAYS]
    return [ALWAYS, WHERE_PRESENT]


def board_rows(lesson_id: str, order: Sequence[str]) -> list[Any]:
    """Rows of this lesson and of earlier ones, in the order of the course."""
    place = {name: i for i, name in enumerate(order)}
    upto = place.get(lesson_id, len(place))
    rows = [row for row in user_board().rows() if place.get(row.lesson, -1) <= upto
            and (row.lesson in place or row.lesson == lesson_id)]
    return sorted(rows, key=lambda row: place.get(row.lesson, upto))


def few_rows(rows: Sequence[Any], lesson_id: str) -> list[Any]:
    """The rows of a lesson, and the best of the lessons before it."""
    own = [row for row in rows if row.lesson == lesson_id][: MAX_ROWS - 1]
    before = [row for row in rows if row.lesson != lesson_id]
    shared = [name for name in own[-1].scores if any(name in row.scores for row in before)]
    if not shared:
        return own
    scored = [row for row in before if shared[-1] in row.scores]
    return [max(scored, key=lambda row: row.score(shared[-1])), *own]


def board_table(rows: Iterable[Any]) -> Table:
    """Lesson, encoder, Spearman × 100 on each set, dimension; no times, which differ each run."""
    rows = list(rows)
    sets = list(dict.fromkeys(name for row in rows for name in row.scores))
    cells = []
    for row in rows:
        scores = [row.score(name) for name in sets]
        cells.append([row.lesson, row.encoder,
                      *(None if s is None else round(100 * s, 1) for s in scores), row.dim])
    return Table(cells, ["lesson", "encoder", *sets, "dim"],
                 "Leaderboard so far: Spearman correlation × 100"
                 + ("; nDCG@10 × 100 on questions" if any(row.spearman(name) is None for row in rows
                                                          for name in row.scores) else ""))


def board_finding(rows: Sequence[Any], dataset: str) -> tuple[str, str]:
    """The encoder that leads on a set, and the sentence that says so, for the title of the plot."""
    best = max((row for row in rows if dataset in row.scores),
               key=lambda row: row.score(dataset))
    name = best.encoder if len(best.encoder) <= 40 else best.encoder[:39] + "…"
    return best.encoder, f"So far {name} leads on {dataset} with {100 * best.score(dataset):.1f}"
