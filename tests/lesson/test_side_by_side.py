"""Own sentences by several encoders: cosines, a map, and a word about what has no vector."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.lesson import SideBySide
from lessons_lib.lesson.side_by_side import knows_no_word, main_axes, unit_vectors, vocabulary_of
from lessons_lib.plots import sentence_panels

WORDS = {"cat": [1, 0, 0], "kitten": [3, 4, 0], "tax": [0, 0, 2]}


class Sums:
    """Adds up vectors of words that it knows; what it does not know counts as ``strange``."""

    name, dim, vectors = "sums", 3, WORDS

    def __init__(self, strange: float = 0.0):
        self.strange = np.array([0, strange, strange])

    def encode(self, texts):
        return np.array([np.sum([WORDS.get(word, self.strange) for word in text.split()], axis=0)
                         for text in texts], np.float32)


def said_in(fig):
    return [text.get_text() for text in fig.texts]


def test_cosines_are_those_with_the_first_sentence_and_the_nearest_is_in_the_title():
    both = SideBySide({"TF-IDF": Sums(), "uSIF": Sums()})
    text = "cat\n\n  tax \nkitten cat"
    assert both.describe(text) == ("Cosines with the first sentence. TF-IDF: 0.00, 0.71; "
                                   "uSIF: 0.00, 0.71.")
    said = said_in(both.draw(text))
    assert said[0] == "Nearest to sentence 1: TF-IDF 3, uSIF 3"
    assert said.count("0.71") == 2 and "2 tax" in said


def test_what_an_encoder_does_not_know_has_no_vector_even_where_it_gives_numbers():
    for strange in (0.0, 5.0):
        one = SideBySide({"LessonBag": Sums(strange)})
        assert one.describe("cat\n我喜欢猫\ntax") == (
            "Cosines with the first sentence. LessonBag: none, 0.00.")
        said = said_in(one.draw("cat\n我喜欢猫\ntax"))
        assert said.count("no word known") == 1 and said[0].endswith("LessonBag none")
        said = said_in(one.draw("我喜欢猫\ncat\nkitten"))
        assert said.count("no word known") == 1 and said.count("–") == 2
        assert said_in(one.draw("我\n猫")).count("no word known") == 2


@pytest.mark.parametrize(("text", "there"), [("cat", "is 1"), ("\n".join("abcdefghi"), "are 9")])
def test_too_few_and_too_many_sentences_are_refused_in_a_sentence(text, there):
    with pytest.raises(ValueError, match=f"2 to 8 sentences.*there {there}"):
        SideBySide({"uSIF": Sums()}).draw(text)


def test_sentences_that_are_alike_stand_at_one_place_of_the_map():
    said = said_in(SideBySide({"uSIF": Sums()}).draw("tax cat\ncat tax\nkitten"))
    assert "1, 2" in said and "3" in said


def test_a_map_keeps_distances_in_a_plane_and_the_first_row_on_the_left():
    rows = np.array([[0.0, 0, 0], [3, 0, 0], [0, 4, 0]])
    for order in ([0, 1, 2], [1, 0, 2], [2, 1, 0]):
        x = rows[order]
        places = main_axes(x)
        apart, wanted = (np.linalg.norm(y[:, None] - y, axis=2) for y in (places, x))
        assert np.allclose(apart, wanted) and places[0, 0] <= 0 <= places[0, 1] + 1e-12
    assert np.allclose(main_axes(rows[:1]), 0)


def test_unit_vectors_have_norm_one_or_are_zero():
    rows = unit_vectors(Sums(), ["cat tax", "?"])
    assert np.allclose(np.linalg.norm(rows, axis=1), [1, 0])


def test_letters_that_a_list_of_subwords_holds_are_known():
    class Subwords:
        pieces = ("", "ab", "##c")

    learned = vocabulary_of(Subwords())
    assert [knows_no_word(learned, text) for text in ("ab", "xyc", "xyz", "?!")] == [
        False, False, True, False]


def test_a_picture_of_other_encoders_on_the_map_is_refused():
    with pytest.raises(ValueError, match="other encoders"):
        sentence_panels(["a", "b"], {"uSIF": [1, 0.5]}, {"SIF": [[0, 0], [1, 1]]}, title="No")
