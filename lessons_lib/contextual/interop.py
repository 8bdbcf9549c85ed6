"""To and from a model of sentence-transformers, number for number.

A `ContextualEncoder` becomes a ``SentenceTransformer`` of three modules (model, pooling, and
normalising where vectors have length 1), and one of these becomes a `ContextualEncoder`. What one
of the two has no word for is refused, not approximated; only text that is spelt like a special
token ("[SEP]") is text here and the token itself there. The package is optional. Taught in lesson
``08_bert_sentence_vectors``.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from ..core import BackendUnavailable, shown, write_json
from .lesson_bert import BertSize, LessonBert
from .pieces import Pieces
from .pooling import Pooling
from .readers import BertReader, OtherReader, Reader, is_plain_bert
from .sentence_modules import pooling_of

__all__ = ["from_sentence_transformers", "to_sentence_transformers", "write_model"]

MODES = {"last": "mean", "mean": "mean", "cls": "cls", "max": "max"}


def _package() -> tuple[Any, Any]:
    """The package and its modules."""
    try:
        import sentence_transformers
        from sentence_transformers.sentence_transformer import modules
    except ImportError as error:
        raise BackendUnavailable(f"sentence-transformers 6 is not installed ({error}): pip install "
                                 "sentence-transformers==6.2.0") from error
    return sentence_transformers, modules


def to_sentence_transformers(reader: Reader, tokenizer: Pieces, pooling: Pooling, *, longest: int,
                             normalize: bool) -> Any:
    """An encoder as a ``SentenceTransformer`` with a copy of its weights, on the CPU in float32.

    A chosen layer becomes a model with as many blocks. Parameters: those of the encoder; longest
    text. Raises BackendUnavailable (the package), ValueError: a pooling of several layers,
    "pooler", layer 0 and ``special_tokens=False`` have no counterpart there.
    """
    package, modules = _package()
    if pooling.name not in MODES or pooling.layer == 0 or not pooling.special_tokens:
        layer = "" if pooling.layer is None else f", layer={pooling.layer}"
        raise ValueError(f"pooling={pooling.name!r}{layer}, "
                         f"special_tokens={pooling.special_tokens} has no counterpart in "
                         "sentence-transformers; choose 'last', 'cls' or 'max' with special "
                         "tokens, of layer 1 or higher")
    with tempfile.TemporaryDirectory() as folder:
        write_model(Path(folder), reader, tokenizer, longest=longest, layers=pooling.layer)
        first = modules.Transformer(folder, max_seq_length=longest,
                                    model_kwargs={"local_files_only": True, "dtype": torch.float32})
    parts = [first, modules.Pooling(reader.dim, MODES[pooling.name])]
    parts += [modules.Normalize()] if normalize else []
    return package.SentenceTransformer(modules=parts, device="cpu")


def write_model(folder: Path, reader: Reader, tokenizer: Pieces, *, longest: int,
                layers: int | None = None) -> None:
    """Fill a folder that transformers reads: config, weights in float32, tokenizer.

    Parameters: reader; tokenizer; longest text; layers, blocks that are written, None: all. Raises
    ValueError where some blocks of a model that is no BERT are wanted.
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


# ------------------------------------------------------------------------------ back


def from_sentence_transformers(model: Any, *, name: str | None = None) -> dict[str, Any]:
    """The arguments of a `ContextualEncoder` that gives the vectors of a ``SentenceTransformer``; a
    BERT's weights are copied, others are shared.

    Parameters: model; name of the encoder. Raises TypeError for what is no such model, ValueError
    for modules other than a Transformer, one Pooling (mean, cls or max) and Normalize.
    """
    parts = list(model) if isinstance(model, torch.nn.Module) and hasattr(model, "__iter__") else []
    kinds = [type(part).__name__ for part in parts]
    if kinds[:1] != ["Transformer"]:
        raise TypeError(f"model={shown(model)} is {type(model).__name__}; expected a "
                        "SentenceTransformer that begins with a Transformer")
    if kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        raise ValueError(f"model has the modules {', '.join(kinds)}; only Transformer, Pooling and "
                         "Normalize, in this order, are understood")
    from tokenizers import Tokenizer

    first, pooling = parts[0], parts[1]
    reader, longest = _reader(first.auto_model), first.max_seq_length
    own = Tokenizer.from_str(first.tokenizer.backend_tokenizer.to_str())      # does not cut or pad
    mode = pooling_of({"pooling_mode": pooling.pooling_mode}, "its Pooling")
    whole = longest is None or longest >= reader.positions
    return {"reader": reader, "tokenizer": Pieces(own), "pooling": mode,
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
