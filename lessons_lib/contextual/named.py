"""The encoders of lessons 08 and 09 by name, so that ``lessons evaluate``, the lessons and the
leaderboard mean the same by a name.

"lesson-bert" is the course's own model; "lesson-bert-random" has its architecture and tokenizer but
start weights only, the control that stands beside every number of it; "minilm" is a modern sentence
encoder, an optional package.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core import check_choice

if TYPE_CHECKING:
    from .encoder import ContextualEncoder

__all__ = ["NAMED", "named_encoder"]

NAMED = ("lesson-bert", "lesson-bert-random", "minilm")


def named_encoder(name: str, texts: Sequence[str] | None = None) -> ContextualEncoder:
    """An encoder that is ready: mean over tokens of the last layer ("minilm" as it was trained).

    Parameters: name, one of ``NAMED``; texts, which are not needed: nothing is fitted. Raises
    ValueError for an unknown name, DataMissing where the model is not on this machine,
    BackendUnavailable without the package of "minilm".
    """
    from .loading import load_encoder

    return load_encoder(check_choice("name", name, NAMED))
