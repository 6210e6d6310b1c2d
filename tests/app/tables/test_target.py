"""The task is guessed with a reason; rows without a target, and tiny classes, are left out with a note."""

import numpy as np
import pandas as pd
import pytest

from pellucid.app.tables import TableError, choose_target
from pellucid.app.tables.understanding import known_spellings


def chosen(values, task="auto"):
    return choose_target(pd.DataFrame({"y": values, "x": 0}), "y", task)


@pytest.mark.parametrize(
    ("values", "task", "reason", "dtype"),
    [
        (["no", "yes"] * 10, "classification", "its values are words", "<U3"),
        ([True, False] * 10, "classification", "its values are yes or no", bool),
        ([0, 1, 2, 3] * 5, "classification", "only 4 different values, all whole numbers", np.int64),
        ([0.0, 1.0, None, 2.0] * 6, "classification", "only 3 different values", np.int64),
        ([0.5, 1.0] * 10, "regression", "its values are numbers, 2 different ones", np.float64),
        ([3, 4, 5, 5, 6, 9], "regression", "its values are numbers, 5 different ones", np.float64),
        (range(20), "regression", "its values are numbers, 20 different ones", np.float64),
    ],
)
def test_the_task_is_guessed_with_a_reason(values, task, reason, dtype):
    target = chosen(values)
    assert target.task == task
    assert reason in target.reason
    assert target.values.dtype == dtype


def test_the_user_decides():
    assert chosen([0, 1, 2, 3] * 5, "regression").task == "regression"
    assert chosen(list(range(6)) * 5 + list(range(100, 106)) * 5, "classification").reason == "you said so"


def test_rows_without_a_target_are_left_out_and_counted():
    target = chosen(["a", "b", None] * 10)
    assert target.left_out == ("10 rows without y were left out.",)
    assert target.rows.sum() == len(target.values) == 20


def test_classes_too_small_to_split_are_left_out_and_named():
    target = chosen(["a"] * 10 + ["b"] * 10 + ["c"] * 4)
    assert "4 rows of classes with fewer than 5 rows were left out (c)" in target.left_out[0]
    assert set(target.values) == {"a", "b"}
    assert target.rows.tolist() == [True] * 20 + [False] * 4


@pytest.mark.parametrize(
    ("values", "task", "sentence"),
    [
        (["a"] * 20, "auto", r"two classes or more with at least 5 rows each, got 'y' with 1: a \(20\)"),
        (["a", "b"] * 2, "auto", r"got 'y' with 2: a \(2\), b \(2\). Add rows or merge classes"),
        ([f"name {i}" for i in range(101)] * 5, "auto", "at most 100 classes, got 'y' with 101"),
        ([None] * 9, "auto", "target must have values"),
        (["a", "b"] * 9, "regression", "must be numbers for regression, got 'y' with 'a' in row 1"),
        (["1.5", "x", "2.5"] * 6, "regression", "must be numbers for regression, got 'y' with 'x' in row 2"),
        ([0.5, 1.5] * 9, "classification", "must be words or whole numbers for classes"),
        ([np.nan, np.inf] * 9, "regression", "target must have values"),
        ([1.5] * 9, "auto", "must change from row to row, got 'y', which is always 1.5"),
        ([1.0], "guess", "task must be one of"),
    ],
)
def test_a_target_that_cannot_be_learned_is_one_sentence(values, task, sentence):
    with pytest.raises(ValueError, match=sentence):
        chosen(values, task)


def test_a_target_that_is_not_there_is_refused_with_the_columns_that_are():
    with pytest.raises(TableError, match=r"one of the columns \['x'\], got 'y'"):
        choose_target(pd.DataFrame({"x": [1]}), "y")


def test_spellings_of_a_class_are_joined_with_a_note_unless_all_is_left_as_it_is():
    frame = pd.DataFrame({"y": ["Yes", "yes ", "Yes", "no"] * 10})
    target = choose_target(frame, "y")
    assert sorted(set(target.values)) == ["Yes", "no"]
    assert target.notes == ("Classes of y that differ by blanks or case only were joined: 'Yes', 'yes '.",)
    assert sorted(set(choose_target(frame, "y", coerce=False).values)) == ["Yes", "no", "yes "]


def test_new_spellings_are_known_by_what_was_learned():
    known = np.array(["New York", "Rome"])
    labels = known_spellings(np.array([" new  york", "Rome", "Oslo"]), known)
    assert labels.tolist() == ["New York", "Rome", "Oslo"]


def test_prices_are_numbers_with_a_note_unless_all_is_left_as_it_is():
    frame = pd.DataFrame({"y": [f"${price}.50" for price in range(20)] * 5})
    assert choose_target(frame, "y").task == "regression"
    assert choose_target(frame, "y").notes == ("y was read as numbers, though it is written as texts.",)
    assert choose_target(frame, "y", coerce=False).task == "classification"


def test_rows_with_an_infinite_target_are_left_out_and_counted():
    found = chosen([0.5, 1.5, np.inf, 2.5, None, -np.inf] * 5)
    assert found.values.tolist() == [0.5, 1.5, 2.5] * 5
    assert found.left_out == ("5 rows without y were left out.", "10 rows with an infinite y were left out.")
