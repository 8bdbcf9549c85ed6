"""An encoder that anyone can check by hand, and a folder of texts."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest


class Letters:
    """A text as how often each letter stands in it; counts what it was asked to encode."""

    def __init__(self, name: str = "letters", power: float = 1.0) -> None:
        self.name, self.power, self.dim, self.asked = name, power, 26, []

    def encode(self, texts, *, batch_size: int = 256, progress: bool = False) -> np.ndarray:
        self.asked += list(texts)
        counts = [[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts]
        return np.array(counts, dtype=np.float32).reshape(-1, 26) ** self.power


@pytest.fixture
def letters() -> Letters:
    return Letters()


TEXTS = {"cats.txt": "The cat sat on the mat. It purred.\n", "dogs.md": "# Dogs\n\nA dog barks.",
         "deep/er/snow.txt": "Snow fell on the quiet hills."}


@pytest.fixture
def folder(tmp_path) -> Path:
    """Three texts, old enough to be told by their time."""
    home = tmp_path / "texts"
    for name, text in TEXTS.items():
        write(home / name, text, 1_000_000_000)
    return home


def write(file: Path, text: str | bytes, seconds: float) -> None:
    """A file with this content and time."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    os.utime(file, (seconds, seconds))
