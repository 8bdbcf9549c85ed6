"""Trainers learn on a copy, keep the best, stop anywhere and go on to the same bits."""

from __future__ import annotations

import os
import shutil
import signal

import numpy as np
import pytest
import torch

from lessons_lib.contextual import load_encoder
from lessons_lib.contextual.numbering import load_subwords
from lessons_lib.contrastive import AutoEncoding, CoSent, Matryoshka, SBert, SimCse
from lessons_lib.contrastive.training import Training
from lessons_lib.core import DamagedFile, DataWarning, Encoder, NotFittedError, TrainingDiverged

FAST = {"batch_size": 8, "learning_rate": 3e-3, "device": "cpu"}


def weights(encoder) -> dict[str, torch.Tensor]:
    return encoder.reader.model.state_dict()


def same(first, second) -> bool:
    return all(torch.equal(a, b) for a, b in zip(weights(first).values(), weights(second).values(),
                                                 strict=True))


def stop_after(monkeypatch, steps: int) -> None:
    """Ctrl-C in the middle of a run."""
    plain, done = Training.step, []

    def step(self):
        plain(self)
        done.append(1)
        if len(done) == steps:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Training, "step", step)


def interrupted(monkeypatch, steps, trainer, *data) -> None:
    """A fit that Ctrl-C ends."""
    with monkeypatch.context() as patch:
        stop_after(patch, steps)
        with pytest.raises(KeyboardInterrupt):
            trainer.fit(*data)


def trainers(encoder, texts, pairs):
    """Every objective with its data."""
    third = len(texts) // 3
    triplets = (texts[:third], texts[third : 2 * third], texts[2 * third : 3 * third])
    labelled = (pairs.sentence1, pairs.sentence2, ["ab"[i % 2] for i in range(len(pairs))])
    made = {"simcse": (SimCse, {}, texts),
            "augmented": (SimCse, {"augment": drop_last_word}, texts),
            "supervised": (SimCse, {"supervised": True, "pooling": "cls"}, triplets),
            "softmax": (SBert, {}, labelled), "cosine": (SBert, {"objective": "cosine"}, pairs),
            "triplet": (SBert, {"objective": "triplet"}, triplets), "cosent": (CoSent, {}, pairs),
            "rebuilding": (AutoEncoding, {"head": "fresh"}, texts),
            "nested": (Matryoshka, {"sizes": [16, 4]}, texts)}
    return {name: (method(encoder, steps=5, **options, **FAST), data)
            for name, (method, options, data) in made.items()}


def drop_last_word(text, rng):
    return text.rpartition(" ")[0] if rng.random() < 0.8 else text


KINDS = ["simcse", "augmented", "supervised", "softmax", "cosine", "triplet", "cosent",
         "rebuilding", "nested"]


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_an_encoder_afterwards_and_the_given_one_is_as_it_was(encoder, texts, pairs, kind):
    trainer, data = trainers(encoder, texts, pairs)[kind]
    before = {name: value.clone() for name, value in weights(encoder).items()}
    assert trainer.fit(data) is trainer and isinstance(trainer, Encoder)
    assert trainer.encode(texts[:3]).shape == (3, 16) and trainer.dim == 16
    assert trainer.name.startswith("tiny + ")
    assert all(torch.equal(before[name], value) for name, value in weights(encoder).items())
    assert not encoder.reader.model.training
    assert not np.allclose(trainer.encode(texts), encoder.encode(texts), atol=1e-3)
    assert not any(p.requires_grad for p in trainer.encoder_.reader.model.parameters())


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_stopped_by_ctrl_c_and_saved_goes_on_to_the_same_bits(encoder, texts, pairs, tmp_path,
                                                                    monkeypatch, kind):
    trainer, data = trainers(encoder, texts, pairs)[kind]
    trainer.set_params(evaluate_every=2)
    whole = trainer.fit(data, pairs).encoder_
    history = trainer.history_
    interrupted(monkeypatch, 3, trainer, data, pairs)
    assert trainer.n_steps_ == 3
    trainer.save(tmp_path / "run")
    again = type(trainer).load(tmp_path / "run")
    if trainer.get_params().get("augment"):
        with pytest.raises(ValueError, match=r"set_params\(augment"):
            again.resume(data, pairs)
        again.set_params(augment=drop_last_word)
    assert same(trainer.encoder_, again.encoder_) and again.n_steps_ == 3
    again.resume(data, pairs)
    assert same(whole, again.encoder_) and again.n_steps_ == 5
    assert np.array_equal(history.loss, again.history_.loss, equal_nan=True)
    assert np.array_equal(history.dev, again.history_.dev)
    trainer.resume(data, pairs)
    assert same(whole, trainer.encoder_)


