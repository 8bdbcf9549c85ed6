"""Sentences by rule: what ends one and what does not."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.text.sentences import split_sentences


def test_marks_end_a_sentence_and_abbreviations_do_not():
    text = 'Dr. J. Smith arrived at 3.5 p.m. today. "Really?" asked Ann. It rained!\nNew line'
    assert split_sentences(text) == ["Dr. J. Smith arrived at 3.5 p.m. today.",
                                     '"Really?" asked Ann.', "It rained!", "New line"]


def test_chinese_sentences_need_no_space():
    assert split_sentences("他睡觉了。我醒着！好吗？") == ["他睡觉了。", "我醒着！", "好吗？"]


def test_closing_quotes_stay_with_their_sentence():
    assert split_sentences("他说：「好。」他走了。") == ["他说：「好。」", "他走了。"]


def test_a_text_of_abbreviations_is_one_sentence_and_is_read_at_once():
    assert len(split_sentences("J. " * 50_000)) == 1
    assert split_sentences("See Prof. Smith. He knows.") == ["See Prof. Smith.", "He knows."]


def test_short_pieces_can_be_left_out():
    text = "History\nIt began in 1848 near Berlin."
    assert split_sentences(text, min_words=3) == ["It began in 1848 near Berlin."]
    assert split_sentences("* * *\nYes.") == ["Yes."]


@given(st.text(alphabet="aB .!?\n\"'()。"))
def test_no_word_is_lost(text):
    assert re.findall(r"\w", "".join(split_sentences(text))) == re.findall(r"\w", text)
