"""Settings that were found to work at each scale, and those that the papers print, for each
backbone.

"smoke" takes seconds and proves nothing; "laptop" is for LessonBERT or a bag on two cores;
"paper" holds the published numbers for BERT and RoBERTa, base and large, and wants a GPU. `recipe`
chooses by the encoder. Used by ``lessons train`` and the lessons.
"""

from __future__ import annotations

from typing import Any

from ..contextual import ContextualEncoder
from ..core import check_choice

__all__ = ["BAG", "METHODS", "PAPER", "RECIPES", "SCALES", "recipe"]

METHODS = ("simcse", "supervised simcse", "sbert", "sbert cosine", "sbert triplet", "cosent",
           "distil")
SCALES = ("smoke", "laptop", "paper")

_SMOKE = {"steps": 4, "batch_size": 8, "learning_rate": 1e-4, "evaluate_every": 2}

# Published per backbone: SimCSE in its table of hyper-parameters (no warm-up, 32 tokens while
# learning, dev every 250 steps); SBERT in section 3.1 (16 pairs, 2e-5, a tenth of warm-up, one
# epoch of NLI); CoSENT in its program (32 pairs, 2e-5, 5 epochs, [CLS], 64 tokens).
_SIMCSE = {"temperature": 0.05, "head": "mlp", "pooling": "cls", "dropout": 0.1, "warmup": 0.0,
           "max_length": 32, "evaluate_every": 250, "precision": "bfloat16"}
_UNSUPERVISED = _SIMCSE | {"epochs": 1.0}
_SUPERVISED = _SIMCSE | {"supervised": True, "hard_weight": 0.0, "epochs": 3.0, "batch_size": 512}
_SBERT = {"pooling": "last", "dropout": 0.1, "batch_size": 16, "learning_rate": 2e-5, "warmup": 0.1,
          "evaluate_every": 1000, "precision": "bfloat16"}
_COSENT = {"scale": 20.0, "pooling": "cls", "dropout": 0.1, "batch_size": 32, "learning_rate": 2e-5,
           "warmup": 0.0, "epochs": 5.0, "max_length": 64, "evaluate_every": 250,
           "precision": "bfloat16"}
_SAME = {"sbert": _SBERT | {"objective": "softmax", "epochs": 1.0},            # for all backbones
         "sbert cosine": _SBERT | {"objective": "cosine", "epochs": 4.0, "evaluate_every": 100},
         "sbert triplet": _SBERT | {"objective": "triplet", "margin": 1.0, "epochs": 1.0},
         "cosent": _COSENT,
         "distil": {"pooling": "last", "dropout": 0.1, "batch_size": 64, "learning_rate": 2e-5,
                    "warmup": 0.1, "epochs": 20.0, "precision": "bfloat16"}}
BACKBONES = ("bert-base", "bert-large", "roberta-base", "roberta-large")

PAPER: dict[tuple[str, str], dict[str, Any]] = {
    ("simcse", "bert-base"): _UNSUPERVISED | {"batch_size": 64, "learning_rate": 3e-5},
    ("simcse", "bert-large"): _UNSUPERVISED | {"batch_size": 64, "learning_rate": 1e-5},
    ("simcse", "roberta-base"): _UNSUPERVISED | {"batch_size": 512, "learning_rate": 1e-5},
    ("simcse", "roberta-large"): _UNSUPERVISED | {"batch_size": 512, "learning_rate": 3e-5},
    ("supervised simcse", "bert-base"): _SUPERVISED | {"learning_rate": 5e-5},
    ("supervised simcse", "bert-large"): _SUPERVISED | {"learning_rate": 1e-5},
    ("supervised simcse", "roberta-base"): _SUPERVISED | {"learning_rate": 5e-5},
    ("supervised simcse", "roberta-large"): _SUPERVISED | {"learning_rate": 1e-5},
    **{(method, backbone): dict(settings) for method, settings in _SAME.items()
       for backbone in BACKBONES}}

