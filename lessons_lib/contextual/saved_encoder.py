"""A contextual encoder in a folder of the layout that ``transformers`` and sentence-transformers
read, so that `load_encoder` gives it back.

Weights as float32 safetensors, config, tokenizer, ``modules.json`` with the pooling, and a card
with the checksums of all. Used by the trainers of lessons ``10_sbert`` to ``14_simcse``.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core import sha256, write_json
from .interop import write_model
from .sentence_modules import write_settings
from .weights_file import CARD, WEIGHTS, announce

if TYPE_CHECKING:
    from .encoder import ContextualEncoder

__all__ = ["save_encoder"]


def save_encoder(folder: str | os.PathLike, encoder: ContextualEncoder, *,
                 card: dict[str, Any]) -> None:
    """Write model, tokenizer, pooling and at last ``card.json`` with the checksums of all.

    Parameters: folder, made if need be; files of an encoder that is there are replaced one by one,
    and it stays readable at every moment: its card first says what its files become; encoder; card,
    what is known about it, JSON. A chosen ``layer`` and ``special_tokens=False`` are not written:
    `load_encoder` takes them as arguments. Raises OSError when the folder cannot be written.
    """
    target = Path(folder)
    draft = target / f".draft-{os.getpid()}"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    try:
        write_model(draft, encoder.reader, encoder.tokenizer, longest=encoder.longest)
        write_settings(draft, encoder.pooling, dim=encoder.dim, longest=encoder.longest,
                       normalize=encoder.normalize)
        names = sorted(path.relative_to(draft).as_posix() for path in draft.rglob("*")
                       if path.is_file())
        sums = {name: sha256(draft / name) for name in names}
        plain = {name: digest for name, digest in sums.items() if "/" not in name}
        announce(target, plain)
        for name in names:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(draft / name, target / name)
        weights = target / WEIGHTS
        write_json(target / CARD, card | {
            "dtype": "float32", "bytes": weights.stat().st_size if weights.exists() else 0,
            "sha256": sums.get(WEIGHTS), "files": plain})
    finally:
        shutil.rmtree(draft, ignore_errors=True)
