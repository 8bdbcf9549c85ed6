"""The models that entries about BERT read: the one that settings name, and its control, start weights of the same architecture.

At laptop scale that is the course's LessonBERT; at paper scale ``bert-base-uncased``, or any other that ``--set encoder=NAME`` names, a folder, too.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping
from typing import Any

from ..contextual import load_encoder
from ..contextual.encoder import ContextualEncoder
from ..contextual.lesson_bert import LessonBert
from ..contextual.readers import BertReader
from ..core import check_seed
from .entry import COURSE

__all__ = ["COURSE", "PAPER", "RANDOM", "control_of", "model_of", "weights_of", "with_encoder"]

PAPER = "bert-base-uncased"
RANDOM = "-random"                                # after the name of a model: its architecture with start weights


def with_encoder(scales: Mapping[str, Mapping[str, Any]], **more: Any) -> dict[str, dict[str, Any]]:
    """Settings by scale with the model that each reads, ``encoder``, and more settings that are equal at all scales."""
    return {scale: {"encoder": PAPER if scale == "paper" else COURSE} | more | dict(settings) for scale, settings in scales.items()}


def model_of(name: str, seed: int = 0) -> ContextualEncoder:
    """A model by name, or start weights of its architecture where the name ends in "-random".

    Parameters: name; seed, of start weights. Raises as `load_encoder`, and ValueError as `control_of`.
    """
    return control_of(name.removesuffix(RANDOM), seed) if name.endswith(RANDOM) else load_encoder(name)


def control_of(encoder: str, seed: int) -> ContextualEncoder:
    """An encoder with the architecture and the tokenizer of another, and start weights.

    Parameters: encoder, a name or folder for `load_encoder`; seed, of the weights. Raises ValueError for an architecture that is not a plain BERT,
    and as `load_encoder`.
    """
    if encoder == COURSE:
        return load_encoder(COURSE + RANDOM, seed=seed)
    found = copy.copy(load_encoder(encoder))
    if not isinstance(found.reader, BertReader):
        raise ValueError(f"encoder={encoder!r} is a {found.reader.kind}; start weights are drawn for a BERT only. Leave the controls out: "
                         "--set seeds=0")
    model = LessonBert(found.reader.model.size, seed=check_seed(seed)).to(found.reader.device, found.reader.dtype).eval()
    found.reader, found.name = BertReader(model), found.name + RANDOM
    return found.check()


def weights_of(encoder: ContextualEncoder) -> str:
    """The sha256 of an encoder's weights: another model under the same name has another."""
    digest = hashlib.sha256()
    for name, tensor in encoder.reader.model.state_dict().items():
        digest.update(name.encode())
        digest.update(tensor.detach().float().cpu().contiguous().numpy().data)
    return digest.hexdigest()
