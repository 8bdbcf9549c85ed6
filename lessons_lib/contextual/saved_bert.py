"""A LessonBert in a folder, in the layout that ``transformers`` reads: weights as float16
safetensors, config, tokenizer; and a card beside them.

``BertModel.from_pretrained(folder)`` and ``BertForPreTraining.from_pretrained(folder)`` read it as
well as `load_bert`. Used from lesson ``08_bert_sentence_vectors`` on.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import torch

from ..core import DamagedFile, TrainingDiverged, checked_path, existing_path, write_json
from .lesson_bert import BertSize, LessonBertForPretraining
from .model_files import (WEIGHTS, check_names, check_sizes, check_sums, plain_names, read_config,
                          read_weights, replaced, settle)
from .tokenizer import WordPiece

__all__ = ["load_bert", "save_bert"]


def save_bert(folder: str | os.PathLike, model: LessonBertForPretraining, tokenizer: WordPiece, *,
              card: dict[str, Any], film: dict[str, np.ndarray] | None = None) -> None:
    """Write a model: weights (float16), tokenizer, config, film, and at last its card.

    A model that is there is read at every moment, or this one, see `model_files.replaced`.

    Parameters
    ----------
    folder : str or path
    model : LessonBertForPretraining
    tokenizer : WordPiece
    card : dict
        What is known of the model; the checksums of all files are added.
    film : dict of str to array, optional

    Raises
    ------
    TrainingDiverged
        Weights beyond float16.
    OSError
        The folder cannot be written.
    """
    from safetensors.numpy import save

    weights = {name: value.detach().cpu().to(torch.float16).numpy()
               for name, value in model.state_dict().items()}
    wide = sorted(name for name, value in weights.items() if not np.isfinite(value).all())
    if wide:
        raise TrainingDiverged(f"{len(wide)} weights are beyond the 65,504 of float16 "
                               f"({', '.join(wide[:5])}); nothing was written. Train with a "
                               "smaller learning_rate")
    with replaced(checked_path(folder, "folder"), card | {"dtype": "float16"}) as draft:
        (draft / WEIGHTS).write_bytes(save(weights, metadata={"format": "pt"}))
        if film is not None:
            (draft / "film.safetensors").write_bytes(save(
                {name: np.ascontiguousarray(array) for name, array in film.items()}))
        tokenizer.save(draft)
        write_json(draft / "config.json", model.bert.size.to_config())


def load_bert(folder: str | os.PathLike, *,
              verify: bool = True) -> tuple[LessonBertForPretraining, WordPiece]:
    """Read model (float32, on the CPU, no dropout) and tokenizer.

    Parameters
    ----------
    folder : str or path
    verify : bool, default True
        Compare the files with the checksums of the card (about 0.5 s per GB).

    Returns
    -------
    LessonBertForPretraining, WordPiece

    Raises
    ------
    FileNotFoundError
    DamagedFile
        A file is missing, cut or changed; sizes or names of weights are not those that
        ``config.json`` asks for.
    """
    path = existing_path(folder, name="folder")
    settle(path)
    for name in ("config.json", WEIGHTS):
        if not (path / name).is_file():
            raise DamagedFile(f"{path} holds no LessonBert: {name} is missing")
    tokenizer = WordPiece.load(path)
    config, weights = read_config(path), read_weights(path / WEIGHTS)
    size = BertSize.from_config(config)
    check_sizes(path, config, plain_names(weights))
    model = LessonBertForPretraining(size)
    check_names(path / WEIGHTS, {k: tuple(v.shape) for k, v in model.state_dict().items()},
                {k: tuple(v.shape) for k, v in weights.items()})
    if len(tokenizer) != model.bert.size.vocabulary:
        raise DamagedFile(f"{path}: vocab.txt has {len(tokenizer)} tokens, config.json says "
                          f"vocab_size={model.bert.size.vocabulary}")
    check_sums(path, verify=verify)
    model.load_state_dict({name: value.float() for name, value in weights.items()})
    return model.eval(), tokenizer
