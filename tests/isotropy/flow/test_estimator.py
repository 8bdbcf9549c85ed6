"""`Flow`: it finds known densities, goes back, stops anywhere and goes on to the same bits, and
answers bad input.
"""

from __future__ import annotations

import math
import os
import signal
import threading

import numpy as np
import pytest
import torch

from lessons_lib.core import DamagedFile, DataWarning, Encoder, TrainingDiverged
from lessons_lib.core.gradient_run import on_threads
from lessons_lib.isotropy import Flow, Whitening, bert_flow
from lessons_lib.isotropy.flow import (BERT_FLOW_VARIANTS, ActNorm, Composition, InvertibleLinear,
                                       Permutation, training)
from lessons_lib.isotropy.flow.table import unit_of

QUICK = {"width": 8, "batch_size": 64, "epochs": 4.0, "learning_rate": 5e-3}


def gaussian(n: int, dim: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, dim)) @ rng.normal(size=(dim, dim)) + 3


def entropy_bits(x: np.ndarray) -> float:
    """Bits per dimension of the best Gaussian for the rows: what whitening reaches."""
    cov = np.cov(x.T, ddof=0)
    return 0.5 * np.linalg.slogdet(2 * np.pi * np.e * cov)[1] / x.shape[1] / math.log(2)


def equal(a: Flow, b: Flow) -> bool:
    same = all(torch.equal(u, v) for u, v in zip(a.layers_.state_dict().values(),
                                                 b.layers_.state_dict().values(), strict=True))
    return same and np.array_equal(a.history_, b.history_, equal_nan=True)


def stop_after(monkeypatch, steps: int, how) -> None:
    """Do something once, when ``steps`` steps of this run are done."""
    plain, done = training.Training.step, []

    def step(self):
        plain(self)
        done.append(1)
        if len(done) == steps:
            how()

    monkeypatch.setattr(training.Training, "step", step)


# ------------------------------------------------------------------------------ densities


def test_51_a_flow_that_leaves_standard_normal_data_has_2_0471_bits_per_dimension():
    x = np.random.default_rng(0).normal(size=(20_000, 4))
    assert Flow(epochs=0).fit(x).bits_per_dimension(x) == pytest.approx(
        0.5 * math.log2(2 * math.pi * math.e), abs=0.01)


@pytest.mark.slow
def test_51_a_flow_with_learned_mixing_comes_near_the_likelihood_of_whitening_on_gaussian_data():
    # the identity itself, without couplings and to 1e-3, is in test_training
    x = gaussian(4000, 4)
    flow = Flow(levels=1, mixing="linear", depth=2, epochs=30, batch_size=128, learning_rate=3e-3,
                width=4, patience=None).fit(x)
    before, best = flow.history_[0, 1], entropy_bits(x)
    assert before > best + 1 and flow.bits_per_dimension(x) == pytest.approx(best, abs=0.02)


@pytest.mark.parametrize("kind", ["glow", "realnvp", "nice"])
def test_a_bent_cloud_is_straightened_beyond_what_is_linear(kind, bent):
    x = bent(3000)
    flow = Flow(kind, epochs=25, batch_size=128, learning_rate=5e-3, width=16, depth=4).fit(x)
    assert flow.bits_per_dimension(x) < entropy_bits(x) - 0.2
    z = flow.transform(x)
    follows = [max(abs(np.corrcoef(t[:, i]**2, t[:, 1 - i])[0, 1]) for i in (0, 1))
               for t in (x - x.mean(0), z)]
    assert follows[0] > 0.9 > 0.6 > follows[1]


@pytest.mark.parametrize("power", [-500, -10, 20, 500])
def test_V04_units_change_the_density_by_their_volume_and_nothing_else(power):
    x, scale = gaussian(600, 4), 2.0**power
    plain, other = Flow(**QUICK).fit(x), Flow(**QUICK).fit(x * scale)
    assert np.array_equal(other.transform(x * scale), plain.transform(x))
    assert other.score(x * scale) == pytest.approx(plain.score(x) - 4 * math.log(scale), rel=1e-9)


