"""Folders of sentence-transformers, out and in: the same vectors, and no code of theirs is run."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import yaml

from lessons_lib.contextual import load_encoder
from lessons_lib.contextual.hub_folder import (load_sentence_transformer, needs_package,
                                               write_sentence_transformer)
from lessons_lib.core import BackendUnavailable, DamagedFile, read_json, write_json
from lessons_lib.evaluation import STSResult

SCORES = {"toy": STSResult("toy", "test", "all", 0.54321, 0.5, (0.4, 0.6), None, -1.0, 0.1, 20, 1,
                           24, "tiny")}


@pytest.fixture
def package():
    return pytest.importorskip("sentence_transformers", reason="an optional package")


@pytest.fixture
def dense_folder(package, bert_folder, tmp_path):
    """A folder with a module that only the package knows, and the model of it."""
    from sentence_transformers.sentence_transformer.modules import Dense

    model = load_encoder(bert_folder, device="cpu").to_sentence_transformers()
    model.append(Dense(24, 8))
    model.save(str(tmp_path / "dense"))
    return tmp_path / "dense", model


@pytest.mark.parametrize("options", [{}, {"pooling": "cls", "normalize": True},
                                     {"pooling": "max", "max_length": 12}])
@pytest.mark.filterwarnings("ignore::lessons_lib.core.DataWarning")
def test_the_package_loads_what_was_written(package, bert_folder, sentences, tmp_path, options):
    ours = load_encoder(bert_folder, device="cpu", **options)
    write_sentence_transformer(ours, tmp_path, SCORES)
    theirs = package.SentenceTransformer(str(tmp_path), device="cpu", local_files_only=True)
    assert np.abs(theirs.encode(sentences) - ours.encode(sentences)).max() <= 1e-5
    again = load_encoder(tmp_path, device="cpu")
    assert np.array_equal(again.encode(sentences), ours.encode(sentences))
    assert not needs_package(tmp_path)


def test_the_card_holds_the_scores_where_the_hub_reads_them(encoder, tmp_path):
    write_sentence_transformer(encoder, tmp_path, SCORES)
    _, front, text = (tmp_path / "README.md").read_text("utf-8").split("---\n", 2)
    result = yaml.safe_load(front)["model-index"][0]["results"][0]
    assert result["dataset"]["name"] == "toy" and result["metrics"][0]["value"] == 0.5432
    assert "| toy | 20 | 54.32 | 40.0 to 60.0 |" in text


@pytest.mark.parametrize("options", [{"pooling": "first-last"}, {"pooling": "mean", "layer": 1},
                                     {"special_tokens": False}])
def test_what_has_no_counterpart_is_refused_and_nothing_is_written(bert_folder, tmp_path, options):
    with pytest.raises(ValueError, match="no counterpart|layer=1"):
        write_sentence_transformer(load_encoder(bert_folder, device="cpu", **options), tmp_path, {})
    assert not any(tmp_path.iterdir())


def test_what_only_the_package_can_read_it_reads(dense_folder, sentences):
    folder, model = dense_folder
    assert needs_package(folder)
    theirs = load_sentence_transformer(folder)
    assert (theirs.name, theirs.dim) == ("dense", 8)
    vectors = theirs.encode(sentences)
    assert vectors.dtype == np.float32 and np.abs(vectors - model.encode(sentences)).max() <= 1e-6
    assert theirs.encode([]).shape == (0, 8)


def test_a_prompt_is_the_packages_business(package, encoder, sentences, tmp_path):
    write_sentence_transformer(encoder, tmp_path, {})
    file = tmp_path / "config_sentence_transformers.json"
    write_json(file, read_json(file) | {"prompts": {"q": "sea "}, "default_prompt_name": "q"})
    assert needs_package(tmp_path)
    theirs = load_sentence_transformer(tmp_path).encode(sentences[:3])
    assert np.abs(theirs - encoder.encode(["sea " + text for text in sentences[:3]])).max() <= 1e-5


@pytest.mark.parametrize(("spoil", "error", "words"), [
    (lambda f: write_json(f / "modules.json", [{"type": "evil.Module", "path": ""}]), ValueError,
     "evil.Module"),
    (lambda f: write_json(f / "modules.json", [{"path": ""}]), DamagedFile, "modules.json"),
    (lambda f: (f / "3_Dense").mkdir() or (f / "3_Dense" / "pytorch_model.bin").write_bytes(b"x"),
     ValueError, "can run code"),
    (lambda f: (f / "model.safetensors").write_bytes(b"cut"), DamagedFile, "cannot read it")])
def test_folders_that_are_damaged_or_run_code_are_not_read(dense_folder, spoil, error, words):
    folder, _ = dense_folder
    spoil(folder)
    with pytest.raises(error, match=words):
        load_sentence_transformer(folder)


def test_without_the_package_its_command_is_said(encoder, tmp_path, monkeypatch):
    write_sentence_transformer(encoder, tmp_path, {})
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(BackendUnavailable, match="pip install sentence-transformers"):
        load_sentence_transformer(tmp_path)
