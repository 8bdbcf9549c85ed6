"""Encoders: one name, colour and marker each, dark enough on white, apart from each other."""

from __future__ import annotations

import pytest

from lessons_lib.plots import ENCODERS, GREY, LINE_COLOURS, encoder_look, standard_encoder
from lessons_lib.plots.style import INK_OF


def test_every_encoder_has_a_look_of_its_own_in_colours_of_the_course():
    assert len(set(ENCODERS.values())) == len(ENCODERS) >= 20
    assert {look.colour for look in ENCODERS.values()} <= {*LINE_COLOURS, *INK_OF.values(), GREY}
    assert encoder_look("control").colour == GREY, "what was never trained is grey"


@pytest.mark.parametrize("together", [
    ("word2vec", "GloVe", "fastText"), ("BERT", "flow", "whitening"), ("BERT", "SBERT", "CoSENT"),
    ("word2vec", "SimCSE", "supervised SimCSE", "control"), ("word2vec", "BERT", "LSA"),
    ("TF-IDF", "LSA", "word2vec"), ("word2vec", "uSIF", "control"),
    ("word2vec", "SBERT", "LessonBag"), ("word2vec", "SIF"), ("LessonBERT", "MiniLM")])
def test_encoders_of_one_lesson_have_different_colours(together):
    assert len({encoder_look(name).colour for name in together}) == len(together)


def test_a_detail_follows_a_standard_name_and_another_name_is_refused_with_the_nearest():
    assert [standard_encoder(name) for name in ("SimCSE, dropout 0.1", "BERT (paper)", "GloVe")] \
        == ["SimCSE", "BERT", "GloVe"]
    with pytest.raises(ValueError, match="encoder='word-2-vec'.*Did you mean 'word2vec'"):
        standard_encoder("word-2-vec")
