"""The one table that runs through the course: each lesson adds a row.

Rows live in one JSON file per user, written whole under a lock, so that two notebooks can add rows
at the same time. A damaged file is set aside, never thrown away. The course's own measured rows
come with it (`Leaderboard.reference`). Shown at the end of every lesson.
"""

from __future__ import annotations

import contextlib
import math
import os
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from ..core import (PROJECT, DamagedFile, cache_folder, check_choice, check_seed, checked_path,
                    read_json, shown, warn_data, write_json)
from .tables import html_table, text_table

__all__ = ["SCALES", "Leaderboard", "LeaderboardRow"]

FORMAT = 1
SCALES = ("smoke", "laptop", "paper")
LOCK_SECONDS = 60
NOT_MEASURED = "–"
SCALE = "Spearman × 100; nDCG@10 × 100 where it says so"
VERSIONS = ("lessons_lib", "numpy", "scipy", "torch")
PAIR_FIELDS = ("spearman", "pearson", "interval", "alignment", "uniformity", "protocol", "split",
               "n_pairs", "seconds")
QUESTION_FIELDS = ("ndcg", "recall", "mrr", "ndcg_interval", "k", "n_questions", "split", "seconds")


@dataclass(frozen=True)
class LeaderboardRow:
    """One encoder of one lesson.

    Attributes
    ----------
    encoder, lesson : str
    scores : dict of str to dict
        Figures of each set. Of pairs: spearman, pearson, interval, alignment, uniformity, protocol,
        split, n_pairs, seconds; correlations in [-1, 1]. Of questions: ndcg, recall, mrr,
        ndcg_interval, k, n_questions, split, seconds; figures in [0, 1].
    dim : int
        Numbers of a vector; 0 for a search without vectors.
    seconds : float
        Sum over the sets.
    seed : int
    scale : {"smoke", "laptop", "paper"}
    versions : dict of str to str
        Packages that were installed.
    """

    encoder: str
    lesson: str
    scores: dict[str, dict[str, Any]]
    dim: int
    seconds: float
    seed: int
    scale: str
    versions: dict[str, str]

    def spearman(self, dataset: str) -> float | None:
        """Spearman on one set of pairs.

        Parameters
        ----------
        dataset : str

        Returns
        -------
        float or None
            None where this encoder was not measured on it, and for questions.
        """
        return self.scores.get(dataset, {}).get("spearman")

    def score(self, dataset: str) -> float | None:
        """The figure by which a set ranks encoders: Spearman on pairs, nDCG@k on questions.

        Parameters
        ----------
        dataset : str

        Returns
        -------
        float or None
            None where this encoder was not measured on it.
        """
        return _main(self.scores[dataset]) if dataset in self.scores else None


