"""An ONNX graph gives the vectors of its encoder, whatever the number and the length of texts."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from lessons_lib.contextual import ContextualEncoder
from lessons_lib.contextual.bag import BagOfParts, BagReader, BagTokens
from lessons_lib.contextual.onnx_file import GRAPH, INT8_GRAPH, OnnxEncoder, write_onnx
from lessons_lib.contextual.readers import OtherReader
from lessons_lib.core import BackendUnavailable


@pytest.fixture
def packages():
    for name in ("onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(name, reason="of the extra set onnx")


def distil(encoder, **options):
    """A model that is read through transformers, with the tokenizer of another."""
    from transformers import DistilBertConfig, DistilBertModel

    torch.manual_seed(0)
    config = DistilBertConfig(vocab_size=encoder.reader.vocabulary, dim=16, hidden_dim=24,
                              n_layers=2, n_heads=2, max_position_embeddings=64)
    return ContextualEncoder(OtherReader(DistilBertModel(config).eval(), has_pooler=False),
                             encoder.tokenizer, name="distil", **options)


def bag(encoder, **options):
    tokens = BagTokens(["sea", "ships", "cows"], buckets=16)
    table = torch.randn(19, 8, generator=torch.Generator().manual_seed(0))
    return ContextualEncoder(BagReader(BagOfParts(table, 3)), tokens, name="bag", **options)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "options"), [
    (None, {}), (None, {"pooling": "cls", "normalize": True}), (None, {"pooling": "max"}),
    (None, {"pooling": "pooler"}), (None, {"pooling": "first-last", "max_length": 9}),
    (distil, {}), (bag, {"normalize": True})])
@pytest.mark.filterwarnings("ignore::lessons_lib.core.DataWarning")
def test_the_graph_gives_the_vectors_of_the_encoder(packages, encoder, sentences, tmp_path, kind,
                                                    options):
    made_of = kind(encoder, **options) if kind else encoder.set_params(**options)
    assert [path.name for path in write_onnx(made_of, tmp_path)] == [GRAPH]
    graph = OnnxEncoder(tmp_path / GRAPH, made_of)
    expected = made_of.encode(sentences)
    assert np.abs(graph.encode(sentences) - expected).max() <= 1e-5
    for i in (0, 7):                              # one text alone, of another length
        assert np.abs(graph.encode(sentences[i : i + 1]) - expected[i : i + 1]).max() <= 1e-5
    longest = np.abs(graph.encode(["sea " * 200]) - made_of.encode(["sea " * 200])).max()
    assert longest <= 1e-5


@pytest.mark.slow
def test_eight_bits_are_a_fourth_and_nearly_the_same_vectors(packages, encoder, sentences,
                                                             tmp_path):
    _, small = write_onnx(encoder, tmp_path, int8=True)
    assert small.name == INT8_GRAPH
    ours, theirs = encoder.encode(sentences), OnnxEncoder(small, encoder).encode(sentences)
    norms = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
    assert ((ours * theirs).sum(axis=1) / norms).min() > 0.98
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    numbered = encoder.tokenizer.number(sentences, longest=64, refuse=True)
    for row, text in enumerate(sentences):        # what other programs read beside the graph
        where = slice(numbered.offsets[row], numbered.offsets[row + 1])
        assert tokenizer.encode(text).ids == numbered.ids[where].tolist()


def test_without_the_packages_the_extra_set_is_named(encoder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(BackendUnavailable, match=r"pip install .*\[onnx\]"):
        write_onnx(encoder, tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(("spoil", "words"), [
    (lambda encoder: encoder.set_params(special_tokens=False), "special_tokens"),
    (lambda encoder: encoder.reader.model.bfloat16(), "precision='float32'")])
def test_what_has_no_counterpart_is_refused(packages, encoder, tmp_path, spoil, words):
    spoil(encoder)
    with pytest.raises(ValueError, match=words):
        write_onnx(encoder, tmp_path)
    assert not any(tmp_path.iterdir())
