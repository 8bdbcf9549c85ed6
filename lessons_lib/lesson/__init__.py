"""All that a notebook touches: open a lesson, show a figure, check an answer, explore with sliders,
add a leaderboard row.

``lesson = ll.start("one_hot")`` is the one set-up line of every notebook. Nothing here prints a
path, a time or an address, so that the same cells give the same outputs on every machine. Used by
every lesson.
"""

from .course import Course, LessonCard, read_card
from .lesson import Lesson, start
from .side_by_side import SideBySide

__all__ = ["Course", "Lesson", "LessonCard", "SideBySide", "read_card", "start"]
