"""WordPiece: a vocabulary of whole words and parts of words, learned from a text, so that no word
is unknown.

A word that is not in the vocabulary is cut into subwords, the longest that fits first; those that
go on a word begin with ``##``. It is trained by the package ``tokenizers`` and saved so that
``transformers.BertTokenizerFast`` reads it. Taught in lesson ``08_bert_sentence_vectors``.
"""

from __future__ import annotations

import os
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from ..core import (DamagedFile, check_int, checked_batches, checked_path, checked_texts,
                    existing_path, read_json, write_json, write_text)

__all__ = ["SPECIAL", "WordPiece"]

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")         # ids 0 to 4
MOST = 32_768                   # ids fit into 16 bits with sign
ALPHABET = 300                  # letters with tokens of their own; rarer ones make a word [UNK]
LONGEST_WORD = 100              # letters; longer ones are [UNK], as in BERT


class WordPiece:
    """A lower-cased WordPiece tokenizer; `train` learns one, `load` reads one.

    Text that is spelt like a special token ("[SEP]") is read as text. ``engine`` is the
    ``tokenizers.Tokenizer``.

    Parameters
    ----------
    pieces : iterable of str
        The tokens by id; the first five are ``SPECIAL``.
    """

    def __init__(self, pieces: Iterable[str]) -> None:
        self.pieces = list(pieces)
        if tuple(self.pieces[: len(SPECIAL)]) != SPECIAL:
            raise DamagedFile(f"vocab.txt begins with {self.pieces[:5]}; expected "
                              f"{', '.join(SPECIAL)}")
        check_int("pieces", len(self.pieces), low=len(SPECIAL) + 1, high=MOST)
        twice = next((token for token, n in Counter(self.pieces).items() if n > 1), None)
        if twice is not None:
            raise DamagedFile(f"vocab.txt has {twice!r} twice; expected every token once")
        self.engine = _engine({token: i for i, token in enumerate(self.pieces)})

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def goes_on(self) -> np.ndarray:
        """For each id, whether the token goes on a word (bool)."""
        return np.array([token.startswith("##") for token in self.pieces])

    @classmethod
    def train(cls, texts: Iterable[str], *, size: int = 8192, min_count: int = 2) -> Self:
        """Learn a vocabulary.

        Parameters
        ----------
        texts : iterable of str
        size : int >= 6, default 8192
            Tokens at most, special ones included.
        min_count : int >= 1, default 2
            Least occurrences of a pair that becomes a token.

        Returns
        -------
        WordPiece

        Raises
        ------
        TypeError, ValueError
        """
        from tokenizers import trainers

        check_int("size", size, low=len(SPECIAL) + 1, high=MOST)
        engine = _engine({})
        plain = [engine.normalizer.normalize_str(text)
                 for text in checked_texts(texts, name="texts")]
        letters: Counter[str] = Counter()
        for text in plain:
            letters.update(text)
        for space in [letter for letter in letters if letter.isspace()]:
            del letters[space]
        ordered = sorted(letters, key=lambda letter: (-letters[letter], letter))
        kept = ordered[:ALPHABET]
        if not kept:
            raise ValueError(f"texts hold 0 tokens in {len(plain)} documents; expected at least "
                             "one letter")
        # given rather than learned: the trainer numbers letters by chance, and pairs of equal
        # count by these numbers
        first = [*SPECIAL]
        for letter in sorted(kept):
            inside = [f"##{letter}"] if unicodedata.category(letter)[0] != "P" else []
            first += [letter, *inside]
        if len(first) > size:
            raise ValueError(f"size={size} is too small: {len(kept)} letters of the texts and "
                             f"{len(SPECIAL)} special tokens need {len(first)}; "
                             f"expected size >= {len(first)}")
        rare = dict.fromkeys(map(ord, letters.keys() - set(kept)), " ")
        trainer = trainers.WordPieceTrainer(
            vocab_size=size, min_frequency=check_int("min_count", min_count), special_tokens=first,
            show_progress=False)
        engine.train_from_iterator((text.translate(rare) for text in plain), trainer)
        learned = engine.get_vocab()
        return cls(sorted(learned, key=learned.__getitem__))

    def encode(self, texts: Iterable[str]) -> list[list[int]]:
        """The ids of each text, without [CLS] and [SEP].

        Parameters
        ----------
        texts : iterable of str

        Returns
        -------
        list of list of int

        Raises
        ------
        TypeError, ValueError
            What is no text.
        """
        return [encoding.ids
                for batch in checked_batches(texts, name="texts", allow_empty=True, size=4096)
                for encoding in self.engine.encode_batch_fast(batch, add_special_tokens=False)]

    def save(self, folder: str | os.PathLike) -> None:
        """Write the files of a `BertTokenizerFast`.

        Parameters
        ----------
        folder : str or path
            Gets ``tokenizer.json``, ``vocab.txt`` and ``tokenizer_config.json``.
        """
        target = checked_path(folder, "folder")
        write_text(target / "tokenizer.json", self.engine.to_str(pretty=True) + "\n")
        write_text(target / "vocab.txt", "".join(f"{token}\n" for token in self.pieces))
        write_json(target / "tokenizer_config.json",
                   {"do_lower_case": True, "tokenizer_class": "BertTokenizer"})

    @classmethod
    def load(cls, folder: str | os.PathLike) -> Self:
        """Read ``vocab.txt``, whose tokens have to be those of ``tokenizer.json`` beside it.

        Parameters
        ----------
        folder : str or path

        Returns
        -------
        WordPiece

        Raises
        ------
        FileNotFoundError
        DamagedFile
            The file is missing or not of this kind, or the two differ.
        """
        path = existing_path(folder, name="folder") / "vocab.txt"
        if not path.is_file():
            raise DamagedFile(f"{path.parent} has no tokenizer: vocab.txt is missing")
        try:
            read = cls(path.read_text("utf-8").removesuffix("\n").split("\n"))
        except ValueError as error:
            raise DamagedFile(f"{path}: {error}") from error
        twin = path.with_name("tokenizer.json")
        content = read_json(twin) if twin.is_file() else {}
        model = content.get("model") if isinstance(content, dict) else None
        numbered = {token: i for i, token in enumerate(read.pieces)}
        if isinstance(model, dict) and model.get("vocab") != numbered:
            raise DamagedFile(f"{path} and {twin.name} are not of one tokenizer; save it again")
        return read


def _engine(vocabulary: dict[str, int]) -> Any:
    """A ``tokenizers.Tokenizer`` that does what BERT's does: clean, lower-case, strip accents,
    split at spaces and marks, then WordPiece.
    """
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    engine = Tokenizer(
        models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=LONGEST_WORD))
    engine.normalizer = normalizers.BertNormalizer(lowercase=True)
    engine.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    engine.decoder = decoders.WordPiece()
    if vocabulary:
        engine.add_special_tokens(list(SPECIAL))
        engine.encode_special_tokens = True
        engine.post_processor = processors.BertProcessing(("[SEP]", SPECIAL.index("[SEP]")),
                                                          ("[CLS]", SPECIAL.index("[CLS]")))
    return engine
