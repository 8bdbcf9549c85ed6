"""Figures of a word table, against sums over all pairs and on tables of known shape; and the film
of a training, whose frames and figures belong to the same moments.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from lessons_lib.contextual import load_bert, load_film, pretrain, table_statistics
from lessons_lib.contextual.statistics import sampled_pieces, table_frame
from lessons_lib.core import DamagedFile

COUNTS = np.arange(5, 65)


@pytest.fixture
def table():
    return np.random.default_rng(0).normal(size=(60, 8)) + 0.5


@pytest.fixture(scope="module")
def folder(stream, recipe, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("film")
    pretrain(stream, out, recipe=recipe, device="cpu", progress=False)
    for checkpoint in out.glob("checkpoint-*"):
        shutil.rmtree(checkpoint)
    return out


def test_a_film_has_a_frame_and_figures_for_every_moment(folder, stream, recipe):
    film, tensors = load_film(folder), load_file(folder / "film.safetensors")
    assert film.tokens[0] == 0 and (np.diff(film.tokens) > 0).all()
    assert film.tokens[-1] == recipe.tokens and np.isfinite(film.frames).all()
    assert film.frames.shape == (len(film), len(film.pieces), 3)
    assert {len(values) for values in film.figures.values()} == {len(film)}
    assert (np.diff(film.counts) <= 0).all() and set(film.pieces) <= set(stream.tokenizer.pieces)
    assert np.array_equal(film.counts, stream.counts()[tensors["pieces"]])
    assert np.array_equal(tensors["all_counts"], stream.counts())


def test_the_last_moment_is_the_model_that_was_saved(folder, stream):
    film, (model, tokenizer) = load_film(folder), load_bert(folder)
    table = model.bert.embeddings.word_embeddings.weight.detach().numpy()
    measured = table_statistics(table, stream.counts())
    # the weights were saved in half precision
    assert film.figures["mean_cosine"][-1] == pytest.approx(measured["mean_cosine"], abs=1e-3)
    assert film.figures["top_share"][-1] == pytest.approx(measured["shares"][0], abs=1e-3)
    rows = [tokenizer.pieces.index(piece) for piece in film.pieces]
    assert np.allclose(film.frames[-1, :, 2], np.linalg.norm(table[rows], axis=1), rtol=2e-3)


@pytest.mark.parametrize(("name", "change", "words"), [
    ("film.safetensors", None, "has no film"),
    ("film.safetensors", lambda content: b"no film", "was cut or changed"),
    ("card.json", lambda content: b"{}", "tells nothing of the moments"),
    ("card.json", lambda content: json.dumps({"moments": json.loads(content)["moments"][:-1]})
     .encode(), "not of one training"),
    ("vocab.txt", lambda content: b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n", "cut or extended")])
def test_a_film_with_a_missing_or_changed_file_is_refused(folder, tmp_path, name, change, words):
    file = shutil.copytree(folder, tmp_path / "film") / name
    file.unlink() if change is None else file.write_bytes(change(file.read_bytes()))
    with pytest.raises(DamagedFile, match=words):
        load_film(file.parent)


def test_figures_are_those_of_all_pairs_and_of_the_singular_values(table):
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    pairs = (unit @ unit.T)[np.triu_indices(60, 1)]
    spectrum = np.linalg.svd(table, compute_uv=False) ** 2
    found = table_statistics(table, COUNTS)
    assert found["mean_cosine"] == pytest.approx(pairs.mean(), abs=1e-12)
    assert found["shares"] == pytest.approx(spectrum[:5] / spectrum.sum(), abs=1e-12)
    more = np.vstack([table, 1000 * np.ones((3, 8))])            # rare tokens are left out
    assert table_statistics(more, np.concatenate([COUNTS, [0, 1, 4]])) == found


def test_a_table_whose_norms_are_log_frequencies_is_perfectly_correlated():
    rows = np.random.default_rng(0).normal(size=(60, 8))
    rows *= ((10 - np.log(COUNTS)) / np.linalg.norm(rows, axis=1))[:, None]
    assert table_statistics(rows, COUNTS)["norm_frequency"] == pytest.approx(-1.0, abs=1e-9)


def test_a_frame_holds_two_coordinates_and_the_norm(table):
    pieces = sampled_pieces(COUNTS, 20)
    frame = table_frame(table, COUNTS, pieces)
    assert frame.shape == (20, 3) and frame[:, 0].sum() > 0
    assert frame[:, 2] == pytest.approx(np.linalg.norm(table[pieces], axis=1), rel=1e-6)
    axes = np.linalg.svd(table)[2][:2].T
    assert np.abs(frame[:, :2]) == pytest.approx(np.abs(table[pieces] @ axes), abs=1e-5)


def test_the_sample_is_spread_over_ranks_and_repeats():
    counts = np.random.default_rng(1).integers(0, 10_000, 3000)
    pieces = sampled_pieces(counts, 100)
    assert len(set(pieces.tolist())) == 100 and (np.diff(counts[pieces]) <= 0).all()
    assert counts[pieces].min() >= 5 and np.array_equal(pieces, sampled_pieces(counts, 100))


def test_a_table_of_zeros_has_finite_figures_and_counts_may_be_a_list():
    found = table_statistics(np.zeros((10, 4)), [9] * 10)
    assert found["shares"] == [0.0] * 4
    assert found["mean_norm"] == found["mean_cosine"] == found["norm_frequency"] == 0.0
