"""In class: assignments from the lessons' exercises, grading that trusts nothing, and a guide for
the teacher of each lesson.

`assign` writes the notebooks that students fill in, without solutions and without the inputs they
are graded on. `grade` runs what they hand in, each in a confined process of its own, and writes
tables. `guide` is the text for the person in front. Used by ``lessons assign``, ``lessons grade``
and ``lessons guide``.
"""

from .assign import assign
from .assignment import Assignment, read_assignment
from .grading import Graded, grade, grade_notebook, longest_grading
from .guides import Guide, guide, guide_ids
from .otter import otter_missing, write_otter
from .runner import Limits, missing_protections
from .tables import write_tables
from .tasks import Sheet, Task, judged, open_questions, sheet, tasks_of

__all__ = ["Assignment", "Graded", "Guide", "Limits", "Sheet", "Task", "assign", "grade",
           "grade_notebook", "guide", "guide_ids", "judged", "longest_grading",
           "missing_protections", "open_questions", "otter_missing", "read_assignment", "sheet",
           "tasks_of", "write_otter", "write_tables"]
