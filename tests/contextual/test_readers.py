"""Texts that lie one after the other give the hidden states that each gives alone, and that padded
rows give; linear maps by either library are those of ``nn.Linear``.
"""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from lessons_lib.contextual import BertSize, LessonBert
from lessons_lib.contextual import readers as module
from lessons_lib.contextual.readers import packed_states, padded_states, runs_of

LENGTHS = [9, 9, 7, 4, 4, 4, 1]
OPTIONS = {"dim": 24, "layers": 3, "heads": 2, "feed_forward": 40, "positions": 12}
SIZE = BertSize(50, **OPTIONS)


@pytest.fixture(scope="module")
def model():
    return LessonBert(SIZE, seed=2).eval().requires_grad_(False)


@pytest.fixture(scope="module")
def rows():
    chance = torch.Generator().manual_seed(1)
    return [torch.randint(0, 50, (length,), generator=chance) for length in LENGTHS]


@pytest.fixture(scope="module")
def table(rows):
    """The same rows padded with ids that must not be seen, and their mask."""
    ids, mask = torch.full((len(rows), 12), 7), torch.zeros((len(rows), 12), dtype=torch.bool)
    for i, row in enumerate(rows):
        ids[i, : len(row)], mask[i, : len(row)] = row, True
    return ids, mask


def packed(model, rows, wanted):
    places = torch.cat([torch.arange(len(row)) for row in rows])
    return packed_states(model, torch.cat(rows), places, [len(row) for row in rows], wanted)


def test_39_every_hidden_state_equals_that_of_a_text_alone_and_of_padded_rows(model, rows, table):
    ids, mask = table
    found, of_rows = (states(range(SIZE.layers + 1)) for states in (
        lambda wanted: packed(model, rows, wanted),
        lambda wanted: padded_states(model, ids, mask, wanted)))
    parts = {number: state.split(LENGTHS) for number, state in found.items()}
    for i, row in enumerate(rows):
        for number, expected in enumerate(model.hidden_states(row[None])):
            assert (parts[number][i] - expected[0]).abs().max() <= 1e-6
    for number, state in of_rows.items():
        assert (state[mask] - found[number]).abs().max() <= 1e-6


def test_blocks_above_the_highest_wanted_state_are_not_run(model, rows):
    ran = []
    handles = [block.output.LayerNorm.register_forward_hook(lambda *_, n=number: ran.append(n))
               for number, block in enumerate(model.encoder["layer"], start=1)]
    assert set(packed(model, rows, (1,))) == {1} and ran == [1]
    assert set(packed(model, rows, (0,))) == {0} and ran == [1]
    for handle in handles:
        handle.remove()


def test_runs_are_neighbours_of_equal_length():
    assert runs_of(LENGTHS) == [(0, 2, 9), (18, 1, 7), (25, 3, 4), (37, 1, 1)] and runs_of([]) == []


def test_gradients_are_those_of_padded_rows(rows, table):
    found, (ids, mask) = [], table
    for read in (lambda model: padded_states(model, ids, mask, (1, 3)),
                 lambda model: packed(model, rows, (1, 3))):
        model = LessonBert(SIZE, seed=2)
        sum((x[mask] if x.ndim == 3 else x).sin().sum() for x in read(model).values()).backward()
        found.append({name: p.grad for name, p in model.named_parameters() if p.grad is not None})
    largest = max(g.abs().max() for g in found[0].values())
    assert found[0].keys() == found[1].keys()
    assert max((g - found[1][name]).abs().max() for name, g in found[0].items()) <= 1e-5 * largest


def test_units_are_left_out_only_while_the_model_learns(rows):
    model = LessonBert(BertSize(50, **OPTIONS, dropout=0.3), seed=2)
    first, second = (packed(model, rows, (3,))[3] for _ in range(2))
    assert (first - second).abs().max() > 0.1
    model.eval()
    assert torch.equal(packed(model, rows, (3,))[3], packed(model, rows, (3,))[3])


@pytest.mark.parametrize("here", [False, True])
@pytest.mark.parametrize("n", [1, 7, 130])
def test_both_libraries_give_the_linear_map(monkeypatch, here, n):
    if here and not module._one_dnn():
        pytest.skip("oneDNN and AVX-512 are not both here")
    monkeypatch.setattr(module, "_one_dnn", lambda: here)
    layer = torch.nn.Linear(48, 33)
    x = torch.randn(n, 48, generator=torch.Generator().manual_seed(n))
    exact = F.linear(x.double(), layer.weight.double(), layer.bias.double())
    with torch.inference_mode():
        assert (module.linear(layer, x) - exact).abs().max() <= 1e-5
        assert (module.linear_gelu(layer, x) - F.gelu(exact)).abs().max() <= 1e-5


def test_where_a_gradient_is_wanted_or_the_type_is_another_it_is_nn_linear(monkeypatch):
    monkeypatch.setattr(module, "_one_dnn", lambda: True)
    layer, x = torch.nn.Linear(8, 5), torch.randn(3, 8, generator=torch.Generator().manual_seed(0))
    module.linear(layer, x).sum().backward()
    assert layer.weight.grad is not None
    with torch.inference_mode():
        assert torch.equal(module.linear(layer.double(), x.double()), layer(x.double()))
