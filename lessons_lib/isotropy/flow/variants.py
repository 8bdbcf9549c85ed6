"""BERT-flow as its paper describes it, and as its program does it: they are not the same flow.

    ============  ===============================  ===============================================
    what          paper                            program (configuration l3_d3_w32)
    ============  ===============================  ===============================================
    levels        2                                3 (the file named l2_d3_w16 has width 32, too)
    order         random, fixed                    reversal
    coupling net  three layers with residual       three layers, ActNorm after the first two, the
                                                   last 0 at first
    ActNorm       as in Glow                       log-scale times 3 in use
    target data   1 epoch, learning rate 1e-3      the same, constant, AdamW 0.01, clip 1; train +
                                                   dev + test sentences, 32 pairs a step
    NLI data      0.15 epoch, learning rate 2e-5   not in the program
    ============  ===============================  ===============================================

Both: depth 3, width 32, additive coupling. What still differs from the program: it fits on vectors
with dropout on, decays every weight and not only those of the nets, and its Adam has no bias
correction, which makes the first steps about three times as long. Taught in lesson
``11_bert_flow``. [li2020sentence]
"""

from __future__ import annotations

from typing import Any

from ...core import check_choice
from .estimator import Flow

__all__ = ["BERT_FLOW_VARIANTS", "bert_flow"]

_BOTH = {"kind": "glow", "depth": 3, "width": 32, "coupling": "additive", "batch_size": 64,
         "weight_decay": 0.01, "clip": 1.0, "held_out": 0.0, "init_size": 64}
_DATA = {"target": {"epochs": 1.0, "learning_rate": 1e-3},
         "nli": {"epochs": 0.15, "learning_rate": 2e-5}}

BERT_FLOW_VARIANTS: dict[str, dict[str, Any]] = {
    "paper": _BOTH | {"levels": 2, "mixing": "random", "rate": 1.0},
    "program": _BOTH | {"levels": 3, "mixing": "reversal", "rate": 3.0}}


def bert_flow(variant: str = "program", *, data: str = "target", **changes: Any) -> Flow:
    """A `Flow` with the settings of BERT-flow.

    Parameters
    ----------
    variant : {"program", "paper"}
    data : {"target", "nli"}
        "target" are the sentences that are compared, without their labels.
    **changes
        Settings of `Flow` that are to be others, for example ``seed`` or ``init_size``: the program
        sets its ActNorms from one batch of 64 vectors, which for hundreds of dimensions is few.

    Returns
    -------
    Flow

    Raises
    ------
    ValueError
        An unknown variant.
    TypeError
        An unknown setting.
    """
    check_choice("variant", variant, BERT_FLOW_VARIANTS)
    check_choice("data", data, _DATA)
    return Flow(**BERT_FLOW_VARIANTS[variant] | _DATA[data] | changes)
