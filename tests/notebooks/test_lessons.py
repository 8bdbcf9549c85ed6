"""Every lesson: runs at smoke scale within its memory, is committed as its text says, and has
exercises that are worth something.
"""

from __future__ import annotations

import os
import shutil

import pytest

from lessons_lib import datasets, exercises, publish
from lessons_lib.core import cache_folder
from lessons_lib.lesson.course import Course

COURSE = Course()
IDS = COURSE.ids()
BUDGET_MB = 4000
# one that opens the course, one that counts, one with a network
QUICK = ("start_here", "one_hot", "bert_whitening")


@pytest.mark.parametrize("lesson", IDS)
def test_the_committed_notebook_is_what_its_text_says(lesson):
    problems = publish.build([lesson], check=True)[0].problems
    assert not problems, "\n".join(map(str, problems))


def test_the_map_and_the_glossary_are_up_to_date():
    assert not publish.check_course(COURSE)


@pytest.mark.skipif(os.environ.get("LESSONS_TEST_RUN") == "1", reason=".ci/run runs them all at "
                                                                      "laptop scale before the "
                                                                      "tests, without data")
@pytest.mark.parametrize(
    "lesson",
    [pytest.param(i, marks=pytest.mark.essential if i in QUICK else pytest.mark.slow) for i in IDS])
def test_the_lesson_runs_without_any_data_but_what_ships(lesson, monkeypatch):
    """As a newcomer has it: no LESSONS_DATA, no network for models, an empty cache."""
    monkeypatch.delenv("LESSONS_DATA", raising=False)
    result = next(publish.run_lessons([lesson], scale="smoke"))
    assert result.ok, str(result.failure)
    # seconds are printed by `lessons build`: a busy machine must not fail a test
    assert result.peak_mb < BUDGET_MB


@pytest.fixture(scope="module")
def articles(tmp_path_factory):
    """The folder with gensim's articles, cleaned once for all lessons: five seconds each, and the
    run without data cleans them anyway.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LESSONS_CACHE", str(tmp_path_factory.mktemp("articles")))
        folder = cache_folder() / "derived"
        folder.mkdir(parents=True)
        datasets.load("wikipedia-sample")
        return folder


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("lesson", IDS)
def test_the_lesson_runs_with_the_real_sets(lesson, lessons_data, articles):
    # all else in the cache is the lesson's own
    shutil.copytree(articles, cache_folder() / "derived")
    result = next(publish.run_lessons([lesson], scale="smoke"))
    assert result.ok, str(result.failure)
    assert result.peak_mb < BUDGET_MB


@pytest.mark.parametrize("lesson", exercises.stems())
def test_every_exercise_accepts_its_solution_and_refuses_its_wrong_answers(lesson):
    lines = exercises.audit(lesson)
    assert len(lines) >= 3
    for line in lines:
        assert line.ok, str(line)


@pytest.mark.parametrize("lesson", exercises.stems())
def test_every_exercise_of_the_library_stands_in_its_lesson(lesson):
    text = COURSE.card(lesson).path.read_text("utf-8")
    for name in exercises.for_lesson(lesson):
        assert f'lesson.check("{name}"' in text, name
