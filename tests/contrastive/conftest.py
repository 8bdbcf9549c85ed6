"""A tiny BERT with start weights, and texts of two worlds to train it with."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lessons_lib.contextual import BertSize, ContextualEncoder, LessonBert, WordPiece
from lessons_lib.contextual.numbering import load_subwords
from lessons_lib.contextual.readers import BertReader
from lessons_lib.datasets import SentencePairs

SEA = ("sea", "ships", "sail", "harbour", "waves")
FIELD = ("field", "cows", "graze", "talker", "walking")


@pytest.fixture(scope="package", autouse=True)
def one_thread():
    """Models this small are slower on several threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="package")
def texts() -> list[str]:
    """Forty different sentences of three to nine words, twenty of each world."""
    rng = np.random.default_rng(0)
    return list(dict.fromkeys(" ".join(rng.choice(world, size=rng.integers(3, 10)))
                              for _ in range(20) for world in (SEA, FIELD)))


@pytest.fixture(scope="package")
def pairs(texts) -> SentencePairs:
    """Sixty pairs, graded 0 to 5 by the words they share."""
    rng, rows = np.random.default_rng(1), len(texts)
    first, second = ([texts[i] for i in rng.integers(0, rows, 60)] for _ in range(2))
    shared = [len(set(a.split()) & set(b.split())) / len(set(a.split()) | set(b.split()))
              for a, b in zip(first, second, strict=True)]
    return SentencePairs(first, second, np.round(5 * np.array(shared), 1), name="two worlds")


@pytest.fixture(scope="package")
def pieces_folder(texts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pieces")
    WordPiece.train(texts * 5, size=120).save(folder)
    return folder


@pytest.fixture(scope="package")
def encoder(pieces_folder) -> ContextualEncoder:
    """Two blocks of sixteen numbers; nobody may change it."""
    pieces = load_subwords(pieces_folder)
    size = BertSize(len(pieces), dim=16, layers=2, heads=2, feed_forward=32, positions=48)
    return ContextualEncoder(BertReader(LessonBert(size, seed=1).eval()), pieces, name="tiny")