@pytest.mark.parametrize("pooling", ["last", "cls", "max", "first-last", "last-2"])
def test_the_saved_folder_is_an_encoder_and_a_trainer(encoder, texts, tmp_path, pooling):
    trainer = SimCse(encoder, pooling=pooling, steps=2, **FAST).fit(texts)
    trainer.save(tmp_path / "model")
    plain, loaded = load_encoder(tmp_path / "model", device="cpu"), SimCse.load(tmp_path / "model")
    assert plain.pooling == pooling and plain.name == "model" and plain.card["steps"] == 2
    assert plain.card["method"] == "SimCSE"
    for other in (plain, loaded):
        assert np.array_equal(other.encode(texts), trainer.encode(texts))
    assert loaded.name == "tiny + SimCSE"
    assert loaded.get_params().keys() == trainer.get_params().keys()
    assert loaded.history_.step.tolist() == trainer.history_.step.tolist()
    assert loaded.resume(texts) is loaded


def test_saving_again_keeps_two_states_and_a_damaged_one_is_left_aside(
        encoder, texts, tmp_path, monkeypatch):
    folder, trainer = tmp_path / "model", SimCse(encoder, steps=6, evaluate_every=2, **FAST)
    stop_after(monkeypatch, 5)
    with pytest.raises(KeyboardInterrupt):
        trainer.fit(texts, on_note=lambda t: t.save(folder))
    assert sorted(path.name for path in folder.glob("run-*")) == ["run-a", "run-b"]
    assert SimCse.load(folder).n_steps_ == 4
    newest = next((folder / "run-b").glob("*.safetensors"))
    newest.write_bytes(newest.read_bytes()[:-1])
    with pytest.warns(DataWarning, match="step 2"):
        older = SimCse.load(folder)
    assert older.n_steps_ == 2
    next((folder / "run-a").glob("*.safetensors")).unlink()
    with pytest.raises(DamagedFile, match="no sound run"):
        SimCse.load(folder)
    trainer.save(folder)
    assert SimCse.load(folder).n_steps_ == 5


def test_a_finished_run_keeps_one_small_state(encoder, texts, tmp_path):
    trainer = SimCse(encoder, steps=4, evaluate_every=2, **FAST).fit(
        texts, on_note=lambda t: t.save(tmp_path / "m"))
    assert len(list((tmp_path / "m").glob("run-*"))) == 1
    assert trainer.history_.step.tolist() == [0, 2, 4]
    size = sum(file.stat().st_size for file in (tmp_path / "m").glob("run-*/*"))
    assert size < (tmp_path / "m" / "model.safetensors").stat().st_size


def test_a_folder_of_another_model_is_not_written_over(encoder, texts, tmp_path):
    trainer = SimCse(encoder, steps=1, **FAST).fit(texts)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(FileExistsError, match="holds a model already"):
        trainer.save(tmp_path)
    trainer.save(tmp_path / "own")
    with pytest.raises(DamagedFile, match=r"SimCse\.load"):
        SBert.load(tmp_path / "own")
    with pytest.raises(DamagedFile, match="load_encoder"):
        SimCse.load(tmp_path)


def test_the_best_dev_score_decides_which_weights_are_kept(encoder, texts, pairs):
    trainer = CoSent(encoder, steps=8, evaluate_every=1, **FAST | {"learning_rate": 0.05}).fit(
        pairs, pairs)
    found = trainer.history_
    assert found.best == 1 + int(np.argmax(found.dev[1:])) and found.kept == "dev"
    assert np.isfinite(found.dev).all()
    notes = []
    trainer.fit(pairs, pairs, on_note=lambda t: notes.append(t.encode(pairs.sentence1)))
    assert np.array_equal(notes[found.best - 1], trainer.encode(pairs.sentence1))
    trainer = CoSent(encoder, steps=60, evaluate_every=1, patience=2,
                     **FAST | {"learning_rate": 0.3}).fit(pairs, pairs)
    assert trainer.n_steps_ < 60 and len(trainer.history_) - 1 - trainer.history_.best == 2


