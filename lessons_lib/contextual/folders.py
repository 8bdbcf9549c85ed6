"""An encoder out of the folder of a model, as transformers, sentence-transformers and we write it.

Nothing but safetensors is read, and no code that comes with a model is run. Used by `loading`,
which finds the folder of a name, and by the trainers.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..core import DamagedFile, check_choice, check_seed, checked_path, read_json, torch_device
from ..core.eight_bits import quantized
from .bag import KIND, BagReader, read_bag, write_bag
from .encoder import TRUNCATIONS, ContextualEncoder
from .interop import folder_settings, write_model, write_settings
from .lesson_bert import BertSize, LessonBert
from .model_files import (CARD, WEIGHTS, check_sums, check_weights_are_safe, read_bert,
                          read_config, read_other, read_weights, replaced, settle)
from .numbering import Subwords, load_subwords
from .pooling import Pooling
from .readers import BertReader, OtherReader, Reader, is_plain_bert

__all__ = ["PRECISIONS", "encoder_in", "place_and_type", "save_encoder"]

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def place_and_type(device: str, precision: str | None) -> tuple[torch.device, torch.dtype]:
    """Where a model goes and what it calculates in. Raises ValueError, BackendUnavailable."""
    place = torch_device(device)
    if precision is None:
        precision = "bfloat16" if place.type == "cuda" else "float32"
    return place, PRECISIONS[check_choice("precision", precision, PRECISIONS)]


def encoder_in(folder: Path, *, name: str | None = None, device: str = "auto",
               precision: str | None = None, pooling: str | None = None,
               normalize: bool | None = None, max_length: int | None = None,
               seed: int | None = None, verify: bool = True, **settings: Any) -> ContextualEncoder:
    """The encoder in a folder, with other settings of `ContextualEncoder`; None: what the folder
    says. With ``seed`` its weights are random. Raises as `load_encoder`.
    """
    place, dtype = place_and_type(device, precision)
    Pooling(pooling or "last", settings.get("layer"), settings.get("special_tokens", True))
    check_choice("truncation", settings.get("truncation", "warn"), TRUNCATIONS)
    settle(folder)
    config, own = read_config(folder), folder_settings(folder)
    reader, tokenizer = _model_in(folder, config, seed)
    if tokenizer.highest >= reader.vocabulary:
        raise DamagedFile(f"{folder}: its tokenizer has {len(tokenizer):,} tokens, the highest id "
                          f"{tokenizer.highest:,}; the model's vocabulary has "
                          f"{reader.vocabulary:,}. Copy the tokenizer that belongs to the model")
    own.check_width(folder, reader.dim)
    check_sums(folder, verify=verify)
    reader.model.to(place, dtype).eval()
    card = folder / CARD
    return ContextualEncoder(
        reader, tokenizer, name=name or folder.name, pooling=pooling or own.pooling,
        max_length=own.cut(reader.positions) if max_length is None else max_length,
        normalize=own.normalize if normalize is None else normalize,
        piece_counts=_piece_counts(folder, reader.vocabulary),
        card=read_json(card) if card.is_file() else None, **settings).check()


def _model_in(folder: Path, config: dict[str, Any],
              seed: int | None) -> tuple[Reader, Subwords]:
    """The model in a folder, a random one of its size with ``seed``, and its tokenizer."""
    if config["model_type"] == KIND:
        check_weights_are_safe(folder)
        return read_bag(folder, config)
    tokenizer = load_subwords(folder)
    if seed is not None:
        size = BertSize.from_config(config)
        return BertReader(LessonBert(size, seed=check_seed(seed))), tokenizer
    check_weights_are_safe(folder)
    if is_plain_bert(config) and (folder / WEIGHTS).is_file():
        model, has_pooler = read_bert(folder, config)
        return BertReader(model, has_pooler=has_pooler), tokenizer
    other, has_pooler = read_other(folder, config)
    return OtherReader(other, has_pooler=has_pooler), tokenizer


def _piece_counts(folder: Path, vocabulary: int) -> np.ndarray | None:
    """How often each token stood in the training text, from the film of a LessonBert."""
    from safetensors import SafetensorError, safe_open

    path = folder / "film.safetensors"
    if not path.is_file():
        return None
    try:
        with safe_open(path, "numpy") as film:
            if "all_counts" not in set(film.keys()):
                return None
            counts = film.get_tensor("all_counts").astype(np.int64)
    except (SafetensorError, TypeError) as error:
        raise DamagedFile(f"{path} was cut or changed: {error}") from error
    if counts.shape != (vocabulary,):
        raise DamagedFile(f"{path} has counts of {counts.shape} tokens; the model's vocabulary has "
                          f"{vocabulary:,}")
    return counts


def save_encoder(folder: str | os.PathLike, encoder: ContextualEncoder, *, card: dict[str, Any],
                 compact: bool = False) -> None:
    """Write model, tokenizer, pooling and at last ``card.json`` with the checksums of all; an
    encoder that is there stays readable at every moment. Weights are float32; with ``compact``
    float16, or the table of a bag in 8 bits. A chosen ``layer`` and ``special_tokens=False`` are
    not written: `load_encoder` takes them as arguments. Raises ValueError for weights beyond
    float16.
    """
    about = dict(card)
    with replaced(checked_path(folder, "folder"), about) as draft:
        bag = isinstance(encoder.reader, BagReader)
        if bag:
            write_bag(draft, encoder.reader.model, encoder.tokenizer)
        else:
            write_model(draft, encoder.reader, encoder.tokenizer, longest=encoder.longest)
        about["dtype"] = _compact(draft / WEIGHTS) if compact else "float32"
        if not bag or encoder.normalize:          # a bag knows one pooling
            write_settings(draft, encoder.pooling, dim=encoder.dim, longest=encoder.longest,
                           normalize=encoder.normalize)
        for weights in draft.glob("*.safetensors"):   # their writer lets only the owner read them
            shutil.copymode(draft / "config.json", weights)


def _compact(path: Path) -> str:
    """Write weights again in fewer bits. Returns their type. Raises ValueError."""
    from safetensors.torch import save_file

    weights = read_weights(path)
    if "table" in weights:
        table, scale = (torch.from_numpy(part) for part in quantized(weights["table"].numpy()))
        save_file({"table": table, "scale": scale}, path, metadata={"format": "pt"})
        return "int8"
    weights = {name: value.half() for name, value in weights.items()}
    wide = [name for name, value in weights.items() if not torch.isfinite(value).all()]
    if wide:
        raise ValueError(f"compact=True is not possible: {wide[0]} holds numbers beyond the 65,504 "
                         "of float16. Write float32: compact=False")
    save_file(weights, path, metadata={"format": "pt"})
    return "float16"
