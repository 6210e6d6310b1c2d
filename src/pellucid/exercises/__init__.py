"""Exercises: problems with small numbers, their solutions by the workings of each method, sheets, and marks."""

from pellucid.exercises.asked_results import AskedResult
from pellucid.exercises.generating import Exercise, exercise
from pellucid.exercises.recipes import exercise_names
from pellucid.exercises.sheets import Mark, Sheets, make_sheets, mark_answers

__all__ = [
    "AskedResult",
    "Exercise",
    "Mark",
    "Sheets",
    "exercise",
    "exercise_names",
    "make_sheets",
    "mark_answers",
]
