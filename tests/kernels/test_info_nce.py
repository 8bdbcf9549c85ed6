"""InfoNCE: identities of the formula, three implementations that agree, and the ways it is used:
weights, both directions, gathered keys."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from lessons_lib.core import PROJECT
from lessons_lib.kernels import info_nce, uniformity
from lessons_lib.kernels.info_nce import cpu, reference

from .conftest import assert_near, gpu, repeated, unit, with_gradients

DOUBLE = torch.float64


def options(n: int, m: int, seed: int, *, weight: float | None, symmetric: bool) -> dict[str, Any]:
    """Positives in any order, each with another row as hard negative."""
    positive = torch.randperm(m, generator=torch.Generator().manual_seed(seed))[:n]
    return {"positive": positive, "hard_negative": None if weight is None else (positive + 1) % m,
            "hard_weight": weight or 0.0, "temperature": 0.3, "symmetric": symmetric}


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_64_equal_vectors_give_log_n_and_log_2n_with_hard_negatives(backend):
    x = torch.ones(6, 4, dtype=DOUBLE)
    assert info_nce(x, x, backend=backend).item() == pytest.approx(math.log(6), abs=1e-12)
    both = torch.cat([x, x])
    value = info_nce(x, both, hard_negative=torch.arange(6, 12), backend=backend).item()
    assert value == pytest.approx(math.log(12), abs=1e-12)


@pytest.mark.parametrize("temperature", [0.05, 0.5, 2.0])
def test_64_orthonormal_pairs_and_the_regular_simplex_reach_their_closed_forms(temperature):
    n = 5
    eye = torch.eye(n, dtype=DOUBLE)
    simplex = functional.normalize(eye - 1 / n, dim=1)
    for x, gap in ((eye, 1), (simplex, n / (n - 1))):
        closed = math.log1p((n - 1) * math.exp(-gap / temperature))
        assert info_nce(x, x, temperature=temperature).item() == pytest.approx(closed, rel=1e-9)


@given(st.integers(2, 6), st.floats(0.05, 2), st.integers(0, 1000))
def test_64_no_unit_vectors_go_below_the_simplex(n, temperature, seed):
    loss = info_nce(unit(n, 6, seed, DOUBLE), unit(n, 6, seed + 1, DOUBLE),
                    temperature=temperature).item()
    assert loss >= math.log1p((n - 1) * math.exp(-n / ((n - 1) * temperature))) - 1e-9


def test_65_the_gradient_on_the_logits_is_softmax_minus_one_hot_and_its_rows_sum_to_zero():
    logits = torch.randn(4, 7, dtype=DOUBLE, generator=torch.Generator().manual_seed(0))
    # with temperature 0.1 the logits are the queries themselves
    axes = 0.1 * torch.eye(7, dtype=DOUBLE)
    _, slope = with_gradients(lambda s: info_nce(s, axes, temperature=0.1), logits)
    torch.testing.assert_close(4 * slope, logits.softmax(dim=1) - torch.eye(4, 7, dtype=DOUBLE),
                               rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(slope.sum(dim=1), torch.zeros(4, dtype=DOUBLE), rtol=0, atol=1e-15)


@given(st.integers(2, 12), st.floats(0.05, 2), st.integers(0, 1000))
def test_67_the_loss_of_pushing_apart_bounds_the_sum_of_all_cosines(n, temperature, seed):
    x = unit(n, 4, seed, DOUBLE)
    # mean_i log mean_j exp(x_i·x_j / temperature)
    pushing = info_nce(x, x, temperature=temperature).item() - math.log(n) + 1 / temperature
    assert pushing >= (x @ x.T).sum().item() / (temperature * n * n) - 1e-9
    same = x[:1].expand(n, -1)
    value = info_nce(same, same, temperature=temperature).item() - math.log(n)
    assert value + 1 / temperature == pytest.approx(1 / temperature, rel=1e-12)


def test_68_with_no_negative_cosine_it_bounds_the_largest_eigenvalue_too():
    n, temperature = 8, 0.2
    x = unit(n, 5, dtype=DOUBLE).abs()
    pushing = info_nce(x, x, temperature=temperature).item() - math.log(n) + 1 / temperature
    assert torch.linalg.eigvalsh(x @ x.T)[-1].item() <= temperature * n * n * pushing + 1e-9


def test_69_weight_one_changes_nothing_and_weight_zero_drops_only_the_own_negative():
    query, key = unit(4, 6, 0, DOUBLE), unit(8, 6, 1, DOUBLE)
    hard = torch.arange(4, 8)
    assert torch.equal(info_nce(query, key, hard_negative=hard, hard_weight=0.0),
                       info_nce(query, key))
    logits = query @ key.T / 0.05
    dropped = [torch.cat([logits[i, : 4 + i], logits[i, 5 + i :]]).logsumexp(0) - logits[i, i]
               for i in range(4)]
    value = info_nce(query, key, hard_negative=hard, hard_weight=-math.inf).item()
    assert value == pytest.approx(torch.stack(dropped).mean().item(), rel=1e-12)


def test_69_weight_two_counts_the_hard_negative_twice():
    query, key = unit(3, 5, 0, DOUBLE), unit(4, 5, 1, DOUBLE)
    twice = torch.cat([key, key[3:]])
    weighted = info_nce(query, key, hard_negative=torch.tensor([3, 3, 3]), hard_weight=math.log(2))
    assert weighted.item() == pytest.approx(info_nce(query, twice).item(), rel=1e-12)


def test_71_gradients_cached_at_the_vectors_and_sent_on_in_parts_equal_the_direct_ones():
    texts = torch.randn(12, 7, dtype=DOUBLE, generator=torch.Generator().manual_seed(0))
    encoder = torch.nn.Linear(7, 5, dtype=DOUBLE)
    with torch.no_grad():
        encoder.weight.copy_(torch.randn(5, 7, dtype=DOUBLE,
                                         generator=torch.Generator().manual_seed(1)))
        vectors = encoder(texts)
    direct = torch.autograd.grad(info_nce(encoder(texts[:6]), encoder(texts[6:]), temperature=0.5),
                                 encoder.weight)[0]
    cached = torch.cat(with_gradients(lambda a, b: info_nce(a, b, temperature=0.5), vectors[:6],
                                      vectors[6:])[1:])
    for part in torch.arange(12).split(5):
        encoder(texts[part]).backward(cached[part])
    torch.testing.assert_close(encoder.weight.grad, direct, rtol=1e-12, atol=1e-14)


def test_permuting_the_keys_together_with_the_positives_changes_nothing():
    query, key = unit(6, 5, 0, DOUBLE), unit(9, 5, 1, DOUBLE)
    order = torch.randperm(9, generator=torch.Generator().manual_seed(2))
    place = torch.argsort(order)
    moved = info_nce(query, key[order], positive=place[:6], hard_negative=place[6:].repeat(2),
                     hard_weight=0.7, symmetric=True)
    expected = info_nce(query, key, hard_negative=torch.arange(6, 9).repeat(2), hard_weight=0.7,
                        symmetric=True)
    assert moved.item() == pytest.approx(expected.item(), rel=1e-12)


def test_the_symmetric_loss_is_the_mean_of_both_directions_and_does_not_know_which_side_is_which():
    a, b = unit(7, 5, 0, DOUBLE), unit(7, 5, 1, DOUBLE)
    both = info_nce(a, b, symmetric=True)
    assert both.item() == pytest.approx((info_nce(a, b) + info_nce(b, a)).item() / 2, rel=1e-12)
    assert both.item() == pytest.approx(info_nce(b, a, symmetric=True).item(), rel=1e-12)


def test_with_many_negatives_it_pushes_apart_as_uniformity_does():         # 4xy = 4 - 2 ‖x - y‖²
    x = unit(3000, 3, dtype=DOUBLE)
    pushing = info_nce(x, x, temperature=0.25).item() - math.log(3000) + 4
    assert pushing - 4 == pytest.approx(uniformity(x).item(), abs=0.02)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("weight", [None, 1.5, -math.inf])
def test_the_gradient_of_the_formula_is_its_derivative(weight, symmetric):
    query, key = unit(5, 4, 0, DOUBLE), unit(8, 4, 1, DOUBLE)
    chosen = options(5, 8, 2, weight=weight, symmetric=symmetric)
    assert torch.autograd.gradcheck(lambda a, b: reference.info_nce(a, b, **chosen),
                                    (query.requires_grad_(), key.requires_grad_()))
    expected = with_gradients(lambda a, b: reference.info_nce(a, b, **chosen), query, key)
    found = reference.value_and_gradient(query.detach(), key.detach(), **chosen,
                                         wanted=(True, True))
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-14)


@given(st.integers(1, 30), st.integers(1, 12), st.integers(1, 8),
       st.sampled_from([None, 0.8, -math.inf]), st.booleans(), st.floats(0.1, 30),
       st.integers(0, 100))
def test_blocks_of_rows_give_what_the_formula_gives(n, more, d, weight, symmetric, length, seed):
    n = max(n, 2) if symmetric else n
    query, key = unit(n, d, seed, DOUBLE) * length, unit(n + more, d, seed + 1, DOUBLE) * length
    chosen = options(n, n + more, seed, weight=weight, symmetric=symmetric)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu, "BLOCK", 60)             # several blocks, the last one ragged
        patch.setattr(cpu, "LEAST_ROWS", 1)
        found = cpu.value_and_gradient(query, key, **chosen, wanted=(True, True))
        alone = cpu.info_nce(query, key, **chosen)
    expected = reference.value_and_gradient(query, key, **chosen, wanted=(True, True))
    torch.testing.assert_close(alone, expected[0], rtol=1e-9, atol=1e-9)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9 * length)


def test_in_float32_the_gradients_are_those_of_float64_to_one_in_a_million():
    query, key = unit(300, 64), unit(300, 64, 1)
    exact = with_gradients(lambda a, b: info_nce(a, b, backend="reference"), query.double(),
                           key.double())
    for found, expected in zip(with_gradients(info_nce, query, key), exact, strict=True):
        assert (found.double() - expected).norm() <= 1e-6 * expected.norm()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize(("n", "m", "d", "weight", "symmetric"), [
    (35, 70, 72, None, False), (21, 50, 20, 1.5, True), (18, 33, 5, -math.inf, False),
    (2, 2, 3, 0.5, True), (1, 17, 16, None, False)])
def test_the_kernels_are_as_exact_as_the_formula(n, m, d, weight, symmetric, dtype, triton_here,
                                                 device, guarded, assert_as_exact_as,
                                                 short_row_blocks):
    query, key = unit(n, d).to(device, dtype), unit(m, d, 1).to(device, dtype)
    chosen = options(n, m, 3, weight=weight, symmetric=symmetric)
    chosen = {k: v.to(device) if isinstance(v, Tensor) else v for k, v in chosen.items()}
    found = with_gradients(lambda a, b: info_nce(a, b, backend=triton_here, **chosen), query, key)
    exact = reference.value_and_gradient(query.double(), key.double(), **chosen,
                                         wanted=(True, True))
    twin = reference.value_and_gradient(query, key, **chosen, wanted=(True, True))
    for one, two, three in zip(found, twin, exact, strict=True):
        assert_as_exact_as(one, two, three)
    assert_as_exact_as(info_nce(query, key, backend=triton_here, **chosen), twin[0], exact[0])


def test_repeated_zero_and_scattered_rows_are_taken_as_they_are(any_backend):
    backend, where = any_backend
    wide = unit(40, 24).to(where)
    for query, key in (
            (wide[::2, ::2], wide[1::2, 1::2]), (wide[:1].expand(5, -1), wide[:1].expand(7, -1)),
            (torch.zeros(3, 4, device=where), torch.zeros(5, 4, device=where)), (wide.T, wide.T)):
        found = with_gradients(lambda a, b: info_nce(a, b, backend=backend), query, key)
        expected = with_gradients(lambda a, b: info_nce(a, b, backend="reference"), query.double(),
                                  key.double())
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one.double(), other, rtol=1e-5, atol=1e-5)


def test_logits_far_apart_neither_overflow_nor_underflow():
    query, key = torch.tensor([[3000.0], [-3000.0]]), torch.tensor([[-1.0], [1.0]])
    value, dquery, _ = with_gradients(lambda a, b: info_nce(a, b, temperature=1.0), query, key)
    assert value.item() == 6000.0
    torch.testing.assert_close(dquery, torch.tensor([[1.0], [-1.0]]))


def test_temperatures_at_both_ends_of_the_range_stay_finite():
    x = torch.eye(3)
    assert info_nce(x, x, temperature=1e-30).item() == 0.0
    assert info_nce(x, x, temperature=1e30).item() == pytest.approx(math.log(3), rel=1e-6)
    dropped = info_nce(x[:2], x[:2], hard_negative=[1, 0], hard_weight=np.float32(-math.inf))
    assert dropped.item() == pytest.approx(0, abs=1e-6)


GATHER = """
import sys, torch, torch.distributed as dist
from lessons_lib.kernels import info_nce
rank, folder = int(sys.argv[1]), sys.argv[2]
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
rows, sides = slice(rank * 3, rank * 3 + 3), torch.load(f"{folder}/all.pt", weights_only=True)
query, key = (x[rows].clone() for x in sides)
parts = [torch.empty_like(key) for _ in range(2)]
dist.all_gather(parts, key)
query, keys = query.requires_grad_(), torch.cat(parts).requires_grad_()
loss = info_nce(query, keys, positive=rank * 3 + torch.arange(3)) / 2
loss.backward()
dist.all_reduce(keys.grad)
total = loss.detach().clone()
dist.all_reduce(total)
torch.save((total, query.grad, keys.grad[rank * 3 : rank * 3 + 3]), f"{folder}/{rank}.pt")
dist.destroy_process_group()
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32",
                    reason="the processes meet over a file address that Windows writes differently")
