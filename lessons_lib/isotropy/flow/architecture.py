"""How layers are stacked: NICE, RealNVP and Glow are one plan with different parts.

A block standardises, reorders or mixes, and couples; ``depth`` blocks make a level, after which
half of the numbers leave (`Split`). On vectors Glow's 1x1 convolutions are plain linear layers.
Taught in lesson ``11_bert_flow``. [dinh2015nice; dinh2017density; kingma2018glow; li2020sentence]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core import check_choice, check_float, check_int, check_memory
from .bijection import Bijection, Composition, Split
from .coupling import AdditiveCoupling, AffineCoupling, CouplingNet
from .layers import ActNorm, InvertibleLinear, Permutation

__all__ = ["KINDS", "Architecture", "glow", "nice", "realnvp"]

MIXINGS: dict[str, Callable[..., Bijection]] = {
    "reversal": lambda dim, rng: Permutation.reversal(dim), "random": Permutation.random,
    "linear": InvertibleLinear.random}
COUPLINGS = ("additive", "affine", "affine-glow")
MOST_BLOCKS = 10_000                             # of a level: more would take minutes to make
BYTES_PER_BLOCK = 1000                           # and more, of the modules themselves


@dataclass(frozen=True)
class Architecture:
    """A plan of layers.

    Parameters
    ----------
    levels : int >= 1, default 2
        After each but the last, half of the columns leave.
    depth : int in [1, 10,000], default 3
        Blocks of a level.
    width : int >= 1, default 32
        Of the two inner layers of the coupling nets.
    mixing : {"random", "reversal", "linear"}
        An order, fixed, or a map learned in LU form.
    coupling : {"additive", "affine", "affine-glow"}
        "affine" is RealNVP's form.
    standardise : {"blocks", "end"}
        An `ActNorm` at the beginning of each block, or one after all, NICE's diagonal.
    rate : float > 0, default 1.0
        Of every `ActNorm` and of the nets.

    Raises
    ------
    TypeError, ValueError
    """

    levels: int = 2
    depth: int = 3
    width: int = 32
    mixing: str = "random"
    coupling: str = "additive"
    standardise: str = "blocks"
    rate: float = 1.0

    def __post_init__(self) -> None:
        for name in ("levels", "width"):
            check_int(name, getattr(self, name))
        check_int("depth", self.depth, high=MOST_BLOCKS)
        check_choice("mixing", self.mixing, MIXINGS)
        check_choice("coupling", self.coupling, COUPLINGS)
        check_choice("standardise", self.standardise, ("blocks", "end"))
        check_float("rate", self.rate, low=0.0, open_low=True)

    def build(self, dim: int, *, rng: np.random.Generator) -> Composition:
        """The layers for vectors of ``dim`` numbers, as they are before any data.

        Parameters: dim; in 1 there is nothing to couple, and the flow is affine; rng, draws orders
        and weights. Raises ValueError when there are more levels than halves.
        """
        most = most_levels(check_int("dim", dim))
        if self.levels > most:
            raise ValueError(f"levels={self.levels} would halve {dim} numbers too often: a level "
                             f"needs >= 2 to couple; expected levels <= {most}")
        of_net = (dim // 2 + self.width + dim - dim // 2) * self.width
        check_memory(f"{self.depth:,} blocks with nets {self.width:,} wide", self.depth
                     * (4 * of_net * (dim > 1) + BYTES_PER_BLOCK),
                     f"Lower depth={self.depth} or width={self.width}")
        layers = self._level(dim, self.levels, rng)
        if self.standardise == "end":
            layers.append(ActNorm(dim, rate=self.rate))
        return Composition(*layers)

    def _level(self, dim: int, left: int, rng: np.random.Generator) -> list[Bijection]:
        layers = [layer for _ in range(self.depth) for layer in self._block(dim, rng)]
        if left > 1:
            kept = dim - dim // 2
            layers.append(Split(dim, Composition(*self._level(kept, left - 1, rng))))
        return layers

    def _block(self, dim: int, rng: np.random.Generator) -> list[Bijection]:
        first = [ActNorm(dim, rate=self.rate)] if self.standardise == "blocks" else []
        layers = [*first, MIXINGS[self.mixing](dim, rng=rng)]
        return [*layers, self._coupling(dim, rng)] if dim > 1 else layers

    def _coupling(self, dim: int, rng: np.random.Generator) -> Bijection:
        moved = dim - dim // 2
        net = CouplingNet(dim // 2, moved if self.coupling == "additive" else 2 * moved,
                          width=self.width, rate=self.rate, rng=rng)
        if self.coupling == "additive":
            return AdditiveCoupling(dim, net)
        return AffineCoupling(dim, net,
                              form="glow" if self.coupling == "affine-glow" else "realnvp")


def most_levels(dim: int) -> int:
    """How many levels ``dim`` columns allow: the last one, or the only one, has 2 to couple."""
    return max(1, (dim - 1).bit_length())


KINDS: dict[str, dict[str, Any]] = {
    "nice": {"levels": 1, "mixing": "reversal", "coupling": "additive", "standardise": "end"},
    "realnvp": {"levels": 2, "mixing": "reversal", "coupling": "affine", "standardise": "blocks"},
    "glow": {"levels": 2, "mixing": "random", "coupling": "additive", "standardise": "blocks"}}


def nice(dim: int, *, depth: int = 4, width: int = 32, rng: np.random.Generator) -> Composition:
    """NICE: additive couplings of swapped halves, and one stretch of each dimension at the end. Its
    log-determinant is the same for all rows.

    Parameters as in `Architecture`. [dinh2015nice]
    """
    return Architecture(depth=depth, width=width, **KINDS["nice"]).build(dim, rng=rng)


def realnvp(dim: int, *, levels: int = 2, depth: int = 3, width: int = 32,
            rng: np.random.Generator) -> Composition:
    """RealNVP: affine couplings of swapped halves, half of the numbers leaving after each level;
    `ActNorm` stands for its batch normalisation.

    Parameters as in `Architecture`. [dinh2017density]
    """
    return Architecture(**KINDS["realnvp"]
                        | {"levels": levels, "depth": depth, "width": width}).build(dim, rng=rng)


def glow(dim: int, *, levels: int = 2, depth: int = 3, width: int = 32,
         rng: np.random.Generator) -> Composition:
    """Glow as it was published: ActNorm, a learned mixing of all dimensions, and an affine coupling
    in each block.

    BERT-flow's form of it, with a fixed order and an additive coupling, is what `Flow` with
    kind="glow" has by default. Parameters as in `Architecture`. [kingma2018glow]
    """
    return Architecture(levels, depth, width, mixing="linear", coupling="affine-glow").build(
        dim, rng=rng)
