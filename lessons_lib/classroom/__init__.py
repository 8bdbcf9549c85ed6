"""In class: assignments from the lessons' exercises, grading that trusts nothing, and a guide for
the teacher of each lesson.

`assign` writes the notebooks that students fill in, without solutions and without the inputs they
are graded on. `grade` runs what they hand in, each in a confined process of its own, and writes
tables and a page of feedback for each student. `guide` is the text for the person in front. Used by
``lessons assign``, ``lessons grade`` and ``lessons guide``.

Threat model
------------
This page says what grader and hub protect, against whom, by what, and what they leave to you.

What is protected: the points of each student, the solutions and the seed of the hidden inputs, the
files and processes of the teacher, the work of other students, and the teacher's time.

Against whom: a student who writes the code of a notebook, and the notebook as a file. Not against
who can write into the folder of the assignment, or has the account that grades.

Points. A process of the submission gets inputs and returns plain values; cases, right answers,
judges and the seed stay with the grader, which compares. A print, a patched check or a forged reply
is one more wrong value. Values come back as numbers, texts, arrays and containers that the grader
builds anew, so no object of a student takes part in a comparison. Answers learned by heart fail on
inputs made from the seed. The page that a student gets back says of such an input only what kind it
is, and nothing that an answer wrote about it.

Files. On Linux, Landlock lets a submission read Python and the system, and write into one temporary
folder; the library, the notebooks, the assignment and homes are shut. That a file exists, its size
and its date can be seen. Seccomp refuses sockets, new processes and programs, signals to others,
changes of owner, mode and time, locks on files of others. Rights of root are given up, but for
reading where Landlock allows it. None of this can be undone from inside.

Time and memory. A cell, a call, and all together have limits of time; memory, written bytes, files,
threads, messages and their depth have limits, too (`Limits`). `longest_grading` is the bound for a
class, and ``lessons grade`` prints it before the first notebook runs. A process that ends or is
ended costs its own exercise; the others are graded in a new one.

Hand-ins. Links, pipes and devices are not opened, and a file is read up to 20 MB. Archives are not
unpacked. Names, remarks and answers are written so that a spreadsheet and a browser take them for
text, and without control characters; names of pages are made of letters that lead nowhere. Who a
file belongs to is its name or folder: that is as sure as your way of collecting.

The hub. Only listed names come in, each with a password that was drawn for it; salted hashes are
kept. It listens on this machine, or by HTTPS. With Docker or Kubernetes each student has a
container with limits of memory and cores, files of their own, and a course that is read only. The
spawner ``simple`` is for trying out: all servers are of one user, and nothing keeps students from
each other's files. What students run in a hub is not confined otherwise: it may use the network.

Not covered. Faults of the kernel, of Python, NumPy or the container; side channels of time and load
between submissions that run at once; a system without Landlock (Linux before 5.13, macOS, Windows),
where ``lessons grade`` refuses unless you say ``--weak``, and then only limits of time and a hook
inside Python are left. Two students who hand in the same text are not told apart. For people whom
you do not trust at all, grade in a virtual machine without network that you throw away.

Tests that attack each part: ``tests/classroom/test_attacks.py``, ``test_runner.py``,
``test_grading.py``, ``test_wire.py`` and ``hub/``.
"""

from .assign import assign
from .assignment import Assignment, read_assignment
from .feedback import write_feedback
from .grading import Graded, grade, grade_notebook, longest_grading
from .guides import Guide, guide, guide_ids
from .otter import otter_missing, write_otter
from .runner import Limits, missing_protections
from .tables import write_tables
from .tasks import Sheet, Task, judged, open_questions, sheet, tasks_of

__all__ = ["Assignment", "Graded", "Guide", "Limits", "Sheet", "Task", "assign", "grade",
           "grade_notebook", "guide", "guide_ids", "judged", "longest_grading",
           "missing_protections", "open_questions", "otter_missing", "read_assignment", "sheet",
           "tasks_of", "write_feedback", "write_otter", "write_tables"]
