"""Pre-training: it learns, stops anywhere, goes on to the same bits, and can be shared."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from lessons_lib.contextual import (Recipe, WordPiece, prepare_tokens, pretrain, pretraining,
                                    training)
from lessons_lib.contextual.film import load_film
from lessons_lib.contextual.ranks import Ranks
from lessons_lib.contextual.saved_bert import load_bert, save_bert
from lessons_lib.core import PROJECT, BackendUnavailable, DataWarning, TrainingDiverged
from lessons_lib.vectors import WordVectors


def run(stream, out, recipe, **options):
    return pretrain(stream, out, recipe=recipe, device="cpu", progress=False, **options)


@pytest.mark.parametrize("dim", [6, 9])
def test_a_word_table_can_begin_as_word_vectors(dim):
    rng = np.random.default_rng(0)
    vectors = WordVectors(["cat", "dog", "sun", "moon"], rng.normal(size=(4, 6)))
    subwords = ["[PAD]", "dog", "##s", "moon", "cat", "tree"]
    table = torch.from_numpy(rng.normal(size=(6, dim)))
    before = table.clone()
    training.start_from(table, subwords, vectors)
    known, others = [1, 3, 4], [0, 2, 5]
    assert torch.equal(table[others], before[others])
    assert torch.allclose(table.norm(dim=1), before.norm(dim=1))
    centred = vectors[["dog", "moon", "cat"]]
    centred = centred - centred.mean(axis=0)
    gram, ours = centred @ centred.T, (table[known] @ table[known].T).numpy()
    scale = [np.sqrt(np.outer(g.diagonal(), g.diagonal())) for g in (gram, ours)]
    assert np.allclose(gram / scale[0], ours / scale[1], atol=1e-6)


def test_a_narrow_table_begins_as_a_shadow_of_wider_vectors():
    vectors = WordVectors(["cat", "dog"], [[1.0, 2, 3, 4], [4.0, 3, 2, 1]])
    table = torch.randn(2, 3)
    training.start_from(table, ["cat", "dog"], vectors)
    assert torch.allclose(F.cosine_similarity(table[0], table[1], dim=0), torch.tensor(-1.0))


def equal(first, second) -> bool:
    return all(torch.equal(a, b) for a, b in zip(first.model.state_dict().values(),
                                                 second.model.state_dict().values(), strict=True))


def ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def stop_after(monkeypatch, steps: int, how=ctrl_c) -> None:
    """Do something once, when ``steps`` steps of this run are done."""
    plain, done = training.Training.step, []

    def step(self):
        plain(self)
        done.append(1)
        if len(done) == steps:
            how()

    monkeypatch.setattr(training.Training, "step", step)


def interrupted(monkeypatch, steps, *arguments, **options) -> None:
    """A run that Ctrl-C ends."""
    with monkeypatch.context() as patch:
        stop_after(patch, steps)
        with pytest.raises(KeyboardInterrupt):
            run(*arguments, **options)


def newest(folder, pattern):
    """The file of the newest checkpoint."""
    return max(folder.glob(pattern), key=lambda path: json.loads(
        (path.parent / "model.json").read_text())["extra"]["record"]["step"])


@pytest.fixture(scope="module")
def whole(stream, recipe, tmp_path_factory):
    """What a run gives that nobody stopped."""
    return run(stream, tmp_path_factory.mktemp("whole"), recipe)


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


OPTIONS = [{}, {"dropout": 0.2, "dropout_from": 0.5, "next_sentence": True, "whole_words": True,
                "accumulate": 2}]


@pytest.mark.parametrize("more", OPTIONS, ids=["plain", "with everything"])
def test_a_run_stopped_by_ctrl_c_goes_on_to_the_same_bits(stream, tmp_path, recipe, monkeypatch,
                                                          more):
    recipe = replace(recipe, **more)
    whole = run(stream, tmp_path / "whole", recipe)
    interrupted(monkeypatch, 5, stream, tmp_path / "cut", recipe)
    card = json.loads((tmp_path / "cut" / "card.json").read_text())
    assert card["steps"] == 5
    again = run(stream, tmp_path / "cut", recipe, resume=True)
    assert equal(whole, again) and again.finished
    assert again.card | {"seconds": 0} == whole.card | {"seconds": 0}
    films = [(tmp_path / name / "film.safetensors").read_bytes() for name in ("cut", "whole")]
    assert films[0] == films[1]


def test_a_run_begins_with_the_weights_of_another_and_goes_on_without_them(
        stream, tmp_path, recipe, monkeypatch):
    first = run(stream, tmp_path / "first", recipe)
    saved, _ = load_bert(tmp_path / "first")
    more = replace(recipe, seed=1, dropout=0.1)
    begun = training.Training(more, stream, Ranks(0, 1, torch.device("cpu")))
    pretraining._begin_with(begun, tmp_path / "first")
    assert all(torch.equal(a, b) for a, b in zip(begun.model.state_dict().values(),
                                                 saved.state_dict().values(), strict=True))
    whole = run(stream, tmp_path / "whole", more, start=tmp_path / "first")
    card, before = whole.card, first.card
    assert card["data"]["start"]["tokens"] == before["tokens"]
    assert card["tokens"] == 2 * before["tokens"]
    for name in ("moments", "loss"):                    # the story goes on where it stood
        assert card[name][:len(before[name])] == before[name] != card[name]
    tokens = load_film(tmp_path / "whole").tokens
    assert (np.diff(tokens) > 0).all() and tokens[-1] == card["tokens"]
    assert load_film(tmp_path / "whole").figures["held_out_loss"][-1] < before["held_out_loss"]
    assert not equal(whole, run(stream, tmp_path / "anew", more))
    interrupted(monkeypatch, 5, stream, tmp_path / "cut", more, start=tmp_path / "first")
    shutil.rmtree(tmp_path / "first")
    again = run(stream, tmp_path / "cut", more, resume=True)
    assert equal(whole, again) and again.card["data"] == whole.card["data"]
    third = run(stream, tmp_path / "third", more, start=tmp_path / "whole")
    start = third.card["data"]["start"]
    assert start["tokens"] == card["tokens"] and start["start"] == card["data"]["start"]


def test_the_story_of_another_text_is_not_told_on(stream, texts, pieces, tmp_path, recipe):
    first = run(stream, tmp_path / "first", recipe)
    other = prepare_tokens(texts[:-1], pieces, held_out=0.2)
    card = run(other, tmp_path / "other", recipe, start=tmp_path / "first").card
    assert card["tokens"] == 2 * first.card["tokens"]
    assert card["moments"][0]["tokens"] == first.card["tokens"] < card["loss"][0][0]
    assert len(load_film(tmp_path / "other")) == len(card["moments"])


def test_a_model_of_other_tokens_or_sizes_is_no_beginning(stream, tmp_path, recipe, small_bert,
                                                          pieces):
    save_bert(tmp_path / "wide", small_bert(), pieces, card={})
    with pytest.raises(ValueError, match=r"dim=24.*the recipe asks for a.*dim=16"):
        run(stream, tmp_path / "out", recipe, start=tmp_path / "wide")
    other = WordPiece([*pieces.pieces[:-1], "zzz"])
    save_bert(tmp_path / "other", small_bert(), other, card={})
    with pytest.raises(ValueError, match="other tokens than the numbered text"):
        run(stream, tmp_path / "out", recipe, start=tmp_path / "other")
    with pytest.raises(FileNotFoundError):
        run(stream, tmp_path / "out", recipe, start=tmp_path / "nowhere")


def test_milestones_are_models_that_load(stream, tmp_path, recipe, monkeypatch):
    monkeypatch.setattr("lessons_lib.contextual.pretraining.doublings", lambda recipe: [2, 5])
    monkeypatch.setattr("lessons_lib.contextual.training.doublings", lambda recipe: [2, 5])
    result = run(stream, tmp_path, recipe, milestones=True)
    folders = sorted((tmp_path / "milestones").iterdir())
    assert [int(folder.name) for folder in folders] == [n * recipe.tokens_per_step for n in (2, 5)]
    early, last = load_bert(folders[0])[0].state_dict(), result.model.state_dict()
    assert not any(torch.equal(early[name], last[name]) for name in last if "weight" in name)


def test_a_run_whose_process_was_killed_goes_on_from_its_checkpoint(stream, tmp_path, recipe, whole,
                                                                    monkeypatch):
    def killed():
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        stop_after(patch, 6, killed)
        with pytest.raises(RuntimeError, match="killed"):
            run(stream, tmp_path, recipe, checkpoint_minutes=0.0)
    assert not (tmp_path / "card.json").exists()
    assert equal(whole, run(stream, tmp_path, recipe, resume=True))


@pytest.mark.parametrize(("pattern", "damage"), [
    ("*.safetensors", lambda data: data[:-9]), ("model.json", lambda card: b""),
    ("model.json", lambda card: card[:-20]),
    ("model.json", lambda card: card.replace(b'"step": 5', b'"step": "5"'))])
def test_a_damaged_checkpoint_gives_way_to_the_one_before(stream, tmp_path, recipe, whole,
                                                          monkeypatch, pattern, damage):
    interrupted(monkeypatch, 5, stream, tmp_path, recipe, checkpoint_minutes=0.0)
    file = newest(tmp_path, f"checkpoint-*/{pattern}")
    file.write_bytes(damage(file.read_bytes()))
    with pytest.warns(DataWarning, match="The state before it is used: checkpoint-[ab], step "
                                         "4") as heard:
        again = run(stream, tmp_path, recipe, resume=True)
    assert len(heard) == 1 and equal(whole, again)


def test_time_that_is_over_stops_a_run_which_may_then_read_more(stream, tmp_path, recipe):
    first = run(stream, tmp_path, recipe, stop_after_minutes=0.0)
    assert not first.finished and first.card["steps"] == 1
    more = run(stream, tmp_path, replace(recipe, tokens=2 * recipe.tokens), resume=True)
    assert more.finished and more.card["steps"] == 2 * recipe.steps


def test_parts_of_a_step_add_up_to_the_step(stream, tmp_path, recipe):
    """Chance draws by row, and the loss is a mean over all places, so cutting a step changes
    rounding only.
    """
    weights = [run(stream, tmp_path / str(n), replace(
        recipe, accumulate=n, whole_words=True, next_sentence=True)).model.state_dict()
               for n in (1, 3)]
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
    command = [sys.executable, "-c", WORKER, str(tmp_path / "tokens"), str(tmp_path / "two"),
               json.dumps(asdict(recipe))]
    shared = (os.environ | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2",
                            "PYTHONPATH": str(PROJECT)})
    workers = ([subprocess.Popen(command, env=shared | {"RANK": str(rank)}, cwd=PROJECT,
                                 stderr=subprocess.PIPE, text=True) for rank in (0, 1)])
    errors = [worker.communicate(timeout=120)[1] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0], errors
    together, _ = load_bert(tmp_path / "two")
    single, _ = load_bert(tmp_path / "one")
    for name, value in single.state_dict().items():
        assert (value - together.state_dict()[name]).abs().max() <= 1e-3, name
    ours = alone.card["loss"]
    theirs = json.loads((tmp_path / "two" / "card.json").read_text())["loss"]
    assert np.abs(np.array(ours) - np.array(theirs)).max() <= 2e-4


def test_bfloat16_trains_too_and_global_chance_is_left_alone(stream, tmp_path, recipe):
    before = torch.get_rng_state()
    found = run(stream, tmp_path, replace(recipe, precision="bfloat16", dropout=0.1))
    assert torch.equal(before, torch.get_rng_state())
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


def test_a_batch_that_cannot_fit_is_refused_before_a_row_is_read(stream, tmp_path, recipe,
                                                                 monkeypatch):
    monkeypatch.setenv("LESSONS_FREE_MEMORY", "50000000")
    with pytest.raises(MemoryError, match=r"1,000,000,000 rows.* Lower batch=1000000000 or row="):
        pretrain(stream, tmp_path / "m", recipe=replace(recipe, batch=10**9), progress=False)
    assert not any((tmp_path / "m").iterdir())


def test_E21_memory_that_is_too_small_is_told_with_what_helps(stream, tmp_path, recipe,
                                                              monkeypatch):
    def too_much(self, number):
        raise torch.OutOfMemoryError("tried to allocate 9 GiB. GPU 0 has less")

    monkeypatch.setattr(training.Training, "_backward", too_much)
    with pytest.raises(torch.OutOfMemoryError, match=r"4 rows of 32 at a time do not fit: tried to "
                                                     r"allocate 9 GiB\..*accumulate=2"):
        run(stream, tmp_path, recipe)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_E20_a_gpu_that_is_not_there_is_told_before_work_begins(stream, tmp_path, recipe):
    with pytest.raises(BackendUnavailable, match="device='cpu'"):
        pretrain(stream, tmp_path, recipe=recipe, device="cuda", progress=False)


def test_processes_share_rows_without_gap_or_overlap():
    device = torch.device("cpu")
    parts = [Ranks(rank, 3, device).share(12) for rank in range(3)]
    assert [i for part in parts for i in range(12)[part]] == list(range(12))


def test_F16_a_model_is_not_written_over_and_a_folder_that_cannot_be_written_is_noticed_at_once(
        stream, tmp_path, recipe, bert_folder, monkeypatch):
    monkeypatch.setattr(training.Training, "step", lambda self: pytest.fail("a step was done"))
    folder = shutil.copytree(bert_folder, tmp_path / "model")
    before = (folder / "model.safetensors").read_bytes()
    with pytest.raises(FileExistsError, match="holds a model already"):
        run(stream, folder, recipe)
    assert (folder / "model.safetensors").read_bytes() == before
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError, match="cannot write .*file"):
        run(stream, tmp_path / "file" / "below", recipe)


def test_E22_P05_losses_that_are_huge_or_not_finite_are_told_and_not_kept(stream, tmp_path, recipe,
                                                                          monkeypatch):
    with pytest.raises(TrainingDiverged,
                       match=r"the mean loss is .* \(guessing: 4\.\d+\).*learning_rate=10"):
        run(stream, tmp_path, replace(recipe, learning_rate=30.0, dim=32, tokens=4 * 32 * 60))
    monkeypatch.setattr(Recipe, "rate", lambda self, step: float("nan"))
    with pytest.raises(TrainingDiverged, match="Use a smaller rate"):
        run(stream, tmp_path, recipe)
    assert not list(tmp_path.glob("*"))


def test_weights_beyond_half_precision_are_not_saved_as_infinity(small_bert, pieces, tmp_path):
    model = small_bert(layers=1)
    model.bert.embeddings.word_embeddings.weight.data[7, 3] = 1e6
    with pytest.raises(TrainingDiverged, match="1 weights are beyond the 65,504 of float16"):
        save_bert(tmp_path, model, pieces, card={})
    assert not list(tmp_path.glob("*"))
