"""A cross-encoder: a model that reads a question and a text as one row of tokens and gives a number
for the pair.

Any folder of ``transformers`` with a head that classifies sequences will do. Only safetensors are
read, no code that comes with a model is run, and nothing is fetched. Taught in ``17_search``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..contextual.model_files import check_weights_are_safe, read_config
from ..contextual.numbering import batches
from ..core import DamagedFile, check_int, existing_path, shown
from ..core.documents import check_encodable

__all__ = ["CrossEncoder"]

TOKENS_AT_ONCE = 8_192


class CrossEncoder:
    """A judge of pairs (question, text), for `rerank`.

    Parameters
    ----------
    folder : str or path
        A model for sequence classification, as ``save_pretrained`` of transformers writes it, with
        its tokenizer.
    label : int, optional
        Which of the model's labels says that the text answers; None: the only one, or the second of
        two.
    batch_size : int >= 1, default 32
        Pairs of about equal length that are read together.

    Raises
    ------
    FileNotFoundError, DamagedFile
        Not there; files missing, cut, or not of one model; a head that is not in the weights.
    TypeError, ValueError
        Weights that can run code; more than two labels and no ``label``.

    Notes
    -----
    The score is what the head gives before any squashing (one label), or that of ``label`` less the
    logarithm of the sum of exponentials of all: the log-probability of the label. Both put texts
    into the same order as the probability does. A pair that is too long is cut, the longer of the
    two first. [nogueira2019passage]

    Examples
    --------
    >>> rerank(question, texts, CrossEncoder("folder/of/a/model"), k=3)    # doctest: +SKIP
    """

    def __init__(self, folder: str | os.PathLike, *, label: int | None = None,
                 batch_size: int = 32) -> None:
        self.batch_size = check_int("batch_size", batch_size)
        self.folder = existing_path(folder, name="folder")
        if not self.folder.is_dir():
            raise DamagedFile(f"{self.folder} is a file; a model is a folder with config.json, "
                              "model.safetensors and a tokenizer")
        read_config(self.folder)
        check_weights_are_safe(self.folder)
        self.tokenizer, self.model = _loaded(self.folder)
        labels = int(self.model.config.num_labels)
        if label is None and labels > 2:
            raise ValueError(f"{self.folder} has {labels} labels; expected label=, the number of "
                             "the one that says that a text answers: "
                             f"{shown(self.model.config.id2label)}")
        self.label = labels - 1 if label is None else check_int("label", label, low=0,
                                                                high=labels - 1)
        positions = getattr(self.model.config, "max_position_embeddings", None)
        limits = [n for n in (positions, self.tokenizer.model_max_length) if n]
        self.longest = min(limits)

    def __call__(self, pairs: Iterable[tuple[str, str]]) -> np.ndarray:
        """Score of each pair, higher for better.

        Parameters
        ----------
        pairs : iterable of (str, str)
            Question and text.

        Returns
        -------
        (n,) float32

        Raises
        ------
        TypeError, ValueError
            No pairs of str; a lone surrogate.
        """
        pairs = list(pairs)
        for i, pair in enumerate(pairs):
            if not (isinstance(pair, (tuple, list)) and len(pair) == 2
                    and all(isinstance(text, str) for text in pair)):
                raise TypeError(f"pairs[{i}]={shown(pair)} is no pair of str (question, text)")
            for text in pair:
                check_encodable(f"pairs[{i}]", text)
        if not pairs:
            return np.empty(0, np.float32)
        read = [self.tokenizer(*pair, truncation="longest_first", max_length=self.longest)
                for pair in pairs]
        lengths = np.array([len(one["input_ids"]) for one in read])
        scores = np.empty(len(pairs), np.float32)
        for batch in batches(lengths, texts=self.batch_size, tokens=TOKENS_AT_ONCE):
            rows = self.tokenizer.pad([read[i] for i in batch], return_tensors="pt")
            with torch.inference_mode():
                logits = self.model(**rows).logits.float()
            if logits.shape[1] > 1:
                logits = logits.log_softmax(dim=1)
            scores[batch] = logits[:, self.label].numpy()
        return scores


def _loaded(folder: Path) -> tuple[Any, Any]:
    """Tokenizer and model. Raises DamagedFile."""
    import transformers

    safe = {"local_files_only": True, "trust_remote_code": False}
    before = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity_error()
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **safe)
        model, info = transformers.AutoModelForSequenceClassification.from_pretrained(
            folder, use_safetensors=True, dtype=torch.float32, output_loading_info=True, **safe)
    except Exception as error:                    # the package raises what it likes
        first = " ".join(str(error).split())[:200]
        raise DamagedFile(f"{folder} cannot be read as a model for sequence classification "
                          f"({type(error).__name__}: {first})") from error
    finally:
        transformers.logging.set_verbosity(before)
    if info["missing_keys"]:                      # they would be random
        raise DamagedFile(f"{folder} lacks {shown(sorted(info['missing_keys'])[0])} and "
                          f"{len(info['missing_keys']) - 1} more weights: it is no cross-encoder, "
                          "or not whole")
    return tokenizer, model.eval()