def test_other_poolings_read_the_same_weights(encoder, texts):
    trainer = SimCse(encoder, steps=2, **FAST).fit(texts)
    other = trainer.read_by("first-last")
    assert other.pooling == "first-last" and other.reader is trainer.encoder_.reader
    assert "first-last" in other.name
    assert not np.allclose(other.encode(texts), trainer.encode(texts))


def test_resume_wants_its_own_data_and_settings(encoder, texts, pairs, monkeypatch):
    trainer = SimCse(encoder, steps=4, **FAST)
    with pytest.raises(NotFittedError):
        trainer.resume(texts)
    interrupted(monkeypatch, 2, trainer, texts)
    with pytest.raises(ValueError, match="other examples"):
        trainer.resume(texts[::-1])
    with pytest.raises(ValueError, match="without dev pairs"):
        trainer.resume(texts, pairs)
    with pytest.raises(ValueError, match=r"temperature=0\.1 \(in fit: 0\.05\)"):
        trainer.set_params(temperature=0.1).resume(texts)
    assert trainer.set_params(temperature=0.05, chunk=4).resume(texts).n_steps_ == 4


def test_E22_a_run_that_diverges_says_so_and_keeps_what_was_sound(encoder, texts, monkeypatch):
    trainer, plain = SimCse(encoder, steps=6, evaluate_every=2, **FAST), Training.step

    def step(self):
        plain(self)
        if self.record.step == 3:
            next(self.learner.parameters()).data.fill_(float("nan"))

    monkeypatch.setattr(Training, "step", step)
    with pytest.raises(TrainingDiverged,
                       match=r"before step 4.*those of step 2.*learning_rate=0\.0003"):
        trainer.fit(texts)
    assert np.isfinite(trainer.encode(texts)).all() and trainer._finished


def test_settings_show_in_the_repr_and_in_a_clone(encoder):
    trainer = SimCse(encoder, temperature=0.1, steps=3)
    assert repr(trainer).endswith("steps=3, temperature=0.1)")
    assert trainer.get_params()["temperature"] == 0.1
    assert type(trainer)(**trainer.get_params()).get_params() == trainer.get_params()


@pytest.fixture
def roberta(pieces_folder, tmp_path):
    """A model that is read by transformers, with an untrained pooler."""
    from transformers import RobertaConfig, RobertaModel

    shutil.copytree(pieces_folder, tmp_path / "roberta")
    vocabulary = load_subwords(pieces_folder).highest + 1
    config = RobertaConfig(vocab_size=vocabulary, hidden_size=16, num_hidden_layers=2,
                           num_attention_heads=2, intermediate_size=20, max_position_embeddings=50,
                           pad_token_id=0)
    with torch.random.fork_rng():
        RobertaModel(config).save_pretrained(tmp_path / "roberta")
    return load_encoder(tmp_path / "roberta", device="cpu")


@pytest.mark.parametrize("supervised", [False, True])
def test_models_of_transformers_are_trained_and_saved_too(roberta, texts, tmp_path, monkeypatch,
                                                          supervised):
    data = (texts[:12], texts[12:24], texts[24:36]) if supervised else texts
    trainer = SimCse(roberta, supervised=supervised, pooling="cls", steps=4, evaluate_every=2,
                     **FAST)
    whole = trainer.fit(data).encode(texts)
    assert trainer.encoder_.pooling == ("pooler" if supervised else "cls")
    assert not np.allclose(whole, roberta.encode(texts), atol=1e-3)
    trainer.save(tmp_path / "saved")
    for again in (load_encoder(tmp_path / "saved", device="cpu"), SimCse.load(tmp_path / "saved")):
        assert np.allclose(again.encode(texts), whole, atol=1e-6)
    interrupted(monkeypatch, 3, trainer, data)
    trainer.save(tmp_path / "cut")
    assert np.array_equal(SimCse.load(tmp_path / "cut").resume(data).encode(texts), whole)
