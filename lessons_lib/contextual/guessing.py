"""What a pre-trained BERT can do before anybody makes an encoder of it: fill in hidden tokens of a
text.

The heads that pre-training leaves behind are what an encoder throws away; here they are asked.
Taught in lesson ``08_bert_sentence_vectors``.
"""

from __future__ import annotations

import os

import torch
from torch import Tensor

from ..core import check_int, check_kind, check_seed, shown
from .model_files import read_config
from .lesson_bert import BertSize, LessonBertForPretraining
from .loading import lesson_bert_folder
from .saved_bert import load_bert
from .tokenizer import SPECIAL, WordPiece

__all__ = ["HIDDEN", "WordGuesser", "load_guesser"]

HIDDEN = "[MASK]"
CLS, SEP, MASK = (SPECIAL.index(name) for name in ("[CLS]", "[SEP]", HIDDEN))


class WordGuesser:
    """A model with the heads of its pre-training; made by `load_guesser`.

    Parameters
    ----------
    model : LessonBertForPretraining
        Dropout is switched off.
    tokenizer : WordPiece
    """

    def __init__(self, model: LessonBertForPretraining, tokenizer: WordPiece) -> None:
        self.model, self.tokenizer = model.eval(), tokenizer

    def number(self, text: str) -> Tensor:
        """The ids of a text, [MASK] read as the hidden token.

        Parameters
        ----------
        text : str

        Returns
        -------
        (1, length) int64
            Special tokens included.

        Raises
        ------
        TypeError, ValueError
            No text; too long.
        """
        ids = [CLS]
        parts = check_kind("text", text, str, "a str").split(HIDDEN)
        for k, part in enumerate(self.tokenizer.encode(parts)):
            ids += [MASK] * (k > 0) + part
        longest = self.model.bert.size.positions
        if len(ids) >= longest:
            raise ValueError(f"text has {len(ids) + 1} tokens, special ones included; the model "
                             f"reads {longest}. Shorten it")
        return torch.tensor([[*ids, SEP]])

    @torch.inference_mode()
    def guess(self, text: str, *, k: int = 5) -> list[list[tuple[str, float]]]:
        """The k most probable tokens for each [MASK] in a text, the most probable first.

        Parameters
        ----------
        text : str
            With at least one "[MASK]".
        k : int in [1, size of the vocabulary], default 5

        Returns
        -------
        list of list of (str, float)
            Tokens and their probabilities.

        Raises
        ------
        TypeError, ValueError
        """
        check_int("k", k, high=len(self.tokenizer))
        ids = self.number(text)
        positions = (ids == MASK).nonzero()[:, 1][None]
        if positions.numel() == 0:
            raise ValueError(f"text={shown(text)} hides nothing; expected at least one {HIDDEN}")
        best = self.model(ids, positions)[0].softmax(dim=1).topk(k)
        return [[(self.tokenizer.pieces[i], p) for i, p in zip(places, shares, strict=True)]
                for places, shares in zip(best.indices.tolist(), best.values.tolist(), strict=True)]


def load_guesser(name: str | os.PathLike = "lesson-bert", *, seed: int = 0,
                 verify: bool = True) -> WordGuesser:
    """A model with the heads of its pre-training, on the CPU.

    Parameters
    ----------
    name : str or path, default "lesson-bert"
        Or "lesson-bert-random", or the folder of a model that ``lessons pretrain`` wrote.
    seed : int >= 0, default 0
        Of the random initialisation of "lesson-bert-random".
    verify : bool, default True
        Compare the files with the checksums of the card.

    Returns
    -------
    WordGuesser

    Raises
    ------
    DataMissing, FileNotFoundError, DamagedFile
    """
    folder = lesson_bert_folder() if name in ("lesson-bert", "lesson-bert-random") else name
    if name != "lesson-bert-random":
        return WordGuesser(*load_bert(folder, verify=verify))
    size = BertSize.from_config(read_config(folder))
    return WordGuesser(LessonBertForPretraining(size, seed=check_seed(seed)),
                       WordPiece.load(folder))