def test_local_queries_against_gathered_keys_equal_one_process(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo" if sys.platform == "linux" else "lo0")
    query, key = unit(6, 5, 0, DOUBLE), unit(6, 5, 1, DOUBLE)
    torch.save((query, key), tmp_path / "all.pt")
    running = [subprocess.Popen([sys.executable, "-c", GATHER, str(rank), str(tmp_path)],
                                cwd=PROJECT, stderr=subprocess.PIPE) for rank in range(2)]
    for process in running:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()[-2000:]
    found = [torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in range(2)]
    whole = with_gradients(info_nce, query, key)
    assert found[0][0].item() == pytest.approx(whole[0].item(), rel=1e-12)
    for side in (1, 2):
        torch.testing.assert_close(torch.cat([part[side] for part in found]), whole[side],
                                   rtol=1e-10, atol=1e-12)


@pytest.mark.gpu
@gpu
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float16, 1e-2),
                                                  (torch.bfloat16, 1e-2)])
@pytest.mark.parametrize(("n", "m", "d"), [(1000, 2011, 300), (4097, 4097, 768),
                                           (65_537, 65_537, 64)])
@pytest.mark.parametrize("symmetric", [False, True])
def test_gpu_kernels_agree_and_repeat_themselves(n, m, d, dtype, tolerance, symmetric):
    query, key = unit(n, d).to("cuda", dtype), unit(m, d, 1).to("cuda", dtype)
    chosen = options(n, m, 3, weight=0.7, symmetric=symmetric) | {"temperature": 0.05}
    chosen = {k: v.cuda() if isinstance(v, Tensor) else v for k, v in chosen.items()}
    results = repeated(lambda: with_gradients(
        lambda a, b: info_nce(a, b, backend="triton", **chosen), query, key))
    exact = cpu.value_and_gradient(query.double(), key.double(), **chosen, wanted=(True, True))
    alone = info_nce(query, key, backend="triton", **chosen)
    assert_near((*results, alone), (*exact, exact[0]), tolerance)
