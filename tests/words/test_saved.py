"""Word vectors are found in whatever holds them, told apart by what it is and not by its name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.vectors import WordVectors, write_binary, write_compact, write_text
from lessons_lib.words import FastText, GloVe, Word2Vec
from lessons_lib.words.saved import load_method, load_vectors

TEXT = [["a", "rose", "is", "a", "rose"]] * 20


def same(a: WordVectors, b: WordVectors) -> bool:
    return a.tokens == b.tokens and np.allclose(a.matrix, b.matrix, rtol=1e-6, atol=1e-37)


@given(st.integers(2, 30), st.integers(1, 5), st.integers(0, 2**32 - 1),
       st.sampled_from(["1", "1e5", "w", "-3", "größe"]))
def test_text_and_binary_are_told_apart_under_any_name(tmp_path_factory, dim, n, seed, first):
    folder = tmp_path_factory.mktemp("v")
    vectors = WordVectors([first, *(f"w{i}" for i in range(n))],
                          np.random.default_rng(seed).normal(size=(n + 1, dim)))
    write_text(vectors, folder / "a.bin")
    write_binary(vectors, folder / "a.txt")
    assert same(load_vectors(folder / "a.bin"), vectors) and same(load_vectors(folder / "a.txt"),
                                                                  vectors)


def test_text_without_a_first_line_of_sizes_is_glove_s(tmp_path):
    (tmp_path / "glove").write_text("the 0.5 1\nof 1 2\nand 3 4\n")
    assert load_vectors(tmp_path / "glove").tokens == ["the", "of", "and"]


def test_compact_files_and_folders(tmp_path):
    vectors = WordVectors(["a", "b"], [[1.0, 2.0], [3.0, 4.0]])
    write_compact(vectors, tmp_path / "v.safetensors")
    vectors.save(tmp_path / "v")
    assert same(load_vectors(tmp_path / "v.safetensors"), vectors) and same(
        load_vectors(tmp_path / "v"), vectors)


@pytest.mark.parametrize("method", [Word2Vec, GloVe, FastText])
def test_every_method_is_found_by_its_card(tmp_path, method):
    model = method(dim=4, min_count=1, epochs=1).fit(TEXT)
    model.save(tmp_path / "m")
    assert type(load_method(tmp_path / "m")) is method and same(load_vectors(tmp_path / "m"),
                                                                model.vectors_)
