"""To sentence-transformers and back, number for number; and into a folder of its layout, from which
an encoder comes back as it was and is never half of another one.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

from lessons_lib.contextual import ContextualEncoder, load_encoder
from lessons_lib.contextual.folders import save_encoder
from lessons_lib.contextual.pooling import POOLINGS
from lessons_lib.contextual.readers import BertReader
from lessons_lib.core import BackendUnavailable, DamagedFile, read_json, sha256, write_json


@pytest.fixture
def package():
    return pytest.importorskip("sentence_transformers", reason="an optional package")


def apart(a, b):
    return float((np.linalg.norm(a - b, axis=1) / np.linalg.norm(b, axis=1)).max())


@pytest.mark.parametrize("options", [{}, {"pooling": "cls"}, {"pooling": "max"},
                                     {"pooling": "mean", "layer": 2}, {"normalize": True}])
def test_there_and_back_the_vectors_are_equal(package, bert_folder, sentences, options):
    ours = load_encoder(bert_folder, device="cpu", **options)
    theirs = ours.to_sentence_transformers()
    expected = ours.encode(sentences)
    assert apart(theirs.encode(sentences, convert_to_numpy=True), expected) <= 1e-6
    back = ContextualEncoder.from_sentence_transformers(theirs, name="back")
    assert back.name == "back" and back.reader.kind == "bert" and back.longest == 64
    assert apart(back.encode(sentences), expected) <= 1e-6


def test_a_folder_that_it_saved_is_read(package, bert_folder, sentences, tmp_path):
    theirs = load_encoder(bert_folder, device="cpu", pooling="cls",
                          normalize=True).to_sentence_transformers()
    theirs.save(str(tmp_path / "saved"))
    ours = load_encoder(tmp_path / "saved", device="cpu")
    assert ours.pooling == "cls" and ours.normalize
    assert apart(ours.encode(sentences), theirs.encode(sentences)) <= 1e-6


def test_other_modules_are_refused(package, bert_folder):
    theirs = load_encoder(bert_folder, device="cpu").to_sentence_transformers()
    from sentence_transformers.sentence_transformer.modules import Dense

    theirs.append(Dense(24, 8))
    with pytest.raises(ValueError, match="Transformer, Pooling, Dense"):
        ContextualEncoder.from_sentence_transformers(theirs)


def test_without_the_package_its_command_is_said(bert_folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(BackendUnavailable, match="pip install sentence-transformers"):
        load_encoder(bert_folder, device="cpu").to_sentence_transformers()


@pytest.mark.parametrize("pooling", [*(name for name in POOLINGS if name != "last-4"), "last-3"])
@pytest.mark.parametrize("normalize", [False, True])
def test_a_saved_encoder_comes_back(bert_folder, tmp_path, sentences, pooling, normalize):
    encoder = load_encoder(bert_folder, pooling=pooling, normalize=normalize, max_length=20,
                           device="cpu", truncation="warn")
    save_encoder(tmp_path / "e", encoder, card={"name": "mine"})
    again = load_encoder(tmp_path / "e", device="cpu")
    assert again.normalize is normalize and again.longest == 20 and again.card["name"] == "mine"
    assert (again.pooling == pooling) or {again.pooling, pooling} == {"mean", "last"}
    assert np.array_equal(again.encode(sentences[:5]), encoder.encode(sentences[:5]))


@pytest.mark.parametrize("compact", [False, True])
def test_who_may_read_one_file_of_a_model_may_read_all(encoder, tmp_path, compact):
    save_encoder(tmp_path, encoder, card={}, compact=compact)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 3 and len({path.stat().st_mode for path in files}) == 1


def test_a_pooler_that_nobody_trained_is_not_written(bert_folder, tmp_path):
    encoder = load_encoder(bert_folder, device="cpu")
    save_encoder(tmp_path, ContextualEncoder(BertReader(encoder.reader.model, has_pooler=False),
                                             encoder.tokenizer, name="bare"), card={})
    with pytest.raises(ValueError, match="has no pooler"):
        load_encoder(tmp_path, pooling="pooler", device="cpu")


def test_a_changed_file_is_noticed_and_a_save_that_was_cut_off_is_not_taken_for_one(
        bert_folder, tmp_path, sentences):
    encoder = load_encoder(bert_folder, device="cpu")
    save_encoder(tmp_path, encoder, card={"number": 1})
    card, config = tmp_path / "card.json", tmp_path / "config.json"
    first = read_json(card)
    save_encoder(tmp_path, encoder, card={"number": 2})
    assert read_json(card)["number"] == 2 and not list(tmp_path.glob(".draft*"))
    write_json(config, read_json(config) | {"note": "changed"})
    with pytest.raises(DamagedFile, match=r"config\.json was (cut|changed)"):
        load_encoder(tmp_path, device="cpu")
    first.pop("sums")                                  # as a former version left it when killed
    write_json(card, first | {"becomes": {"config.json": sha256(config)}})
    assert np.array_equal(load_encoder(tmp_path, device="cpu").encode(sentences[:2]),
                          encoder.encode(sentences[:2]))
