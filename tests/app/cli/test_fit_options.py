"""Options of ``pellucid fit`` reach the bake-off, and the target is asked for where somebody can answer."""

import io

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from pellucid.app.cli.application import run
from pellucid.app.cli.screen import ask_target
from tests.app.bake_off.sample_tables import numeric_table
from tests.app.bake_off.test_options import shop


def call(*arguments):
    return run([str(argument) for argument in arguments])


@pytest.fixture
def sales(tmp_path):
    shop().drop(columns="buys").to_csv(tmp_path / "sales.csv", index=False)
    return tmp_path / "sales.csv"


def answered(*answers):
    """Return a console that gets these answers, and what it printed."""
    console = Console(file=io.StringIO(), force_terminal=False, width=100)
    lines = iter(answers)
    console.input = lambda question: console.print(question) or next(lines)
    return console


def test_without_a_target_and_a_terminal_the_columns_are_listed(sales, tmp_path, capsys):
    assert call("fit", sales, "--out", tmp_path / "learned") == 2
    complaint = capsys.readouterr().err
    assert "target must be named with --target: one of customer_id (words); day (date)" in complaint
    assert "price (number)" in complaint
    assert not (tmp_path / "learned").exists()


@pytest.mark.parametrize(
    ("answers", "expected"), [([""], "price"), (["1"], "size"), (["age"], "age"), (["9", "what", "2"], "age")]
)
def test_in_a_terminal_a_number_or_a_name_is_asked_for(answers, expected):
    console = answered(*answers)
    assert ask_target(numeric_table(), console) == expected
    said = console.file.getvalue()
    assert "Which column shall be predicted?" in said
    assert "Number or name (Enter for 3, price)" in said
    assert ("There is no column 'what'" in said) == ("what" in answers)


def test_the_question_shows_kinds_and_examples():
    console = answered("")
    ask_target(pd.DataFrame({"id": range(100, 140), "town": ["Bern", "Basel"] * 20}), console)
    said = " ".join(console.file.getvalue().split())
    assert "1 id it looks like an id, with 40 different values in 40 rows 100" in said
    assert "2 town words Bern" in said


def test_options_reach_the_model_and_the_command_is_told(sales, tmp_path, capsys):
    out = tmp_path / "learned"
    options = ["--target", "price", "--drop", "age", "--drop", "day", "--weights", "times", "--group", "customer_id"]
    methods = ["--only", "ridge", "--only", "least squares", "--metric", "neg_mean_absolute_error", "--folds", 2]
    assert call("fit", sales, *options, *methods, "--out", out, "--card", tmp_path / "card.md") == 0
    said = capsys.readouterr().out
    assert "Mean absolute error" in said
    assert "random forest" not in said
    report = (out / "report.html").read_text()
    command = (
        f"pellucid fit {sales} --target price --out {out} --folds 2 --drop age --drop day --metric "
        "neg_mean_absolute_error --group customer_id --weights times --only ridge --only &#39;least squares&#39; --card"
    )
    assert command in report
    assert (tmp_path / "card.md").read_text().startswith("# Model card: price")
    assert not (out / "model_card.md").exists()
    assert call("verify", out / "model.safetensors", sales, "--target", "price", "--weights", "times") == 0
    assert call("verify", out / "model.safetensors", sales, "--target", "price", "--weights", "weight") == 2
    assert "weights must name one of the columns" in capsys.readouterr().err


def test_a_table_of_costs_and_a_test_table_are_read(tmp_path, capsys):
    shop().drop(columns="price").to_csv(tmp_path / "sales.csv", index=False)
    shop(60, seed=1).drop(columns="price").to_csv(tmp_path / "test.csv", index=False)
    (tmp_path / "costs.csv").write_text(",no,yes\nno,0,1\nyes,5,0\n")
    options = ["--target", "buys", "--metric", tmp_path / "costs.csv", "--test", tmp_path / "test.csv", "--folds", 2]
    out = ["--only", "logistic regression", "--out", tmp_path / "learned"]
    assert call("fit", tmp_path / "sales.csv", *options, *out) == 0
    assert "Cost per row on 60 rows kept aside" in capsys.readouterr().out
    assert (tmp_path / "learned" / "model_card.md").is_file()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--only", "magic"], "only must be a name that is known, got 'magic'; "),
        (["--metric", "best"], "metric must be a CSV file of costs or one of accuracy"),
        (["--metric", "missing.csv"], "table must be a file, got missing.csv, which does not exist"),
        (["--test", "missing.csv"], "table must be a file, got missing.csv, which does not exist"),
        (["--time-column", "customer_id"], "time-column must hold dates or numbers"),
    ],
)
def test_a_bad_option_is_one_sentence(options, sentence, sales, tmp_path, capsys):
    assert call("fit", sales, "--target", "price", *options, "--out", tmp_path / "learned") == 2
    complaint = capsys.readouterr().err
    assert sentence in complaint
    assert complaint.count("\n") == 1
    assert not (tmp_path / "learned").exists()


@pytest.fixture(scope="module")
def grades(tmp_path_factory):
    """Marks from 1 to 6 that go with the hours learned."""
    rng = np.random.default_rng(0)
    hours, sleep = rng.uniform(0, 40, 150), rng.normal(7, 1, 150)
    marks = np.clip(np.round(hours / 7 + 0.6 * rng.normal(size=150)), 1, 6).astype(int)
    folder = tmp_path_factory.mktemp("grades")
    pd.DataFrame({"hours": hours, "sleep": sleep, "mark": marks}).to_csv(folder / "grades.csv", index=False)
    return folder / "grades.csv"


QUICK = ("--target", "mark", "--only", "ridge", "--recipe", "split")


def test_grades_are_read_as_an_order_with_the_probability_of_each(grades, tmp_path, capsys):
    assert call("fit", grades, *QUICK, "--out", tmp_path / "order") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "mark was read as whole numbers in an order" in said
    assert "--as classes or --as numbers reads it otherwise" in said
    model = tmp_path / "order" / "model.safetensors"
    assert call("predict", model, grades, "--probabilities", "--out", tmp_path / "said.csv") == 0
    found = pd.read_csv(tmp_path / "said.csv")
    assert list(found.columns[1:]) == [f"probability {mark}" for mark in range(1, 7)]
    np.testing.assert_allclose(found.iloc[:, 1:].sum(axis=1), 1.0)
    assert found["prediction"].between(1, 6).all()
    assert call("verify", model, grades, "--target", "mark") == 0


@pytest.mark.parametrize(("reading", "word"), [("numbers", "regression"), ("order", "whole numbers in an order")])
def test_the_reading_of_the_target_can_be_said(grades, tmp_path, capsys, reading, word):
    assert call("fit", grades, *QUICK, "--as", reading, "--out", tmp_path / reading) == 0
    assert f"mark: {word}, because you said so" in " ".join(capsys.readouterr().out.split())
    assert f"--as {reading}" in (tmp_path / reading / "report.html").read_text()


def test_two_ways_to_say_it_and_an_order_of_fractions_are_refused(grades, tmp_path, capsys):
    assert call("fit", grades, *QUICK, "--as", "order", "--task", "regression", "--out", tmp_path / "no") == 2
    assert "as and task must not be given together" in capsys.readouterr().err
    assert call("fit", grades, "--target", "hours", "--as", "order", "--out", tmp_path / "no") == 2
    assert "target must have 3 to 30 different whole numbers to be an order" in capsys.readouterr().err
    assert not (tmp_path / "no").exists()
