"""Masks: 15 % of the places, 80/10/10, drawn by the row's number and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lessons_lib.contextual.masking import MASK, mask_rows, uniforms

VOCABULARY = 1000


def rows_of(n: int, length: int = 42) -> tuple[torch.Tensor, torch.Tensor]:
    ids = torch.from_numpy(np.random.default_rng(0).integers(5, VOCABULARY, (n, length)))
    ids[:, 0], ids[:, -1] = 2, 3
    return ids, torch.arange(n)


def masked(ids, rows, n=6, seed=1, **options):
    return mask_rows(ids, rows, n=n, seed=seed, vocabulary=VOCABULARY, **options)


def test_only_chosen_places_change_and_special_tokens_are_never_chosen():
    ids, rows = rows_of(200)
    found = masked(ids, rows)
    chosen = torch.zeros_like(ids, dtype=torch.bool).scatter(1, found.positions, True)
    assert (chosen.sum(1) == 6).all() and found.weights.all() and not chosen[:, [0, -1]].any()
    assert torch.equal(found.ids[~chosen], ids[~chosen])
    assert torch.equal(found.labels, ids.gather(1, found.positions))


def test_of_the_chosen_places_80_percent_are_masked_10_random_10_kept():
    found = masked(*rows_of(5000))
    seen = found.ids.gather(1, found.positions)
    shares = [(seen == MASK).float().mean(), (seen == found.labels).float().mean()]
    assert shares[0] == pytest.approx(0.8, abs=0.01)
    assert shares[1] == pytest.approx(0.1001, abs=0.01)
    others = seen[(seen != MASK) & (seen != found.labels)]
    assert others.min() >= 5 and others.max() < VOCABULARY and len(others.unique()) > 900


def test_every_place_is_chosen_equally_often():
    hits = torch.bincount(masked(*rows_of(8000), seed=2).positions.flatten(), minlength=42)[1:-1]
    expected = 8000 * 6 / 40
    # chi squared, 39 degrees of freedom
    assert ((hits - expected) ** 2 / expected).sum() < 40 + 5 * np.sqrt(80)


@pytest.mark.parametrize("whole", [False, True])
def test_a_row_is_masked_alike_beside_whatever_rows(whole):
    ids, rows = rows_of(30)
    goes_on = torch.arange(VOCABULARY) % 3 == 0 if whole else None
    together = masked(ids, rows + 2**33, seed=4, goes_on=goes_on)
    alone = masked(ids[7:8], rows[7:8] + 2**33, seed=4, goes_on=goes_on)
    assert torch.equal(together.ids[7], alone.ids[0])
    assert torch.equal(together.positions[7], alone.positions[0])


def test_another_number_or_seed_masks_otherwise():
    ids, rows = rows_of(50)
    first = masked(ids, rows).ids
    for other in (masked(ids, rows + 50), masked(ids, rows + 2**32),
                  masked(ids, rows, seed=1 + 2**32)):
        assert (other.ids != first).any(dim=1).float().mean() > 0.9


def test_whole_words_are_chosen_whole():
    ids, rows = rows_of(300)
    goes_on = torch.arange(VOCABULARY) % 2 == 0
    goes_on[:5] = False
    found = masked(ids, rows, goes_on=goes_on)
    chosen = torch.zeros(ids.shape).scatter(1, found.positions, found.weights).bool()
    words = (~goes_on[ids]).cumsum(1)
    for row, word in zip(chosen[:, 1:-1], words[:, 1:-1], strict=True):
        assert all(len(set(row[word == w].tolist())) == 1 for w in word.unique())
    assert chosen.sum(1).float().mean() > 4


def test_a_row_with_little_to_hide_hides_what_there_is():
    ids = torch.tensor([[2, 9, 3, 3, 3, 3]])
    found = masked(ids, torch.tensor([0]), n=3, seed=0)
    assert found.weights.tolist() == [[1.0, 0.0, 0.0]] and found.positions[0, 0] == 1
    assert torch.equal(found.ids[0, 2:], ids[0, 2:])


def test_uniform_numbers_are_uniform_and_unrelated():
    x = uniforms(3, 1, torch.arange(4000), 25)
    assert float(x.mean()) == pytest.approx(0.5, abs=0.005)
    assert float(x.var()) == pytest.approx(1 / 12, abs=0.002)
    for pair in (x[:, :2].T, torch.stack([x[:-1, 0], x[1:, 0]])):
        assert abs(float(torch.corrcoef(pair)[0, 1])) < 0.06
    assert x.min() >= 0 and x.max() < 1
