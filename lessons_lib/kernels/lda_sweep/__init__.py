"""One sweep of collapsed Gibbs sampling for latent Dirichlet allocation: every token leaves its
topic and draws a new one, given all others.

The draw looks at two counts, how often the topic occurs in the document and how often it stands for
the word; nothing else of the model is left once its distributions are integrated out. Taught in
``03_topic_models``, its vector code and its kernel in ``15_gpu_kernels``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ...core import check_float, check_int, check_threads, shown
from ..dispatch import Operation
from .state import LARGEST_PRIOR, SMALLEST_PRIOR, LdaState, Settings, padded

__all__ = ["OPERATION", "LdaState", "lda_sweep"]

OPERATION = Operation("lda_sweep", processor="vector code")
WIDEST = 1024  # topics that a program keeps in registers
BATCHES = 16  # of documents per sweep, where several are drawn at once


def lda_sweep(state: LdaState, *, alpha: Any = 0.1, beta: float = 0.01, seed: int = 0,
              sweep: int = 0, at_once: int | None = None, threads: int = 1,
              backend: str | None = None) -> int:
    """Draw the topic of every token once more, in place.

    Parameters
    ----------
    state : LdaState
    alpha : float in [1e-12, 1e6] or (K,) of them, default 0.1
        One number, or one for each topic.
    beta : float in [1e-12, 1e6], default 0.01
        Not used where the state is frozen.
    seed : int in [0, 2^63), default 0
    sweep : int in [0, 2^31), default 0
        Both, with the documents' streams, decide every draw: count ``sweep`` up.
    at_once : int >= 1, default None
        Documents that are drawn side by side: 1 is the exact chain, more let the documents of a
        batch see the words' counts as they were when the batch began. None: 1 on one thread of the
        processor, else a sixteenth of the documents.
    threads : int >= 1, default 1
        Of the processor, used where documents are drawn side by side; without influence on the
        result.
    backend : "triton", "cpu" or "reference", default None
        All draw the same topics but for rounding: a draw within about 10^-6 of a border may fall on
        its other side.

    Returns
    -------
    int
        How many tokens have another topic than before.

    Raises
    ------
    TypeError, ValueError
        Settings out of range.
    BackendUnavailable
        The backend that was named cannot run.

    Notes
    -----
    ::

        p(z = k | all others) ∝ (n_dk + α_k) (n_kw + β) / (n_k + V β)

    n_dk, n_kw, n_k: tokens of topic k in the document, of the word, in all, without the token
    itself. [griffiths2004finding]

    Examples
    --------
    >>> state = LdaState([0, 0, 1, 1], [0, 2, 4], [0, 1, 0, 1], n_topics=2, n_words=2)
    >>> moved = lda_sweep(state)
    >>> bool(state.word_topic.sum() == 4)
    True
    """
    if not isinstance(state, LdaState):
        raise TypeError(f"state={shown(state)} is {type(state).__name__}; expected an LdaState")
    threads = check_threads(threads)
    if at_once is None:
        side_by_side = threads > 1 or state.words.is_cuda
        at_once = max(2, -(-state.n_documents // BATCHES)) if side_by_side else 1
    check_int("at_once", at_once)
    if not state.frozen:
        check_float("beta", beta, low=SMALLEST_PRIOR, high=LARGEST_PRIOR)
    how = Settings(_alpha(alpha, state), 0.0 if state.frozen else float(beta),
                   check_int("seed", seed, low=0, high=2**63 - 1),
                   check_int("sweep", sweep, low=0, high=2**31 - 1), at_once, threads)
    return OPERATION.run("lda_sweep", state.words, state, how, backend=backend,
                         limit=_limit(state, how))


def _alpha(alpha: Any, state: LdaState) -> torch.Tensor:
    """The prior as float32, 0 in columns without a topic."""
    expected = (f"a number in [{SMALLEST_PRIOR:g}, {LARGEST_PRIOR:g}], or {state.n_topics} of "
                "them, one for each topic")
    try:
        values = np.asarray(alpha.detach().cpu() if isinstance(alpha, torch.Tensor) else alpha,
                            dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"alpha={shown(alpha)} is {type(alpha).__name__}; expected {expected}") from error
    if values.shape not in ((), (state.n_topics,)):
        raise ValueError(f"alpha has shape {values.shape}; expected {expected}")
    if not ((values >= SMALLEST_PRIOR) & (values <= LARGEST_PRIOR)).all():  # nor is NaN
        raise ValueError(f"alpha={shown(alpha)} is out of range; expected {expected}")
    each = np.broadcast_to(values, (state.n_topics,)).astype(np.float32)
    return padded(torch.from_numpy(each).to(state.words.device))


def _limit(state: LdaState, how: Settings) -> str | None:
    """Why the kernel cannot draw this sweep."""
    if state.n_topics > WIDEST:
        return f"{state.n_topics} topics do not fit into registers (at most {WIDEST} do)"
    if how.at_once == 1 and not state.frozen:
        return ("at_once=1 draws one document after the other; the kernel draws many side by side "
                "(at_once=None)")
    return None
