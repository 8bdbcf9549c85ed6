"""Sentences by rule: what ends one and what does not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.text.sentences import split_sentences


def test_marks_end_a_sentence_and_abbreviations_do_not():
    text = 'Dr. J. Smith arrived at 3.5 p.m. today. "Really?" asked Ann. It rained!\nNew line'
    assert split_sentences(text) == ["Dr. J. Smith arrived at 3.5 p.m. today.", '"Really?" asked Ann.', "It rained!", "New line"]


def test_chinese_sentences_need_no_space():
    assert split_sentences("他睡觉了。我醒着！好吗？") == ["他睡觉了。", "我醒着！", "好吗？"]


def test_short_pieces_can_be_left_out():
    assert split_sentences("History\nIt began in 1848 near Berlin.", min_words=3) == ["It began in 1848 near Berlin."]


@given(st.text(alphabet="aB .!?\n\"'()。"))
def test_no_character_but_white_space_is_lost(text):
    assert "".join(split_sentences(text)).replace(" ", "") == "".join(text.split())
