"""Linear probes: what a linear classifier can read off vectors that were made without its labels.

A probe is fitted on the vectors of some texts and tried on others. Ridge regression on the labels
is the classifier: it has one answer and needs no steps. Taught in ``07_doc2vec``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import check_array, check_float

__all__ = ["linear_probe"]


def linear_probe(train: Any, train_labels: Sequence[Any], test: Any, test_labels: Sequence[Any], *,
                 alpha: float = 300.0) -> float:
    """The share of test vectors whose label a linear classifier tells.

    Parameters
    ----------
    train : (n, dim) array or sparse matrix such as counts
    train_labels : sequence of n labels, of two or more kinds
    test : (m, dim) array or sparse matrix
    test_labels : sequence of m labels
    alpha : float > 0, default 300.0
        How strongly weights are held back: larger for more vectors, about 1 for rows of norm 1 as
        TF-IDF makes them.

    Returns
    -------
    float in [0, 1]

    Raises
    ------
    TypeError, ValueError

    Notes
    -----
    Columns of arrays are brought to mean 0 and spread 1 on ``train``; sparse ones stay as they are.
    """
    from scipy.sparse import issparse
    from sklearn.linear_model import RidgeClassifier

    alpha = check_float("alpha", alpha, low=0.0, open_low=True)
    if not issparse(train):
        train, test = (check_array(name, part, min_rows=1).astype(np.float64)
                       for name, part in (("train", train), ("test", test)))
    if train.shape[1] != test.shape[1] or (train.shape[0], test.shape[0]) != (len(train_labels),
                                                                              len(test_labels)):
        raise ValueError(f"train {train.shape} has {len(train_labels)} labels, test {test.shape} "
                         f"has {len(test_labels)}; expected equal columns and "
                         "a label for each row")
    if (n := len(set(np.asarray(train_labels).tolist()))) < 2:
        raise ValueError(f"train_labels holds {n} kinds of labels; expected >= 2")
    if not issparse(train):
        middle, spread = train.mean(axis=0), train.std(axis=0)
        train, test = ((part - middle) / np.where(spread > 0, spread, 1.0)
                       for part in (train, test))
    return float(RidgeClassifier(alpha=alpha).fit(train, train_labels).score(test, test_labels))
