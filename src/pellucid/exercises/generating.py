"""exercise: a problem with small numbers, its questions, and its solution by the workings of the method."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from decimal import Decimal
from typing import Any

from pellucid.core.checks import check_one_of, check_whole, find_name
from pellucid.exercises.asked_results import AskedResult, asked_in, values_of
from pellucid.exercises.recipes import OTHER_NAMES, DrawnProblem, ExerciseRecipe, exercise_names, find_recipe
from pellucid.show.comparison import COMPARISON, has_cut_numbers
from pellucid.show.document import (
    Block,
    Document,
    Drawing,
    Figure,
    FormulaLine,
    Sentence,
    Step,
    Table,
    sentence,
    step,
    table,
)
from pellucid.show.notation import ExactNumber, Grid, Math, Words, fenced, math
from pellucid.show.showing import show_work

LEVELS = (1, 2, 3)
MOST_TRIES = 400
MOST_ASKED_STEPS = 6
LARGEST_NUMERATOR = 10_000
MOST_OPERATIONS = 8
"""In a number that is no fraction, such as (3 + √5)/2."""
BLANK = Words("________")
TIES = re.compile(r"\bthe first counts|rule for ties|are equal:|equally (good|weak)", re.IGNORECASE)
"""What remarks of workings say where two answers are as good as each other."""


@dataclass(frozen=True)
class Exercise:
    """An exercise: what is asked, the solution step by step, and the right answers."""

    name: str
    """The method or topic, by its full name."""
    seed: int
    """What the numbers were drawn by: the same one gives the same exercise."""
    level: int
    """1, 2 or 3: higher levels have more rows, columns or rounds."""
    problem: DrawnProblem
    """The numbers and settings that were drawn, as ``show_work`` takes them."""
    question: Document
    """What is given, and gaps for the answers, numbered from 1."""
    solution: Document
    """The workings, step by step."""
    answers: tuple[AskedResult, ...]
    """What is right for each gap, in their order."""

    def text(self) -> str:
        """Return the question for a terminal."""
        return self.question.text()

    def markdown(self) -> str:
        """Return the question as Markdown."""
        return self.question.markdown()

    def latex(self) -> str:
        """Return the question as LaTeX that compiles by itself."""
        return self.question.latex()

    def html(self) -> str:
        """Return the question as one web page."""
        return self.question.html()

    def mark(self, answers: Mapping[int, str]) -> list[bool]:
        """Return for each of ``answers``, counted from 1, whether what is given is right; what is left out is wrong."""
        return [asked.is_right(answers.get(i, "")) for i, asked in enumerate(self.answers, 1)]

    def first_wrong(self, answers: Mapping[int, str]) -> AskedResult | None:
        """Return the first result that is wrong; None if all are right."""
        marks = self.mark(answers)
        return None if all(marks) else self.answers[marks.index(False)]

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"exercise({self.name!r}, seed={self.seed}, level={self.level})"

    def _repr_html_(self) -> str:
        return self.question._repr_html_()

    def _repr_markdown_(self) -> str:
        return self.markdown()


def exercise(name: str, seed: int = 0, level: int = 1) -> Exercise:
    """Return an exercise on a method, with numbers chosen so that its solution is clean.

    Numbers are drawn until no result is longer than a short fraction, nothing hangs on a tie, and at most six steps are
    asked for. The solution is what ``show_work`` writes; the questions and answers are read from its steps.

    Parameters
    ----------
    name : str
        A method or topic, by any spelling of its name: ``"kmeans"``, ``"gaussian-nb"``, ``"convolution"``; ``"nb"``,
        ``"knn"``, ``"lda"`` and the like are short for one.
    seed : int, default=0
        Another number gives another exercise, the same one the same.
    level : {1, 2, 3}, default=1
        Higher levels have more rows, columns or rounds.

    Returns
    -------
    Exercise
        ``question`` and ``solution`` are documents: ``print`` shows them, ``save("sheet.tex")`` writes them.

    Examples
    --------
    >>> line = exercise("least squares", seed=1)
    >>> [(asked.name, asked.right) for asked in line.answers if asked.name in ("w", "b")]
    [('w', '1/6'), ('b', '17/6')]
    >>> line.mark({1: "3", 2: "1"})[:1]
    [False]
    """
    known = find_name(name, [*exercise_names(), *OTHER_NAMES], what="name")
    known = OTHER_NAMES.get(known, known)
    check_whole(0, seed=seed)
    check_one_of_levels(level)
    recipe = find_recipe(known)
    for rng in _sources(known, seed, level):
        problem = recipe.draw(rng, level)
        work = _worked(problem)
        answers = () if work is None else _asked(work, recipe)
        if work is not None and is_clean(work, answers, recipe):
            solution = show_work(problem.shown, *problem.given, **problem.options)
            return Exercise(known, seed, level, problem, _question(work, answers, problem, recipe), solution, answers)
    raise RuntimeError(f"none of {MOST_TRIES} draws of {known} was clean at level {level}. Try another seed.")


def check_one_of_levels(level: int) -> None:
    """Refuse a level that there is not."""
    if level not in LEVELS:
        check_one_of(map(str, LEVELS), level=str(level))


def is_clean(work: Document, answers: tuple[AskedResult, ...], recipe: ExerciseRecipe) -> bool:
    """Return whether a person can be asked for that: few steps, short numbers, no tie, and not all of it 0."""
    numbers = [value for asked in answers for value in asked.values if not isinstance(value, str)]
    n_steps = len({asked.step for asked in answers})
    return (
        1 <= n_steps <= MOST_ASKED_STEPS
        and (recipe.rounded or not has_cut_numbers(tuple(one for one in _solved(work) if _is_asked(one, recipe))))
        and (recipe.rounded or all(_is_short(value, recipe.largest_denominator) for value in numbers))
        and (any(value != 0 for value in numbers) or len(numbers) < sum(len(asked.values) for asked in answers))
        and (recipe.about_ties or not any(TIES.search(words) for words in _remarks(work)))
        and not _is_undecided(answers)
        and recipe.accept(work)
    )


def _is_undecided(answers: tuple[AskedResult, ...]) -> bool:
    """Return whether two classes have one score, or every row gets the same decision."""
    for number in {asked.step for asked in answers}:
        scores = [asked.values for asked in answers if asked.step == number and asked.name.startswith("score")]
        if len(set(scores)) < len(scores):
            return True
    decisions = [asked.values for asked in answers if asked.name == "decision" and len(asked.values) > 1]
    return any(len(set(values)) == 1 for values in decisions)


def _sources(name: str, seed: int, level: int) -> Iterator[random.Random]:
    for attempt in range(MOST_TRIES):
        yield random.Random(f"{name} {seed} {level} {attempt}")  # texts are hashed alike on every machine


def _worked(problem: DrawnProblem) -> Document | None:
    """Return the workings of what was drawn; None where it cannot be worked by hand."""
    try:
        return problem.work()
    except (ValueError, ArithmeticError):
        return None


def _solved(work: Document) -> tuple[Step, ...]:
    return tuple(one for one in work.steps if one.heading != COMPARISON)


def _asked(work: Document, recipe: ExerciseRecipe) -> tuple[AskedResult, ...]:
    asked = [
        found
        for number, one in enumerate(_solved(work), 1)
        if _is_asked(one, recipe)
        for found in [*_in_heading(number, one, recipe), *asked_in(number, one, recipe.given)]
    ]
    kept = list(dict.fromkeys(asked.step for asked in asked))
    last = kept[: recipe.most_steps]
    return tuple(
        replace(one, either_sign=one.name.startswith(recipe.directions)) if recipe.directions else one
        for one in asked
        if one.step in last
    )


def _is_asked(one: Step, recipe: ExerciseRecipe) -> bool:
    return not one.heading.startswith(recipe.skip)


def _in_heading(number: int, one: Step, recipe: ExerciseRecipe) -> Iterator[AskedResult]:
    """Yield what the heading of a step tells, where that is a result: who merges, which cluster is split."""
    for beginning, what in recipe.told_by_headings.items():
        if one.heading.startswith(beginning):
            words = one.heading.removeprefix(beginning).replace(",", " and")
            yield AskedResult(number, one.heading, Words(what), (words,), Words(words))


def _is_short(value: Any, largest_denominator: int) -> bool:
    if isinstance(value, Decimal):
        return True
    node = math(value)
    if isinstance(node, ExactNumber):
        below, above = int(node.value.denominator), int(node.value.numerator)
        return below <= largest_denominator and abs(above) <= LARGEST_NUMERATOR
    return int(value.count_ops()) <= MOST_OPERATIONS


def _remarks(node: Any) -> Iterator[str]:
    """Yield the words of all remarks in a document."""
    if isinstance(node, Sentence):
        if node.aside:
            yield " ".join(part for part in node.parts if isinstance(part, str))
    elif isinstance(node, tuple):
        for part in node:
            yield from _remarks(part)
    elif is_dataclass(node) and not isinstance(node, type):
        for one in fields(node):
            yield from _remarks(getattr(node, one.name))


def _question(
    work: Document, answers: tuple[AskedResult, ...], problem: DrawnProblem, recipe: ExerciseRecipe
) -> Document:
    """Return what is given and what is asked; headings that would tell results are left out."""
    steps: list[Step] = []
    numbered = list(enumerate(answers, 1))
    for number in dict.fromkeys(asked.step for asked in answers):
        own = [(i, asked) for i, asked in numbered if asked.step == number]
        solved = _solved(work)[number - 1]
        gaps = [gap for i, asked in own for gap in _gaps(i, asked)]
        steps.append(step("Find" if recipe.hides_headings else solved.heading, *_given(solved, recipe), *gaps))
    settings = ", ".join(f"{key} = {value}" for key, value in problem.told.items())
    task = sentence(recipe.task + (f" Use {settings}." if settings else ""))
    opening = [block for block in work.introduction if not isinstance(block, (Drawing, Figure))]  # they show results
    return Document(f"Exercise: {work.title}", (task, *opening, *_asked_about(problem)), tuple(steps))


def _asked_about(problem: DrawnProblem) -> list[Block]:
    """Return the rows that a decision is asked about, which the workings tell in their steps only."""
    rows = problem.options.get("new")
    return [] if rows is None else [sentence("Decide about ", math(*map(_row, rows)), ".")]


def _row(row: Any) -> Math:
    cells = [part for cell in row for part in (Words(cell) if isinstance(cell, str) else cell, ",")]
    return fenced(math(*cells[:-1]))


def _given(solved: Step, recipe: ExerciseRecipe) -> list[Block]:
    """Return the tables of a step that a student cannot make, their last columns empty."""
    if not recipe.empty_columns:
        return []
    tables = [block for block in solved.blocks if isinstance(block, Table)]
    return [
        replace(one, rows=tuple((*row[: -recipe.empty_columns], *[BLANK] * recipe.empty_columns) for row in one.rows))
        for one in tables
    ]


def _gaps(number: int, asked: AskedResult) -> list[Block]:
    """Return the place for an answer: a formula that ends in a line, or a column of lines."""
    if asked.rows:
        head = asked.label.text if isinstance(asked.label, Words) else asked.label
        return [table(["", head], [[row, BLANK] for row in asked.rows], caption=f"({number})")]
    size = [Words(f"({_size(asked.shown)})")] if len(asked.values) > 1 else []
    return [FormulaLine(math(Words(f"({number})"), asked.label, "=", BLANK, *size))]


def _size(node: Math) -> str:
    if isinstance(node, Grid):
        rows, columns = len(node.rows), len(node.rows[0])
        return f"{rows} numbers, from top to bottom" if columns == 1 else f"{rows} × {columns} numbers, row by row"
    return f"{len(values_of(node) or ())} numbers"
