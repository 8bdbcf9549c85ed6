"""Progress: what is tracked comes out unchanged, and the bar counts what it was told to count."""

from __future__ import annotations

import math

import tqdm.auto

from lessons_lib.core import track


def test_items_come_out_as_they_went_in():
    for options in ({"show": False}, {}, {"size": len, "total": 9, "unit": " letters"}):
        assert list(track(["ab", "cde"], **options)) == ["ab", "cde"]


def test_a_bar_of_sizes_grows_by_the_size_of_each_item_that_is_done(monkeypatch):
    seen, real = [], tqdm.auto.tqdm

    class Watched(real):
        def update(self, n=1):
            seen.append((self.n, n, self.total, self.unit))
            return super().update(n)

    monkeypatch.setattr(tqdm.auto, "tqdm", Watched)
    for item in track(["ab", "cde"], total=9, size=len, unit=" letters", done=4):
        assert item == ["ab", "cde"][len(seen)]
    assert seen == [(4, 2, 9, " letters"), (6, 3, 9, " letters")]


def test_the_loss_is_read_when_the_bar_is_drawn_and_only_then(monkeypatch):
    drawn, read, real = [], [], tqdm.auto.tqdm

    class Watched(real):
        def update(self, n=1):
            drawn.append(str(self))
            return super().update(n)

    def loss() -> float:
        read.append(None)
        return losses[len(drawn)]

    monkeypatch.setattr(tqdm.auto, "tqdm", Watched)
    losses = [math.nan, 0.25, 0.5, 0.5]
    for item in track(["ab", "cde", "f"], total=6, size=len, loss=loss):
        assert item
    assert ["loss 0.25" in line for line in drawn] == [False, True, False]
    assert "loss" not in drawn[0] and "loss 0.5" in drawn[2]
    read.clear()
    assert len(list(track(range(1000), size=lambda item: 1, total=1000, loss=loss, show=False))
               ) == 1000 and not read
