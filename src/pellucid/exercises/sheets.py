"""Sheets for a whole class: every copy with other numbers, one key, a table for the answers, and the marks."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pellucid.core.checks import check_whole
from pellucid.exercises.generating import Exercise, exercise
from pellucid.show.document import Block, Document, Step, sentence, step, table
from pellucid.show.notation import math

COLUMNS = ("sheet", "exercise", "seed", "level", "asked", "name", "answer")
"""Of the table of answers: the first five say what was asked, a student or teacher fills in the last."""


@dataclass(frozen=True)
class Sheets:
    """Sheets of exercises, the same methods with other numbers on each."""

    exercises: tuple[tuple[Exercise, ...], ...]
    """Those of each sheet."""

    @property
    def questions(self) -> list[Document]:
        """One document for each sheet."""
        return [_sheet(number, own) for number, own in enumerate(self.exercises, 1)]

    @property
    def key(self) -> Document:
        """The right answers of all sheets."""
        steps = [_key_of(own) for own in self.exercises]
        return Document("Key", (), tuple(steps), step_name="Sheet")

    def answer_table(self) -> str:
        """Return the table to fill in, as CSV."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        for number, own in enumerate(self.exercises, 1):
            for one in own:
                for i, asked in enumerate(one.answers, 1):
                    writer.writerow([number, one.name, one.seed, one.level, i, asked.name, ""])
        return text.getvalue()


def make_sheets(names: Sequence[str], copies: int = 1, seed: int = 0, level: int = 1) -> Sheets:
    """Return sheets with an exercise on each of the methods, every copy with other numbers.

    Parameters
    ----------
    names : sequence of str
        A method or topic for each exercise of a sheet, by any spelling of its name.
    copies : int, default=1
        Sheets, at least 1.
    seed : int, default=0
        At least 0; another number gives other sheets, the same one the same.
    level : {1, 2, 3}, default=1
        Higher levels have more rows, columns or rounds.

    Examples
    --------
    >>> sheets = make_sheets(["kmeans", "least squares"], copies=2)
    >>> [[one.seed for one in own] for own in sheets.exercises]
    [[0, 0], [1, 1]]
    """
    check_whole(copies=copies)
    check_whole(0, seed=seed)
    first = seed * copies
    return Sheets(tuple(tuple(exercise(name, first + i, level) for name in names) for i in range(copies)))


@dataclass(frozen=True)
class Mark:
    """What one exercise of one sheet is worth, and where it goes wrong first."""

    sheet: str
    """The number of the sheet, as the table of answers writes it."""
    exercise: str
    """The method of the exercise."""
    right: int
    """How many answers are right."""
    of: int
    """How many were asked for."""
    first_wrong: str
    """The step, what was asked, what is right and what was given; empty if nothing is wrong."""


def mark_answers(rows: Iterable[Mapping[str, str]]) -> list[Mark]:
    """Return the marks of answers, in the order of the table: the exercises are made again from their seeds.

    Parameters
    ----------
    rows : iterable of dict
        The rows of ``Sheets.answer_table`` by the names of their columns, as ``csv.DictReader`` reads them; an empty
        answer is wrong.
    """
    groups: dict[tuple[str, str, str, str], dict[int, str]] = {}
    for number, row in enumerate(rows, 2):
        missing = [name for name in COLUMNS if name != "name" and row.get(name) is None]
        if missing:
            raise ValueError(f"answers must have the columns {', '.join(COLUMNS)}, got no {', '.join(missing)}.")
        if not all(row[name].strip().isdecimal() for name in ("seed", "level", "asked")):
            raise ValueError(f"seed, level and asked must be whole numbers, got others in line {number}.")
        key = (row["sheet"], row["exercise"], row["seed"], row["level"])
        groups.setdefault(key, {})[int(row["asked"])] = row["answer"]
    return [_mark(key, given) for key, given in groups.items()]


def _mark(key: tuple[str, str, str, str], given: Mapping[int, str]) -> Mark:
    sheet, name, seed, level = key
    made = exercise(name, int(seed), int(level))
    marks = made.mark(given)
    wrong = ""
    if not all(marks):
        place = marks.index(False)
        asked, answer = made.answers[place], given.get(place + 1, "").strip()
        got = repr(answer) if answer else "nothing"
        wrong = f"step {asked.step} ({asked.heading}): {asked.name} is {asked.right}, got {got}"
    return Mark(sheet, made.name, sum(marks), len(marks), wrong)


def _sheet(number: int, own: tuple[Exercise, ...]) -> Document:
    steps = tuple(step(one.question.title.removeprefix("Exercise: "), *_blocks(one)) for one in own)
    return Document(f"Sheet {number}", (sentence("Name: ____________________________"),), steps, step_name="Exercise")


def _blocks(one: Exercise) -> list[Block]:
    return [*one.question.introduction, *(block for part in one.question.steps for block in _under_heading(part))]


def _under_heading(part: Step) -> list[Block]:
    return [sentence(f"{part.heading}:"), *part.blocks]


def _key_of(own: tuple[Exercise, ...]) -> Step:
    blocks: list[Block] = []
    for one in own:
        rows = [[math(i), asked.heading, asked.label, asked.right] for i, asked in enumerate(one.answers, 1)]
        blocks.append(table(["", "step", "asked", "right"], rows, caption=one.question.title))
    return step(", ".join(one.name for one in own), *blocks)
