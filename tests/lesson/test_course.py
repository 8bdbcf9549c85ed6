"""The list of lessons is the folder of their texts; a broken front matter is named with its line."""

from __future__ import annotations

import dataclasses

import pytest

from lessons_lib.core import DamagedFile, DataMissing
from lessons_lib.lesson import Course, read_card
from lessons_lib.lesson.course import chosen_scale, split_front_matter


def test_lessons_are_found_by_number_and_id(notebooks):
    course = Course(notebooks.parent)
    assert course.ids() == ["start_here", "one_hot"]
    assert [card.stem for card in course.cards()] == ["00_start_here", "01_one_hot"]
    assert course.card("01_one_hot") == course.card("one_hot")


def test_P27_an_unknown_lesson_gets_the_nearest_name_and_all_names(notebooks):
    with pytest.raises(ValueError, match="'one_hit' is unknown. Did you mean 'one_hot'.*'start_here', 'one_hot'"):
        Course(notebooks.parent).card("one_hit")


@pytest.mark.parametrize("wrong", [None, 3, "", "one hot vectors and so on", "../one_hot"])
def test_P27_nothing_but_a_lessons_id_opens_a_lesson(notebooks, wrong):
    with pytest.raises(ValueError, match="lesson_id="):
        Course(notebooks.parent).card(wrong)


def test_a_course_without_texts_says_what_it_needs(tmp_path):
    with pytest.raises(DataMissing, match="clone"):
        Course(tmp_path).card("one_hot")


@pytest.mark.parametrize("name", ["one_hot", "01_one_hot", "1", "01"])
def test_a_lesson_is_named_by_its_id_its_number_or_both(notebooks, name):
    assert Course(notebooks.parent).card(name).id == Course(notebooks.parent).plain_id(name) == "one_hot"


@pytest.mark.parametrize("name", ["17", "one_hat", "001", "²", 1, None])
def test_another_name_of_a_lesson_is_unknown(notebooks, name):
    with pytest.raises(ValueError, match="is unknown.*Allowed: 'start_here', 'one_hot'"):
        Course(notebooks.parent).card(name)


def test_settings_are_a_frozen_dataclass_per_scale(notebooks):
    card = Course(notebooks.parent).card("one_hot")
    assert card.settings("smoke").n_documents == 3 and card.settings("paper").sizes == (100, 200)
    with pytest.raises(dataclasses.FrozenInstanceError):
        card.settings("smoke").n_documents = 4


def test_a_broken_front_matter_is_named_with_file_and_line(notebooks):
    path = notebooks / "01_one_hot.md"
    path.write_text("---\nlesson:\n  id: one_hot\n  question: a: b: c?\n---\nText\n", encoding="utf-8")
    with pytest.raises(DamagedFile, match=r"01_one_hot.md, line 4: .*Quote texts"):
        read_card(path)


@pytest.mark.parametrize("text", ["", "no front matter", "---\nlesson:\n---\n", "---\ntitle: x\n---\n", "---\n- a\n---\n"])
def test_a_text_without_front_matter_is_refused(notebooks, text):
    path = notebooks / "01_one_hot.md"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DamagedFile, match="no front matter"):
        read_card(path)


def test_front_matter_cannot_build_python_objects(notebooks):
    path = notebooks / "01_one_hot.md"
    path.write_text("---\nlesson: !!python/object/apply:os.getcwd []\n---\n", encoding="utf-8")
    with pytest.raises(DamagedFile, match="not valid YAML"):
        read_card(path)


def test_windows_line_ends_and_a_byte_order_mark_are_read():
    assert split_front_matter("\ufeff---\r\na: 1\r\n---\r\nText\r\n") == ("a: 1\n", "Text\n")


def test_P27_an_unknown_scale_gets_the_nearest_name(monkeypatch):
    with pytest.raises(ValueError, match="'labtop' is unknown. Did you mean 'laptop'"):
        chosen_scale("labtop")
    monkeypatch.setenv("LESSONS_SCALE", "smok")
    with pytest.raises(ValueError, match="Did you mean 'smoke'"):
        chosen_scale(None)


def test_the_scale_is_the_argument_then_the_environment_then_laptop(monkeypatch):
    monkeypatch.delenv("LESSONS_SCALE", raising=False)
    assert chosen_scale(None) == "laptop"
    monkeypatch.setenv("LESSONS_SCALE", "smoke")
    assert chosen_scale(None) == "smoke" and chosen_scale("paper") == "paper"
