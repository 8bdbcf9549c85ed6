"""A guide for every lesson: all sections, minutes that add up, answers to open questions."""

from __future__ import annotations

import re

import pytest

from lessons_lib.classroom import guide, guide_ids, guides, open_questions
from lessons_lib.classroom.guides import SECTIONS
from lessons_lib.core import DamagedFile, DataMissing
from lessons_lib.exercises import for_lesson
from lessons_lib.lesson.course import Course

IDS = Course().ids()


def words(text: str) -> int:
    return len(re.findall(r"\w+", text))


def test_every_lesson_has_a_guide_and_every_guide_a_lesson():
    assert set(guide_ids()) == set(IDS)


@pytest.mark.parametrize("lesson", IDS)
def test_a_guide_has_all_sections_and_is_short_enough_to_read_before_class(lesson):
    found = guide(lesson)
    assert tuple(found.sections) == SECTIONS and 350 <= words(str(found)) <= 1500
    assert 3 <= found.sections["Aims"].count("\n- ") + 1 <= 6
    assert found.sections["Where students stumble"].count("\n- ") + 1 >= 4
    assert found.sections["Questions to ask"].count("\n- ") + 1 >= 4


@pytest.mark.parametrize("lesson", IDS)
def test_the_minutes_add_up_to_a_class_not_shorter_than_reading_and_running(lesson):
    minutes = Course().card(lesson).minutes
    assert minutes["read"] + minutes["run"] <= guide(lesson).minutes <= 3 * (minutes["read"] +
                                                                             minutes["run"])


@pytest.mark.parametrize("lesson", IDS)
def test_each_open_question_is_quoted_and_answered(lesson):
    text = guide(lesson).sections["The open question"]
    for question in open_questions(Course().card(lesson)):
        first = re.split(r"(?<=[.?!]) ", " ".join(question.split()))[0]
        assert f"> {first}" in text, f"the guide does not quote: {first}"
    answer = "\n".join(line for line in text.splitlines() if not line.startswith(">"))
    assert words(answer) >= 60


@pytest.mark.parametrize("lesson", IDS)
def test_exercises_that_a_guide_names_exist(lesson):
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`",
                           guide(lesson).sections["Where students stumble"]))
    assert named <= set(for_lesson(lesson)) | set(IDS)


def test_a_lesson_is_found_with_or_without_its_number_and_a_wrong_name_gets_the_nearest():
    assert guide("01_one_hot") == guide("one_hot")
    with pytest.raises(ValueError, match="Did you mean 'one_hot'"):
        guide("one_hat")


def test_a_missing_guide_and_a_missing_section_are_named(monkeypatch, tmp_path):
    monkeypatch.setattr(guides, "FOLDER", tmp_path)
    (tmp_path / "start_here.md").write_text("## Aims\n\n- one\n\n## Minutes\n\n", "utf-8")
    with pytest.raises(DataMissing, match="'one_hot' has no guide yet"):
        guide("one_hot")
    with pytest.raises(DamagedFile, match="has the sections Aims, Minutes; expected Aims, Minutes, "
                                          "Where"):
        guide("start_here")
