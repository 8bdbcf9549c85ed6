"""A BERT of characters: each is a token, none of the texts it was made from is unknown, and the
same seed gives the same weights.
"""

from __future__ import annotations

import numpy as np

from lessons_lib.contextual.characters import character_encoder, character_pieces

TEXTS = ["花呗如何还款？", "怎么还花呗", "iPhone 14 多少钱"]


def test_every_character_is_a_piece_and_none_of_the_texts_is_unknown():
    tokenizer = character_pieces(TEXTS)
    cut = [tokenizer.engine.encode(text, add_special_tokens=False).tokens for text in TEXTS]
    assert cut[0] == list("花呗如何还款？")
    assert cut[2] == ["i", "##p", "##h", "##o", "##n", "##e", "1", "##4", "多", "少", "钱"]
    assert tokenizer.engine.encode("象", add_special_tokens=False).tokens == ["[UNK]"]


def test_frequent_characters_come_first_and_rare_ones_can_be_left_out():
    assert character_pieces(TEXTS).pieces[5:8] == sorted("呗花还")
    assert "款" not in character_pieces(TEXTS, min_count=2).pieces


def test_ideographs_need_no_piece_within_a_word():
    assert not any(piece.startswith("##") and piece[2:] in "花呗如何还款？"
                   for piece in character_pieces(TEXTS).pieces)


def test_the_encoder_is_decided_by_its_seed():
    a, b, c = (character_encoder(TEXTS, dim=16, layers=1, feed_forward=32, seed=seed).encode(TEXTS)
               for seed in (0, 0, 1))
    assert a.shape == (3, 16) and np.array_equal(a, b) and not np.allclose(a, c)
