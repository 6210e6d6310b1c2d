"""Exercises on the page: the first wrong answer is named with its step, and hints are the workings."""

from __future__ import annotations

import pytest

from pellucid.app.playing import practice
from pellucid.exercises import exercise, exercise_names

NAME, SEED, LEVEL = "least-squares", 1, 1


@pytest.fixture(scope="module")
def made():
    return exercise("least squares", SEED, LEVEL)


def right_answers(made):
    return {str(number): one.right for number, one in enumerate(made.answers, 1)}


def test_all_exercises_are_listed_by_the_names_that_are_asked_for():
    assert [one["name"] for one in practice.exercise_list()] == exercise_names()


def test_the_question_tells_what_is_asked_and_not_the_answers(made):
    told = practice.question("least squares", SEED, LEVEL)
    assert [one["name"] for one in told["asked"]] == [one.name for one in made.answers]
    assert [one["step"] for one in told["asked"]] == [one.step for one in made.answers]
    assert told["steps"] == len(made.solution.steps)
    assert "________" in told["question"]
    assert "answer" not in told


def test_right_answers_are_right(made):
    told = practice.marked("least squares", SEED, LEVEL, right_answers(made))
    assert all(told["right"].values())
    assert told["first_wrong"] is None


def test_the_first_wrong_answer_is_named_with_its_step(made):
    answers = right_answers(made)
    last = str(len(answers))
    answers[last] = "1000"
    told = practice.marked("least squares", SEED, LEVEL, answers)
    assert told["right"] == {number: number != last for number in answers}
    wrong = told["first_wrong"]
    assert (wrong["number"], wrong["step"]) == (len(answers), made.answers[-1].step)
    assert wrong["heading"] == made.solution.steps[wrong["step"] - 1].heading
    assert "<math" in wrong["html"]


def test_no_answer_is_wrong(made):
    told = practice.marked("least squares", SEED, LEVEL, {})
    assert not any(told["right"].values())
    assert told["first_wrong"]["number"] == 1


def test_a_hint_is_a_step_of_the_workings(made):
    told = practice.hint("least squares", SEED, LEVEL, 1)
    assert told["heading"] == made.solution.steps[0].heading
    assert told["html"] == practice.marked("least squares", SEED, LEVEL, {})["first_wrong"]["html"]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: practice.question("least sqares", 0, 1), "name must be"),
        (lambda: practice.question("least squares", -1, 1), "seed"),
        (lambda: practice.question("least squares", 0, 9), "level"),
        (lambda: practice.hint("least squares", 0, 1, 99), "step must be a whole number from 1 to"),
        (lambda: practice.hint("least squares", 0, 1, "1"), "step must be a whole number"),
        (lambda: practice.marked("least squares", 0, 1, {"99": "1"}), "answers must have the numbers"),
        (lambda: practice.marked("least squares", 0, 1, {"1": 3}), "answers must be an object"),
        (lambda: practice.marked("least squares", 0, 1, ["3"]), "answers must be an object"),
    ],
)
def test_what_is_no_exercise_gets_a_sentence(call, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        call()
