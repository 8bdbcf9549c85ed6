"""The entry about film reviews: each order is the one that its name says, and the order of the models holds at the smallest scale."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.reproduce import entries, run
from lessons_lib.reproduce.doc2vec import MODELS, ORDERS, TOGETHER, _order


def test_every_order_reads_each_review_once_and_sorts_what_it_says():
    labels = np.array([1, 0, 1, 0, 0, 1, 0, 1])                   # four of training, four of the test
    for name in ORDERS:
        assert sorted(_order(name, labels)) == list(range(8))
    assert labels[_order("each half sorted by grade", labels)].tolist() == [0, 0, 1, 1, 0, 0, 1, 1]
    assert set(_order("each half sorted by grade", labels)[:4]) == {0, 1, 2, 3}
    assert labels[_order("both halves sorted as one", labels)].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_all_that_is_measured_and_the_paper_find_room_in_the_picture(tmp_path):
    entry = entries()["le2014_imdb"]
    names = [*MODELS, *(" + ".join(pair) for pair in TOGETHER), *(f"PV-DBOW, tree, {name}" for name in ORDERS)]
    figure = entry.draw(entry, {name: {100: 10.0 + i} for i, name in enumerate(names)})
    shown = {label.get_text() for label in figure.axes[0].get_yticklabels()}
    assert len(shown) == len(names) + 1


@pytest.mark.slow
@pytest.mark.data
def test_the_order_of_the_models_holds_at_the_smallest_scale(tmp_path, lessons_data):
    outcome = run(entries()["le2014_imdb"], scale="smoke", folder=tmp_path)
    assert outcome.verdicts["PV-DBOW has a lower error than PV-DM with the mean"], outcome.measured
    assert all(0 < y < 60 for points in outcome.measured.values() for y in points.values())
