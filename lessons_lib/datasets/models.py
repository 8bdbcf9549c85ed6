"""A model that comes with the course: what `load` gives is the folder in which its files lie; other rooms know how to read it.

`contextual.load_encoder` reads LessonBERT from there. Used by lesson ``08_bert_sentence_vectors``.
"""

from __future__ import annotations

from pathlib import Path

from ..core import DataMissing
from .rows import Request

__all__ = ["model_folder"]


def model_folder(request: Request) -> Path:
    """The folder of a model. Raises DataMissing where its files lie in several places, so that no folder holds them all."""
    folders = sorted({path.parent for path in request.paths})
    if len(folders) > 1:
        raise DataMissing(f"the files of {request.dataset.name} lie in {len(folders)} folders, {folders[0]} and {folders[1]}; "
                          "a model is read from one: put them together, or remove those of the first")
    return folders[0]
