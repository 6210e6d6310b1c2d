"""Seconds are kept for what follows the choice, by what the method's fits and predictions took."""

import numpy as np
import pytest

from pellucid.app.bake_off import bake_off, findings
from pellucid.app.bake_off.closing import (
    SHUFFLES,
    plan_explaining,
    proof_seconds,
    report_seconds,
    writing_seconds,
)
from pellucid.app.bake_off.contestants import REGRESSORS, Contestant
from pellucid.app.bake_off.importance import importances
from pellucid.app.bake_off.scores import MethodScore, Pace
from pellucid.linear_model import LinearRegression
from tests.app.bake_off.sample_tables import numeric_table

METHODS = {one.name: one for one in REGRESSORS}


def score(predict_seconds, n_predicted=1000):
    contestant = Contestant("some", "", list)
    took = {"predict_seconds": predict_seconds, "n_predicted": n_predicted}
    return MethodScore(contestant, np.ones(1), None, 1.0, Pace(100, 0.1), 0.1, **took)


def test_quick_predictions_are_explained_from_all_rows_allowed():
    found = plan_explaining(score(0.0), 10, 60.0)
    assert (found.n_rows, found.repeats) == SHUFFLES[0]
    assert found.seconds == pytest.approx(31 * (0.012 + 10 * 4e-4) + 0.2)  # ten columns three times, and once as it is


def test_slow_predictions_are_explained_from_fewer_rows():
    # 1e-4 seconds a row: stories 6.2, and of 60 seconds 7.2 are there: 2000 rows would take 6.7, 500 take 1.4
    found = plan_explaining(score(0.1), 10, 60.0)
    assert (found.n_rows, found.repeats) == SHUFFLES[-1]
    assert found.seconds == 0.0  # not even these fit, so nothing is kept for them
    longer = plan_explaining(score(0.1), 10, 600.0)
    assert (longer.n_rows, longer.repeats) == SHUFFLES[0]
    assert longer.seconds == pytest.approx(31 * (0.016 + 0.2) + 6.2)
    between = plan_explaining(score(0.1), 10, 70.0)  # 8.4 seconds for 6.2 and 21 shuffles of 500 rows
    assert (between.n_rows, between.repeats, between.seconds) == (500, 2, pytest.approx(21 * 0.066 + 6.2))


def test_predictions_that_nobody_measured_are_taken_for_quick_ones():
    assert plan_explaining(score(float("nan")), 10, 60.0) == plan_explaining(score(0.0), 10, 60.0)


def test_trees_take_longer_to_prove_and_a_proof_has_its_share():
    trees, line = METHODS["boosted trees"], METHODS["ridge"]
    assert proof_seconds(line, 2.0, 100.0) == pytest.approx(3.0)
    assert proof_seconds(trees, 2.0, 100.0) == pytest.approx(12.0)
    assert proof_seconds(trees, 7.0, 100.0) == pytest.approx(30.0)  # of 42, its share
    assert proof_seconds(trees, 9.0, 100.0) == 0.0  # far too long: nobody waits for it


def test_nothing_is_kept_to_prove_what_has_no_proof():
    assert proof_seconds(METHODS["mean"], 2.0, 100.0) == 0.0


def test_the_report_takes_what_is_written_and_what_is_judged():
    assert report_seconds(10_000) > writing_seconds(10_000) > writing_seconds(0) > 0.0


def test_importances_of_fewer_rows_and_shuffles_are_those_of_these_rows():
    table = numeric_table(400)
    X, y = table[["size", "age"]], table["price"].to_numpy()
    model = LinearRegression().fit(X, y)
    asked = []

    class Counting:
        def predict(self, frame):
            asked.append(len(frame))
            return model.predict(frame)

    options = {"is_classification": False, "seed": 0, "most_rows": 50, "repeats": 2}
    found = importances(Counting(), X, y, {"size": ["size"], "age": ["age"]}, **options)
    assert asked == [50] * 5
    assert [one.column for one in found] == ["size", "age"]


def test_importances_of_a_bake_off_are_found_as_planned(monkeypatch):
    seen = {}

    def watched(*arguments, **options):
        seen.update(options)
        return importances(*arguments, **options)

    monkeypatch.setattr(findings, "importances", watched)
    bake_off(numeric_table(), "price", only=["ridge"], folds=2)
    assert (seen["most_rows"], seen["repeats"]) == SHUFFLES[0]
