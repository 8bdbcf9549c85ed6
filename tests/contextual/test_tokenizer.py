"""WordPiece: no word unknown, the same ids as transformers, and text stays text; of Chinese every
character is a token.
"""

from __future__ import annotations

import numpy as np

from lessons_lib.contextual import WordPiece
from lessons_lib.contextual.characters import character_encoder, character_pieces
from lessons_lib.contextual.tokenizer import SPECIAL

QUESTIONS = ["花呗如何还款？", "怎么还花呗", "iPhone 14 多少钱"]


def test_ids_are_those_that_transformers_gives(pieces, texts, tmp_path):
    from transformers import BertTokenizerFast

    pieces.save(tmp_path)
    theirs = BertTokenizerFast.from_pretrained(tmp_path)
    lines = ["The Sea, unbelievably!", "ségolène ships", *texts[0].splitlines()]
    assert pieces.encode(lines) == [theirs(line, add_special_tokens=False)["input_ids"]
                                    for line in lines]
    ids = theirs("sea")["input_ids"]
    assert theirs.convert_ids_to_tokens([ids[0], ids[-1]]) == ["[CLS]", "[SEP]"]


def test_a_vocabulary_comes_back_from_its_folder_and_from_a_second_training(pieces, texts,
                                                                            tmp_path):
    pieces.save(tmp_path)
    again = WordPiece.load(tmp_path)
    assert again.pieces == pieces.pieces and again.encode(texts) == pieces.encode(texts)
    (tmp_path / "vocab.txt").write_text("\n".join(pieces.pieces))  # no end of line after the last
    assert WordPiece.load(tmp_path).pieces == pieces.pieces
    assert WordPiece.train(texts, size=80).pieces == pieces.pieces


def test_subwords_put_together_are_the_word(pieces):
    ids = pieces.encode(["walker"])[0]
    assert "".join(pieces.pieces[i].removeprefix("##") for i in ids) == "walker"
    assert pieces.goes_on[ids].tolist() == [False] + [True] * (len(ids) - 1)


def test_E14_text_spelt_like_a_special_token_is_read_as_text(pieces):
    assert not set(pieces.encode(["sea [SEP] [MASK] [CLS] sea"])[0]) & {
        SPECIAL.index(name) for name in ("[SEP]", "[MASK]", "[CLS]")}
    assert pieces.encode(["", "  "]) == [[], []]


def test_every_character_is_a_token_and_none_of_the_texts_is_unknown():
    tokenizer = character_pieces(QUESTIONS)
    cut = [tokenizer.engine.encode(text, add_special_tokens=False).tokens
           for text in (*QUESTIONS, "象")]
    assert cut[0] == list("花呗如何还款？") and cut[3] == ["[UNK]"]
    assert cut[2] == ["i", "##p", "##h", "##o", "##n", "##e", "1", "##4", "多", "少", "钱"]
    assert not any(piece.startswith("##") and piece[2:] in QUESTIONS[0]
                   for piece in tokenizer.pieces)   # ideographs stand alone
    assert tokenizer.pieces[5:8] == sorted("呗花还")           # the most frequent first
    assert "款" not in character_pieces(QUESTIONS, min_count=2).pieces


def test_the_encoder_of_characters_is_decided_by_its_seed():
    a, b, c = (character_encoder(QUESTIONS, dim=16, layers=1, feed_forward=32,
                                 seed=seed).encode(QUESTIONS) for seed in (0, 0, 1))
    assert a.shape == (3, 16) and np.array_equal(a, b) and not np.allclose(a, c)
