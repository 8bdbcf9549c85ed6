"""What others measured on the real BERT-base, GPT-2 and ELMo, layer by layer, ready to stand beside
the course's own models.

Ethayarajh released the figures of the paper, not the vectors: the mean over random words of every
layer, and one value per word and layer. They are not corrected for anisotropy, and their baseline
for the explained variance is of another sample size than the values. Used in ``09_anisotropy``.
"""

from __future__ import annotations

import numpy as np

from ..core import check_choice
from ..datasets import load

__all__ = ["PUBLISHED_MODELS", "published_layers"]

PUBLISHED_MODELS = ("bert", "gpt2", "elmo")
_SPACE = {
    "mean_cosine": "mean cosine similarity across words",
    "intra_similarity": "mean cosine similarity between sentence and words",
    "norm": "word norm mean", "explained_by_chance": "variance explained for random words"
}
_WORDS = {"self_similarity": "self_similarity", "explained": "variance_explained"}


def published_layers(model: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The released statistics of one model, layer by layer, layer 0 being the input.

    [ethayarajh2019contextual]

    Parameters
    ----------
    model : {"bert", "gpt2", "elmo"}
        "bert" is base, cased.

    Returns
    -------
    dict of str to (layers, values)
        ``mean_cosine`` of random words, ``intra_similarity`` of words and their sentence, ``norm``,
        ``self_similarity`` and ``explained`` (maximum explainable variance; not measured for layer
        0), both means over words and unadjusted, and ``explained_by_chance``, of 1000 random words,
        which is no baseline for ``explained``.

    Raises
    ------
    ValueError
        Another name.
    DataMissing
    """
    check_choice("model", model, PUBLISHED_MODELS)
    space = load("embedding-space").values[model]
    result = {name: (np.arange(len(space[printed])), space[printed])
              for name, printed in _SPACE.items()}
    table = load("contextual-statistics", model=model)
    for name, printed in _WORDS.items():
        rows = table.statistic == printed
        layers, of_row = np.unique(table.layer[rows], return_inverse=True)
        result[name] = layers, np.bincount(of_row, table.value[rows]) / np.bincount(of_row)
    return result
