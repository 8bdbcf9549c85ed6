"""Folders and models of sentence-transformers: to them and from them, number for number.

A `ContextualEncoder` becomes a ``SentenceTransformer`` of three modules (model, pooling, and
normalising where vectors have norm 1), and one of these becomes a `ContextualEncoder`; a folder
says in ``modules.json`` how texts are read. What one of the two has no word for is refused, not
approximated; only text that is spelt like a special token ("[SEP]") is text here and the token
itself there. The package is optional. Taught in lesson ``08_bert_sentence_vectors``.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from ..core import BackendUnavailable, DamagedFile, read_json, shown, write_json
from .lesson_bert import BertSize, LessonBert
from .numbering import Subwords
from .pooling import LAST_K, POOLINGS, Pooling
from .readers import BertReader, OtherReader, Reader, is_plain_bert

__all__ = ["FolderSettings", "check_counterpart", "folder_settings", "from_sentence_transformers",
           "pooling_of", "sentence_transformers", "to_sentence_transformers", "write_model",
           "write_settings"]

MODES = {"last": "mean", "mean": "mean", "cls": "cls", "max": "max"}        # ours -> theirs
FLAGS = {"pooling_mode_mean_tokens": "last", "pooling_mode_cls_token": "cls",
         "pooling_mode_max_tokens": "max"}
BY_NAME = {"mean": "last", "cls": "cls", "max": "max"}
OURS = "pooling of lessons_lib"    # key of a pooling for which sentence-transformers has no word
KINDS = (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])
TYPES = "sentence_transformers.models"
WIDTHS = ("word_embedding_dimension", "embedding_dimension")


@dataclass(frozen=True)
class FolderSettings:
    """How texts are read: ``pooling``; ``normalize``; ``longest`` text in tokens and ``width`` of
    what is pooled, None where nothing is said; ``file`` that said so.
    """

    pooling: str = "last"
    normalize: bool = False
    longest: int | None = None
    width: int | None = None
    width_key: str = ""
    file: Path | None = None

    def check_width(self, folder: Path, dim: int) -> None:
        """Raise DamagedFile where the pooling was made for another width."""
        if self.width is not None and self.width != dim:
            raise DamagedFile(f"{self.file} says {self.width_key}={self.width}; "
                              f"{folder / 'config.json'} says hidden_size={dim}")

    def cut(self, positions: int) -> int | None:
        """The length at which texts are cut; None: where the model ends."""
        return None if self.longest is None or self.longest >= positions else self.longest


def folder_settings(folder: Path) -> FolderSettings:
    """The settings of a folder. Raises DamagedFile, ValueError for a module we do not know."""
    path = folder / "modules.json"
    if not is_there(path):
        return FolderSettings()
    modules = read_json(path, max_bytes=1_000_000)
    try:
        kinds = [(str(module["type"]).rsplit(".", 1)[-1], str(module["path"]))
                 for module in modules]
    except (TypeError, KeyError) as error:
        raise DamagedFile(f"{path} is no list of modules with type and path: {error!r}") from error
    names = [kind for kind, _ in kinds]
    if names not in KINDS:
        raise ValueError(f"{path} lists {', '.join(names) or 'nothing'}; only Transformer, Pooling "
                         "and Normalize, in this order, are understood")
    if kinds[0][1] not in ("", "."):
        raise ValueError(f"{path} keeps the model in {shown(kinds[0][1])}; pass that folder: "
                         f"load_encoder({str(folder / kinds[0][1])!r})")
    pooling = folder / kinds[1][1] / "config.json"
    if ".." in Path(kinds[1][1]).parts or Path(kinds[1][1]).is_absolute():
        raise DamagedFile(f"{path} points out of its folder: {shown(kinds[1][1])}")
    config = _object(pooling)
    key = next((key for key in WIDTHS if key in config), "")
    return FolderSettings(pooling_of(config, pooling), "Normalize" in names, _longest(folder),
                          config.get(key), key, pooling)


def is_there(path: Path) -> bool:
    """Whether a folder has a file of settings that it need not have. Raises DamagedFile for a link
    to what is gone, or a folder in its place: read without it, the model would be another one.
    """
    if os.path.lexists(path) and not path.is_file():
        what = "a link to what is not there" if path.is_symlink() else "no file"
        raise DamagedFile(f"{path} is {what}; expected settings in JSON. Get the model again")
    return path.is_file()


def _object(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise DamagedFile(f"{path} is missing")
    content = read_json(path, max_bytes=1_000_000)
    if not isinstance(content, dict):
        raise DamagedFile(f"{path} holds {type(content).__name__}; expected settings by name")
    return content


def pooling_of(config: dict[str, Any], where: object) -> str:
    """The name of a pooling that sentence-transformers describes. Raises ValueError."""
    ours = config.get(OURS)
    if ours is not None:
        if isinstance(ours, str) and (ours in POOLINGS or LAST_K.fullmatch(ours)):
            return ours
        raise ValueError(f"{where} asks for {shown(ours)}; expected one of {', '.join(POOLINGS)}")
    said = config.get("pooling_mode")
    if isinstance(said, (list, tuple)):
        chosen = list(said)
    elif isinstance(said, str):
        chosen = [said]
    else:
        chosen = [key for key, on in config.items()
                  if key.startswith("pooling_mode_") and on is True]
    names = [(BY_NAME | FLAGS).get(mode) for mode in chosen]
    if len(names) != 1 or names[0] is None:
        raise ValueError(f"{where} asks for {', '.join(map(str, chosen)) or 'no pooling'}; "
                         "expected one of mean, cls and max")
    return names[0]


def _longest(folder: Path) -> int | None:
    path = folder / "sentence_bert_config.json"
    value = _object(path).get("max_seq_length") if is_there(path) else None
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise DamagedFile(f"{path} says max_seq_length={shown(value)}; expected a whole number >= "
                          "1")
    return value


def write_settings(folder: Path, pooling: str, *, dim: int, longest: int, normalize: bool) -> None:
    """Write how an encoder reads texts into the folder of its model. A pooling that has no word
    there gets a name of ours, which only `folder_settings` understands.
    """
    modes = {mode: name in (pooling, "last" if pooling == "mean" else "")
             for mode, name in FLAGS.items()}
    ours = {} if any(modes.values()) else {OURS: pooling}
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling")]
    kinds += [("2_Normalize", "Normalize")] if normalize else []
    write_json(folder / "1_Pooling" / "config.json",
               {"word_embedding_dimension": dim} | modes | ours)
    write_json(folder / "sentence_bert_config.json",
               {"max_seq_length": longest, "do_lower_case": False})
    write_json(folder / "modules.json",
               [{"idx": i, "name": str(i), "path": path, "type": f"{TYPES}.{kind}"}
                for i, (path, kind) in enumerate(kinds)])


def sentence_transformers() -> Any:
    """The package. Raises BackendUnavailable with the command that installs it."""
    try:
        import sentence_transformers as package
    except ImportError as error:
        raise BackendUnavailable(f"sentence-transformers 6 is not installed ({error}): pip install "
                                 "sentence-transformers==6.2.0") from error
    return package


def check_counterpart(reader: Reader, pooling: Pooling) -> None:
    """Raise ValueError for an encoder that sentence-transformers has no modules for."""
    if not reader.per_token:
        raise ValueError(f"a {reader.kind} has no counterpart in sentence-transformers; write "
                         "its vectors with `lessons encode`, or the model with `lessons export "
                         "--to onnx`")
    if pooling.name not in MODES or pooling.layer == 0 or not pooling.special_tokens:
        layer = "" if pooling.layer is None else f", layer={pooling.layer}"
        raise ValueError(f"pooling={pooling.name!r}{layer}, "
                         f"special_tokens={pooling.special_tokens} has no counterpart in "
                         "sentence-transformers; choose 'last', 'cls' or 'max' with special "
                         "tokens, of layer 1 or higher")


def to_sentence_transformers(reader: Reader, tokenizer: Subwords, pooling: Pooling, *, longest: int,
                             normalize: bool) -> Any:
    """An encoder as a ``SentenceTransformer`` with a copy of its weights, on the CPU in float32;
    see `ContextualEncoder.to_sentence_transformers`.
    """
    package = sentence_transformers()
    from sentence_transformers.sentence_transformer import modules

    check_counterpart(reader, pooling)
    with tempfile.TemporaryDirectory() as folder:
        write_model(Path(folder), reader, tokenizer, longest=longest, layers=pooling.layer)
        first = modules.Transformer(folder, max_seq_length=longest,
                                    model_kwargs={"local_files_only": True, "dtype": torch.float32})
    parts = [first, modules.Pooling(reader.dim, MODES[pooling.name])]
    parts += [modules.Normalize()] if normalize else []
    return package.SentenceTransformer(modules=parts, device="cpu")


def write_model(folder: Path, reader: Reader, tokenizer: Subwords, *, longest: int,
                layers: int | None = None) -> None:
    """Fill a folder that transformers reads: config, weights in float32, tokenizer. With ``layers``
    only so many blocks of a BERT are written.
    """
    from safetensors.torch import save_file

    model = reader.model
    if isinstance(model, LessonBert):
        size = replace(model.size, layers=layers or model.size.layers)
        write_json(folder / "config.json",
                   size.to_config() | {"architectures": ["BertModel"], "dtype": "float32"})
        kept = {name: value.detach().cpu().float().contiguous()
                for name, value in model.state_dict().items() if _block(name) < size.layers}
        if reader.pooler is None:                 # one that nobody trained is not written
            kept = {n: value for n, value in kept.items() if not n.startswith("pooler.")}
        save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    elif layers in (None, reader.blocks):
        model.save_pretrained(folder)
    else:
        raise ValueError(f"layer={layers} of a {reader.kind} cannot be taken out; only a BERT's "
                         "can")
    tokenizer.engine.save(str(folder / "tokenizer.json"))
    pad = tokenizer.engine.id_to_token(getattr(reader, "pad", 0))
    write_json(folder / "tokenizer_config.json", {
        "tokenizer_class": "PreTrainedTokenizerFast", "pad_token": pad, "model_max_length": longest,
        "model_input_names": ["input_ids", "attention_mask"]})


def _block(name: str) -> int:
    """The number of the block that a weight belongs to, -1 for none."""
    parts = name.split(".")
    return int(parts[2]) if parts[:2] == ["encoder", "layer"] else -1


def from_sentence_transformers(model: Any, *, name: str | None = None) -> dict[str, Any]:
    """The arguments of a `ContextualEncoder` that gives the vectors of a ``SentenceTransformer``;
    see `ContextualEncoder.from_sentence_transformers`.
    """
    parts = list(model) if isinstance(model, torch.nn.Module) and hasattr(model, "__iter__") else []
    kinds = [type(part).__name__ for part in parts]
    if kinds[:1] != ["Transformer"]:
        raise TypeError(f"model={shown(model)} is {type(model).__name__}; expected a "
                        "SentenceTransformer that begins with a Transformer")
    if kinds not in KINDS:
        raise ValueError(f"model has the modules {', '.join(kinds)}; only Transformer, Pooling and "
                         "Normalize, in this order, are understood")
    from tokenizers import Tokenizer

    first, pooling = parts[0], parts[1]
    reader, longest = _reader(first.auto_model), first.max_seq_length
    own = Tokenizer.from_str(first.tokenizer.backend_tokenizer.to_str())      # does not cut or pad
    mode = pooling_of({"pooling_mode": pooling.pooling_mode}, "its Pooling")
    whole = longest is None or longest >= reader.positions
    return {"reader": reader, "tokenizer": Subwords(own), "pooling": mode,
            "name": name or f"sentence-transformers {reader.kind}",
            "normalize": "Normalize" in kinds, "max_length": None if whole else int(longest)}


def _reader(model: Any) -> Reader:
    config = model.config.to_dict()
    if not is_plain_bert(config):
        return OtherReader(model, has_pooler=True)
    ours = LessonBert(BertSize.from_config(config)).to(next(model.parameters()).device)
    wanted = ours.state_dict()
    weights = {name: value.detach().float() for name, value in model.state_dict().items()
               if name in wanted}
    has_pooler = not any(name.startswith("pooler.") for name in wanted.keys() - weights.keys())
    ours.load_state_dict(weights, strict=False)
    return BertReader(ours.eval(), has_pooler=has_pooler)
