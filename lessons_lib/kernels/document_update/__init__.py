"""Document updates: a document has a row of its own, which stands among the contexts of each of its words and so learns what they have in common.

One operation for both kinds of paragraph vectors. PV-DBOW is skip-gram whose context is the document, alone or beside the words around; PV-DM is CBOW
whose contexts are the words around and the document, as a mean, a sum, or one after the other. Taught in ``07_doc2vec``.
"""

from __future__ import annotations

import numpy as np

from ...core import check_choice, shown
from ..dispatch import Operation
from ..window_update.settings import check_sound, checked_settings
from .state import COMBINATIONS, DocumentSettings, DocumentState

__all__ = ["COMBINATIONS", "MODELS", "OPERATION", "DocumentState", "document_update"]

OPERATION = Operation("document_update", kernel=False, processor="vector code",
                      without="all words of a document move one row, one after the other; programs side by side would wait for it, or miss its moves")
MODELS = ("dm", "dbow")


def document_update(state: DocumentState, *, model: str = "dm", combine: str = "mean", train_words: bool = False, frozen: bool = False,
                    objective: str = "negative_sampling", window: int = 5, negatives: int = 5, learning_rate: float | tuple[float, float] = 0.025,
                    share_error: bool = False, loss_every: int = 16, seed: int = 0, epoch: int = 0, pieces: tuple[int, int] | None = None,
                    threads: int = 1, deterministic: bool = True, backend: str | None = None) -> tuple[float, int]:
    """Go over the text once and update ``state.inputs`` and ``state.outputs``; returns a sum of losses and the number of pairs in it.

        o += lr (y − σ(o·x)) x          c += lr Σ_o (y − σ(o·x)) o
        dbow: x is each context c by itself: the rows D of the document's tags, and with ``train_words`` the words around
        dm:   x is the mean of the words around and of D, or their sum, or all of them side by side (concat), for whose parts o has parts

    Windows, noise, draws and rates are those of `window_update`. With "concat" a window has its full width, ``window`` words to each side, and a
    row of its own stands for what lies beyond the text's edge.
    Parameters: state, a `DocumentState`; model, "dm" or "dbow"; combine, "mean", "sum" or "concat", and share_error (mean: each context gets its
    share of the error, which is the gradient, instead of the whole), for "dm" only; train_words, "dbow" only; frozen, only the rows of documents
    move, on one thread: this infers vectors of new documents; all others as in `window_update`. Raises TypeError, ValueError (settings),
    BackendUnavailable. [le2014distributed]

    >>> import numpy as np
    >>> rows = np.full((5, 3), 0.1)                 # two words, the edge, two documents
    >>> state = DocumentState([0, 1, 0, 1], [0, 2, 4], rows, np.zeros((2, 3)), [2, 2], tags=[0, 1], tag_offsets=[0, 1, 2])
    >>> loss, pairs = document_update(state, loss_every=1)
    """
    if not isinstance(state, DocumentState):
        raise TypeError(f"state={shown(state)} is {type(state).__name__}; expected a DocumentState")
    dm = check_choice("model", model, MODELS) == "dm"
    for name, value in (("train_words", train_words), ("frozen", frozen)):
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{name}={shown(value)} is {type(value).__name__}; expected True or False")
    check_choice("combine", combine, COMBINATIONS)
    how = checked_settings(state, architecture="cbow" if dm else "skip_gram", objective=objective, window=window, negatives=negatives,
                           learning_rate=learning_rate, share_error=share_error, loss_every=loss_every, seed=seed, epoch=epoch, pieces=pieces,
                           threads=threads, deterministic=deterministic)
    settings = DocumentSettings(**vars(how), neighbours=bool(dm or (train_words and not frozen)), combine=combine if dm else "",
                                frozen=bool(frozen))
    state.check_fits(settings)
    check_sound(state, settings.pieces, rows=len(state.counts) + 2, parts=state.parts)
    state.check_tags()
    return OPERATION.run("document_update", state.inputs, state.outputs, state, settings, backend=backend)
