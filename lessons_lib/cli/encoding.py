"""``lessons encode``: the texts of files or datasets into a file of vectors, by any encoder that
has a name or a folder.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from .training import Stopped, read_texts

__all__ = ["encode", "encoder_names", "encoder_of"]


def encode(encoder: Annotated[str, typer.Argument(help="as in `lessons evaluate`: a name, the "
                                                       "folder of a model, or word vectors")],
           texts: Annotated[list[str], typer.Argument(help="text files (one text in a line) or "
                                                           "datasets of texts")],
           out: Annotated[Path, typer.Option(help="the file, ending in .npy")],
           batch_size: Annotated[int, typer.Option(help="texts at a time")] = 256,
           encoding: Annotated[str, typer.Option(help="of the text files")] = "utf-8") -> None:
    """Write the vectors of texts into a .npy file, a row per text.

    Ctrl-C keeps what is done; the same command goes on.
    """
    from ..contextual import encode_to

    found = encoder_of(encoder)
    if found is None:
        from ..sentences import MeanEncoder
        from .measuring import word_vectors

        found = MeanEncoder(word_vectors(encoder, None))
    try:
        vectors = encode_to(found, out, read_texts(texts, encoding=encoding), batch_size=batch_size,
                            progress=sys.stderr.isatty())
    except KeyboardInterrupt:
        raise Stopped(f"stopped; what was encoded is kept beside {out}. Go on: the same "
                      "command") from None
    print(f"{out}: {vectors.shape[0]:,} texts x {vectors.shape[1]} by {found.name}")


def encoder_of(source: str) -> Any:
    """The encoder of a name, or of the folder of a contextual model; None for what is neither."""
    from .. import contextual, counts, sentences

    for room in (counts, sentences, contextual):
        if source in room.NAMED:
            return room.named_encoder(source)
    return contextual.load_encoder(Path(source)) if (Path(source) /
                                                     "config.json").is_file() else None


def encoder_names() -> tuple[str, ...]:
    """All names of encoders."""
    from .. import contextual, counts, sentences

    return (*counts.NAMED, *sentences.NAMED, *contextual.NAMED)
