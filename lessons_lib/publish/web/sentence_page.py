"""A page in which LessonBERT runs: a sentence becomes tokens, layers, one vector, and a cosine with
a second one.

The page is one file that opens from a folder, without a server and without a network. Its encoder
is plain JavaScript (``sentence/encoder.js``); this file gives it the weights, as integers of eight
bits, and what the course's own pairs of sentences look like by every setting of the page, for the
model and for one with weights drawn by chance. Teaches by play what lessons
``08_bert_sentence_vectors``, ``09_anisotropy`` and ``12_bert_whitening`` measure.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from ...contextual import load_encoder
from ...contextual.encoder import ContextualEncoder
from ...contextual.pooling import Pooling
from ...datasets import SentencePairs
from ...evaluation import pair_cosines, spearman
from ...isotropy.principal import moments_of, principal_axes

__all__ = ["sentence_page"]

PARTS = Path(__file__).with_name("sentence")     # what the page is made of
POOLINGS = ("mean", "cls", "max")
STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)              # of β and of γ
# What counts as varying: of the largest variance, and of the mean square of all numbers, in whose
# rounding to 32 and 16 bits smaller variances drown.
VARIES, SEEN = 1e-6, 1e-8
STD = 0.02                        # of the control's weights, as before a training
Tensors = dict[str, np.ndarray]


def rounded(name: str, matrix: np.ndarray, bits: int = 8) -> Tensors:
    """A matrix as integers, each row on a scale of its own on which its largest entry is whole."""
    highest = 2 ** (bits - 1) - 1
    scale = np.abs(matrix).max(axis=1) / highest
    scale = np.where(scale > 0, scale, 1).astype(np.float32)
    whole = np.rint(matrix / scale[:, None]).astype(f"int{bits}")
    return {name: whole, f"{name}.scale": scale}


def quantise(model: nn.Module) -> Tensors:
    """The weights that vectors of tokens need, matrices in eight bits; the model gets the rounded
    ones, so that what is measured with it holds for the page.
    """
    tensors: Tensors = {}
    for name, weight in _weights(model):
        values = weight.detach().numpy()
        if values.ndim == 2:
            tensors |= rounded(name, values)
            values[:] = tensors[name] * tensors[f"{name}.scale"][:, None]
        else:
            tensors[name] = values.copy()
    return tensors


def untrain(model: nn.Module) -> None:
    """Draw all matrices by chance, biases 0, LayerNorms 1: ``untrainedBert`` of encoder.js does
    the same, number by number.
    """
    number = 0
    for name, weight in _weights(model):
        values = weight.detach().numpy()
        if values.ndim == 1:
            values[:] = 0 if name.endswith("bias") else 1
            continue
        bits = np.arange(number, number + values.size, dtype=np.uint32)
        number += values.size
        for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
            bits = (bits ^ (bits >> shift)) * np.uint32(factor)
        # the sum of four bytes is nearly normal
        total = sum((bits >> shift & 255).astype(np.int64) for shift in (0, 8, 16, 24))
        step = STD / np.sqrt((256**2 - 1) / 3)
        values[:] = ((total - 510) * step).reshape(values.shape)


def _weights(model: nn.Module) -> list[tuple[str, nn.Parameter]]:
    return [(name, weight) for name, weight in model.named_parameters()
            if not name.startswith("pooler")]


def characters(engine: Any) -> dict[str, list[list[int]]]:
    """What a tokenizer does with each character, as ranges of code points: "dropped", "space", or
    "alone" (a token ends before it and after it); all others are parts of words.

    The tables of a browser are newer than those of ``tokenizers``, and newer each year; so its
    answers go with the page. A character that is written as several (é: e and an accent) has no
    answer: the page asks for its parts.
    """
    import unicodedata

    normal, split = engine.normalizer.normalize_str, engine.pre_tokenizer.pre_tokenize_str

    def words(codes: Iterable[int]) -> list[str]:
        # each between two letters, which it divides or not
        return [word for word, _ in split(normal(" ".join(f"a{chr(code)}b" for code in codes)))]

    does: dict[int, str] = {}
    # planes 4 to 13 of Unicode are empty
    for first in (*range(0, 0x40000, 64), *range(0xE0000, 0x110000, 64)):
        codes = [code for code in range(first, first + 64) if not 0xD800 <= code < 0xE000]
        together = words(codes)
        if len(together) == len(codes) and "ab" not in together:
            continue                             # all are parts of words, as nearly everywhere
        if together == ["ab"] * len(codes):
            does |= dict.fromkeys(codes, "dropped")
            continue
        for code in codes:
            alone = words([code])
            does[code] = ("dropped" if alone == ["ab"]
                          else {1: "word", 2: "space", 3: "alone"}.get(len(alone), "word"))
            if unicodedata.normalize("NFD", chr(code)) != chr(code):
                does[code] = "never asked"
    ranges: dict[str, list[list[int]]] = {"dropped": [], "space": [], "alone": []}
    for what, spans in ranges.items():
        codes = [code for code, doing in does.items() if doing == what]
        for code in codes:
            if spans and spans[-1][1] == code - 1:
                spans[-1][1] = code
            else:
                spans.append([code, code])
    return ranges


def measured(encoder: ContextualEncoder, pairs: SentencePairs, sentences: Sequence[str],
             prefix: str) -> Tensors:
    """The course's pairs by every pooling, layer, β and γ of the page: mean, axes and variances of
    their vectors, places in the plane of the two strongest axes, cosines, and Spearman correlation
    with the grades. Poolings for which the vectors hardly differ are left out.
    """
    place = {text: i for i, text in enumerate(sentences)}
    first, second = ([place[text] for text in column]
                     for column in (pairs.sentence1, pairs.sentence2))
    chosen = [Pooling(name, layer) for layer in range(encoder.layers + 1) for name in POOLINGS]
    tensors: Tensors = {}
    for pooling, x in zip(chosen, encoder.encode_each(sentences, chosen), strict=True):
        if np.ptp(x, axis=0).max() < VARIES * np.abs(x).max():
            continue
        key = f"{prefix}.{pooling.name}.{pooling.layer}"
        moments = moments_of(x)
        plain = principal_axes(moments, beta=1, ddof=1)
        least = max(VARIES * plain.spectrum[0], SEEN * np.square(x).mean())
        k = int(np.count_nonzero(plain.spectrum > least))
        axes, spectrum = plain.axes[:k], plain.spectrum[:k]
        # where no vector varies the mean may stand out all the same: an axis of variance 0 for it
        outside = plain.mean - plain.mean @ axes.T @ axes
        if (length := np.linalg.norm(outside)) > VARIES:
            axes, spectrum = np.vstack([axes, outside / length]), np.append(spectrum, 0)
        tensors[f"{key}.least"] = np.array([least], np.float32)
        tensors[f"{key}.mean"] = plain.mean.astype(np.float32)
        tensors[f"{key}.spectrum"] = spectrum.astype(np.float32)
        tensors |= rounded(f"{key}.axes", axes, bits=16)
        cloud, cosines, agreement = [], [], []
        for beta in STEPS:
            about = principal_axes(moments, beta=beta, ddof=1)
            used = int(np.count_nonzero(about.spectrum > least))
            rotated = (x - beta * about.mean) @ about.axes[:used].T
            # the sign of an axis is free; this one the page finds again
            known = about.axes[:2] @ axes.T
            largest = np.abs(known).argmax(axis=1)[:, None]
            cloud += list(np.sign(np.take_along_axis(known, largest, 1)) * rotated[:, :2].T)
            for gamma in STEPS:
                whitened = rotated * about.spectrum[:used] ** (-gamma / 2)
                cosine = pair_cosines(whitened, first, second)
                cosines.append(np.rint(cosine * 127).astype(np.int8))
                agreement.append(spearman(cosine, pairs.score))
        tensors |= rounded(f"{key}.cloud", np.array(cloud), bits=16)
        tensors[f"{key}.cosines"] = np.array(cosines)
        tensors[f"{key}.spearman"] = np.array(agreement, np.float32)
    return tensors


def sentence_page(folder: str | os.PathLike, pairs: SentencePairs) -> str:
    """The page, whole, with the LessonBERT of a folder in it.

    Parameters
    ----------
    folder : str or path
        Of a BERT as `lessons pretrain` writes it.
    pairs : SentencePairs
        Whose vectors are the cloud, and by whose grades a cosine is read.

    Returns
    -------
    str

    Raises
    ------
    DamagedFile, FileNotFoundError
        The model.
    """
    from safetensors.numpy import save

    encoder = load_encoder(folder, device="cpu", precision="float32")
    model, size = encoder.reader.model, encoder.reader.model.size
    sentences = list(dict.fromkeys([*pairs.sentence1, *pairs.sentence2]))
    place = {text: i for i, text in enumerate(sentences)}
    with torch.no_grad():
        tensors = quantise(model)
        tensors |= measured(encoder, pairs, sentences, "trained")
        untrain(model)
        tensors |= measured(encoder, pairs, sentences, "untrained")
    data = {"sizes": {"dim": size.dim, "layers": size.layers, "heads": size.heads,
                      "feedForward": size.feed_forward, "positions": size.positions},
            "matrices": [[name, *weight.shape] for name, weight in _weights(model)
                         if weight.ndim == 2],
            "weights": sum(weight.numel() for _, weight in _weights(model)),
            "pieces": encoder.pieces, "characters": characters(encoder.tokenizer.engine),
            "poolings": POOLINGS, "steps": STEPS, "sentences": sentences,
            "pairs": [[place[a], place[b]] for a, b in
                      zip(pairs.sentence1, pairs.sentence2, strict=True)],
            "grades": pairs.score.tolist(), "scale": pairs.scale}
    page = (PARTS / "page.html").read_text("utf-8")
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    for mark, text in (("/* page.css */", (PARTS / "page.css").read_text("utf-8")),
                       ("/* encoder.js */", (PARTS / "encoder.js").read_text("utf-8")),
                       ("/* page.js */", (PARTS / "page.js").read_text("utf-8")),
                       ("/* data */", written),
                       ("/* tensors */", base64.b64encode(save(tensors)).decode())):
        before, after = page.split(mark)
        page = before + text + after
    return page