class Leaderboard:
    """Rows kept in a file: one per (encoder, lesson), in the order in which they were first added.

    Parameters
    ----------
    path : str or path, optional
        The file; None: ``leaderboard.json`` in the user's cache folder (``LESSONS_CACHE`` moves
        it). A path that is no file (a folder) is a ValueError in every method.
    """

    _read_only = False

    def __init__(self, path: str | os.PathLike | None = None):
        self.path = checked_path(path) if path is not None else cache_folder() / "leaderboard.json"

    @classmethod
    def reference(cls) -> Leaderboard:
        """The rows this course measured itself, as committed with it, to be read only.

        Returns
        -------
        Leaderboard
            Empty where the file is not there.
        """
        board = cls(PROJECT / "data" / "leaderboard.json")
        board._read_only = True
        return board

    def add(self, encoder: str, lesson: str, results: Mapping[str, Any], *, seed: int = 0,
            scale: str | None = None) -> LeaderboardRow:
        """Write one row; it takes the place of the row of the same encoder and lesson.

        Parameters
        ----------
        encoder : str
            Its name.
        lesson : str
            The lesson's id.
        results : mapping
            Of `evaluate`; or a dict of str to RetrievalResult, of `evaluate_retrieval`.
        seed : int, default 0
            Of the encoder.
        scale : {"smoke", "laptop", "paper"}, optional
            None: ``LESSONS_SCALE``, else "laptop".

        Returns
        -------
        LeaderboardRow

        Raises
        ------
        ValueError
            Empty results or names; the reference board.
        TypeError
            Other results.
        TimeoutError
            Another process keeps the file for 60 s.
        """
        self._check_writable("add")
        row = _row(encoder, lesson, results, seed=seed,
                   scale=scale or os.environ.get("LESSONS_SCALE", "laptop"))
        with self._locked():
            rows = {(old.encoder, old.lesson): old for old in self._read()}
            rows[row.encoder, row.lesson] = row
            write_json(self.path, {"format": FORMAT, "rows": list(map(asdict, rows.values()))})
        return row

    def rows(self) -> list[LeaderboardRow]:
        """All rows, oldest first.

        Returns
        -------
        list of LeaderboardRow
            Empty when nothing was added yet.
        """
        if not self._present():
            return []
        try:
            return _parsed(self.path)
        except DamagedFile:
            if self._read_only:
                raise
            # the writer may have replaced it meanwhile: look again before setting it aside
            with self._locked():
                return self._read()

    def reset(self) -> None:
        """Remove every row. Raises ValueError for the reference board."""
        self._check_writable("reset")
        with self._locked():
            self.path.unlink(missing_ok=True)

    def datasets(self) -> list[str]:
        """Names of all sets that some row was measured on, in the order of the rows.

        Returns
        -------
        list of str
        """
        return list(dict.fromkeys(name for row in self.rows() for name in row.scores))

    def figures(self, dataset: str) -> dict[str, float]:
        """The figure of every encoder that was measured on one set.

        Parameters
        ----------
        dataset : str
            Such as "course-sts".

        Returns
        -------
        dict of str to float
            Encoder to Spearman or nDCG@k, as `LeaderboardRow.score`; the newest row where an
            encoder has several. Empty for a set that no row was measured on.
        """
        return {row.encoder: row.score(dataset) for row in self.rows() if dataset in row.scores}

    def to_text(self, *, lessons: Sequence[str] = ()) -> str:
        """The table as plain text, Spearman or nDCG@10 x 100; – where it was not measured.

        Parameters
        ----------
        lessons : sequence of str, default ()
            Ids in the order in which their rows are to stand, because lessons that run side by
            side add theirs in any; rows of others are last, oldest first.

        Returns
        -------
        str
        """
        place = {lesson: i for i, lesson in enumerate(lessons)}
        rows = sorted(self.rows(), key=lambda row: place.get(row.lesson, len(place)))
        return text_table(_table(rows), left=2)

    def to_html(self) -> str:
        """The table as HTML; the best value of each set is bold.

        Returns
        -------
        str
        """
        table = _table(self.rows())
        bold = set()
        for k in range(2, len(table[0]) - 2):
            values = [None if line[k] == NOT_MEASURED else float(line[k]) for line in table[1:]]
            best = max(v for v in values if v is not None)
            bold |= {(r, k) for r, value in enumerate(values) if value == best}
        return html_table(table, caption=f"Leaderboard: {SCALE}", bold=frozenset(bold))

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        return self.to_text()

    def _present(self) -> bool:
        """Whether the file is there.

        Raises ValueError for a folder, which is never read, moved or removed.
        """
        if self.path.exists() and not self.path.is_file():
            raise ValueError(f"path={str(self.path)!r} is no file; expected the leaderboard's JSON "
                             f"file, such as {str(self.path / 'leaderboard.json')!r}")
        return self.path.exists()

    def _check_writable(self, method: str) -> None:
        if self._read_only:
            raise ValueError(f"{method} would change the course's own rows, which are written by "
                             f"`lessons build`; use your own board: Leaderboard().{method}")
        self._present()

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        from filelock import FileLock, Timeout

        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(f"{self.path}.lock", timeout=LOCK_SECONDS):
                yield
        except Timeout:
            raise TimeoutError(f"another process has kept {self.path}.lock for {LOCK_SECONDS} s; "
                               "close the other notebook and try again") from None

    def _read(self) -> list[LeaderboardRow]:
        """Rows of the file; call it with the lock held, because a damaged file is moved aside."""
        if not self._present():
            return []
        try:
            return _parsed(self.path)
        except DamagedFile as error:
            n = 1
            while (aside := self.path.with_suffix(f".damaged-{n}.json")).exists():
                n += 1
            os.replace(self.path, aside)
            warn_data(f"the leaderboard could not be read ({error}); it is kept as {aside}, and a "
                      "new one begins", stacklevel=4)
            return []


