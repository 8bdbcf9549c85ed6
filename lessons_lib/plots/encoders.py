"""One name, colour and marker for each encoder, the same in all lessons.

The colours are those of the palette, so two encoders that seldom meet share one; their markers
differ. A control, which was never trained, is grey. Used by every figure that compares encoders,
and by ``lesson.table``.
"""

from __future__ import annotations

from typing import NamedTuple

from ..core import check_choice
from .style import BLACK, BLUE, GREEN, GREY, INK_OF, ORANGE, PALETTE, PURPLE, VERMILLION

__all__ = ["ENCODERS", "EncoderLook", "encoder_look", "standard_encoder"]

BROWN, OLIVE = INK_OF[ORANGE], INK_OF[PALETTE["yellow"]]


class EncoderLook(NamedTuple):
    """How an encoder is drawn.

    Parameters
    ----------
    colour : str
        For lines, marks and words.
    marker : str
        One that no other encoder of this colour has.
    """

    colour: str
    marker: str


ENCODERS = {
    "one-hot": EncoderLook(BLACK, "o"), "bag of words": EncoderLook(BLACK, "s"),
    "TF-IDF": EncoderLook(BLACK, "^"), "BM25": EncoderLook(BLACK, "D"),
    "char n-grams": EncoderLook(BLACK, "v"),
    "LSA": EncoderLook(BROWN, "o"), "LDA": EncoderLook(BROWN, "s"),
    "Doc2vec": EncoderLook(BROWN, "D"),
    "word2vec": EncoderLook(BLUE, "o"), "GloVe": EncoderLook(GREEN, "o"),
    "fastText": EncoderLook(PURPLE, "o"),
    "SIF": EncoderLook(BROWN, "v"), "uSIF": EncoderLook(GREEN, "v"),
    "BERT": EncoderLook(VERMILLION, "o"), "LessonBERT": EncoderLook(VERMILLION, "s"),
    "MiniLM": EncoderLook(OLIVE, "D"), "LessonBag": EncoderLook(BROWN, "^"),
    "flow": EncoderLook(PURPLE, "s"), "whitening": EncoderLook(GREEN, "s"),
    "SBERT": EncoderLook(GREEN, "D"), "CoSENT": EncoderLook(PURPLE, "^"),
    "SimCSE": EncoderLook(GREEN, "^"), "supervised SimCSE": EncoderLook(PURPLE, "D"),
    "paper": EncoderLook(GREY, "s"), "control": EncoderLook(GREY, "o")}


def standard_encoder(name: str) -> str:
    """The encoder that a name speaks of: "SimCSE" for "SimCSE, dropout 0.1" or "SimCSE (paper)".

    Parameters
    ----------
    name : str
        A standard name, alone or before a comma or a bracket.

    Returns
    -------
    str
        A key of ``ENCODERS``.

    Raises
    ------
    ValueError
        For another name; the message has the nearest one and all.

    Examples
    --------
    >>> standard_encoder("word2vec, 300 dimensions")
    'word2vec'
    """
    base = str(name).split(",")[0].split("(")[0].strip()
    return check_choice("encoder", base, ENCODERS)


def encoder_look(name: str) -> EncoderLook:
    """Give the colour and marker of an encoder, the same in every lesson.

    Parameters
    ----------
    name : str
        As in `standard_encoder`.

    Returns
    -------
    EncoderLook
        With ``colour`` and ``marker``.

    Raises
    ------
    ValueError
        For an unknown name.

    Examples
    --------
    >>> encoder_look("word2vec").colour
    '#0072B2'
    """
    return ENCODERS[standard_encoder(name)]
