"""Exercises as a page asks for them: the question, which answers are right, the first wrong step, a hint."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pellucid.exercises import Exercise, exercise, exercise_names
from pellucid.show.document import Step
from pellucid.show.html_printer import print_blocks, print_fragment


def exercise_list() -> list[dict[str, str]]:
    """Return the names of all exercises, and what a list calls them."""
    return [{"name": name, "title": _title(name)} for name in exercise_names()]


def _title(name: str) -> str:
    words = name.replace("-", " ").replace("_", " ")
    return words[:1].upper() + words[1:]


def question(name: str, seed: int = 0, level: int = 1) -> dict[str, Any]:
    """Return an exercise as the page shows it, with what it asks for.

    Examples
    --------
    >>> question("least squares", 1)["asked"][-1]["name"]
    'b'
    """
    made = _made(name, seed, level)
    asked = [
        {"number": number, "name": one.name, "step": one.step, "parts": len(one.values)}
        for number, one in enumerate(made.answers, 1)
    ]
    return {"question": print_fragment(made.question), "asked": asked, "steps": len(made.solution.steps)}


def marked(name: str, seed: int, level: int, answers: Mapping[str, str]) -> dict[str, Any]:
    """Return which answers are right, and the workings of the first step where one is not.

    Answers come by their numbers, as JSON has them: as texts. One that is missing is wrong.
    """
    made = _made(name, seed, level)
    given = _numbered(answers, len(made.answers))
    marks = made.mark(given)
    wrong = None
    if not all(marks):
        number = marks.index(False) + 1
        step = made.answers[number - 1].step
        wrong = {"number": number, "step": step, **_told(made, step)}
    return {"right": {str(number): mark for number, mark in enumerate(marks, 1)}, "first_wrong": wrong}


def hint(name: str, seed: int, level: int, step: int) -> dict[str, Any]:
    """Return one step of the workings, counted from 1."""
    made = _made(name, seed, level)
    steps = len(made.solution.steps)
    if type(step) is not int or not 1 <= step <= steps:
        raise ValueError(f"step must be a whole number from 1 to {steps}, got {step!r}.")
    return _told(made, step)


def _told(made: Exercise, step: int) -> dict[str, Any]:
    found: Step = made.solution.steps[step - 1]
    return {"heading": found.heading, "html": print_blocks(found.blocks)}


def _numbered(answers: Any, count: int) -> dict[int, str]:
    if not isinstance(answers, Mapping) or not all(isinstance(text, str) for text in answers.values()):
        raise ValueError('answers must be an object like {"1": "3/4"}, with a text for each number.')
    wrong = [number for number in answers if not (str(number).isdecimal() and 1 <= int(number) <= count)]
    if wrong:
        raise ValueError(f"answers must have the numbers 1 to {count}, got {wrong[0]!r}.")
    return {int(number): text for number, text in answers.items()}


@lru_cache(maxsize=32)
def _made(name: str, seed: int, level: int) -> Exercise:
    return exercise(name, seed, level)
