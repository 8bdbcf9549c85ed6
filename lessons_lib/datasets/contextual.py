"""Loads what others measured on contextual models, and a tokenizer's pieces.

The real BERT-base, ELMo and GPT-2 are too large to carry along; these tables say what their vectors look like. Used by lessons 08 and
09, where they stand beside the same statistics of the course's own models.
"""

from __future__ import annotations


import numpy as np

from ..core import DamagedFile, read_json
from .records import ContextualStatistics, SpaceStatistics, WordPieces
from .rows import Request, chosen_rows
from .tables import read_text

__all__ = ["contextual_statistics", "space_statistics", "word_pieces"]


def contextual_statistics(request: Request) -> ContextualStatistics:
    """One row per model, statistic, word and layer."""
    table = chosen_rows(request, request.paths[0], ("model", "statistic", "word", "layer", "value"))
    return ContextualStatistics(np.array(table["model"], dtype=np.str_), np.array(table["statistic"], dtype=np.str_), table["word"],
                                table.numbers("layer").astype(np.int64), table.numbers("value"), name=request.dataset.name)


def space_statistics(request: Request) -> SpaceStatistics:
    """Model → statistic → one number per layer. Raises DamagedFile for JSON of another form."""
    raw = read_json(request.paths[0])
    try:
        values = {model: {name: np.array([layers[f"layer_{i}"] for i in range(len(layers))], dtype=np.float64) for name, layers in entry.items()}
                  for model, entry in raw.items()}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DamagedFile(f"{request.paths[0]} is not model → statistic → layer_0, layer_1, …: {type(error).__name__} {error}") from error
    return SpaceStatistics(values, name=request.dataset.name)


def word_pieces(request: Request) -> WordPieces:
    """Pieces by id, and the tokenizer's settings."""
    lines = read_text(request.paths[0]).split("\n")
    pieces = [line.removesuffix("\r") for line in (lines[:-1] if not lines[-1] else lines)]
    settings = read_json(request.paths[1])
    if not isinstance(settings, dict):
        raise DamagedFile(f"{request.paths[1]} holds {type(settings).__name__}; expected settings by name")
    return WordPieces(pieces, settings, name=request.dataset.name)
