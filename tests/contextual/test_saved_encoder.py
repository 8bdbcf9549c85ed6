"""An encoder in a folder: it comes back as it was, whatever it pools by, and is never half of
another one.
"""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.contextual import load_encoder
from lessons_lib.contextual.pooling import POOLINGS
from lessons_lib.contextual.folders import save_encoder
from lessons_lib.core import DamagedFile, read_json, write_json


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


def test_a_pooler_that_nobody_trained_is_not_written(bert_folder, tmp_path):
    from lessons_lib.contextual import ContextualEncoder
    from lessons_lib.contextual.readers import BertReader

    encoder = load_encoder(bert_folder, device="cpu")
    bare = ContextualEncoder(BertReader(encoder.reader.model, has_pooler=False), encoder.tokenizer,
                             name="bare")
    save_encoder(tmp_path, bare, card={})
    with pytest.raises(ValueError, match="has no pooler"):
        load_encoder(tmp_path, pooling="pooler", device="cpu").encode(["a"])


def test_a_changed_file_is_noticed_and_a_save_that_was_cut_off_is_not_taken_for_one(
        bert_folder, tmp_path, sentences):
    encoder = load_encoder(bert_folder, device="cpu")
    save_encoder(tmp_path, encoder, card={"number": 1})
    first = read_json(tmp_path / "card.json")
    save_encoder(tmp_path, encoder, card={"number": 2})
    assert read_json(tmp_path / "card.json")["number"] == 2 and not list(tmp_path.glob(".draft*"))
    config = read_json(tmp_path / "config.json")
    write_json(tmp_path / "config.json", config | {"note": "changed"})
    with pytest.raises(DamagedFile, match=r"config\.json was changed"):
        load_encoder(tmp_path, device="cpu")
    from lessons_lib.core import sha256

    # killed while it wrote
    write_json(tmp_path / "card.json",
               first | {"becomes": {"config.json": sha256(tmp_path / "config.json")}})
    assert np.array_equal(
        load_encoder(tmp_path, device="cpu").encode(sentences[:2]), encoder.encode(sentences[:2]))


def test_a_name_that_is_no_pooling_is_refused(bert_folder, tmp_path):
    save_encoder(tmp_path, load_encoder(bert_folder, pooling="first-last", device="cpu"), card={})
    path = tmp_path / "1_Pooling" / "config.json"
    write_json(path, {name: "middle" if value == "first-last" else value
                      for name, value in read_json(path).items()})
    with pytest.raises(ValueError, match="asks for 'middle'"):
        load_encoder(tmp_path, device="cpu")
