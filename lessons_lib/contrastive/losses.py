"""Five losses that teach an encoder which texts are close: three of Siamese networks, one of order,
one of contrast.

Each takes vectors, one row per text, and gives one number that can be differentiated; none knows
texts or models. InfoNCE and CoSENT are calculated by the kernels of these names. Taught in
``10_sbert``, ``13_cosent`` and ``14_simcse``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from ..core import check_choice, check_float, shown
from ..kernels import cosent, info_nce

__all__ = ["DISTANCES", "FEATURES", "cosent_loss", "cosine_regression", "in_batch_loss",
           "pair_features", "softmax_loss", "triplet_loss"]

FEATURES = {"u": lambda u, v: u, "v": lambda u, v: v, "|u-v|": lambda u, v: (u - v).abs(),
            "u*v": lambda u, v: u * v}
DISTANCES = ("euclid", "cosine")
LEAST = 3e-39                          # of a temperature: its inverse is finite in float32
CLOSEST = 1e-12                        # of a norm: below it a vector has no direction


# -------------------------------------------------------------------- Siamese and triplet networks


def pair_features(u: Tensor, v: Tensor, features: Sequence[str] = ("u", "v", "|u-v|")) -> Tensor:
    """What a classifier sees of a pair: the chosen features side by side.

    Parameters
    ----------
    u, v : (n, dim) tensor
    features : sequence of {"u", "v", "|u-v|", "u*v"}

    Returns
    -------
    (n, len(features) * dim) tensor

    Raises
    ------
    TypeError, ValueError
    """
    _same_rows(u=u, v=v)
    return torch.cat([FEATURES[name](u, v) for name in checked_features(features)], dim=1)


def checked_features(features: Sequence[str]) -> tuple[str, ...]:
    """Names of `FEATURES`, each once, as a tuple. Raises TypeError, ValueError."""
    if isinstance(features, str) or not isinstance(features, Sequence):
        raise TypeError(f"features={shown(features)} is {type(features).__name__}; expected a "
                        "list, such as ['u', 'v', '|u-v|']")
    names = tuple(check_choice(f"features[{i}]", name, FEATURES) for i, name in enumerate(features))
    if not names or len(set(names)) < len(names):
        raise ValueError(f"features={shown(features)}; expected >= 1 name, none of them twice, of "
                         f"{', '.join(FEATURES)}")
    return names


def softmax_loss(u: Tensor, v: Tensor, label: Any, weight: Tensor, bias: Tensor | None = None, *,
                 features: Sequence[str] = ("u", "v", "|u-v|")) -> Tensor:
    """Mean cross-entropy of the class of a pair given its features: SBERT on inferences.

    Parameters
    ----------
    u, v : (n, dim) tensor
    label : (n,) int
        y, from 0.
    weight : (classes, len(features) * dim) tensor
        W.
    bias : (classes,) tensor, optional
        b; None: 0.
    features : sequence of str
        Names of `FEATURES` in the order of W's columns.

    Returns
    -------
    () tensor

    Raises
    ------
    TypeError, ValueError
        Lengths, a label that is no class.

    Notes
    -----
    L = 1/n Σ_i ( log Σ_k exp(o_ik) - o_i,y_i ),    o_i = W [u_i; v_i; |u_i - v_i|] + b

    W and b are thrown away after training, when cosines are asked for: what was trained is not what
    is used. [reimers2019sentence]
    """
    seen = pair_features(u, v, features)
    label = _labels(label, u)
    if weight.ndim != 2 or weight.shape[1] != seen.shape[1]:
        raise ValueError(f"weight has shape {tuple(weight.shape)}; expected (classes, "
                         f"{seen.shape[1]}) for {len(features)} features of "
                         f"{u.shape[1]} numbers")
    _check_classes(label, len(weight))
    return F.cross_entropy(_exact(F.linear(seen, weight, bias)), label.long())


def cosine_regression(u: Tensor, v: Tensor, target: Any) -> Tensor:
    """Mean squared error of cosines as estimates of grades.

    Parameters
    ----------
    u, v : (n, dim) tensor
    target : (n,) float in [0, 1]
        y, grades divided by the highest.

    Returns
    -------
    () tensor

    Raises
    ------
    ValueError
        Lengths, NaN, a range that is not 0 to 1.

    Notes
    -----
    L = 1/n Σ_i (cos(u_i, v_i) - y_i)²

    Cosines reach down to -1; nothing is rescaled for that, as only their order counts afterwards.
    [reimers2019sentence]
    """
    _same_rows(u=u, v=v)
    target = _labels(target, u, name="target").to(u.dtype)
    if target.device.type == "cpu" and len(target):
        low, high = float(target.min()), float(target.max())
        if not 0 <= low <= high <= 1:
            raise ValueError(f"target lies between {low:g} and {high:g}; expected 0 to 1. Divide "
                             "grades by the highest")
    return F.mse_loss((_unit(u) * _unit(v)).sum(dim=1), target)


def triplet_loss(a: Tensor, p: Tensor, n: Tensor, *, margin: float = 1.0,
                 distance: str = "euclid") -> Tensor:
    """How far anchors are from being nearer to their positives than to their negatives.

    Parameters
    ----------
    a, p, n : (n, dim) tensor
        Anchors, positives, negatives.
    margin : float >= 0, default 1.0
        ε, by which they should be nearer.
    distance : {"euclid", "cosine"}
        d, the norm of the difference, or 1 - cos.

    Returns
    -------
    () tensor

    Raises
    ------
    ValueError

    Notes
    -----
    L = 1/n Σ_i max( d(a_i, p_i) - d(a_i, n_i) + ε, 0 )

    1 - cos ends at 2, so near texts cannot reach a margin of 1 and everything may collapse to a
    point. A loss that stays at ε says that it has. [reimers2019sentence]
    """
    _same_rows(a=a, p=p, n=n)
    check_float("margin", margin, low=0.0)
    check_choice("distance", distance, DISTANCES)
    apart = _euclid if distance == "euclid" else _one_minus_cosine
    return F.relu(apart(a, p) - apart(a, n) + margin).mean()


def _euclid(x: Tensor, y: Tensor) -> Tensor:
    """Lengths of differences; where there is none the gradient is 0, and not NaN."""
    squared = (x - y).square().sum(dim=1)
    zero = squared == 0
    return squared.masked_fill(zero, 1.0).sqrt().masked_fill(zero, 0.0)


def _one_minus_cosine(x: Tensor, y: Tensor) -> Tensor:
    return 1 - (_unit(x) * _unit(y)).sum(dim=1)


# ------------------------------------------------------------------------------ order and contrast


def cosent_loss(u: Tensor, v: Tensor, label: Any, *, scale: float = 20.0) -> Tensor:
    """CoSENT: pairs with a higher label shall have the higher cosine.

    Parameters
    ----------
    u, v : (n, dim) tensor
    label : (n,) float
        y, of which only the order counts.
    scale : float > 0, default 20.0
        λ.

    Returns
    -------
    () tensor
        0, with gradient 0, where all labels are equal.

    Raises
    ------
    ValueError
        Lengths, NaN, scale.

    Notes
    -----
    L = log( 1 + Σ_{y_i > y_j} exp(λ (cos(u_j, v_j) - cos(u_i, v_i))) )    [su2022cosent]
    """
    _same_rows(u=u, v=v)
    return cosent((_unit(u) * _unit(v)).sum(dim=1), _labels(label, u), scale=scale)


def in_batch_loss(u: Tensor, v: Tensor, hard: Tensor | None = None, *, temperature: float = 0.05,
                  hard_weight: float = 0.0, positive: Any = None,
                  groups: tuple[Any, Any] | None = None) -> Tensor:
    """SimCSE: find the own partner among those of the whole batch, by cosine.

    Parameters
    ----------
    u : (n, dim) tensor
    v : (m, dim) tensor
        Row i is the partner of u_i.
    hard : (m, dim) tensor, optional
        w, texts that contradict, row i that of u_i; None: without the second sum.
    temperature : float > 0, default 0.05
        τ.
    hard_weight : float, default 0.0
        log α, of the own w alone; -inf drops it.
    positive : (n,) int, optional
        Rows of v that belong to u; None: 0 to n - 1. After a gather: those of this process.
    groups : pair of (n,) and (m,) or with hard (2m,) int, optional
        Numbers of the texts behind u and behind all keys: a key with the number of u_i is left out
        unless it is its partner, as equal texts are no negatives.

    Returns
    -------
    () tensor

    Raises
    ------
    ValueError
        Lengths, fewer than 2 pairs, temperature, hard_weight without hard.

    Notes
    -----
    L = 1/n Σ_i -log( exp(cos(u_i, v_i)/τ) / Z_i ),    α = exp(hard_weight),
    Z_i = Σ_j ( exp(cos(u_i, v_j)/τ) + α^[i=j] exp(cos(u_i, w_j)/τ) )

    [gao2021simcse; oord2018representation]
    """
    if hard is not None:
        _same_rows(v=v, hard=hard)
    elif hard_weight:
        raise ValueError(f"hard_weight={hard_weight!r} without hard; expected the vectors it "
                         "belongs to. Pass hard=")
    keys = v if hard is None else torch.cat([v, hard])
    if positive is None and hard is None and len(u) != len(v):
        raise ValueError(f"u has {len(u)} rows and v has {len(v)}; expected one partner per row. "
                         "Name them: positive=")
    rows = torch.arange(len(u)) if positive is None else positive
    rows = torch.as_tensor(rows, device=u.device)
    of_hard = None if hard is None else rows + len(v)
    equal = None if groups is None else _equal_keys(groups, rows, len(keys))
    if equal is None or not bool(equal.any()):
        return info_nce(_unit(u), _unit(keys), temperature=temperature, positive=rows,
                        hard_negative=of_hard, hard_weight=hard_weight)
    check_float("temperature", temperature, low=LEAST, open_low=True)
    logits = _unit(u) @ _unit(keys).T / temperature
    if of_hard is not None and hard_weight:
        own = torch.zeros_like(logits).scatter_(1, of_hard[:, None], 1.0).bool()
        logits = torch.where(own, logits + hard_weight, logits)
    return F.cross_entropy(logits.masked_fill(equal, -torch.inf), rows)


def _equal_keys(groups: tuple[Any, Any], positive: Tensor, m: int) -> Tensor:
    """Which keys are the same text as a query without being its partner, (n, m) bool."""
    of_query, of_key = (torch.as_tensor(g, device=positive.device) for g in groups)
    if len(of_query) != len(positive) or len(of_key) != m:
        raise ValueError(f"groups has {len(of_query)} numbers for {len(positive)} queries and "
                         f"{len(of_key)} for {m} keys; expected one per row")
    return (of_query[:, None] == of_key[None, :]).scatter_(1, positive[:, None], False)


# ------------------------------------------------------------------------------ what goes in


def _exact(x: Tensor) -> Tensor:
    """Half types as float32, others as they are."""
    return x if x.dtype == torch.float64 else x.float()


def _unit(x: Tensor) -> Tensor:
    """Rows of norm 1; zeros stay zeros."""
    return F.normalize(_exact(x), dim=1, eps=CLOSEST)


def _same_rows(**tables: Tensor) -> None:
    """Raise ValueError unless all are tables of one shape."""
    shapes = {name: tuple(x.shape) for name, x in tables.items()}
    if len(set(shapes.values())) > 1 or any(len(shape) != 2 for shape in shapes.values()):
        said = " and ".join(f"{name} has shape {shape}" for name, shape in shapes.items())
        raise ValueError(f"{said}; expected one shape (n, dim) for all")


def _labels(label: Any, u: Tensor, *, name: str = "label") -> Tensor:
    """Labels as a tensor of one number per row, on the device of the vectors.

    Raises ValueError (length, NaN: index).
    """
    label = torch.as_tensor(label)
    if tuple(label.shape) != (len(u),):
        raise ValueError(f"{name} has shape {tuple(label.shape)}; expected ({len(u)},), one per "
                         "pair")
    if label.is_floating_point() and label.device.type == "cpu":
        bad = torch.nonzero(~label.isfinite())
        if len(bad):
            raise ValueError(f"{name}[{int(bad[0])}] is {label[bad[0]].item()}; expected finite "
                             "numbers")
    return label.to(u.device)


def _check_classes(label: Tensor, classes: int) -> None:
    if label.is_floating_point() or label.dtype == torch.bool:
        raise TypeError(f"label has dtype {label.dtype}; expected whole numbers, the classes 0 to "
                        f"{classes - 1}")
    if label.device.type == "cpu":
        bad = torch.nonzero((label < 0) | (label >= classes))
        if len(bad):
            raise ValueError(f"label[{int(bad[0])}]={int(label[bad[0]])} is no class; expected 0 "
                             f"to {classes - 1}")
