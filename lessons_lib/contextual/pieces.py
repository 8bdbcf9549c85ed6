"""From texts to token ids for any encoder: a tokenizer of the package ``tokenizers``, the special
tokens around a text, and a limit of length.

A text that is longer than the model reads is cut, with one warning for all, or refused. Text that
is spelt like a special token ("[SEP]") is read as text, and a list of words is never read as a pair
of sentences. Taught in lesson ``08_bert_sentence_vectors``.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..core import DamagedFile, checked_batches, warn_data
from .batching import Numbered

__all__ = ["Pieces", "load_pieces"]

# Any of these sets makes a tokenizer; the first needs no other package.
FILES = (("tokenizer.json",), ("vocab.txt",), ("vocab.json", "merges.txt"),
         ("sentencepiece.bpe.model",), ("spiece.model",))
TEXTS_AT_ONCE = 4096


class Pieces:
    """Cuts texts into tokens.

    Parameters: engine, a ``tokenizers.Tokenizer``, which is set to read "[SEP]" as text, and not to
    cut or pad.
    """

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        engine.no_truncation()
        engine.no_padding()
        engine.encode_special_tokens = True
        self.before, self.after = _frame(engine)

    def __len__(self) -> int:
        return self.engine.get_vocab_size()

    @property
    def highest(self) -> int:
        """The highest id of a text: one below the size, unless numbers are left out."""
        return max(self.engine.get_vocab().values(), default=-1)

    @property
    def special(self) -> frozenset[int]:
        """Ids of the tokens that are put around a text, such as [CLS] and [SEP]."""
        return frozenset((*self.before, *self.after))

    @property
    def n_special(self) -> int:
        """How many tokens are put around a text."""
        return len(self.before) + len(self.after)

    def strings(self, size: int) -> list[str]:
        """The tokens by id, ``size`` of them; "" where the tokenizer has none."""
        return [self.engine.id_to_token(i) or "" for i in range(size)]

    def number(self, texts: Iterable[str], *, longest: int, refuse: bool) -> Numbered:
        """Texts as ids with their special tokens, cut to ``longest`` tokens; with ``refuse`` a
        longer one is a ValueError.

        Raises TypeError, ValueError for what is no text.
        """
        inner, parts, first, cut = longest - self.n_special, [], 0, []
        for batch in checked_batches(texts, name="texts", allow_empty=True, size=TEXTS_AT_ONCE):
            rows = [encoding.ids for encoding in
                    self.engine.encode_batch_fast(batch, add_special_tokens=False)]
            cut += [(first + i, len(row) + self.n_special) for i, row in enumerate(rows)
                    if len(row) > inner]
            if cut and refuse:
                raise ValueError(f"texts[{cut[0][0]}] has {cut[0][1]:,} tokens, special ones "
                                 f"included; max_length={longest}. Split it, or let it be cut: "
                                 "truncation='warn'")
            parts.append(Numbered.of([[*self.before, *row[:inner], *self.after] for row in rows]))
            first += len(rows)
        if cut:
            warn_data(f"{len(cut)} of {first} texts have more than max_length={longest} tokens and "
                      f"were cut (first: texts[{cut[0][0]}], {cut[0][1]:,} tokens). Split them, "
                      "or refuse them: truncation='error'", stacklevel=4)
        return Numbered.joined(parts)

    def special_mask(self, ids: np.ndarray) -> np.ndarray:
        """Which ids are tokens put around texts (bool)."""
        return np.isin(ids, list(self.special))


def _frame(engine: Any) -> tuple[list[int], list[int]]:
    """The ids that are put before and after a text.

    Raises ValueError for a tokenizer that makes no token of any text.
    """
    # a vocabulary without "a" may drop it, and what stood around it would be lost
    for text in ("a", "1", *sorted(engine.get_vocab())):
        framed = engine.encode(text, add_special_tokens=True)
        inner = [i for i, special in enumerate(framed.special_tokens_mask) if not special]
        if inner:
            return framed.ids[: inner[0]], framed.ids[inner[-1] + 1 :]
    raise ValueError("none of its tokens is found in a text")


def load_pieces(folder: Path) -> Pieces:
    """The tokenizer in the folder of a model.

    Raises DamagedFile (none, or one that cannot be read).
    """
    there = next((names for names in FILES if all((folder / name).is_file() for name in names)),
                 None)
    if there is None:
        expected = " or ".join(" with ".join(names) for names in FILES)
        raise DamagedFile(f"{folder} has no tokenizer: expected {expected}. Copy the files that "
                          "belong to the model")
    try:
        if there == FILES[0]:
            from tokenizers import Tokenizer

            return Pieces(Tokenizer.from_file(str(folder / there[0])))
        from transformers import AutoTokenizer

        return Pieces(AutoTokenizer.from_pretrained(folder, local_files_only=True,
                                                    trust_remote_code=False).backend_tokenizer)
    except Exception as error:                    # the package raises plain Exception
        raise DamagedFile(f"{folder / there[0]} holds no tokenizer that can be read: "
                          f"{str(error)[:200]}") from error
