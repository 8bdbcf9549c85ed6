"""Order: every example once an epoch, the same for the same seed and step."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.contrastive.examples import (AugmentedColumn, Column, Order, in_parts,
                                             share_of_equals)


@pytest.mark.parametrize(("n", "batch_size"), [(2, 64), (9, 4), (10, 4), (12, 4), (65, 64),
                                               (64, 64), (7, 2), (3, 2)])
def test_E01_every_example_once_an_epoch_and_none_alone(n, batch_size):
    order = Order(n, batch_size=batch_size, seed=0)
    for epoch in range(2):
        batches = [order.batch(epoch * order.per_epoch + k) for k in range(order.per_epoch)]
        assert sorted(np.concatenate(batches).tolist()) == list(range(n))
        assert min(map(len, batches)) >= 2
        assert all(len(batch) == batch_size for batch in batches[:-1])


def test_order_depends_on_seed_and_step_alone():
    first, second = (Order(50, batch_size=8, seed=3) for _ in range(2))
    wanted = [first.batch(step) for step in range(20)]
    for step in (19, 3, 7, 0, 12):
        assert np.array_equal(second.batch(step), wanted[step])
    assert not np.array_equal(wanted[0], Order(50, batch_size=8, seed=4).batch(0))
    assert not np.array_equal(wanted[0], wanted[first.per_epoch])
    # nor on the examples
    places = np.stack([Order(1000, batch_size=1000, seed=seed).batch(0) for seed in range(20)])
    assert np.abs(np.corrcoef(np.vstack([np.arange(1000), places]))[0, 1:]).max() < 0.12


@pytest.mark.parametrize(("n", "chunk", "processes", "sizes"),
                         [(10, None, 1, [10]), (10, None, 3, [4, 4, 2]), (10, 4, 2, [4, 4, 2]),
                          (3, 8, 2, [3])])
def test_parts_cover_the_batch_in_order(n, chunk, processes, sizes):
    parts = in_parts(n, chunk=chunk, processes=processes)
    assert [len(range(n)[part]) for part in parts] == sizes
    assert np.concatenate([np.arange(n)[part] for part in parts]).tolist() == list(range(n))


def number(texts):
    return tuple(texts)


def test_a_column_keeps_its_texts_and_augmented_texts_depend_on_seed_step_and_example_alone():
    def draw(text, rng):
        return f"{text}{rng.integers(1 << 40)}"

    texts, rows = Column(["a", "b", "c"], number).read(np.array([2, 0]), step=5)
    assert texts == ("a", "b", "c") and rows.tolist() == [2, 0]
    column = AugmentedColumn(["a", "b", "c"], number, draw, seed=1)
    (whole, rows), (part, _) = column.read(np.array([2, 0, 1]), 4), column.read(np.array([0]), 4)
    assert rows.tolist() == [0, 1, 2] and whole[1] == part[0] and whole[0].startswith("c")
    assert column.read(np.array([0]), 5)[0] != part
    assert AugmentedColumn(["a"], number, draw, seed=2).read(np.array([0]), 4)[0] != part
    with pytest.raises(TypeError, match=r"int of texts\[1\]"):
        AugmentedColumn(["a", "b"], number, lambda text, rng: 5, seed=0).read(np.array([1]), 0)


def test_E04_the_share_of_equal_texts_is_that_of_the_batches():
    order = Order(8, batch_size=4, seed=0)
    first = order.batch(0)
    texts = [str(i) for i in range(8)]
    assert share_of_equals([texts], order) == 0.0
    texts[first[0]] = texts[first[1]] = texts[first[2]] = "equal"
    assert share_of_equals([texts], order) == 3 / 8
    assert share_of_equals([[str(i) for i in range(8)], texts], order) == 3 / 8
    other = [str(i) for i in range(8)]
    other[first[0]] = other[order.batch(1)[0]] = "apart"
    assert share_of_equals([other], order) == 0.0
