"""The film of a pre-training: how the word table looked at moments ever further apart, and what was
measured then.

`lessons pretrain` keeps it beside the weights: 2,000 tokens of the table along its two strongest
directions, and the figures of `contextual.statistics`. Shown in lesson ``09_anisotropy``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import numpy as np

from ..core import DamagedFile, existing_path, read_json
from .loading import lesson_bert_folder
from .model_files import check_sums, settle
from .tokenizer import WordPiece

__all__ = ["Film", "load_film"]

FIGURES = ("norm_frequency", "mean_cosine", "mean_norm", "held_out_accuracy", "held_out_loss")


@dataclass(frozen=True, eq=False)
class Film:
    """The word table at k moments of a training, and what was measured then.

    Parameters
    ----------
    tokens : (k,) int64
        Tokens read by then.
    frames : (k, n, 3) float32
        Coordinates of n tokens of the vocabulary along the first two right singular vectors of the
        table at that moment, uncentred, and the norm of the vector.
    pieces : list of str
        These n tokens, the most frequent first.
    counts : (n,) int64
        How often each occurs.
    figures : dict of str to (k,) float64
        Of the whole table: ``norm_frequency`` (correlation of norm and log count), ``mean_cosine``,
        ``top_share`` (of the first squared singular value in their sum) and ``mean_norm``; of the
        model on held-out text: ``held_out_accuracy`` and ``held_out_loss``.
    """

    tokens: np.ndarray
    frames: np.ndarray = field(repr=False)
    pieces: list[str] = field(repr=False)
    counts: np.ndarray = field(repr=False)
    figures: dict[str, np.ndarray] = field(repr=False)

    def __len__(self) -> int:
        return len(self.tokens)


def load_film(name: str | os.PathLike = "lesson-bert", *, verify: bool = True) -> Film:
    """The film of a pre-training.

    Parameters
    ----------
    name : str or path, default "lesson-bert"
        Or the folder that `pretrain` wrote.
    verify : bool, default True
        Compare the files with the checksums of the card.

    Returns
    -------
    Film

    Raises
    ------
    DataMissing
        The course's model is not on this machine.
    FileNotFoundError
        No such folder.
    DamagedFile
        No film in it, or one that does not fit its card.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    folder = lesson_bert_folder() if name == "lesson-bert" else existing_path(name, name="name")
    settle(folder)
    card, film = folder / "card.json", folder / "film.safetensors"
    if not film.is_file():
        raise DamagedFile(f"{folder} has no film: {film.name} is missing; models of `lessons "
                          "pretrain` have one")
    try:
        tensors = load_file(film)
        frames, numbers, counts = (tensors[key] for key in ("frames", "pieces", "counts"))
    except (SafetensorError, KeyError, TypeError) as error:   # no bfloat16 here
        raise DamagedFile(f"{film} was cut or changed, or is no film: {error}") from error
    try:
        moments = read_json(card)["moments"]
        figures = {key: np.array([moment[key] for moment in moments], np.float64)
                   for key in FIGURES}
        figures["top_share"] = np.array([moment["shares"][0] for moment in moments], np.float64)
        tokens = np.array([moment["tokens"] for moment in moments], np.int64)
    except (FileNotFoundError, KeyError, IndexError, TypeError, ValueError) as error:
        raise DamagedFile(f"{card} tells nothing of the moments of the training ({error!r:.80}); "
                          "train again: lessons pretrain") from error
    if frames.shape != (len(tokens), len(numbers), 3) or len(counts) != len(numbers):
        raise DamagedFile(f"{folder}: film.safetensors has frames of shape {frames.shape} for "
                          f"{len(tokens)} moments of card.json and {len(numbers)} tokens; the "
                          "files are not of one training")
    check_sums(folder, verify=verify)
    strings = WordPiece.load(folder).pieces
    if len(numbers) and int(numbers.max()) >= len(strings):
        raise DamagedFile(f"{folder}: film.safetensors names token {int(numbers.max())}, vocab.txt "
                          f"has {len(strings):,}")
    return Film(tokens, frames.astype(np.float32), [strings[i] for i in numbers],
                counts.astype(np.int64), figures)