def test_the_log_density_is_that_of_z_and_the_whole_jacobian():
    x = gaussian(300, 3)
    flow = Flow("realnvp", **QUICK).fit(x)
    point = torch.tensor(x[0])
    step = 1e-3
    beside = [flow.transform(np.stack([x[0] + step * e, x[0] - step * e])) for e in np.eye(3)]
    jacobian = np.array([(more - less) / (2 * step) for more, less in beside])
    z = flow.transform(x[:1]).astype(np.float64)
    expected = -0.5 * (z**2).sum() - 1.5 * math.log(2 * math.pi) + np.linalg.slogdet(jacobian)[1]
    assert flow.log_density(point[None])[0] == pytest.approx(expected, abs=0.02)
    assert flow.score(x) == pytest.approx(flow.log_density(x).mean()) == pytest.approx(
        -flow.bits_per_dimension(x) * 3 * math.log(2))


def trained(layers: Composition, x: np.ndarray, *, steps: int,
            batch_size: int) -> training.Training:
    """A run that did ``steps`` steps, to the end whatever it finds."""
    order = training.Order(len(x), held_out=0.0, batch_size=batch_size, seed=0)
    batches = training.Batches(x, unit_of(x), order, noise=0.0, device=torch.device("cpu"))
    run = training.Training(layers, batches, steps=steps, learning_rate=3e-3, weight_decay=0.0,
                            clip=1.0, patience=None)
    run.begin(len(x))
    for _ in range(steps):
        run.step()
    return run


def bits(run: training.Training, x: np.ndarray) -> float:
    """Bits per dimension of rows, in their own unit."""
    unit = run.batches.unit
    return run.mean_bits([torch.from_numpy(unit.enter(x))]) + unit.exponents.mean()


def whitened_bits(x: np.ndarray) -> float:
    """Of the density under which whitened vectors are N(0, I): -log N(z; 0, I) - log |det W|."""
    white, d = Whitening(ddof=0).fit(x), x.shape[1]
    z = (x - white.mean_) @ white.matrix_
    nats = (0.5 * (z**2).sum(axis=1).mean() + 0.5 * d * math.log(2 * math.pi) -
            np.linalg.slogdet(white.matrix_)[1])
    return nats / d / math.log(2)


@pytest.mark.slow
def test_51_a_linear_flow_on_gaussian_data_reaches_the_likelihood_of_whitening_and_whitens():
    # standard deviations from 0.05 to 2.9, so there is something to find
    x = gaussian(4000, 4)
    rng = np.random.default_rng(0)
    layers = Composition(ActNorm(4), InvertibleLinear.random(4, rng=rng), ActNorm(4))
    before, best = bits(trained(layers, x, steps=0, batch_size=len(x)), x), whitened_bits(x)
    assert best == pytest.approx(entropy_bits(x), abs=1e-9)
    after = trained(layers, x, steps=1200, batch_size=len(x))
    # no linear map reads these rows in fewer
    assert before > best + 1 and best - 1e-5 < bits(after, x) < best + 1e-4
    z = layers(torch.from_numpy(after.batches.unit.enter(x))).detach().double().numpy()
    assert np.cov(z.T, ddof=0) == pytest.approx(np.eye(4), abs=0.02)
    assert np.abs(z.mean(axis=0)).max() < 0.02


# ------------------------------------------------------------------------------ vectors


@pytest.mark.parametrize("kind", ["glow", "realnvp", "nice"])
@pytest.mark.parametrize("dim", [1, 2, 3, 7, 16])
def test_47_vectors_come_back(kind, dim):
    x = gaussian(300, dim)
    flow = Flow(kind, **QUICK).fit(x)
    z = flow.transform(x)
    assert z.dtype == np.float32 and z.shape == x.shape and flow.dim == dim and flow.rank_ == dim
    assert np.abs(flow.inverse_transform(z) - x).max() < 1e-5 * max(1, np.abs(x).max())


