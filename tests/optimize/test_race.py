from __future__ import annotations

import numpy as np
import pytest

from pellucid.optimize import Adam, FiniteSum, Formula, GradientDescent, Momentum, Problem, StochasticGradient, Stopping
from pellucid.optimize.race import COLUMNS, RUNNERS, race

BOWL = "x**2 + 10*y**2"
START = [10.0, 1.0]


def least_squares():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)), rng.standard_normal(40)
    return Problem(
        lambda w: float((X @ w - y) @ (X @ w - y)) / 40,
        lambda w: 2 * X.T @ (X @ w - y) / 40,
        terms=FiniteSum(40, lambda w, rows: 2 * X[rows].T @ (X[rows] @ w - y[rows]) / len(rows)),
    )


def test_newton_wins_on_a_quadratic():
    # one step, two evaluations: nobody can do with less
    result = race(BOWL, START)
    table = result.frame()
    assert tuple(table.columns) == COLUMNS
    assert table["method"][0] == "newton"
    assert table["iterations"][0] == 1
    assert table["certified"].all()
    assert list(table["evaluations"]) == sorted(table["evaluations"])
    assert {runner.name for runner in result.runners} == set(RUNNERS)


def test_those_without_a_certificate_come_after_those_with_one_by_objective():
    slow = {"crawls": GradientDescent(1e-6), "walks": GradientDescent(1e-4), "newton": "newton"}
    table = race(BOWL, START, slow, stopping=Stopping(max_iter=20)).frame()
    assert list(table["method"]) == ["newton", "walks", "crawls"]
    assert list(table["certified"]) == [True, False, False]
    assert table["stopped"][1] == "max_iter = 20 is used up"


def test_the_table_agrees_with_the_solutions():
    result = race(BOWL, START, ["bfgs"])
    solution, row = result["bfgs"], result.frame().iloc[0]
    assert row["objective"] == solution.trace["objective"][-1]
    assert row["gradient"] == solution.trace["gradient"][-1]
    assert row["evaluations"] == solution.trace["evaluations"][-1]
    assert row["iterations"] == solution.n_iter


def test_a_method_that_fails_is_reported_and_the_others_run():
    flat = Problem(lambda x: float(x @ x), lambda x: 2 * x)  # no Hessian
    table = race(flat, [1.0, 2.0], ["newton", "bfgs"]).frame()
    assert list(table["method"]) == ["bfgs", "newton"]
    assert table["stopped"][1].startswith("ValueError: problem must have a hessian")
    assert not table["certified"][1]


def test_a_method_that_explodes_says_so():
    row = race(BOWL, START, {"wild": Momentum(10.0)}).frame().iloc[0]
    assert "inf" in row["stopped"]
    assert not row["certified"]


def test_the_text_is_an_aligned_table():
    lines = repr(race(BOWL, START, ["newton", "gradient descent"])).splitlines()
    assert lines[0].startswith("method            iterations  evaluations")
    assert set(lines[1]) == {"─", " "}
    assert lines[2].startswith("newton                     1            2")
    assert lines[2].endswith("yes  the gradient is small")


def test_the_html_escapes_names():
    page = race(BOWL, START, {"<b>": "newton"})._repr_html_()
    assert "&lt;b&gt;" in page
    assert page.count("<tr>") == 2


def test_paths_are_kept_for_two_variables_only():
    assert len(race(BOWL, START, ["newton"])["newton"].trace.states) == 2
    assert race("x**2 + y**2 + z**2", [1.0, 1, 1], ["newton"])["newton"].trace.states == []


@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_seed_gives_the_same_table(seed):
    methods = {"sgd": StochasticGradient(0.05), "adam": Adam(0.05), "bfgs": "bfgs"}
    stopping = Stopping(max_iter=5)
    tables = [
        race(least_squares(), np.zeros(3), methods, batch_size=8, random_state=s, stopping=stopping).frame()
        for s in (seed, seed, seed + 1)
    ]
    assert tables[0].equals(tables[1])
    assert not tables[0].equals(tables[2])


def test_methods_that_cannot_take_batches_use_whole_gradients():
    table = race(least_squares(), np.zeros(3), ["bfgs", Adam(0.1)], batch_size=8, random_state=0).frame()
    assert table["method"][0] == "bfgs"
    assert table["certified"][0]


def test_methods_of_the_same_kind_are_told_apart():
    result = race(BOWL, START, [GradientDescent(0.01), GradientDescent(0.02), "newton"], stopping=Stopping(max_iter=3))
    assert [runner.name for runner in result.runners] == [
        "GradientDescent(step_size=0.01)",
        "GradientDescent(step_size=0.02)",
        "newton",
    ]


def test_formulas_name_the_variables():
    assert race(Formula("u**2 + v**2"), [1.0, 1.0], ["newton"]).variables == ("u", "v")


def test_progress_shows_a_bar_per_method(capsys):
    race(BOWL, START, ["newton", "bfgs"], progress=True)
    shown = capsys.readouterr().out
    assert "newton" in shown
    assert "bfgs" in shown


def test_refuses_a_race_nobody_runs():
    with pytest.raises(ValueError, match="methods must be a list or dict of at least one method"):
        race(BOWL, START, [])
    with pytest.raises(ValueError, match="methods must be a list or dict .* got 'bfgs'"):
        race(BOWL, START, "bfgs")


def test_refuses_unknown_and_repeated_methods():
    with pytest.raises(ValueError, match="method must be one of"):
        race(BOWL, START, ["newtonn"])
    with pytest.raises(ValueError, match="methods must differ, got .*Newton.* twice"):
        race(BOWL, START, ["newton", "newton"])


def test_refuses_a_start_that_does_not_fit():
    with pytest.raises(ValueError, match="x0 must be a vector"):
        race(BOWL, [[1.0, 2.0]])


def test_asking_for_a_method_that_did_not_run_names_those_that_did():
    with pytest.raises(KeyError, match=r"name must be one of \['newton'\], got 'adam'"):
        race(BOWL, START, ["newton"])["adam"]
