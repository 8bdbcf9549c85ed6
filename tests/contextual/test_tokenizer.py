"""WordPiece: no word unknown, the same ids as transformers, and text stays text."""

from __future__ import annotations

import pytest

from lessons_lib.contextual import WordPiece
from lessons_lib.contextual.tokenizer import SPECIAL
from lessons_lib.core import DamagedFile


def test_ids_are_those_that_transformers_gives(pieces, texts, tmp_path):
    from transformers import BertTokenizerFast

    pieces.save(tmp_path)
    theirs = BertTokenizerFast.from_pretrained(tmp_path)
    lines = ["The Sea, unbelievably!", "ségolène ships", *texts[0].splitlines()]
    assert pieces.encode(lines) == [theirs(line, add_special_tokens=False)["input_ids"]
                                    for line in lines]
    assert theirs.convert_ids_to_tokens(
        theirs("sea")["input_ids"])[::len(pieces.encode(["sea"])[0]) + 1] == ["[CLS]", "[SEP]"]


def test_what_is_saved_is_what_is_loaded(pieces, texts, tmp_path):
    pieces.save(tmp_path)
    again = WordPiece.load(tmp_path)
    assert again.pieces == pieces.pieces and again.encode(texts) == pieces.encode(texts)


def test_training_twice_gives_the_same_pieces(texts, pieces):
    assert WordPiece.train(texts, size=80).pieces == pieces.pieces


def test_pieces_put_together_are_the_word(pieces):
    ids = pieces.encode(["walker"])[0]
    assert "".join(pieces.pieces[i].removeprefix("##") for i in ids) == "walker"
    assert pieces.goes_on[ids].tolist() == [False] + [True] * (len(ids) - 1)


def test_E14_text_spelt_like_a_special_piece_is_read_as_text(pieces):
    assert not set(pieces.encode(["sea [SEP] [MASK] sea"])[0]) & {SPECIAL.index("[SEP]"),
                                                                  SPECIAL.index("[MASK]"),
                                                                  SPECIAL.index("[CLS]")}
    assert pieces.encode(["", "  "]) == [[], []]


@pytest.mark.parametrize("bad", [None, 5, b"", ["the", ["cat"]]])
def test_E13_what_is_no_list_of_texts_is_refused(pieces, bad):
    with pytest.raises(TypeError, match="texts"):
        pieces.encode(bad)


def test_E17_a_folder_without_a_vocabulary_is_refused(tmp_path):
    with pytest.raises(DamagedFile, match=r"vocab\.txt is missing"):
        WordPiece.load(tmp_path)
    (tmp_path / "vocab.txt").write_text("the\nof\n")
    with pytest.raises(DamagedFile, match="begins with"):
        WordPiece.load(tmp_path)


def test_E17_a_vocabulary_keeps_its_last_piece_and_has_none_twice(pieces, tmp_path):
    (tmp_path / "vocab.txt").write_text("\n".join(pieces.pieces))  # no end of line after the last
    assert WordPiece.load(tmp_path).pieces == pieces.pieces
    (tmp_path / "vocab.txt").write_text("\n".join([*pieces.pieces, pieces.pieces[9]]) + "\n")
    with pytest.raises(DamagedFile, match=r"vocab\.txt has '.+' twice"):
        WordPiece.load(tmp_path)


def test_T03_nothing_to_learn_from_is_said():
    with pytest.raises(ValueError, match="texts hold 0 tokens in 2 documents"):
        WordPiece.train(["", " \n"])


def test_a_size_that_the_letters_alone_exceed_is_refused(texts):
    with pytest.raises(ValueError,
                       match=r"size=10 is too small: \d+ letters .* expected size >= (\d+)"):
        WordPiece.train(texts, size=10)
