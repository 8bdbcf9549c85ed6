r"""Cutting a text into tokens: what counts as a word is a decision, and here it is an argument.

The default takes every run of letters, digits and underscores of any script, lower-cased, in normal
form NFC. Chinese has no spaces; there a dictionary finds the words (jieba). Taught in lesson
``01_one_hot``.
"""

from __future__ import annotations

import functools
import logging
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..core import BackendUnavailable, Estimator, check_choice, checked_texts, shown
from ..core.parameters import Packed
from .normalise import checked_form, normalise
from .patterns import TokenPattern
from .scanner import FAST_PATTERNS, TokenScan, WordScan

__all__ = ["LANGUAGES", "WORD_PATTERN", "GivenTokenizer", "Tokenizer", "tokenize"]

WORD_PATTERN = r"(?u)\b\w+\b"
LANGUAGES = ("any", "zh")


@functools.cache
def _chinese_cutter() -> Callable[[str], list[str]]:
    """jieba with a dictionary of its own, so that words which the user adds elsewhere change
    nothing here; it says nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import jieba
        except ImportError as error:
            raise BackendUnavailable('language="zh" needs jieba, which is not installed: '
                                     "pip install jieba") from error
        logging.getLogger("jieba").setLevel(logging.ERROR)
        return jieba.Tokenizer().lcut


_compiled = functools.lru_cache(maxsize=64)(functools.partial(TokenPattern, name="pattern"))


class Tokenizer(Estimator):
    r"""Text to tokens: normal form, lower case, then every match of a pattern.

    Parameters
    ----------
    pattern : str, default ``(?u)\b\w+\b``
        Regular expression of a token. The default is every run of word characters, so "don't" gives
        "don" and "t", and "e-mail" gives "e" and "mail"; ``\w+(?:['’]\w+)*`` keeps inner
        apostrophes. The default and ``(?u)\b\w\w+\b`` run compiled in `Corpus`.
    lowercase : bool, default True
        Lower-case first.
    normalise : "NFC", "NFD", "NFKC", "NFKD" or None, default "NFC"
        Unicode normal form.
    language : "any" or "zh", default "any"
        "zh" cuts Chinese by jieba's dictionary and keeps what the pattern is found in, so that
        punctuation falls away.

    Examples
    --------
    >>> Tokenizer()("Naïve cats don’t read.")
    ['naïve', 'cats', 'don', 't', 'read']
    """

    def __init__(self, pattern: str = WORD_PATTERN, *, lowercase: bool = True,
                 normalise: str | None = "NFC", language: str = "any"):
        self.pattern, self.lowercase = pattern, lowercase
        self.normalise, self.language = normalise, language

    def __call__(self, text: str) -> list[str]:
        """The tokens of one text, in order.

        Parameters
        ----------
        text : str

        Raises
        ------
        TypeError, ValueError
            For what is no str, a setting that is not allowed, a lone surrogate.
        """
        if not isinstance(text, str):
            raise TypeError(f"text={shown(text)} is {type(text).__name__}; expected one str. For "
                            "many texts use Corpus.from_texts")
        text = next(checked_texts([text], name="text"))
        return self._tokens(text, self._checked())

    def scan(self) -> WordScan | TokenScan:
        """What `Corpus` runs over blocks of texts: the compiled scanner where it finds the same
        tokens, else this tokenizer.

        Returns
        -------
        WordScan or TokenScan

        Raises
        ------
        TypeError, ValueError
            For a setting that is not allowed.
        """
        pattern = self._checked()
        if self.language == "any" and self.pattern in FAST_PATTERNS:
            min_chars = FAST_PATTERNS[self.pattern]
            return WordScan(min_chars, lowercase=self.lowercase, form=self.normalise)
        return TokenScan(lambda text: [token for token in self._tokens(text, pattern) if token])

    def _checked(self) -> TokenPattern:
        check_choice("language", self.language, LANGUAGES)
        checked_form(self.normalise)
        if not isinstance(self.lowercase, bool):
            raise TypeError(f"lowercase={shown(self.lowercase)} is "
                            f"{type(self.lowercase).__name__}; expected True or False")
        return _compiled(self.pattern)

    def _tokens(self, text: str, pattern: TokenPattern) -> list[str]:
        text = normalise(text, self.normalise)
        text = text.lower() if self.lowercase else text
        if self.language == "any":
            return pattern.findall(text)
        return [word for word in _chinese_cutter()(text) if pattern.findall(word)]


class GivenTokenizer(Packed):
    """What a method cuts texts with; of a model that is saved it must be a `Tokenizer`, or None."""

    def __init__(self, doc: str = "cuts texts; None: ``Tokenizer()``") -> None:
        super().__init__(None, doc, kind="Tokenizer or function from str to list of str")

    def pack(self, value: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The settings of the tokenizer. Raises TypeError for a function."""
        if value is not None and type(value) is not Tokenizer:
            raise TypeError(f"{self.name}={shown(value)} is a {type(value).__name__}, which cannot "
                            "be saved; use a text.Tokenizer with a pattern")
        return {}, {self.name: None if value is None else value.get_params()}

    def unpack(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any],
               sizes: dict[str, int]) -> Tokenizer | None:
        """The tokenizer with these settings."""
        return None if extra[self.name] is None else Tokenizer(**extra[self.name])


def tokenize(text: str, pattern: str = WORD_PATTERN, *, lowercase: bool = True,
             normalise: str | None = "NFC", language: str = "any") -> list[str]:
    """The tokens of one text.

    Parameters
    ----------
    text : str
    pattern, lowercase, normalise, language
        The settings of `Tokenizer`.

    Returns
    -------
    list of str

    Raises
    ------
    TypeError, ValueError
        As `Tokenizer`.

    Examples
    --------
    >>> tokenize("To be, or not to be")
    ['to', 'be', 'or', 'not', 'to', 'be']
    """
    settings = {"lowercase": lowercase, "normalise": normalise, "language": language}
    return Tokenizer(pattern, **settings)(text)