RECIPES: dict[tuple[str, str], dict[str, Any]] = {
    ("simcse", "smoke"): _SMOKE | {"head": "none"},
    ("supervised simcse", "smoke"): _SMOKE | {"supervised": True},
    ("sbert", "smoke"): _SMOKE | {"objective": "softmax"},
    ("sbert cosine", "smoke"): _SMOKE | {"objective": "cosine"},
    ("sbert triplet", "smoke"): _SMOKE | {"objective": "triplet"},
    ("cosent", "smoke"): _SMOKE, ("distil", "smoke"): _SMOKE,
    ("simcse", "laptop"): {"pooling": "last", "head": "none", "dropout": 0.1, "batch_size": 64,
                           "steps": 200, "learning_rate": 2e-4, "evaluate_every": 25},
    ("supervised simcse", "laptop"): {"supervised": True, "pooling": "last", "head": "none",
                                      "batch_size": 64, "steps": 200, "learning_rate": 1e-4,
                                      "evaluate_every": 50},
    ("sbert", "laptop"): {"objective": "softmax", "pooling": "last", "batch_size": 32, "steps": 400,
                          "learning_rate": 1e-4, "evaluate_every": 100},
    ("sbert cosine", "laptop"): {"objective": "cosine", "pooling": "last", "batch_size": 32,
                                 "epochs": 2.0, "learning_rate": 1e-4, "evaluate_every": 60},
    ("sbert triplet", "laptop"): {"objective": "triplet", "pooling": "last", "batch_size": 32,
                                  "steps": 400, "learning_rate": 1e-4, "evaluate_every": 100},
    ("cosent", "laptop"): {"pooling": "last", "batch_size": 32, "epochs": 2.0,
                           "learning_rate": 1e-4, "evaluate_every": 60},
    ("distil", "laptop"): {"pooling": "last", "dropout": None, "batch_size": 64, "epochs": 2.0,
                           "learning_rate": 3e-4},
    **{(method, "paper"): PAPER[method, "bert-base"] for method in METHODS}}

# A table learns at rates a thousand times those of a network.
_BAG = {"pooling": "last", "dropout": None, "warmup": 0.0, "learning_rate": 0.01, "epochs": 6.0}
BAG: dict[str, dict[str, Any]] = {
    "simcse": _BAG | {"dropout": 0.1, "head": "none", "batch_size": 64},
    "supervised simcse": _BAG | {"supervised": True, "head": "none", "batch_size": 128},
    "sbert": _BAG | {"objective": "softmax", "batch_size": 64},
    "sbert cosine": _BAG | {"objective": "cosine", "learning_rate": 0.005, "batch_size": 64},
    "sbert triplet": _BAG | {"objective": "triplet", "batch_size": 64},
    "cosent": _BAG | {"learning_rate": 0.005, "batch_size": 64},
    "distil": _BAG | {"batch_size": 256}}


def recipe(method: str, scale: str, encoder: ContextualEncoder | None = None) -> dict[str, Any]:
    """Keyword settings of a method's trainer.

    Parameters
    ----------
    method : one of ``METHODS``
    scale : {"smoke", "laptop", "paper"}
    encoder : ContextualEncoder, optional
        By its kind (a bag; BERT or RoBERTa) and depth (more than 12 blocks are large) the settings
        are chosen; None: those of a BERT, on paper of BERT-base.

    Returns
    -------
    dict

    Raises
    ------
    ValueError
    """
    check_choice("method", method, METHODS)
    if scale == "laptop" and encoder is not None and encoder.reader.kind == "bag":
        return dict(BAG[method])
    if check_choice("scale", scale, SCALES) != "paper" or encoder is None:
        return dict(RECIPES[method, scale])
    kind = "roberta" if "roberta" in encoder.reader.kind else "bert"
    return dict(PAPER[method, f"{kind}-{'large' if encoder.layers > 12 else 'base'}"])
