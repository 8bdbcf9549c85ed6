"""The exercises of lesson 08: what their answers claim is measured."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from lessons_lib.contextual import BertSize, ContextualEncoder, LessonBert, WordPiece
from lessons_lib.contextual.numbering import Subwords
from lessons_lib.contextual.readers import BertReader
from lessons_lib.exercises.bert_sentence_vectors import CHANGES, EXERCISES, UNCHANGED
from lessons_lib.kernels import pool

TEXT = "ships sail far"
LONG = "cows graze and ships sail far and wide"


@pytest.fixture(scope="module")
def tokenizer() -> WordPiece:
    return WordPiece.train([f"{TEXT} . {LONG} . unbelievable sailing"] * 4, size=60)


def encoder(tokenizer: WordPiece, *, dropout: float = 0.0) -> ContextualEncoder:
    model = LessonBert(BertSize(len(tokenizer), dim=16, layers=2, heads=2, feed_forward=32,
                                positions=32, dropout=dropout), seed=3)
    with torch.no_grad():  # start weights are so small that order would hardly be seen
        for weight in model.parameters():
            weight.mul_(8 if weight.ndim > 1 else 1)
    return ContextualEncoder(BertReader(model.eval()), Subwords(tokenizer.engine), name="toy")


def vector(name: str, tokenizer: WordPiece) -> np.ndarray:
    """The vector of the text after one change."""
    said = {CHANGES[0]: [TEXT.upper()], CHANGES[1]: ["   ".join(TEXT.split())],
            CHANGES[2]: [TEXT, LONG], CHANGES[3]: ["sail ships far"],
            CHANGES[4]: [TEXT + "."]}.get(name, [TEXT])
    if name != CHANGES[5]:
        return encoder(tokenizer).encode(said)[0]
    toy = encoder(tokenizer, dropout=0.2)
    model, ids = toy.reader.model.train(), torch.tensor([toy.tokenizer.engine.encode(TEXT).ids])
    with torch.random.fork_rng([]), torch.no_grad():
        torch.manual_seed(0)
        return model(ids)[0].mean(dim=0).numpy()


@pytest.mark.parametrize("name", CHANGES)
def test_exactly_the_named_changes_leave_the_vector_as_it_is(name, tokenizer):
    same = np.allclose(vector(name, tokenizer), encoder(tokenizer).encode([TEXT])[0], atol=1e-5)
    assert same == (name in UNCHANGED)


@pytest.mark.parametrize(
    "word", ["ships", "sailing", "unbelievable", "believers", "far", "wide", "xylophone", "z"])
def test_tokens_of_the_exercise_are_those_of_the_tokenizer(word, tokenizer):
    assert EXERCISES["tokens_of"].solution(word, set(tokenizer.pieces)) == tokenizer.engine.encode(
        word, add_special_tokens=False).tokens


def test_the_loss_of_the_exercise_is_cross_entropy_at_the_hidden_places():
    rng = np.random.default_rng(0)
    scores, ids, chosen = rng.normal(size=(9, 6)), rng.integers(6, size=9), np.arange(9) % 4 == 3
    expected = F.cross_entropy(torch.from_numpy(scores[chosen]), torch.from_numpy(ids[chosen]))
    assert EXERCISES["too_easy"].solution(scores, ids, chosen) == pytest.approx(float(expected))


def test_the_maximum_of_the_exercise_is_that_of_the_library():
    rng = np.random.default_rng(0)
    states, mask = rng.normal(size=(4, 6, 3)).astype(np.float32), rng.integers(2, size=(4, 6))
    mask[:, 0] = 1
    expected = pool(torch.from_numpy(states), torch.from_numpy(mask).bool(), how="max").numpy()
    assert np.allclose(EXERCISES["max_pool"].solution(states, mask), expected)


def test_ten_thousand_sentences_are_fifty_million_pairs():
    pairs, singles = EXERCISES["passes"].solution(10_000, [])
    assert (pairs, singles) == (49_995_000, 10_000)
    assert EXERCISES["passes"].solution(10, [2, 3]) == (15 * 14 // 2, 15)
