"""A text of two worlds, its tokens, and a recipe that is done in a second."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from lessons_lib.contextual import (BertSize, LessonBertForPretraining, TokenStream, WordPiece,
                                    load_encoder, prepare_tokens, save_bert)
from lessons_lib.contextual.recipes import RECIPES

WORDS = ("sea", "field", "ships", "sail", "cows", "graze", "unbelievable", "walking", "talker",
         "harbour")


@pytest.fixture(scope="package", autouse=True)
def one_thread():
    """Models this small are slower on several threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="package")
def texts() -> list[str]:
    rng = np.random.default_rng(0)
    return ["\n".join(" ".join(rng.choice(WORDS, size=rng.integers(3, 40))) + "."
                      for _ in range(10)) for _ in range(40)]


@pytest.fixture(scope="package")
def pieces(texts) -> WordPiece:
    return WordPiece.train(texts, size=80)


@pytest.fixture(scope="package")
def stream(texts, pieces) -> TokenStream:
    return prepare_tokens(texts, pieces, held_out=0.2, data={"source": "two worlds"})


@pytest.fixture(scope="package")
def recipe():
    return replace(RECIPES["smoke"], dim=16, feed_forward=32, batch=4, tokens=4 * 32 * 12)


@pytest.fixture(scope="package")
def small_bert(pieces):
    """A BERT at random, whose sizes can be others."""
    def make(seed=1, **sizes):
        sizes = {"dim": 24, "layers": 3, "heads": 2, "feed_forward": 40, "positions": 64} | sizes
        return LessonBertForPretraining(BertSize(len(pieces), **sizes), seed=seed)

    return make


@pytest.fixture(scope="package")
def bert_folder(pieces, small_bert, tmp_path_factory):
    """A BERT at random in a folder, as `lessons pretrain` writes one."""
    folder = tmp_path_factory.mktemp("bert")
    save_bert(folder, small_bert(), pieces, card={"name": "tiny"},
              film={"all_counts": np.arange(len(pieces), dtype=np.int32)})
    return folder


@pytest.fixture
def encoder(bert_folder):
    return load_encoder(bert_folder, device="cpu")


@pytest.fixture(scope="package")
def sentences(texts) -> list[str]:
    """Thirty sentences of different lengths, one of them empty."""
    lines = [line for text in texts for line in text.split("\n")][:29]
    return [*(" ".join(line.split()[: 3 + i % 11]) for i, line in enumerate(lines)), ""]
