"""The film of a training: frames and figures belong to the same moments, and files that do not fit
are refused.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from lessons_lib.contextual import load_bert, load_film, pretrain, table_statistics
from lessons_lib.core import DamagedFile


@pytest.fixture(scope="module")
def folder(stream, tmp_path_factory) -> Path:
    from dataclasses import replace

    from lessons_lib.contextual import RECIPES

    out = tmp_path_factory.mktemp("film")
    pretrain(stream, out, recipe=replace(RECIPES["smoke"], dim=16, feed_forward=32, batch=4,
                                         tokens=4 * 32 * 12), progress=False)
    return out


def test_a_film_has_a_frame_and_figures_for_every_moment(folder, stream):
    film = load_film(folder)
    assert film.tokens[0] == 0 and (np.diff(film.tokens) > 0).all()
    assert film.tokens[-1] == 4 * 32 * 12
    assert film.frames.shape == (len(film), len(film.pieces), 3)
    assert len(film.counts) == len(film.pieces)
    assert {len(values) for values in film.figures.values()} == {len(film)}
    assert (np.diff(film.counts) <= 0).all() and set(film.pieces) <= set(stream.tokenizer.pieces)


def test_the_last_moment_is_the_model_that_was_saved(folder, stream):
    film, (model, tokenizer) = load_film(folder), load_bert(folder)
    table = model.bert.embeddings.word_embeddings.weight.detach().numpy()
    measured = table_statistics(table, stream.counts())
    # the weights were saved in half precision
    assert film.figures["mean_cosine"][-1] == pytest.approx(measured["mean_cosine"], abs=1e-3)
    assert film.figures["top_share"][-1] == pytest.approx(measured["shares"][0], abs=1e-3)
    rows = [tokenizer.pieces.index(piece) for piece in film.pieces]
    assert np.allclose(film.frames[-1, :, 2], np.linalg.norm(table[rows], axis=1), rtol=2e-3)


@pytest.mark.parametrize(("name", "change", "said"),
                         [("film.safetensors", None, "has no film"),
                          ("film.safetensors", b"no film", "was cut or changed"),
                          ("card.json", b"{}", "tells nothing of the moments"),
                          ("vocab.txt", b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n", "names token")])
def test_a_film_with_a_missing_or_changed_file_is_refused(folder, tmp_path, name, change, said):
    other = shutil.copytree(folder, tmp_path / "film",
                            ignore=shutil.ignore_patterns("checkpoint-*"))
    (other / name).unlink() if change is None else (other / name).write_bytes(change)
    with pytest.raises(DamagedFile, match=said):
        load_film(other)


def test_a_card_of_another_training_is_refused(folder, tmp_path):
    other = shutil.copytree(folder, tmp_path / "film",
                            ignore=shutil.ignore_patterns("checkpoint-*"))
    card = json.loads((other / "card.json").read_text("utf-8"))
    card["moments"].pop()
    (other / "card.json").write_text(json.dumps(card), "utf-8")
    with pytest.raises(DamagedFile, match="not of one training"):
        load_film(other)
