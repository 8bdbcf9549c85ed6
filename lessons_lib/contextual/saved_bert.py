"""A LessonBert in a folder, in the layout that ``transformers`` reads: weights as float16 safetensors, config, tokenizer; and a card beside them.

``BertModel.from_pretrained(folder)`` and ``BertForPreTraining.from_pretrained(folder)`` read it as well as `load_bert`. Used from lesson
``08_bert_sentence_vectors`` on.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..core import DamagedFile, atomic_open, existing_path, read_json, sha256, write_json
from .lesson_bert import BertSize, LessonBertForPretraining
from .tokenizer import WordPiece

__all__ = ["WEIGHTS", "check_names", "load_bert", "save_bert"]

WEIGHTS = "model.safetensors"


def save_bert(folder: str | os.PathLike, model: LessonBertForPretraining, tokenizer: WordPiece, *, card: dict[str, Any],
              film: dict[str, np.ndarray] | None = None) -> None:
    """Write weights (float16), tokenizer, ``config.json``, ``film.safetensors`` if given, and at last ``card.json`` with a checksum."""
    from safetensors.numpy import save

    target = Path(folder)
    weights = {name: value.detach().cpu().to(torch.float16).numpy() for name, value in model.state_dict().items()}
    with atomic_open(target / WEIGHTS, "wb") as file:
        file.write(save(weights, metadata={"format": "pt"}))
    tokenizer.save(target)
    write_json(target / "config.json", model.bert.size.to_config())
    if film is not None:
        with atomic_open(target / "film.safetensors", "wb") as file:
            file.write(save({name: np.ascontiguousarray(array) for name, array in film.items()}))
    size = (target / WEIGHTS).stat().st_size
    write_json(target / "card.json", card | {"bytes": size, "sha256": sha256(target / WEIGHTS), "dtype": "float16"})


def load_bert(folder: str | os.PathLike) -> tuple[LessonBertForPretraining, WordPiece]:
    """Read model (float32, on the CPU, no dropout) and tokenizer.

    Raises FileNotFoundError, DamagedFile: a file is missing or cut, sizes or names of weights are not those that ``config.json`` asks for.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    path = existing_path(folder)
    for name in ("config.json", WEIGHTS):
        if not (path / name).is_file():
            raise DamagedFile(f"{path} holds no LessonBert: {name} is missing")
    tokenizer = WordPiece.load(path)
    model = LessonBertForPretraining(BertSize.from_config(read_json(path / "config.json")))
    try:
        weights = load_file(path / WEIGHTS)
    except SafetensorError as error:
        raise DamagedFile(f"{path / WEIGHTS} was cut or changed: {error}") from error
    check_names(path / WEIGHTS, {k: tuple(v.shape) for k, v in model.state_dict().items()}, {k: tuple(v.shape) for k, v in weights.items()})
    if len(tokenizer) != model.bert.size.vocabulary:
        raise DamagedFile(f"{path}: vocab.txt has {len(tokenizer)} pieces, config.json says vocab_size={model.bert.size.vocabulary}")
    model.load_state_dict({name: value.float() for name, value in weights.items()})
    return model.eval(), tokenizer


def check_names(path: Path, wanted: dict[str, tuple[int, ...]], found: dict[str, tuple[int, ...]]) -> None:
    """Raise DamagedFile where names or shapes of weights are not those wanted: how many, and at most five of them."""
    wrong = {"missing": sorted(wanted.keys() - found.keys()), "unexpected": sorted(found.keys() - wanted.keys()),
             "of another shape": sorted(name for name in wanted.keys() & found.keys() if wanted[name] != found[name])}
    said = [f"{len(names)} {kind} ({', '.join(names[:5])})" for kind, names in wrong.items() if names]
    if said:
        raise DamagedFile(f"{path} does not hold the weights that config.json asks for: {'; '.join(said)}")
