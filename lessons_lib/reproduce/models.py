"""The models that entries about BERT read, and their control: random initialisation.

At laptop scale that is the course's LessonBERT or a bag of words; at paper scale
``bert-base-uncased``, or any other that ``--set encoder=NAME`` names, a folder, too.
"""

from __future__ import annotations

import copy
import functools
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..contextual import load_encoder
from ..contextual.encoder import ContextualEncoder
from ..contextual.lesson_bert import LessonBert
from ..contextual.readers import BertReader
from ..core import check_seed
from .bags import bag
from .entry import BAG, CONTROL, COURSE, Measure, Rows, Series

__all__ = ["CONTROL", "COURSE", "PAPER", "RANDOM", "control_of", "controlled", "model_of",
           "weights_of", "with_encoder"]

PAPER = "bert-base-uncased"
RANDOM = "-random"  # after the name of a model: its architecture, randomly initialised


def with_encoder(smoke: Mapping[str, Any], laptop: Mapping[str, Any], paper: Mapping[str, Any],
                 **more: Any) -> dict[str, dict[str, Any]]:
    """The scales with the model that each reads, ``encoder``, and settings equal at all scales."""
    scales = {"smoke": smoke, "laptop": laptop, "paper": paper}
    encoders = {"smoke": COURSE, "laptop": COURSE, "paper": PAPER}
    return {name: {"encoder": encoders[name]} | more | dict(scales[name]) for name in scales}


def model_of(name: str, seed: int = 0) -> ContextualEncoder:
    """A model by name; one that ends in "-random" is a random initialisation by the seed."""
    if not name.endswith(RANDOM):
        return bag() if name == BAG else load_encoder(name)
    return control_of(name.removesuffix(RANDOM), seed)


def control_of(encoder: str, seed: int) -> ContextualEncoder:
    """An encoder with the architecture and tokenizer of another, randomly initialised. Raises
    ValueError for an architecture that is not a plain BERT, and as `load_encoder`."""
    if encoder == BAG:
        return bag(random=True, seed=check_seed(seed))
    if encoder == COURSE:
        return load_encoder(COURSE + RANDOM, seed=seed)
    control = copy.copy(load_encoder(encoder))
    if not isinstance(control.reader, BertReader):
        raise ValueError(
            f"encoder={encoder!r} is a {control.reader.kind}; a random initialisation is drawn for "
            "a BERT only. Leave the controls out: --set seeds=0")
    model = LessonBert(control.reader.model.size, seed=check_seed(seed))
    model = model.to(control.reader.device, control.reader.dtype).eval()
    control.reader, control.name = BertReader(model), control.name + RANDOM
    return control.check()


def weights_of(encoder: ContextualEncoder) -> str:
    """The sha256 of an encoder's weights: another model under the same name has another."""
    digest = hashlib.sha256()
    for name, tensor in encoder.reader.model.state_dict().items():
        digest.update(name.encode())
        digest.update(tensor.detach().float().cpu().contiguous().numpy().data)
    return digest.hexdigest()


def controlled(rows: Callable[[str, int, Mapping[str, Any]], Series], *,
               seeds: str = "seeds") -> Measure:
    """How an entry measures: rows of its ``encoder``, and of untrained ones their mean over seeds.
    ``rows(name for model_of, seed, settings)`` gives those of one model; the setting ``seeds`` says
    how many are untrained. Their rows end in ", untrained"."""
    @functools.wraps(rows)
    def measure(settings: Mapping[str, Any], seed: int) -> Rows:
        encoder = settings["encoder"]
        result = {name: dict(row) for name, row in rows(encoder, seed, settings).items()}
        drawn = [rows(encoder + RANDOM, seed + k, settings) for k in range(settings[seeds])]
        for name, row in list(result.items() if drawn else ()):
            means = {x: float(np.mean([other[name][x] for other in drawn])) for x in row}
            result[name + CONTROL] = means
        return result
    return measure
