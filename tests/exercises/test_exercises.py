"""Exercises are clean, repeat themselves, agree with the estimators, and their marks find the first wrong step."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from sympy import Rational

from pellucid import exercise
from pellucid.cluster import KMeans
from pellucid.core.card_index import entries
from pellucid.exercises import exercise_names, make_sheets, mark_answers
from pellucid.exercises.asked_results import AskedResult, asked_in, values_of
from pellucid.exercises.generating import LARGEST_NUMERATOR, MOST_ASKED_STEPS, is_clean
from pellucid.exercises.recipes import OTHER_NAMES, RECIPES, find_recipe
from pellucid.show.document import Drawing, formula, result, sentence, step, table
from pellucid.show.notation import Words, math
from pellucid.show.showing import work_by_hand

every_method = pytest.mark.parametrize("name", sorted(exercise_names()))


def rights(made):
    return {i: asked.right for i, asked in enumerate(made.answers, 1)}


def test_a_line_worked_by_hand():
    made = exercise("least squares", seed=1)
    (X, y), n = made.problem.given, len(made.problem.given[1])
    x = [row[0] for row in X]
    sxx = sum(a * a for a in x) - Rational(sum(x)) ** 2 / n
    slope = (sum(a * b for a, b in zip(x, y, strict=True)) - Rational(sum(x)) * sum(y) / n) / sxx
    found = {asked.name: asked.values for asked in made.answers}
    assert found["w"] == (slope,)
    assert found["b"] == (Rational(sum(y)) / n - slope * Rational(sum(x)) / n,)


@every_method
@pytest.mark.parametrize("level", [1, 2, 3])
def test_every_exercise_is_clean_and_its_marks_find_the_planted_mistake(name, level):
    made = exercise(name, seed=level, level=level)
    recipe = find_recipe(made.name)
    assert is_clean(made.problem.work(), made.answers, recipe)
    assert len({asked.step for asked in made.answers}) <= MOST_ASKED_STEPS
    if not recipe.rounded:
        numbers = [value for asked in made.answers for value in asked.values if hasattr(value, "denominator")]
        assert all(value.denominator <= recipe.largest_denominator for value in numbers)
        assert all(abs(value.numerator) <= LARGEST_NUMERATOR for value in numbers)
    right = rights(made)
    assert made.mark(right) == [True] * len(right)
    assert made.first_wrong(right) is None
    place = 1 + level % len(right)
    planted = {i: "77777" if i >= place else answer for i, answer in right.items()}
    assert made.first_wrong(planted) is made.answers[place - 1]
    for format_ in ("text", "markdown", "latex", "html"):
        assert "____" in made.question.printed(format_).replace(r"\_", "_")


@every_method
def test_the_solution_agrees_with_the_program(name):
    assert "more than rounding" not in exercise(name, seed=5).solution.text()


@every_method
def test_a_seed_gives_the_same_exercise_and_another_one_another(name):
    first, again = exercise(name, seed=2), exercise(name, seed=2)
    assert first.text() == again.text()
    assert rights(first) == rights(again)
    assert any(exercise(name, seed=seed).text() != first.text() for seed in (3, 4, 5, 6))


@every_method
def test_the_question_does_not_tell_what_it_asks(name):
    made = exercise(name, seed=1)
    assert all(asked.heading in made.text() or find_recipe(made.name).hides_headings for asked in made.answers)
    gaps = made.text().count("________")
    assert gaps >= sum(len(asked.rows) or 1 for asked in made.answers)


def test_a_problem_with_a_tie_is_not_clean_unless_it_is_about_ties():
    X = [[0, 0], [1, 2], [-1, -1], [2, 3], [-2, 1], [3, 1]]  # two rows lie between the first centers
    work = work_by_hand(KMeans(2, init=[[-1, 3], [2, 0]], n_init=1), X)
    answers = tuple(asked for number, one in enumerate(work.steps, 1) for asked in asked_in(number, one))
    recipe = RECIPES["k-means"]
    assert not is_clean(work, answers, recipe)
    assert is_clean(work, answers, replace(recipe, about_ties=True))


def test_pictures_that_show_results_are_left_out_of_the_question():
    made = exercise("graph")
    assert any(isinstance(block, Drawing) for block in made.solution.introduction)
    assert not any(isinstance(block, Drawing) for block in made.question.introduction)


def numbers_in(given):
    if isinstance(given, (list, tuple)):
        return [number for part in given for number in numbers_in(part)]
    return [given] if isinstance(given, (int, float)) else []


@every_method
def test_the_question_tells_all_numbers_of_the_data(name):
    made = exercise(name, seed=1, level=2)
    told = {number.replace("−", "-") for number in re.findall(r"[−-]?\d+(?:\.\d+)?", made.text())}
    if not name.startswith("random-forest"):  # whose trees tell what they say of the rows
        missing = [number for number in numbers_in(made.problem.given) if not {str(number), str(abs(number))} & told]
        assert not missing


def test_every_method_with_workings_has_exercises():
    known = {*exercise_names(), *OTHER_NAMES}
    assert {entry.command_name for entry in entries().values() if entry.workings} <= known
    assert set(OTHER_NAMES.values()) <= set(RECIPES)


@pytest.mark.parametrize("name", ["ridge", "k-means", "gaussian-nb", "decision-tree-classifier"])
def test_a_method_without_a_recipe_has_exercises_by_its_card(name, monkeypatch):
    monkeypatch.delitem(RECIPES, name)
    assert name in exercise_names()
    made = exercise(name, seed=1)
    assert made.mark(rights(made)) == [True] * len(made.answers)
    assert "more than rounding" not in made.solution.text()


def test_a_method_is_known_by_any_spelling_and_a_wrong_one_gets_the_nearest():
    assert exercise("K-Means").name == exercise("kmeans").name == "k-means"
    assert exercise("nb").name == "multinomial-nb"
    with pytest.raises(ValueError, match="name must be .*, got 'kmeens'; k-means"):
        exercise("kmeens")
    with pytest.raises(ValueError, match="level must be one of"):
        exercise("kmeans", level=4)
    with pytest.raises(ValueError, match="seed must be at least 0"):
        exercise("kmeans", seed=-1)


def result_of(*values):
    return AskedResult(1, "", math("w"), values, math("w"))


@pytest.mark.parametrize(
    ("values", "answer", "is_right"),
    [
        ((Rational(1, 3),), "1/3", True),
        ((Rational(1, 3),), " 0.33", True),
        ((Rational(1, 3),), "0,333", True),
        ((Rational(1, 3),), "0.3", False),
        ((Rational(1, 3),), "a third", False),
        ((Rational(1, 3),), "", False),
        ((Rational(1, 3),), "1/0", False),
        ((Rational(1, 3),), "0.333333…", True),
        ((Rational(200),), "200.5", True),
        ((Rational(200),), "202", False),
        ((Rational(-3), Rational(1, 2)), "−3; 1/2", True),
        ((Rational(-3), Rational(1, 2)), "(-3, 0.5)", True),
        ((Rational(-3), Rational(1, 2)), "0.5; -3", False),
        ((Rational(-3), Rational(1, 2)), "-3", False),
        (("x₁ ≤ 0.5",), "x1 <= 0.5", True),
        (("x₁ ≤ 0.5",), "x2 <= 0.5", False),
        (("a", "b"), "A b", True),
    ],
)
def test_answers_are_read_as_people_write_them(values, answer, is_right):
    assert result_of(*values).is_right(answer) is is_right


def test_minus_a_direction_is_the_same_direction():
    made = exercise("pca", level=2)
    place, axis = next((i, one) for i, one in enumerate(made.answers, 1) if one.name == "v₁")
    other = "; ".join(str(-value) for value in axis.values)
    assert axis.is_right(other)
    assert not axis.is_right("; ".join(str(abs(value) + 1) for value in axis.values))
    assert made.mark({place: other})[place - 1]
    assert not any(one.either_sign for one in made.answers if one.name == "C")


def test_results_of_a_step_are_its_equations_in_their_order():
    work = step(
        "Try",
        sentence("Here ", math("k = 2"), "."),
        formula("a =", Rational(6, 4), "=", Rational(3, 2)),
        formula("a + b = 0"),
        formula("g = 1"),
        formula("g = 2"),
        result("c =", Rational(1, 3), "≈", Words("0.33")),
    )
    assert [(one.name, one.right) for one in asked_in(1, work)] == [("a", "3/2"), ("c", "1/3")]
    assert [one.name for one in asked_in(1, work, given=("a",))] == ["c"]


def test_who_is_nearest_is_asked_before_what_follows_from_it():
    rows = [[math(1), math(4), math(1)], [math(2), math(5), math(2)]]
    work = step("Round 1", table([math("i"), math("d"), "nearest"], rows), result("E =", 9))
    assert [(one.name, one.right) for one in asked_in(1, work)] == [("nearest", "1; 2"), ("E", "9")]


def test_what_is_no_number_has_no_value():
    assert values_of(math("x + 1")) is None
    assert values_of(Words("0.25")) == (Rational(1, 4),)


def test_sheets_differ_and_their_key_marks_all_of_them_right():
    sheets = make_sheets(["nb", "kmeans", "pca"], copies=4, seed=3)
    texts = [one.text() for one in sheets.questions]
    assert len(set(texts)) == 4
    assert "Exercise 1. Naive Bayes on counts" in texts[0]
    assert "Sheet 4." in sheets.key.text()
    rows = [line.split(",") for line in sheets.answer_table().splitlines()]
    head, body = rows[0], [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    assert head == ["sheet", "exercise", "seed", "level", "asked", "name", "answer"]
    keys = {
        (str(number), one.name, str(i)): asked.right
        for number, own in enumerate(sheets.exercises, 1)
        for one in own
        for i, asked in enumerate(one.answers, 1)
    }
    filled = [row | {"answer": keys[row["sheet"], row["exercise"], row["asked"]]} for row in body]
    marks = mark_answers(filled)
    assert len(marks) == 12
    assert all(mark.right == mark.of and not mark.first_wrong for mark in marks)
    wrong = [row | {"answer": "99"} if (row["sheet"], row["exercise"]) == ("2", "k-means") else row for row in filled]
    bad = [mark for mark in mark_answers(wrong) if mark.first_wrong]
    assert [(mark.sheet, mark.exercise, mark.right) for mark in bad] == [("2", "k-means", 0)]
    assert bad[0].first_wrong.startswith("step 1 (Round 1): nearest is ")
    assert bad[0].first_wrong.endswith("got '99'")


def test_a_table_of_answers_without_a_column_is_refused():
    with pytest.raises(ValueError, match="answers must have the columns sheet, .*, got no answer"):
        mark_answers([{"sheet": "1", "exercise": "kmeans", "seed": "0", "level": "1", "asked": "1"}])
    with pytest.raises(ValueError, match="whole numbers, got others in line 2"):
        mark_answers([{"sheet": "1", "exercise": "kmeans", "seed": "x", "level": "1", "asked": "1", "answer": "1"}])
