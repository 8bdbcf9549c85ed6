"""The windows that training with documents will take, told before they are taken: which rows guess,
and which words are to be told apart.

Every draw of `kernels.document_update` is a function of seed, epoch and place, so its windows can
be listed as often as one likes. Taught in lesson ``07_doc2vec``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..core import check_choice, check_int, shown
from ..words.replay import OBJECTIVES, Window

if TYPE_CHECKING:
    from ..kernels import DocumentState

__all__ = ["document_windows"]


def document_windows(state: DocumentState, *, model: str = "dm", combine: str = "mean",
                     train_words: bool = False, objective: str = "negative_sampling",
                     window: int = 5, negatives: int = 5, seed: int = 0,
                     epoch: int = 0) -> Iterator[Window]:
    """Every window of one epoch of `kernels.document_update`, in order; nothing is trained.

    Parameters
    ----------
    state : kernels.DocumentState
    model, combine, train_words, objective, window, negatives, seed, epoch
        As in `kernels.document_update`.

    Yields
    ------
    words.Window
        Its contexts are rows of ``state.inputs``: words, the text's edge, and last the document's
        tags, whose rows follow those of the words and the edge.

    Raises
    ------
    TypeError, ValueError
        When the first window is asked for.

    Examples
    --------
    >>> from lessons_lib.kernels import DocumentState
    >>> rows = np.zeros((4, 1)), np.zeros((2, 1))
    >>> state = DocumentState([0, 1], [0, 2], *rows, [1, 1], sample=0, tags=[0], tag_offsets=[0, 1])
    >>> [(w.contexts.tolist(), w.outputs[0].item()) for w in document_windows(state)]
    [([1, 3], 0), ([0, 3], 1)]
    """
    from ..kernels import DocumentState
    from ..kernels.document_update import COMBINATIONS
    from ..kernels.window_update.reference import outputs_of, windows_of
    from ..kernels.window_update.state import Settings

    if not isinstance(state, DocumentState):
        raise TypeError(f"state={shown(state)} is {type(state).__name__}; expected a "
                        "kernels.DocumentState")
    dm = check_choice("model", model, ("dm", "dbow")) == "dm"
    check_choice("combine", combine, COMBINATIONS)
    tree = check_choice("objective", objective, OBJECTIVES) == "hierarchical_softmax"
    negatives = 0 if tree else check_int("negatives", negatives, high=255)
    settings = Settings(
        dm, tree, check_int("window", window, high=1000), negatives, (1.0, 1.0), False, 0,
        check_int("seed", seed, low=0, high=2**63 - 1),
        check_int("epoch", epoch, low=0, high=2**31 - 1), (0, state.n_pieces), 1, True,
        neighbours=bool(dm or train_words), combine=combine if dm else "", frozen=False)
    edge = len(state.counts)
    for part, key in enumerate(state.keys(settings).tolist()):
        tags = (state.tags_of(part) + edge + 1).tolist()
        for centre, contexts, numbers, _ in windows_of(state, settings, part, key, tags):
            outputs, labels = outputs_of(state, settings, centre, numbers)
            yield Window(np.array(contexts, dtype=np.int32), outputs.astype(np.int32),
                         labels.astype(np.float32))
