"""An encoder as one ONNX graph: ids and mask of any number of texts, of any length, to their
vectors; so that other languages and browsers can run it.

The graph holds the model, the pooling and the norm; the tokenizer lies beside it. What it gives is
measured, not believed: `OnnxEncoder` is an encoder like every other. Used by ``lessons export``.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..core import BackendUnavailable, check_int, track
from ..kernels.pool.reference import pool
from ..locking import install_line
from .bag import NGRAM_WEIGHT, BagReader, write_bag
from .encoder import TOKENS_AT_ONCE, ContextualEncoder
from .model_files import WEIGHTS
from .numbering import batches, padded
from .readers import BertReader

__all__ = ["GRAPH", "INT8_GRAPH", "OnnxEncoder", "write_onnx"]

GRAPH, INT8_GRAPH = "model.onnx", "model_int8.onnx"
INPUTS, OUTPUT = ("input_ids", "attention_mask"), "sentence_embedding"
OPSET = 18


def _package(name: str) -> Any:
    """A package of the extra set. Raises BackendUnavailable with the line that installs it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise BackendUnavailable(f"ONNX needs packages that are not installed ({error}): "
                                 f"{install_line('onnx')}") from error


class _Graph(nn.Module):
    """What is written: ids and mask (texts, tokens) int64 to vectors (texts, dim) float32."""

    def __init__(self, encoder: ContextualEncoder) -> None:
        super().__init__()
        self.reader, self.model = encoder.reader, encoder.reader.model
        self.pooling, self.normalize = encoder.pooling, encoder.normalize
        self.wanted = encoder._pooling().states(encoder.layers)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """The formulas of `Pooling` and `BagOfParts`, in operations that ONNX has."""
        seen = mask.bool()
        if isinstance(self.reader, BagReader):
            weight = torch.where(ids < self.model.n_words, 1.0, NGRAM_WEIGHT) * mask
            total = (F.embedding(ids, self.model.table) * weight[:, :, None]).sum(dim=1)
            vectors = total / mask.sum(dim=1, keepdim=True).clamp(min=1)
        else:
            states = [self._states(ids, mask)[number] for number in self.wanted]
            if self.pooling == "cls":
                vectors = states[-1][:, 0]
            elif self.pooling == "pooler":
                vectors = self.reader.pooler(states[-1][:, 0])
            else:
                vectors = pool(sum(states) / len(states), seen, None, normalize=False,
                               largest=self.pooling == "max", winners=False)[0]
        return F.normalize(vectors, dim=1, eps=1e-30) if self.normalize else vectors

    def _states(self, ids: Tensor, mask: Tensor) -> list[Tensor]:
        if isinstance(self.reader, BertReader):
            return self.model.hidden_states(ids, mask=mask)
        return self.model(input_ids=ids, attention_mask=mask,
                          output_hidden_states=True).hidden_states


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Without what exporter and quantiser say of their own insides."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", None)]
    before = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def write_onnx(encoder: ContextualEncoder, folder: Path, *, int8: bool = False) -> list[Path]:
    """Write an encoder's graph, and what its texts are cut into tokens by, into a folder.

    Parameters
    ----------
    encoder : ContextualEncoder
        Of special tokens that count; on the CPU, in float32.
    folder : path
        Of ``model.onnx`` and ``tokenizer.json``; of a bag, ``words.txt`` and ``config.json``.
    int8 : bool, default False
        Write ``model_int8.onnx``, too: weights of 8 bits.

    Returns
    -------
    list of path
        The graphs.

    Raises
    ------
    BackendUnavailable
        Packages of the extra set ``onnx`` are missing.
    ValueError
        ``special_tokens=False``, another device or precision.
    """
    for name in ("onnx", "onnxscript", "onnxruntime"):
        _package(name)
    encoder.check()
    if not encoder.special_tokens:
        raise ValueError("special_tokens=False has no counterpart in the graph; load the encoder "
                         "with special_tokens=True")
    if encoder.reader.device.type != "cpu" or encoder.reader.dtype != torch.float32:
        raise ValueError(f"{encoder.name} is on {encoder.reader.device} in {encoder.reader.dtype}; "
                         "load it with device='cpu', precision='float32'")
    texts, tokens = torch.export.Dim("texts"), torch.export.Dim("tokens",
                                                                max=encoder.reader.positions)
    rows = torch.tensor([[0] * 7] * 3), torch.tensor([[1] * 7, [1] * 4 + [0] * 3, [1] * 7])
    graph = _Graph(encoder).eval()
    with torch.inference_mode(False), torch.no_grad(), _quietly():
        torch.onnx.export(graph, rows, folder / GRAPH, input_names=INPUTS, output_names=[OUTPUT],
                          dynamic_shapes=({0: texts, 1: tokens},) * 2, opset_version=OPSET,
                          dynamo=True, external_data=False, verbose=False)
    if isinstance(encoder.reader, BagReader):
        write_bag(folder, encoder.reader.model, encoder.tokenizer)
        (folder / WEIGHTS).unlink()               # the table is in the graph
    else:
        encoder.tokenizer.engine.save(str(folder / "tokenizer.json"))
    if not int8:
        return [folder / GRAPH]
    with _quietly():
        quantization = _package("onnxruntime.quantization")
        # seven bits of the eight: sums overflow on processors that add products in 16 bits
        quantization.quantize_dynamic(folder / GRAPH, folder / INT8_GRAPH, per_channel=True,
                                      reduce_range=True, weight_type=quantization.QuantType.QInt8)
    return [folder / GRAPH, folder / INT8_GRAPH]


class OnnxEncoder:
    """The vectors of an ONNX graph, with the tokenizer of the encoder that it was made of.

    Parameters
    ----------
    path : path
        A graph that `write_onnx` wrote.
    encoder : ContextualEncoder

    Raises
    ------
    BackendUnavailable
        onnxruntime is not installed.
    """

    def __init__(self, path: Path, encoder: ContextualEncoder) -> None:
        runtime = _package("onnxruntime")
        self.name, self.dim, self._made_of = f"{encoder.name}, {path.name}", encoder.dim, encoder
        self._session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])

    def encode(self, texts: Iterable[str], *, batch_size: int = 256,
               progress: bool = False) -> np.ndarray:
        """Vectors of texts, in their order.

        Parameters
        ----------
        texts : iterable of str
        batch_size : int >= 1, default 256
        progress : bool, default False

        Returns
        -------
        (n, dim) float32
            Zeros for a text without a token.
        """
        check_int("batch_size", batch_size)
        made_of = self._made_of
        numbered = made_of.tokenizer.number(texts, longest=made_of.longest,
                                            refuse=made_of.truncation == "error")
        some = np.flatnonzero(numbered.lengths)
        result = np.zeros((len(numbered), self.dim), np.float32)
        plan = batches(numbered.lengths[some], texts=batch_size, tokens=TOKENS_AT_ONCE["cpu"])
        for batch in track(list(plan), total=len(some), label=self.name, show=progress, size=len,
                           unit=" texts"):
            ids, mask = padded(numbered, some[batch], torch.device("cpu"),
                               pad=getattr(made_of.reader, "pad", 0))
            given = dict(zip(INPUTS, (ids.numpy(), mask.long().numpy()), strict=True))
            result[some[batch]] = self._session.run([OUTPUT], given)[0]
        return result