def _row(encoder: str, lesson: str, results: Mapping[str, Any], *, seed: int,
         scale: str) -> LeaderboardRow:
    for name, value in (("encoder", encoder), ("lesson", lesson)):
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"{name}={shown(value)} is no name; expected a str with >= 1 "
                             "character")
        if any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in value):
            raise ValueError(f"{name}={shown(value)} holds a line break, a control character or a "
                             "lone surrogate; expected one line of text")
    if not isinstance(results, Mapping) or not results:
        raise ValueError(f"results={shown(results)} holds 0 sets; expected what evaluate returned")
    for name, result in results.items():
        if not all(hasattr(result, f) for f in ("dim", *_fields(result))):
            raise TypeError(f"results[{shown(name)}]={shown(result)} is {type(result).__name__}; "
                            "expected an STSResult or RetrievalResult. Pass what evaluate returned")
    scores = {str(name): {field: _plain(getattr(result, field)) for field in _fields(result)}
              for name, result in results.items()}
    dim = next(iter(results.values())).dim
    return LeaderboardRow(encoder, lesson, scores, int(dim),
                          round(sum(s["seconds"] for s in scores.values()), 4), check_seed(seed),
                          check_choice("scale", scale, SCALES), _versions())


def _fields(result: Any) -> tuple[str, ...]:
    return QUESTION_FIELDS if hasattr(result, "ndcg") else PAIR_FIELDS


def _main(score: Mapping[str, Any]) -> Any:
    return score.get("spearman", score.get("ndcg"))


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    return round(float(value), 6) if isinstance(value, float) else value


def _versions() -> dict[str, str]:
    from .. import __version__

    versions = {}
    for package in VERSIONS:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions | {"lessons_lib": __version__}


def _parsed(path: Path) -> list[LeaderboardRow]:
    """Rows of a file; DamagedFile when it is no leaderboard, ValueError for a newer format."""
    content = read_json(path)
    made = content.get("format") if isinstance(content, dict) else None
    if isinstance(made, int) and made > FORMAT:
        raise ValueError(f"{path} has format {made}, this version reads up to {FORMAT}; upgrade "
                         "the course")
    try:
        rows = [LeaderboardRow(**row) for row in content["rows"]]
    except (TypeError, KeyError) as error:
        raise DamagedFile(f"{path} is no leaderboard: {error}") from error
    for row in rows:
        _check_row(path, row)
    return rows


def _check_row(path: Path, row: LeaderboardRow) -> None:
    kinds = {"encoder": str, "lesson": str, "scores": dict, "dim": int, "seconds": (int, float),
             "seed": int, "scale": str, "versions": dict}
    if not (all(isinstance(getattr(row, name), kind) for name, kind in kinds.items())
            and all(isinstance(score, dict) and isinstance(_main(score), (int, float))
                    for score in row.scores.values())):
        raise DamagedFile(f"{path} is no leaderboard: the row of {shown(row.encoder)} has fields "
                          "of a wrong kind")
    if not _finite([row.seconds, *row.scores.values()]):
        raise DamagedFile(f"{path} is no leaderboard: the row of {shown(row.encoder)} holds NaN or "
                          "infinity")


def _finite(value: Any) -> bool:
    """Whether every number inside nested lists and dicts is finite."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return all(map(_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def _table(rows: list[LeaderboardRow]) -> list[list[str]]:
    sets = list(dict.fromkeys(name for row in rows for name in row.scores))
    body = []
    for row in rows:
        values = [row.score(name) for name in sets]
        cells = [NOT_MEASURED if v is None else f"{100 * v:.1f}" for v in values]
        body.append([row.lesson, row.encoder, *cells, f"{row.dim:,}", f"{row.seconds:.1f}"])
    heads = [score_label(rows, name) for name in sets]
    return [["lesson", "encoder", *heads, "dim", "seconds"], *body]


def score_label(rows: Sequence[LeaderboardRow], dataset: str) -> str:
    """A set's name, with its measure where that is not Spearman."""
    score = next(row.scores[dataset] for row in rows if dataset in row.scores)
    return f"{dataset} nDCG@{score['k']}" if "ndcg" in score else dataset