def test_the_trace_begins_with_the_vectors_and_ends_with_z(bent):
    x = bent(100)
    flow = Flow(depth=2, **QUICK).fit(x)
    names, tables = zip(*flow.trace(x), strict=True)
    assert names == ("x", "Unit", *["ActNorm", "Permutation", "AdditiveCoupling"] * 2)
    assert tables[0] == pytest.approx(x, abs=1e-6) and np.array_equal(tables[-1], flow.transform(x))
    assert tables[1] == pytest.approx((x - x.mean(0)) / 2.0 ** flow._unit.exponents, abs=1e-6)


def test_samples_look_like_the_data(bent):
    x = bent(3000)
    flow = Flow("realnvp", epochs=25, batch_size=128, learning_rate=5e-3, width=16, depth=4).fit(x)
    new = flow.sample(3000, rng=np.random.default_rng(1))
    assert new.mean(0) == pytest.approx(x.mean(0), abs=0.2)
    assert new.std(0) == pytest.approx(x.std(0), rel=0.25)
    assert np.corrcoef(new[:, 0] ** 2, new[:, 1])[0, 1] > 0.7
    assert np.array_equal(new, flow.sample(3000, rng=np.random.default_rng(1)))
    assert flow.sample(0, rng=np.random.default_rng(1)).shape == (0, 2)


def test_it_composes_with_an_encoder():
    class Lengths:
        name, dim = "lengths", 2

        def encode(self, texts, *, batch_size=256, progress=False):
            return np.array([[len(t), t.count("a")] for t in texts], dtype=np.float32)

    texts = ["a" * (i % 7) + "b" * (i % 11) for i in range(200)]
    flow = Flow(**QUICK).fit(Lengths().encode(texts))
    both = Lengths() | flow
    assert isinstance(both, Encoder) and both.dim == 2 and both.name == "lengths + flow (glow)"
    assert np.array_equal(both.encode(texts), flow.transform(Lengths().encode(texts)))


def test_V08_V09_V21_no_layout_and_no_type_shows_nothing_is_written_no_row_gives_no_row(tmp_path):
    x = gaussian(200, 4).astype(np.float32)
    before, expected = x.copy(), Flow(**QUICK).fit(x)
    np.save(tmp_path / "x.npy", x)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    for view in (np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], x[::-1].copy()[::-1],
                 x.astype(">f8"), mapped, torch.from_numpy(x)):
        found = Flow(**QUICK).fit(view)
        assert equal(found, expected)
        assert np.array_equal(found.transform(view), expected.transform(x))
    assert np.array_equal(x, before)
    half = x.astype(np.float16)                                                              # V08
    assert equal(Flow(**QUICK).fit(half), Flow(**QUICK).fit(half.astype(np.float64)))
    for none in (expected.transform(x[:0]), expected.inverse_transform(x[:0])):              # V21
        assert none.shape == (0, 4) and none.dtype == np.float32
    assert expected.log_density(x[:0]).shape == (0,)


# --------------------------------------------------------------------------- stopping and going on


@pytest.mark.parametrize("more", [{}, {"held_out": 0.0}, {"kind": "realnvp", "mixing": "linear",
                                                          "noise": 0.05, "rate": 3.0}], ids=str)
