"""One vector per text from the hidden states of its tokens: which layers are read, and what is made
of the tokens.

A BERT with L blocks has L + 1 hidden states: 0 is the output of the embeddings, k that of block k,
L the last. Papers mean different things by the same words, so the names here say which states they
read. Taught in lesson ``08_bert_sentence_vectors``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torch import Tensor
from torch.nn import functional as F

from ..core import check_choice, check_int, check_kind
from ..kernels import pool

__all__ = ["POOLINGS", "Pooling"]

POOLINGS = ("cls", "pooler", "last", "mean", "max", "first-last", "static-last", "last-2", "last-4",
            "all")
LAST_K = re.compile(r"last-([1-9][0-9]{0,5})")
OF_A_LAYER = ("mean", "last", "cls", "max")       # for which a layer may be chosen


@dataclass(frozen=True)
class Pooling:
    """A way to pool.

    Parameters
    ----------
    name : str, default "last"
        See Notes.
    layer : int in [0, L], optional
        The hidden state that "mean", "cls" and "max" read; None: the last.
    special_tokens : bool, default True
        False leaves [CLS] and [SEP] out of means and maxima; the model reads them all the same.

    Notes
    -----

    ===========  ==============================================================================
    cls          the vector at position 0
    pooler       tanh(W h + b) of it, W from the task whether two sentences follow each other
    last         mean over tokens of hidden state L; "mean" is the same, and takes ``layer=``
    max          the largest over tokens, in each column
    first-last   mean over tokens of (h1 + hL) / 2: the first block
    static-last  mean over tokens of (h0 + hL) / 2: the embeddings
    last-k       mean over tokens and over the last k blocks, such as "last-2" and "last-4"
    all          mean over tokens and over all L + 1 hidden states
    ===========  ==============================================================================

    "First-last" in the table of the SimCSE paper is static-last; its code has been first-last since
    January 2022, which gives bert-base four points more. "Last2avg" in the table of BERT-flow is
    first-last by a slip of index, not last-2. The authors' programs average [CLS] and [SEP], too.
    [gao2021simcse; li2020sentence]
    """

    name: str = "last"
    layer: int | None = None
    special_tokens: bool = True

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and LAST_K.fullmatch(self.name)):
            check_choice("pooling", self.name, POOLINGS)
        if self.layer is not None:
            check_int("layer", self.layer, low=0)
            if self.name not in OF_A_LAYER:
                raise ValueError(f"layer={self.layer} is not possible with pooling={self.name!r}, "
                                 "whose layers are fixed; choose "
                                 f"{' or '.join(map(repr, OF_A_LAYER))}")
        check_kind("special_tokens", self.special_tokens, bool, "True or False")
        if self.name in ("cls", "pooler") and not self.special_tokens:
            raise ValueError(f"pooling={self.name!r} reads [CLS], which special_tokens=False "
                             "leaves out; choose another pooling")

    def states(self, blocks: int) -> tuple[int, ...]:
        """Numbers of the hidden states that are read.

        Parameters
        ----------
        blocks : int
            Of the model.

        Returns
        -------
        tuple of int

        Raises
        ------
        ValueError
            The model has not got them.
        """
        if self.layer is not None:
            if self.layer > blocks:
                raise ValueError(f"layer={self.layer} is out of range; this model has hidden "
                                 f"states 0 to {blocks}")
            return (self.layer,)
        if k := LAST_K.fullmatch(self.name):
            if int(k[1]) > blocks:
                raise ValueError(f"pooling={self.name!r} needs {k[1]} blocks; this model has "
                                 f"{blocks}")
            return tuple(range(blocks - int(k[1]) + 1, blocks + 1))
        if self.name == "all":
            return tuple(range(blocks + 1))
        if blocks and self.name in ("first-last", "static-last"):
            return (int(self.name == "first-last"), blocks)
        return (blocks,)

    def __call__(self, states: Mapping[int, Tensor], mask: Tensor,
                 pooler: Callable[[Tensor], Tensor] | None, *, normalize: bool = False) -> Tensor:
        """Vectors (texts, dim) float32.

        Parameters: states, number -> (texts, length, dim), of which those that `states` names are
        read, all of them; mask (texts, length), True for a token that counts; pooler, what the
        model makes of (texts, dim) at position 0; normalize, scale to norm 1.
        """
        read = [states[number].float() for number in sorted(states)]
        if self.name in ("cls", "pooler"):
            vectors = read[-1][:, 0]
            if self.name == "pooler":
                vectors = pooler(states[max(states)][:, 0]).float()
            return F.normalize(vectors, dim=1, eps=1e-30) if normalize else vectors
        if len(read) == 1 and mask.shape[1] == 1 and not normalize and bool(mask.all()):
            return read[0][:, 0]                 # of a bag; the operation takes a second to load
        if self.name == "max":
            return pool(read[0], mask, how="max", normalize=normalize)
        if self.name in ("first-last", "static-last"):
            return pool(read[-1], mask, how="first_last", first=read[0], normalize=normalize)
        # averaging layers commutes with averaging tokens, and needs one pass over the tokens
        mean = read[0]
        if len(read) > 1:
            mean = mean.clone()
            for state in read[1:]:
                mean += state
            mean /= len(read)
        return pool(mean, mask, normalize=normalize)

    def __str__(self) -> str:
        layer = "" if self.layer is None else f" of layer {self.layer}"
        return f"{self.name}{layer}{'' if self.special_tokens else ', no special tokens'}"
