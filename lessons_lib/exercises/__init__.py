"""Exercises: each lesson's file holds tasks, hints, tested solutions and planted wrong answers.

A judge answers None for a right answer, else with one sentence. Planted wrong answers prove that it
refuses what it should. Used by every lesson through ``lesson.check``, ``lesson.hint`` and
``lesson.solution``.
"""

from .base import (AuditLine, Exercise, audit, for_lesson, judge_function, judge_value,
                   solution_text, stems, unseen_judge, verdict)

__all__ = ["AuditLine", "Exercise", "audit", "for_lesson", "judge_function", "judge_value",
           "solution_text", "stems", "unseen_judge", "verdict"]
