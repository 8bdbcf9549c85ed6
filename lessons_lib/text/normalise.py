"""One spelling per word: Unicode normal forms, so that "café" typed as four or as five characters
is one token.

NFC joins a letter and its accent into one character and is the default of `Tokenizer` and `Corpus`;
NFKC also unifies look-alikes such as full-width letters. Taught in lesson ``01_one_hot``.
"""

from __future__ import annotations

import unicodedata

from ..core import check_choice, shown
from ..core.documents import check_encodable

__all__ = ["FORMS", "check_text", "checked_form", "normalise"]

FORMS = ("NFC", "NFD", "NFKC", "NFKD")


def checked_form(form: str | None, *, name: str = "normalise") -> str | None:
    """Check the name of a normal form.

    Parameters
    ----------
    form : str or None
    name : str, default "normalise"
        The caller's argument.

    Returns
    -------
    str or None

    Raises
    ------
    ValueError
        With the allowed names.
    """
    return None if form is None else check_choice(name, form, FORMS)


def check_text(name: str, word: str) -> None:
    """Refuse a word of a setting that holds a lone surrogate, which no text has.

    Parameters
    ----------
    name, word : str
        The argument and its value.

    Raises
    ------
    ValueError
    """
    check_encodable(f"{name}={shown(word)}", word)


def normalise(text: str, form: str | None = "NFC") -> str:
    """Bring a text into a Unicode normal form.

    Parameters
    ----------
    text : str
    form : "NFC", "NFD", "NFKC", "NFKD" or None, default "NFC"
        None leaves the text as it is.

    Returns
    -------
    str
        The same object when nothing changes.

    Raises
    ------
    ValueError
        For another form.

    Examples
    --------
    >>> len("cafe\\u0301"), len(normalise("cafe\\u0301"))
    (5, 4)
    """
    checked_form(form, name="form")
    if form is None or text.isascii():
        return text
    return unicodedata.normalize(form, text)
