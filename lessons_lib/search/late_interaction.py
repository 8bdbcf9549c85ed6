"""Late interaction: a text keeps a vector for each token, and each token of the question looks for
the one that is nearest to it.

Between one vector for a text, where all is mixed before the question is known, and a cross-encoder,
which begins when it is known. Taught in ``17_search``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from .. import kernels
from ..core import Estimator, check_array, check_int, check_kind, checked_texts, shown
from ..core.learned import Array
from ..core.parameters import Flag, Given, Int

__all__ = ["LateInteraction", "maxsim"]


def maxsim(query: Any, tokens: Any, offsets: Any, *, backend: str = "cpu") -> np.ndarray:
    """Score of texts for a question, both as vectors of their tokens, by `kernels.maxsim`.

    Parameters
    ----------
    query : (m, dim) real
        A row for each token of the question.
    tokens : (tokens, dim) real
        Those of all texts, one text after the other.
    offsets : (n + 1,) int
        Where texts begin and end: text i has the rows offsets[i] to offsets[i + 1] - 1.
    backend : {"cpu", "reference", "triton"}, default "cpu"
        Blocks of products, the formula as it is written, or a kernel: on this processor only in
        Triton's interpreter. Tensors on a GPU go to `kernels.maxsim`.

    Returns
    -------
    (n,) float64
        A text without a token has score 0.

    Raises
    ------
    TypeError, ValueError
        No numbers, other shapes; offsets that do not rise from 0 to the number of tokens.
    BackendUnavailable
        The kernel cannot run here.

    Notes
    -----
    score = Σ_i max_j q_i · d_j. With vectors of norm 1 it lies in [-m, m].

    Examples
    --------
    >>> maxsim([[1, 0], [0, 1]], [[1, 0], [0.5, 0.5], [0, -1]], [0, 2, 3]).tolist()
    [1.5, -1.0]
    """
    query = check_array("query", query)
    tokens = check_array("tokens", tokens, columns=query.shape[1])
    kind = np.result_type(query, tokens)
    offsets = np.asarray(offsets)
    rises = offsets.ndim == 1 and offsets.dtype.kind in "iu" and len(offsets) > 0 \
        and offsets[0] == 0 and offsets[-1] == len(tokens) and (np.diff(offsets) >= 0).all()
    if not rises:
        raise ValueError(f"offsets={shown(offsets.tolist())} does not rise from 0 to the "
                         f"{len(tokens)} rows of tokens; expected (n + 1,) int")
    scores = kernels.maxsim(query.astype(kind, copy=False), tokens.astype(kind, copy=False),
                            offsets, backend=backend)
    return scores.numpy().astype(np.float64)


class LateInteraction(Estimator):
    """Texts as the vectors of their tokens, by any contextual encoder that has some.

    Notes
    -----
    Special tokens are left out where nobody asks for them, and every vector is scaled to norm 1.
    Memory: a vector for each token, about a hundred times that of one for each text; so it is
    mostly used to order the best of a faster search (``among``). The scores are those of the
    ``MultiVectorEncoder`` of sentence-transformers over the same folder, without a projection.

    Examples
    --------
    >>> late = LateInteraction(load_encoder("lesson-bert")).fit(texts)     # doctest: +SKIP
    >>> late.search("Who built the bridge?", k=3)                          # doctest: +SKIP
    """

    encoder = Given(doc="with `hidden_states`, such as `contextual.load_encoder` gives",
                    kind="ContextualEncoder", positional=1)
    layer = Int(None, "number of the hidden state; None: the last", low=0)
    special_tokens = Flag(False, "count [CLS] and [SEP], too")

    tokens_ = Array("tokens", "dim", doc="vectors of the tokens of all texts, at norm 1")
    offsets_ = Array("texts + 1", dtype="int64", doc="where each text begins and ends")

    def _check_together(self, settings: dict[str, Any]) -> None:
        if not hasattr(self.encoder, "hidden_states"):
            raise TypeError(f"encoder={shown(self.encoder)} is {type(self.encoder).__name__}; "
                            "expected one with hidden_states: contextual.load_encoder gives one")
        layers = getattr(self.encoder, "layers", None)
        if self.layer is not None and layers is not None:
            check_int("layer", self.layer, low=0, high=layers)

    def _vectors(self, texts: Iterable[str]) -> list[np.ndarray]:
        """Of the tokens of each text."""
        layer = self.encoder.layers if self.layer is None else self.layer
        rows = [states.vectors[0][~states.special | self.special_tokens]
                for states in self.encoder.hidden_states(texts, layers=layer)]
        return [row / np.maximum(np.linalg.norm(row, axis=1, keepdims=True), 1e-12) for row in rows]

    def fit(self, texts: Iterable[str]) -> Self:
        """Encode the tokens of the texts.

        Parameters
        ----------
        texts : iterable of str

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            No encoder of tokens, no texts.
        """
        self._check_settings()
        rows = self._vectors(list(checked_texts(texts, name="texts")))
        self.tokens_ = np.concatenate(rows)
        self.offsets_ = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return self

    def search(self, query: str, *, k: int = 10,
               among: Sequence[int] | None = None) -> list[tuple[int, float]]:
        """The k texts with the highest `maxsim`, best first.

        Parameters
        ----------
        query : str
        k : int >= 1, default 10
        among : sequence of int, optional
            Only these texts, the candidates of a faster search.

        Returns
        -------
        list of (index, score)
            Of equals the first.

        Raises
        ------
        NotFittedError, TypeError, ValueError
            Not fitted; query is not one str; k below 1, a text that is not there.
        """
        self._check_fitted("tokens_")
        k = check_int("k", k)
        (vectors,) = self._vectors([check_kind("query", query, str, "one str")])
        tokens, offsets = self.tokens_, self.offsets_
        rows = np.arange(len(offsets) - 1)
        if among is not None:
            rows = np.array([check_int(f"among[{i}]", row, low=0, high=len(offsets) - 2)
                             for i, row in enumerate(among)], dtype=np.int64)
            parts = [tokens[offsets[row] : offsets[row + 1]] for row in rows]
            tokens = np.concatenate([tokens[:0], *parts])
            offsets = np.cumsum([0, *map(len, parts)])
        scores = maxsim(vectors, tokens, offsets)
        best = np.argsort(-scores, kind="stable")[:k]
        return [(int(rows[i]), float(scores[i])) for i in best]
