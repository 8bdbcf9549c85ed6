"""Vectors in 16 or 8 bits with a card: they come back, the card tells of them, and what is damaged
says so.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from safetensors.numpy import save

from lessons_lib.core import DamagedFile
from lessons_lib.vectors import WordVectors, read_card, read_compact, write_compact

RNG = np.random.default_rng(3)
WORDS = ["the", "größe", "猫", "nan", " ", "a b", "\t"]


def vectors() -> WordVectors:
    return WordVectors(WORDS, RNG.normal(size=(len(WORDS), 6)), name="toy")


@pytest.fixture
def written(tmp_path):
    """A file of vectors, and the vectors."""
    v = vectors()
    write_compact(v, tmp_path / "toy.safetensors", {"seed": 7})
    return tmp_path / "toy.safetensors", v


def test_words_come_back_and_numbers_to_three_digits(written):
    path, v = written
    again = read_compact(path)
    assert again.tokens == WORDS and again.name == "toy" and again.matrix.dtype == np.float32
    assert np.array_equal(again.matrix, v.matrix.astype(np.float16).astype(np.float32))
    assert np.abs(again.matrix - v.matrix).max() <= 2**-11 * np.abs(v.matrix).max()


def test_in_8_bits_no_number_moves_by_more_than_half_a_step_of_its_row(tmp_path):
    scaled = RNG.normal(size=(len(WORDS), 6)) * 10.0 ** np.arange(-3, 4)[:, None]
    scaled[2] = 0
    path = tmp_path / "small.safetensors"
    write_compact(WordVectors(WORDS, scaled), path, bits=8)
    again, card = read_compact(path), read_card(path.with_suffix(".json"))
    assert again.tokens == WORDS and card["dtype"] == "int8"
    steps = np.abs(scaled).max(axis=1, keepdims=True) / 127
    assert (np.abs(again.matrix - scaled) <= 0.501 * steps).all() and not again.matrix[2].any()


def test_in_8_bits_half_the_bytes_are_left(tmp_path):
    v = WordVectors([str(i) for i in range(500)], RNG.normal(size=(500, 200)))
    sizes = {}
    for bits in (16, 8):
        write_compact(v, tmp_path / f"{bits}.safetensors", bits=bits)
        sizes[bits] = (tmp_path / f"{bits}.safetensors").stat().st_size
    assert sizes[8] < 0.53 * sizes[16]


def test_the_card_says_what_lies_beside_it(written):
    path, v = written
    card = read_card(path.with_suffix(".json"))
    assert card["seed"] == 7 and (card["words"], card["dim"],
                                  card["bytes"]) == (len(v), v.dim, path.stat().st_size)


def test_writing_twice_gives_the_same_bytes(written, tmp_path):
    path, v = written
    write_compact(v, tmp_path / "again.safetensors", {"seed": 7})
    assert (tmp_path / "again.safetensors").read_bytes() == path.read_bytes()
    assert (tmp_path / "again.json").read_text() == path.with_suffix(".json").read_text()


def test_no_words_at_all(tmp_path):
    write_compact(WordVectors([], np.zeros((0, 3))), tmp_path / "none.safetensors")
    assert read_compact(tmp_path / "none.safetensors").matrix.shape == (0, 3)


def test_F01_F02_what_was_cut_or_changed_says_so(written):
    path, _ = written
    whole = path.read_bytes()
    for content, message in ((whole[:-1], "was cut or extended"),
                             (whole + b"x", "was cut or extended"), (b"", "0 bytes found")):
        path.write_bytes(content)
        with pytest.raises(DamagedFile, match=message):
            read_compact(path)
    for place in (0, 9, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(DamagedFile, match="was changed or damaged: .*Get it again"):
            read_compact(path)


def test_F03_F05_F15_a_card_that_is_none(written):
    path, _ = written
    card = path.with_suffix(".json")
    good = json.loads(card.read_text())
    for content in ("[]", "{}", "{", json.dumps(good | {"sha256": 5})):
        card.write_text(content)
        with pytest.raises(DamagedFile, match=r"no card of word vectors|not valid JSON"):
            read_compact(path)
    card.write_text(json.dumps(good | {"format": 3}))
    with pytest.raises(ValueError, match="has format 3, this version reads up to 2; upgrade"):
        read_compact(path)
    card.unlink()
    with pytest.raises(FileNotFoundError, match=r"toy\.json"):
        read_compact(path)


GOOD = {
    "matrix": np.ones((2, 3), dtype=np.float16), "tokens": np.frombuffer(b"a\nb\n", dtype=np.uint8)
}


@pytest.mark.parametrize("bits", [16, 8])
@pytest.mark.parametrize("content", [
    b"<html>",
    save({"matrix": GOOD["matrix"]}),
    save({"tokens": GOOD["tokens"]}),
    save(GOOD | {"tokens": np.frombuffer(b"a\na\n", dtype=np.uint8)}),
    save(GOOD | {"tokens": np.frombuffer(b"a\n\xff\n", dtype=np.uint8)}),
    save(GOOD | {"tokens": np.frombuffer(b"a\n", dtype=np.uint8)}),
    save(GOOD | {"matrix": np.ones((2, 3), dtype=np.float32)}),
    save(GOOD | {"matrix": np.ones((3, 2), dtype=np.float16)}),
    save(GOOD | {"matrix": np.full((2, 3), np.nan, dtype=np.float16)}),
    save(GOOD | {"tokens": np.ones(3, dtype=np.float32)}),
    save(GOOD | {"matrix": np.ones((2, 3), dtype=np.int8)}),
    save(GOOD | {"matrix": np.ones((2, 3), dtype=np.int8), "scale": np.ones(3, np.float32)}),
    save(GOOD | {"matrix": np.ones((2, 3), dtype=np.int8), "scale": np.ones(2, np.complex64)})
])
def test_F04_F08_F09_F13_a_file_that_is_not_what_its_card_says(tmp_path, content, bits):
    from hashlib import sha256

    path = tmp_path / "x.safetensors"
    write_compact(WordVectors(["a", "b"], np.ones((2, 3))), path, bits=bits)
    card = (json.loads(path.with_suffix(".json").read_text())
            | {"bytes": len(content), "sha256": sha256(content).hexdigest()})
    del card["arrays"], card["header"]                     # as cards were before they had these
    path.write_bytes(content)
    path.with_suffix(".json").write_text(json.dumps(card))
    with pytest.raises(DamagedFile, match="does not hold the vectors of its card"):
        read_compact(path)
