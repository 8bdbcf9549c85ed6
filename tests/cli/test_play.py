"""``lessons neighbours``, ``similar``, ``map``: own texts, and what cannot be told is said."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lessons_lib.cli import play
from lessons_lib.cli.encoding import encoder_named
from lessons_lib.publish.web.pages import foreign, read_page

KNOWN: dict = {}


@pytest.fixture(autouse=True)
def loaded_once(monkeypatch):
    """Encoders are loaded once for all tests of this file."""
    def kept(name):
        if name not in KNOWN:
            KNOWN[name] = encoder_named(name)
        return KNOWN[name]

    kept("lesson-bag")                           # here, for what it loads takes seconds
    monkeypatch.setattr(play, "encoder_named", kept)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("I love my cat.\nMy kitten is adorable.\n\nI am cooking <b>pasta</b>.\n"
                    "The soup is ready.\n🐄\n我喜欢猫\nI love my cat.\n", "utf-8")
    return path


def cosine_of(said):
    return float(re.match(r"cosine (-?[\d.]+) by lesson-bag", said)[1])


@pytest.mark.essential
def test_a_cat_is_nearer_to_a_kitten_than_to_pasta(lessons):
    code, near, _ = lessons("similar", "I love my cat.", "My kitten is adorable.")
    assert code == 0 and re.search(r"higher than the cosine of \d+ % .* of 5 points", near, re.S)
    far = lessons("similar", "I love my cat.", "I am cooking pasta.")[1]
    assert cosine_of(near) > cosine_of(far) + 0.2
    code, said, _ = lessons("similar", "a cat", "a kitten", "some pasta")
    rows = [line for line in said.splitlines() if "│" in line]
    assert code == 0 and len(rows) == 3 and "a kitten" in rows[0] and "a cat" in rows[0]


def test_what_people_said_of_equal_texts_is_high_and_of_strangers_low(lessons):
    said = [lessons("similar", "A man is playing a guitar.", other)[1]
            for other in ("A man is playing a guitar.", "The bank lowered its rates.")]
    grades = [float(re.search(r"it ([\d.]+) of 5", text)[1]) for text in said]
    assert grades[0] > 3.5 and grades[1] < 1.5


@pytest.mark.parametrize("encoder", ["lesson-bag", "lesson-bert", "usif-course"])
@pytest.mark.parametrize("text", ["我喜欢猫", "🐄", "Тест"])
@pytest.mark.essential
def test_a_text_without_a_vector_is_never_passed_over_in_silence(lessons, encoder, text):
    code, out, err = lessons("similar", text, "a cow", "--encoder", encoder)
    (row,) = play.unit_vectors(play.encoder_named(encoder), [text])
    if row.any():
        assert code == 0 and "cosine" in out
        strange = play.knows_no_word(play.vocabulary_of(KNOWN[encoder]), text)
        assert ("has learned no word of it" in err) == strange
    else:
        assert code == 2 and "has no vector" in err and "--encoder" in err and not out
    if encoder == "lesson-bag" and text == "我喜欢猫":
        assert row.any() and "has learned no word of it" in err


def test_neighbours_among_own_texts_are_in_order_and_without_the_text_itself(lessons, file):
    code, out, err = lessons("neighbours", "i love my cat.", "--among", file, "--top", 2)
    rows = [line for line in out.splitlines() if "│" in line]
    assert code == 0 and len(rows) == 2 and "kitten" in rows[0] and "my cat" not in rows[0], err
    cosines = [float(row.split("│")[1]) for row in rows]
    assert cosines == sorted(cosines, reverse=True)


@pytest.mark.slow
def test_neighbours_of_a_word_and_of_a_sentence_need_no_file(lessons):
    code, out, _ = lessons("neighbours", "coffee", "--top", 5)
    assert code == 0 and re.search(r"of (10,000|9,999)", out)
    assert {"drinks", "beans"} <= set(re.findall(r"│ +[\d.]+ │ (\w+)", out))
    code, out, _ = lessons("neighbours", "A man plays a guitar.", "--top", 3)
    assert code == 0 and "guitar" in out


def test_a_map_has_every_text_as_text_and_says_what_it_left_out(lessons, file, tmp_path):
    code, out, err = lessons("map", file, "--out", tmp_path / "map.html")
    page = (tmp_path / "map.html").read_text("utf-8")
    assert code == 0 and "5 texts" in out and "1 left out" in err and "🐄" in err
    assert "has learned no word of it" in err
    # plotly writes < as an escape of JSON; no text becomes an element
    assert "My kitten is adorable." in page and "<b>pasta" not in page
    assert not any(map(foreign, read_page(tmp_path / "map.html").loads))


def test_many_texts_are_laid_out_with_neighbours_near():
    rng = np.random.default_rng(0)
    centres = np.repeat(np.eye(8)[:3], 12, axis=0)
    rows = centres + 0.05 * rng.normal(size=centres.shape)
    points = play._plane(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    np.fill_diagonal(distances, np.inf)
    assert (distances.argmin(axis=1) // 12 == np.arange(36) // 12).all()


@pytest.mark.parametrize(("arguments", "words"), [
    (("similar", "one"), "two or more"), (("similar", "a", "b", "--encoder", "lesson-bga"),
                                          "lesson-bag"),
    (("neighbours", "cat", "--top", "0"), "top=0"), (("map", "nowhere.txt"), "nowhere.txt"),
    (("neighbours", "cat", "--among", "nowhere.txt"), "nowhere.txt"),
    (("map", "few.txt"), "at least 3"), (("map", "few.txt", "--out", "map.pdf"), ".html")])
def test_mistakes_are_one_line(lessons, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "few.txt").write_text("one\ntwo\n", "utf-8")
    code, out, err = lessons(*arguments)
    assert code == 2 and words in err and len(err.splitlines()) == 1 and not out
