"""Pre-training: it learns, stops anywhere, goes on to the same bits, and shares its work without
changing the result.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch

from lessons_lib.contextual import Recipe, pretrain, training
from lessons_lib.contextual.ranks import Ranks
from lessons_lib.contextual.saved_bert import load_bert
from lessons_lib.core import PROJECT, BackendUnavailable, DataWarning, TrainingDiverged


def run(stream, out, recipe, **options):
    return pretrain(stream, out, recipe=recipe, device="cpu", progress=False, **options)


def equal(first, second) -> bool:
    return all(
        torch.equal(a, b) for a, b in zip(first.model.state_dict().values(),
                                          second.model.state_dict().values(), strict=True))


def stop_after(monkeypatch, steps: int, how) -> None:
    """Do something once, when ``steps`` steps of this run are done."""
    plain, done = training.Training.step, []

    def step(self):
        plain(self)
        done.append(1)
        if len(done) == steps:
            how()

    monkeypatch.setattr(training.Training, "step", step)


@pytest.mark.slow
def test_it_learns_and_leaves_a_model_that_can_be_loaded(stream, tmp_path, recipe):
    longer = replace(recipe, dim=32, tokens=32 * 4 * 150, learning_rate=3e-3)
    found = run(stream, tmp_path, longer)
    card = json.loads((tmp_path / "card.json").read_text())
    assert found.finished and card["steps"] == 150 and card["moments"][-1]["step"] == 150
    assert card["moments"][0]["step"] == 0
    assert card["moments"][-1]["held_out_loss"] < card["moments"][0]["held_out_loss"] - 1.0
    assert card["held_out_accuracy"] > card["moments"][0]["held_out_accuracy"]
    assert card["data"] == {"source": "two worlds"}
    model, pieces = load_bert(tmp_path)
    assert pieces.pieces == stream.tokenizer.pieces
    for ours, saved in zip(found.model.state_dict().values(),
                           model.state_dict().values(), strict=True):
        assert torch.equal(ours.to(torch.float16).float(), saved)


def test_the_film_has_a_frame_for_each_moment(stream, tmp_path, recipe):
    from safetensors.numpy import load_file

    found = run(stream, tmp_path, recipe)
    film = load_file(tmp_path / "film.safetensors")
    assert film["frames"].shape == (len(found.card["moments"]), len(film["pieces"]), 3)
    assert np.isfinite(film["frames"]).all()
    assert np.array_equal(film["counts"], stream.counts()[film["pieces"]])
    assert np.array_equal(film["all_counts"], stream.counts())


OPTIONS = [{}, {"dropout": 0.2, "dropout_from": 0.5, "next_sentence": True, "whole_words": True,
                "accumulate": 2}]


@pytest.mark.parametrize("more", OPTIONS, ids=["plain", "with everything"])
def test_a_run_stopped_by_ctrl_c_goes_on_to_the_same_bits(stream, tmp_path, recipe, monkeypatch,
                                                          more):
    recipe = replace(recipe, **more)
    whole = run(stream, tmp_path / "whole", recipe)
    with monkeypatch.context() as patch:
        stop_after(patch, 5, lambda: os.kill(os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            run(stream, tmp_path / "cut", recipe)
    card = json.loads((tmp_path / "cut" / "card.json").read_text())
    assert card["steps"] == 5
    again = run(stream, tmp_path / "cut", recipe, resume=True)
    assert equal(whole, again) and again.finished
    assert {k: v for k, v in again.card.items() if k != "seconds"} == {
        k: v for k, v in whole.card.items() if k != "seconds"
    }
    assert (tmp_path / "cut" /
            "film.safetensors").read_bytes() == (tmp_path / "whole" /
                                                 "film.safetensors").read_bytes()


def test_milestones_are_models_that_load(stream, tmp_path, recipe, monkeypatch):
    monkeypatch.setattr("lessons_lib.contextual.pretraining.doublings", lambda recipe: [2, 5])
    monkeypatch.setattr("lessons_lib.contextual.training.doublings", lambda recipe: [2, 5])
    result = run(stream, tmp_path, recipe, milestones=True)
    folders = sorted((tmp_path / "milestones").iterdir())
    assert [int(folder.name) for folder in folders] == [n * recipe.tokens_per_step for n in (2, 5)]
    early, last = load_bert(folders[0])[0].state_dict(), result.model.state_dict()
    assert not any(torch.equal(early[name], last[name]) for name in last if "weight" in name)


def test_a_run_whose_process_was_killed_goes_on_from_its_checkpoint(stream, tmp_path, recipe,
                                                                    monkeypatch):
    whole = run(stream, tmp_path / "whole", recipe)

    def killed():
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        stop_after(patch, 6, killed)
        with pytest.raises(RuntimeError, match="killed"):
            run(stream, tmp_path / "cut", recipe, checkpoint_minutes=0.0)
    assert not (tmp_path / "cut" / "card.json").exists()
    assert equal(whole, run(stream, tmp_path / "cut", recipe, resume=True))


def test_a_damaged_checkpoint_gives_way_to_the_one_before(stream, tmp_path, recipe, monkeypatch):
    whole = run(stream, tmp_path / "whole", recipe)
    with monkeypatch.context() as patch:
        stop_after(patch, 4, lambda: os.kill(os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            run(stream, tmp_path / "cut", recipe, checkpoint_minutes=0.0)
    newest = max((tmp_path / "cut").glob("checkpoint-*/*.safetensors"), key=lambda path: json.loads(
        (path.parent / "model.json").read_text())["extra"]["record"]["step"])
    newest.write_bytes(newest.read_bytes()[:-9])
    with pytest.warns(DataWarning, match="The checkpoint before it is used"):
        again = run(stream, tmp_path / "cut", recipe, resume=True)
    assert equal(whole, again)


def test_time_that_is_over_stops_a_run_which_may_then_read_more(stream, tmp_path, recipe):
    first = run(stream, tmp_path, recipe, stop_after_minutes=0.0)
    assert not first.finished and first.card["steps"] == 1
    more = run(stream, tmp_path, replace(recipe, tokens=2 * recipe.tokens), resume=True)
    assert more.finished and more.card["steps"] == 2 * recipe.steps


def test_parts_of_a_step_add_up_to_the_step(stream, tmp_path, recipe):
    """Chance draws by row, and the loss is a mean over all places, so cutting a step changes
    rounding only.
    """
    weights = [
        dict(
            run(stream, tmp_path / str(n),
                replace(recipe, accumulate=n, whole_words=True,
                        next_sentence=True)).model.state_dict()) for n in (1, 3)
    ]
    for name, value in weights[0].items():
        assert (value - weights[1][name]).abs().max() <= 1e-4, name


WORKER = """
import json, sys, torch
torch.set_num_threads(1)
from lessons_lib.contextual import Recipe, TokenStream, pretrain
recipe = Recipe(**json.loads(sys.argv[3]))
pretrain(TokenStream.load(sys.argv[1]), sys.argv[2], recipe=recipe, device="cpu", progress=False)
"""


@pytest.mark.slow
def test_two_processes_end_where_one_does(stream, tmp_path, recipe):
    recipe = replace(recipe, batch=8, whole_words=True, next_sentence=True)
    alone = run(stream, tmp_path / "one", recipe)
    stream.save(tmp_path / "tokens")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable, "-c", WORKER,
        str(tmp_path / "tokens"),
        str(tmp_path / "two"),
        json.dumps(asdict(recipe))
    ]
    shared = (os.environ | {
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2",
        "PYTHONPATH": str(PROJECT)
    })
    workers = ([
        subprocess.Popen(command, env=shared | {"RANK": str(rank)}, cwd=PROJECT,
                         stderr=subprocess.PIPE, text=True) for rank in (0, 1)
    ])
    errors = [worker.communicate(timeout=120)[1] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0], errors
    together, _ = load_bert(tmp_path / "two")
    single, _ = load_bert(tmp_path / "one")
    for name, value in single.state_dict().items():
        assert (value - together.state_dict()[name]).abs().max() <= 1e-3, name
    ours = alone.card["loss"]
    theirs = json.loads((tmp_path / "two" / "card.json").read_text())["loss"]
    assert np.abs(np.array(ours) - np.array(theirs)).max() <= 2e-4


def test_global_chance_is_left_alone(stream, tmp_path, recipe):
    before = torch.get_rng_state()
    run(stream, tmp_path, replace(recipe, dropout=0.3))
    assert torch.equal(before, torch.get_rng_state())


def test_bfloat16_trains_too(stream, tmp_path, recipe):
    found = run(stream, tmp_path, replace(recipe, precision="bfloat16"))
    assert found.card["loss"][-1][1] < found.card["loss"][0][1]
    assert found.model.bert.pooler["dense"].weight.dtype == torch.float32


def test_a_run_is_not_written_over_nor_made_up(stream, tmp_path, recipe):
    with pytest.raises(ValueError, match="holds no run to go on with"):
        run(stream, tmp_path, recipe, resume=True)
    run(stream, tmp_path, recipe, stop_after_minutes=0.0)
    with pytest.raises(ValueError, match="holds a run already"):
        run(stream, tmp_path, recipe)
    with pytest.raises(ValueError, match=r"another recipe: seed=4 \(there: 0\)"):
        run(stream, tmp_path, replace(recipe, seed=4), resume=True)
    other = replace(stream, ids=np.roll(stream.ids, 1))
    with pytest.raises(ValueError, match="another text"):
        run(other, tmp_path, recipe, resume=True)


def test_E22_a_loss_that_is_not_finite_is_told_and_not_kept(stream, tmp_path, recipe, monkeypatch):
    monkeypatch.setattr(Recipe, "rate", lambda self, step: float("nan"))
    with pytest.raises(TrainingDiverged, match="Use a smaller rate"):
        run(stream, tmp_path, recipe)
    assert not list(tmp_path.glob("*"))


def test_E21_memory_that_is_too_small_is_told_with_what_helps(stream, tmp_path, recipe,
                                                              monkeypatch):
    def too_much(self, number):
        raise torch.OutOfMemoryError("tried to allocate 9 GiB. GPU 0 has less")

    monkeypatch.setattr(training.Training, "_backward", too_much)
    with pytest.raises(
            torch.OutOfMemoryError,
            match=r"4 rows of 32 at a time do not fit: tried to allocate 9 GiB\..*accumulate=2"):
        run(stream, tmp_path, recipe)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_E20_a_gpu_that_is_not_there_is_told_before_work_begins(stream, tmp_path, recipe):
    with pytest.raises(BackendUnavailable, match="device='cpu'"):
        pretrain(stream, tmp_path, recipe=recipe, device="cuda", progress=False)


def test_processes_share_rows_without_gap_or_overlap():
    device = torch.device("cpu")
    parts = [Ranks(rank, 3, device).share(12) for rank in range(3)]
    assert [i for part in parts for i in range(12)[part]] == list(range(12))


# ----------------------------------------------------------- what is wrong is said before any work


def test_what_is_no_text_and_no_recipe_is_refused(stream, tmp_path, recipe):
    with pytest.raises(TypeError, match="stream='text' is str; expected a TokenStream"):
        run("text", tmp_path, recipe)
    for wrong in (5, {}, None):
        with pytest.raises(TypeError, match="recipe=.*expected a Recipe, or the name of one: "
                                            "smoke, laptop, gpu"):
            run(stream, tmp_path, wrong)
    with pytest.raises(TypeError, match="resume='no' is str"):
        run(stream, tmp_path, recipe, resume="no")
    with pytest.raises(ValueError, match="dim=1 is out of range"):
        run(stream, tmp_path, replace(recipe, dim=1, heads=1))


def test_a_model_that_is_no_run_is_not_written_over(stream, tmp_path, recipe, bert_folder):
    import shutil

    folder = shutil.copytree(bert_folder, tmp_path / "model")
    before = (folder / "model.safetensors").read_bytes()
    with pytest.raises(FileExistsError, match="holds a model already"):
        run(stream, folder, recipe)
    assert (folder / "model.safetensors").read_bytes() == before


def test_F16_a_folder_that_cannot_be_written_is_noticed_before_the_first_step(
        stream, tmp_path, recipe, monkeypatch):
    monkeypatch.setattr(training.Training, "step", lambda self: pytest.fail("a step was done"))
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError, match="cannot write .*file"):
        run(stream, tmp_path / "file" / "below", recipe)


@pytest.mark.parametrize("damage", [
    lambda card: b"", lambda card: card[:-20],
    lambda card: card.replace(b'"step": 5', b'"step": "5"')
])
def test_a_damaged_card_of_the_newest_checkpoint_is_told(stream, tmp_path, recipe, monkeypatch,
                                                         damage):
    whole = run(stream, tmp_path / "whole", recipe)
    with monkeypatch.context() as patch:
        stop_after(patch, 5, lambda: os.kill(os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            run(stream, tmp_path / "cut", recipe, checkpoint_minutes=0.0)
    newest = max((tmp_path / "cut").glob("checkpoint-*/model.json"),
                 key=lambda path: json.loads(path.read_text())["extra"]["record"]["step"])
    newest.write_bytes(damage(newest.read_bytes()))
    with pytest.warns(DataWarning, match="The checkpoint before it is used: checkpoint-[ab], step "
                                         "4") as heard:
        again = run(stream, tmp_path / "cut", recipe, resume=True)
    assert len(heard) == 1 and equal(whole, again)


def test_P05_a_rate_that_makes_huge_finite_numbers_diverges(stream, tmp_path, recipe):
    with pytest.raises(TrainingDiverged,
                       match=r"the mean loss is .* \(guessing: 4\.\d+\).*learning_rate=10"):
        run(stream, tmp_path, replace(recipe, learning_rate=30.0, dim=32, tokens=4 * 32 * 60))
    assert not list(tmp_path.glob("*"))


def test_weights_beyond_half_precision_are_not_saved_as_infinity(pieces, tmp_path):
    from lessons_lib.contextual import BertSize, LessonBertForPretraining, save_bert

    model = LessonBertForPretraining(BertSize(len(pieces), dim=8, layers=1, heads=2,
                                              feed_forward=8))
    model.bert.embeddings.word_embeddings.weight.data[7, 3] = 1e6
    with pytest.raises(TrainingDiverged, match="1 weights are beyond the 65,504 of float16"):
        save_bert(tmp_path, model, pieces, card={})
    assert not list(tmp_path.glob("*"))


def test_a_tokenizer_or_a_limit_that_is_none_is_refused_at_once(texts, pieces):
    from lessons_lib.contextual import prepare_tokens

    with pytest.raises(TypeError, match="tokenizer='x' is str; expected a WordPiece"):
        prepare_tokens(texts, "x")
    with pytest.raises(ValueError, match="max_tokens=0"):
        prepare_tokens((pytest.fail("a text was read") for _ in "x"), pieces, max_tokens=0)
