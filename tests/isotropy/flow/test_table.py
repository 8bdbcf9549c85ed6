"""What is done to rows before the layers see them, and which of them are read when."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.core import DataWarning
from lessons_lib.isotropy.flow.table import Order, check_varies, fingerprint_of, unit_of


@pytest.mark.parametrize("scale, shift", [(1.0, 0.0), (1e-3, 1e3), (1e200, 0.0), (1e-200, 0.0),
                                          (1e-310, 0.0), (5.0, -1e8)])
def test_V04_rows_enter_centred_and_of_moderate_size_and_leave_as_they_were(scale, shift, cloud):
    x = cloud(200, 4) * scale + shift
    unit = unit_of(x)
    y = unit.enter(x)
    assert y.dtype == np.float32 and 0.4 < np.sqrt(np.square(y.astype(np.float64)).mean()) < 1.1
    assert unit.spread == pytest.approx(np.sqrt(np.square(y.astype(np.float64)).mean()), rel=1e-4)
    assert unit.log_det == pytest.approx(-4 * unit.exponents[0] * np.log(2))
    assert unit.leave(y) == pytest.approx(x, abs=1e-6 * scale + 1e-12 * abs(shift))


def test_columns_that_hardly_vary_enter_with_a_moderate_size_of_their_own(cloud):
    x = cloud(200, 6) * np.array([1, 1, 0, 1e-4, 1e-32, 1e-250]) + 3 * np.array([1, 1, 1, 0, 0, 0])
    unit = unit_of(x)
    y, spread = unit.enter(x), unit.enter(x).std(axis=0)
    assert (spread[[0, 1, 3, 4, 5]] > 0.1).all() and (spread < 1.1).all() and spread[2] == 0
    assert unit.exponents[0] == unit.exponents[1] > unit.exponents[3]
    assert np.allclose(unit.leave(y), x, rtol=1e-6, atol=1e-6 * np.ptp(x, axis=0))
    assert unit.log_det == pytest.approx(-unit.exponents.sum() * np.log(2))
    assert unit.spread == pytest.approx(np.sqrt(np.square(y.astype(np.float64)).mean()), rel=1e-6)


@pytest.mark.parametrize("make, rank", [(lambda x: np.column_stack([x, x[:, 0]]), 8),
                                        (lambda x: np.column_stack([x, np.full(len(x), 3.0)]), 8),
                                        (lambda x: x[:5], 4), (lambda x: x @ np.ones((8, 8)), 1)])
def test_V11_rows_that_do_not_fill_all_directions_give_a_warning_with_their_rank(make, rank, cloud):
    x = make(cloud(60, 8))
    with pytest.warns(
            DataWarning,
            match=rf"varies in {rank} of {x.shape[1]} directions only.*Whitening\(k={rank}\)"):
        assert check_varies(x, unit_of(x)) == rank
    x = cloud(60, 8) * 10.0 ** np.arange(-4, 4)                      # no warning
    assert check_varies(x, unit_of(x)) == 8


def test_an_epoch_reads_every_row_that_is_not_held_out_once_and_the_next_in_another_order():
    order = Order(103, held_out=0.1, batch_size=16, seed=3)
    epochs = [np.concatenate([order.batch(e * order.per_epoch + i) for i in range(order.per_epoch)])
              for e in (0, 1)]
    assert order.n_held_out == 10 and order.per_epoch == 6
    for rows in epochs:
        assert sorted([*rows, *order.held_out]) == list(range(103))
    assert not np.array_equal(*epochs)
    assert {len(order.batch(i)) for i in range(order.per_epoch)} == {15, 16}
    assert np.array_equal(order.first(20), epochs[0][:20])
    # two rows are always left to learn from
    assert len(Order(2, held_out=0.9, batch_size=8, seed=0).learned) == 2
    assert Order(100_000, held_out=0.5, batch_size=8, seed=0).n_held_out == Order.MOST_HELD_OUT


def test_a_step_reads_the_same_rows_whatever_was_read_before():
    whole, late = (Order(50, held_out=0.2, batch_size=8, seed=1) for _ in range(2))
    seen = [whole.batch(i) for i in range(12)]
    assert np.array_equal(late.batch(11), seen[11]) and np.array_equal(late.batch(2), seen[2])
    assert np.array_equal(whole.noise(4, (2, 3)), late.noise(4, (2, 3)))
    assert not np.array_equal(whole.noise(4, (2, 3)), whole.noise(5, (2, 3)))
    assert not np.array_equal(Order(50, held_out=0.2, batch_size=8, seed=2).batch(0), seen[0])


def test_V09_a_table_is_known_again_by_its_numbers_and_their_order(cloud):
    x = cloud(40, 3).astype(np.float32)
    known = fingerprint_of(x, unit_of(x))
    for same in (x.astype(np.float64), np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2]):
        assert fingerprint_of(same, unit_of(same)) == known
    for other in (x[::-1], x[:-1], x + 1):
        assert fingerprint_of(other, unit_of(other)) != known
