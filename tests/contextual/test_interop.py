"""To sentence-transformers and back, number for number; what has no counterpart is refused."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from lessons_lib.contextual import ContextualEncoder, load_encoder
from lessons_lib.core import BackendUnavailable


@pytest.fixture
def package():
    return pytest.importorskip("sentence_transformers", reason="sentence-transformers is not "
                                                               "installed (an optional package)")


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
