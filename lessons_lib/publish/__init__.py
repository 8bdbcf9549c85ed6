"""From text to executed notebook: front matter, pairing, execution, cleaning, checking, and the map
of lessons in the README.

A lesson is written once, as MyST text. `build` adds the opening and the links, runs the cells in a
clean kernel, removes what changes from run to run and writes the notebook; `build(check=True)` says
what is not as it should be. Used by ``lessons build`` and ``lessons run``.
"""

from .bibliography import Entry, read_bibliography
from .build import BuildResult, build
from .check import Problem, check_course, check_lesson
from .clean import clean
from .execute import RunResult, run_lesson
from .failure import Failure
from .frontmatter import validate
from .pair import notebook_of, refreshed_text
from .readme_map import lesson_map, write_map
from .side_by_side import Progress, default_jobs, run_lessons

__all__ = ["BuildResult", "Entry", "Failure", "Problem", "Progress", "RunResult", "build",
           "check_course", "check_lesson", "clean", "default_jobs", "lesson_map", "notebook_of",
           "read_bibliography", "refreshed_text", "run_lesson", "run_lessons", "validate",
           "write_map"]
