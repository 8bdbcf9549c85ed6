"""How far apart two colours look, also to people who see fewer of them, by formulas alone.

Simulation: [Machado, Oliveira and Fernandes 2009, *A physiologically-based model for simulation
of color vision deficiency*, Table 1, severity 1]. Difference: CIEDE2000 as in [Sharma, Wu and
Dalal 2005, *The CIEDE2000 color-difference formula: implementation notes*], checked on their
table.
"""

from __future__ import annotations

import numpy as np

DEFICIENCIES = {
    "none": np.eye(3),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                            [-0.003882, -0.048116, 1.051998]]),
    "deuteranopia": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                              [-0.011820, 0.042940, 0.968881]]),
    "tritanopia": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                            [0.004733, 0.691367, 0.303900]]),
}
TO_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
                   [0.0193339, 0.1191920, 0.9503041]])
WHITE = TO_XYZ.sum(axis=1)


def linear(colour: str) -> np.ndarray:
    """``#rrggbb`` as amounts of light, (3,) between 0 and 1."""
    values = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def seen(colour: str, deficiency: str) -> np.ndarray:
    """CIELAB (3,) of a colour as somebody with this deficiency sees it."""
    light = np.clip(DEFICIENCIES[deficiency] @ linear(colour), 0, 1)
    ratio = TO_XYZ @ light / WHITE
    small = ratio / (3 * (6 / 29) ** 2) + 4 / 29
    root = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), small)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def _mean_hue(first: float, second: float) -> float:
    """Of two angles in degrees, the short way round."""
    mean = (first + second) / 2
    if abs(first - second) <= 180:
        return mean
    return mean + 180 if first + second < 360 else mean - 180


def difference(first: np.ndarray, second: np.ndarray) -> float:
    """CIEDE2000 of two colours in CIELAB: 1 can be noticed side by side, 10 is seen at a glance."""
    (l1, a1, b1), (l2, a2, b2) = first, second
    chroma = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    stretch = 1.5 - 0.5 * np.sqrt(chroma**7 / (chroma**7 + 25**7))
    c1, c2 = np.hypot(stretch * a1, b1), np.hypot(stretch * a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, stretch * a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    lightness, colour = l2 - l1, c2 - c1
    hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn) / 2)
    mean_l, mean_c = (l1 + l2) / 2, (c1 + c2) / 2
    mean_h = _mean_hue(h1, h2) if c1 * c2 else h1 + h2
    weight = (1 - 0.17 * np.cos(np.radians(mean_h - 30)) + 0.24 * np.cos(np.radians(2 * mean_h))
              + 0.32 * np.cos(np.radians(3 * mean_h + 6))
              - 0.20 * np.cos(np.radians(4 * mean_h - 63)))
    s_l = 1 + 0.015 * (mean_l - 50) ** 2 / np.sqrt(20 + (mean_l - 50) ** 2)
    s_c, s_h = 1 + 0.045 * mean_c, 1 + 0.015 * mean_c * weight
    bend = np.sin(np.radians(60 * np.exp(-(((mean_h - 275) / 25) ** 2))))
    cross = -2 * np.sqrt(mean_c**7 / (mean_c**7 + 25**7)) * bend * (colour / s_c) * (hue / s_h)
    return float(np.sqrt((lightness / s_l) ** 2 + (colour / s_c) ** 2 + (hue / s_h) ** 2 + cross))