def test_a_run_stopped_by_ctrl_c_goes_on_to_the_same_bits(more, tmp_path, monkeypatch, ctrl_c):
    x, settings = gaussian(400, 5), QUICK | more
    whole, cut = Flow(**settings).fit(x), Flow(**settings)
    with monkeypatch.context() as patch:
        stop_after(patch, 8, lambda: os.kill(os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            cut.fit(x)
    assert cut.n_steps_ == 8 < whole.n_steps_ and np.isfinite(cut.transform(x)).all()
    cut.save(tmp_path / "flow")
    assert equal(Flow.load(tmp_path / "flow").resume(x), whole)
    assert equal(cut.resume(x), whole) and equal(cut.resume(x), whole)


def test_a_run_whose_process_was_killed_goes_on_from_what_was_saved(tmp_path, monkeypatch):
    x = gaussian(400, 5)
    whole = Flow(**QUICK).fit(x)

    def killed():
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        stop_after(patch, 15, killed)
        with pytest.raises(RuntimeError, match="killed"):
            Flow(**QUICK).fit(x, on_note=lambda flow: flow.save(tmp_path / "flow"))
    again = Flow.load(tmp_path / "flow")
    assert 0 < again.n_steps_ < 15 and equal(again.resume(x), whole)


def test_equal_settings_give_equal_bits_whatever_the_number_of_threads():
    x, flows = gaussian(400, 5), []
    for threads in (1, 2, 1):
        with on_threads(threads):
            flows.append(Flow(**QUICK).fit(x))
            assert torch.get_num_threads() == threads
    thread = threading.Thread(target=lambda: flows.append(Flow(**QUICK).fit(x)))
    thread.start()                                     # outside the main thread it works as well
    thread.join()
    assert len(flows) == 4 and all(equal(flows[0], other) for other in flows[1:])
    assert not equal(flows[0], Flow(seed=1, **QUICK).fit(x))


def test_it_stops_when_held_out_rows_are_read_worse_and_keeps_the_best_layers():
    x = gaussian(60, 20)
    flow = Flow(width=64, batch_size=8, epochs=200, learning_rate=1e-2, held_out=0.4,
                patience=3).fit(x)
    held_out = flow.history_[:, 2]
    assert len(held_out) < 100 and held_out.argmin() == len(held_out) - 4
    # the rows learned from were read ever better
    assert flow.history_[-1, 1] < flow.history_[0, 1]
    order = training.Order(60, held_out=0.4, batch_size=8, seed=0)
    assert flow.bits_per_dimension(x[order.held_out]) == pytest.approx(held_out.min(), abs=1e-4)


def test_on_note_sees_each_line_and_epochs_may_be_parts_of_one_or_more_than_were_asked_for():
    lines, x = [], gaussian(400, 3)
    flow = Flow(patience=None, **QUICK).fit(
        x, on_note=lambda f: lines.append((f.n_steps_, len(f.history_))))
    assert lines == [(6 * i, i + 1) for i in range(1, 5)] and len(flow.history_) == 5
    assert flow.history_[:, 0].tolist() == [0, 1, 2, 3, 4]
    assert flow.set_params(epochs=8.0).resume(x).n_steps_ == 48
    assert Flow(**QUICK | {"epochs": 0.5, "held_out": 0.0}).fit(gaussian(640, 3)).n_steps_ == 5


@pytest.mark.parametrize("settings", [
    {"kind": "realnvp", "learning_rate": 1e30}, {"learning_rate": 1e9, "held_out": 0.0},
    {"learning_rate": 1e9, "held_out": 0.1}])
def test_P05_a_run_to_huge_numbers_has_diverged_and_leaves_the_best_layers(settings):
    x, flow = gaussian(300, 4), Flow(**QUICK | settings)
    with pytest.raises(TrainingDiverged, match=r"training diverged before step \d+.* not finite or "
                       r"beyond all measure; last loss before: \d.* bits.*Use a smaller rate"):
        flow.fit(x)
    untrained = Flow(**QUICK | settings | {"epochs": 0}).fit(x)
    assert len(flow.history_) == 1 and np.array_equal(flow.transform(x), untrained.transform(x))


def test_columns_of_any_size_are_learned_as_well_as_columns_of_one_size():
    even, sizes = gaussian(300, 4), np.array([1, 1e-3, 1e9, 1e-32])
    of_even, of_uneven = (Flow(**QUICK).fit(x).history_ for x in (even, even * sizes))
    fall = np.log2(sizes).mean()
    assert of_uneven[-1, 1] - fall == pytest.approx(of_even[-1, 1], abs=0.05)
    assert of_uneven[-1, 1] < of_uneven[0, 1] - 0.05


# ------------------------------------------------------------------------------ files


def test_a_loaded_flow_is_the_saved_one(tmp_path):
    x = gaussian(300, 5)
    flow = Flow("realnvp", **QUICK).fit(x)
    flow.save(tmp_path / "flow")
    again = Flow.load(tmp_path / "flow")
    assert equal(flow, again) and repr(again) == repr(flow)
    assert np.array_equal(again.transform(x), flow.transform(x))
    assert again.score(x) == flow.score(x) and again.rank_ == 5
    assert np.array_equal(again.mean_, flow.mean_)


def test_a_damaged_file_is_not_read(tmp_path):
    from lessons_lib.core import load_model, save_model

    Flow(**QUICK).fit(gaussian(100, 3)).save(tmp_path / "flow")
    settings, arrays, extra = load_model(tmp_path / "flow", "Flow")
    for wrong in ({"arrays": arrays | {"mean": arrays["mean"][:-1]}},
                  {"extra": extra | {"record": {}}}, {"settings": settings | {"depth": 2}},
                  {"arrays": arrays | {"mean": arrays["mean"] * np.nan}}):
        save_model(tmp_path / "wrong", "Flow",
                   **{"settings": settings, "arrays": arrays, "extra": extra} | wrong)
        with pytest.raises(DamagedFile, match="Flow that this version cannot read"):
            Flow.load(tmp_path / "wrong")


@pytest.mark.parametrize("make", [lambda x: np.column_stack([x, np.full(len(x), 7.0)]),
                                  lambda x: np.column_stack([x, x[:, 0]]), lambda x: x[:4],
                                  lambda x: x[:2]],
                         ids=["constant column", "repeated column", "4 rows", "2 rows"])
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_V11_V16_vectors_that_do_not_fill_all_directions_give_a_warning_and_finite_numbers(
        make, noise):
    x = make(gaussian(200, 5))
    with pytest.warns(DataWarning, match="directions only, so a flow can raise the likelihood "
                                         "without end"):
        flow = Flow(noise=noise, **QUICK | {"epochs": 50}).fit(x)
    z = flow.transform(x)
    assert np.isfinite(z).all() and np.isfinite(flow.log_density(x)).all()
    assert np.abs(flow.inverse_transform(z) - x).max() < 1e-2
    new = x + np.random.default_rng(1).normal(size=x.shape)
    assert np.isfinite(flow.transform(new)).all() and np.isfinite(flow.log_density(new)).all()


# ------------------------------------------------------------------------------ BERT-flow


def orders(flow) -> list[list[int]]:
    return [m.order.tolist() for m in flow.layers_.modules() if isinstance(m, Permutation)]


def test_the_program_has_three_levels_and_reverses_the_paper_two_and_shuffles():
    x = np.random.default_rng(0).normal(size=(300, 16))
    program, paper = (bert_flow(variant).fit(x) for variant in ("program", "paper"))
    assert [len(o) for o in orders(program)] == [16] * 3 + [8] * 3 + [4] * 3
    assert [len(o) for o in orders(paper)] == [16] * 3 + [8] * 3
    assert all(o == list(range(len(o)))[::-1] for o in orders(program))
    assert not any(o == list(range(len(o)))[::-1] for o in orders(paper))
    # 300 rows, 64 at a time, once
    assert program.n_steps_ == paper.n_steps_ == 5
    assert program.rate == 3.0 and program.learning_rate == 1e-3 and program.held_out == 0.0


def test_nli_data_get_small_steps_and_settings_can_be_changed_but_no_variant():
    before = {name: dict(settings) for name, settings in BERT_FLOW_VARIANTS.items()}
    flow = bert_flow("paper", data="nli", seed=4, init_size=2048)
    assert (flow.epochs, flow.learning_rate, flow.seed, flow.init_size) == (0.15, 2e-5, 4, 2048)
    assert before == BERT_FLOW_VARIANTS
