"""A cross-encoder is any model of a folder that classifies pairs; what is none is named."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import torch

from lessons_lib.core import PROJECT, DamagedFile
from lessons_lib.search import CrossEncoder, rerank

PAIRS = [("where is the cat?", "the cat sat on the mat"), ("where is the cat?", "stocks fell"),
         ("a bird", "a bird is in the tree, and it sings " * 9), ("a bird", "")]


def written(folder, labels: int, kind: str = "ForSequenceClassification"):
    """A small BERT with random weights, which are the same each time."""
    import transformers

    folder.mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(PROJECT / "data/models/lesson-bert" / name, folder / name)
    words = len(json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]["vocab"])
    config = transformers.BertConfig(
        vocab_size=words, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=48, num_labels=labels, initializer_range=0.5)
    torch.manual_seed(0)
    getattr(transformers, f"Bert{kind}")(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def one_label(tmp_path_factory):
    return written(tmp_path_factory.mktemp("models") / "one", 1)


@pytest.fixture(scope="module")
def two_labels(tmp_path_factory):
    return written(tmp_path_factory.mktemp("models") / "two", 2)


def test_the_scores_are_those_of_transformers_pair_by_pair(one_label, two_labels):
    import transformers

    for folder, make in ((one_label, lambda logits: logits[0, 0]),
                         (two_labels, lambda logits: logits.softmax(dim=1)[0, 1].log())):
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        kind = transformers.AutoModelForSequenceClassification
        model = kind.from_pretrained(folder).eval()
        expected = []
        for question, text in PAIRS:
            row = tokenizer(question, text, truncation="longest_first", max_length=48,
                            return_tensors="pt")
            with torch.inference_mode():
                expected.append(float(make(model(**row).logits)))
        found = CrossEncoder(folder, batch_size=3)(PAIRS)
        np.testing.assert_allclose(found, expected, atol=1e-5)
        assert np.ptp(expected) > 0.01            # a model that tells these pairs apart
        assert CrossEncoder(folder)([]).shape == (0,)


def test_the_label_may_be_named(two_labels):
    scores = np.exp([CrossEncoder(two_labels, label=i)(PAIRS) for i in range(2)])
    np.testing.assert_allclose(scores.sum(axis=0), 1, atol=1e-5)
    np.testing.assert_allclose(CrossEncoder(two_labels)(PAIRS), np.log(scores[1]), atol=1e-5)


def test_it_puts_candidates_into_its_own_order(one_label):
    judge, texts = CrossEncoder(one_label), [text for _, text in PAIRS]
    scores = judge([("a cat", text) for text in texts])
    order = rerank("a cat", texts, judge, k=3)
    assert [i for i, _ in order] == np.argsort(-scores, kind="stable")[:3].tolist()


def test_the_order_is_that_of_sentence_transformers(one_label):
    package = pytest.importorskip("sentence_transformers", reason="an optional package")
    some = PAIRS[:3]                              # an empty text it reads as no second text
    theirs = package.CrossEncoder(str(one_label), device="cpu",
                                  model_kwargs={"dtype": torch.float32}).predict(some)
    ours = CrossEncoder(one_label)(some)
    np.testing.assert_allclose(1 / (1 + np.exp(-ours)), theirs, atol=1e-5)


def test_what_is_no_cross_encoder_is_named(one_label, tmp_path):
    three = written(tmp_path / "three", 3)
    with pytest.raises(ValueError, match=r"3 labels; expected label="):
        CrossEncoder(three)
    assert CrossEncoder(three, label=2)(PAIRS).shape == (4,)
    with pytest.raises(ValueError, match=r"label=3.*\[0, 2\]"):
        CrossEncoder(three, label=3)
    with pytest.raises(DamagedFile, match=r"lacks 'classifier.*no cross-encoder"):
        CrossEncoder(written(tmp_path / "plain", 1, "Model"))
    with pytest.raises(FileNotFoundError, match="nowhere"):
        CrossEncoder(tmp_path / "nowhere")
    with pytest.raises(DamagedFile, match="is a file"):
        CrossEncoder(three / "config.json")
    cut = shutil.copytree(one_label, tmp_path / "cut")
    weights = (cut / "model.safetensors").read_bytes()
    (cut / "model.safetensors").write_bytes(weights[:-100])
    with pytest.raises(DamagedFile, match="cannot be read"):
        CrossEncoder(cut)
    (cut / "model.safetensors").rename(cut / "pytorch_model.bin")
    with pytest.raises(ValueError, match="can run code"):
        CrossEncoder(cut)
    judge = CrossEncoder(one_label)
    for pairs in ([("a",)], ["ab"], [("a", 5)]):
        with pytest.raises(TypeError, match=r"pairs\[0\]"):
            judge(pairs)
    with pytest.raises(ValueError, match="lone surrogate"):
        judge([("a", "\ud83d")])
