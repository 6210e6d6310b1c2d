"""What is said about the chosen method, by hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline

from pellucid.app.bake_off.importance import coefficients, effects, importances, without_steps
from pellucid.app.bake_off.judgement import MANY_ROWS, count_seen_before, judge_classes, judge_numbers, reliability
from pellucid.app.bake_off.leakage import find_leaks
from pellucid.app.tables.preparation import standardized, stepped
from pellucid.app.tables.understanding import Columns
from pellucid.linear_model import LinearRegression, Ridge


class Given:
    """A model that says what it is given."""

    def __init__(self, classes, probabilities):
        self.classes_, self.probabilities = np.array(classes), np.array(probabilities)

    def predict(self, X):
        return self.classes_[self.probabilities.argmax(axis=1)]

    def predict_proba(self, X):
        return self.probabilities


class Constant:
    def __init__(self, value):
        self.value = value

    def predict(self, X):
        return np.full(len(X), self.value)


FOUR = pd.DataFrame({"x": range(4)})


def test_scores_of_classes_by_hand():
    model = Given(["no", "yes"], [[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.8, 0.2]])
    found = judge_classes(model, FOUR, np.array(["no", "no", "yes", "yes"], dtype=object))
    assert found.headline.score == 0.75
    assert found.headline.low < 0.75 < found.headline.high
    assert found.scores["balanced accuracy"] == pytest.approx((1.0 + 0.5) / 2)
    assert found.scores["area under the ROC curve"] == pytest.approx(3 / 4)
    assert found.scores["log loss"] == pytest.approx(-np.log([0.9, 0.6, 0.7, 0.2]).mean())
    assert found.scores["Brier score"] == pytest.approx(np.mean(np.square([0.1, 0.4, 0.3, 0.8])))


def test_three_classes_have_no_roc_curve():
    model = Given(["a", "b", "c"], np.eye(3)[[0, 1, 2, 0]])
    found = judge_classes(model, FOUR, np.array(["a", "b", "c", "c"], dtype=object))
    assert "area under the ROC curve" not in found.scores
    assert np.isfinite(found.scores["log loss"])


def test_scores_of_numbers_by_hand():
    found = judge_numbers(Constant(3.0), FOUR, np.array([1.0, 2.0, 3.0, 6.0]), learning_mean=4.0, seed=0)
    assert found.headline.score == pytest.approx(np.sqrt(14 / 4))
    assert found.scores["R²"] == pytest.approx(1 - 14 / 18)
    assert found.scores["mean absolute error"] == pytest.approx(1.5)


def test_the_interval_of_many_rows_agrees_with_the_bootstrap():
    rng = np.random.default_rng(0)
    y = rng.standard_normal(MANY_ROWS + 1)
    X = pd.DataFrame({"x": y})
    quick = judge_numbers(Constant(0.0), X, y, 0.0, seed=0).headline
    slow = judge_numbers(Constant(0.0), X[:-1], y[:-1], 0.0, seed=0).headline
    assert (quick.low, quick.high) == pytest.approx((slow.low, slow.high), abs=0.005)


def test_rows_that_were_learned_from_are_counted_in_every_column():
    learning = pd.DataFrame({"a": [1.0, 2.0, np.nan], "b": ["x", "y", None]}).astype({"b": object})
    test = pd.DataFrame({"a": [1.0, 2.0, np.nan], "b": ["x", "z", None]}).astype({"b": object})
    assert count_seen_before(learning, test) == 2


def test_reliability_of_several_classes_is_about_the_predicted_one():
    found = reliability(np.array([[0.8, 0.1, 0.1], [0.8, 0.1, 0.1]]), np.array(["a", "b", "c"]), np.array(["a", "b"]))
    assert found.event == "the predicted class is right"
    assert (found.predicted[0], found.observed[0]) == pytest.approx((0.8, 0.5))
    assert found.mean_gap == pytest.approx(0.3)


def test_a_certain_probability_has_a_bin():
    found = reliability(np.array([[0.0, 1.0]]), np.array([0, 1]), np.array([1]))
    assert found.counts.tolist() == [1]


def test_a_column_that_matters_is_important_and_one_that_does_not_is_not():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"real": rng.standard_normal(200), "noise": rng.standard_normal(200), "word": "w"})
    X["word"] = X["word"].astype(object)
    y = 3.0 * X["real"].to_numpy()

    class Triple:
        def predict(self, frame):
            assert frame["word"].dtype == object
            return 3.0 * frame["real"].to_numpy()

    found = importances(
        Triple(), X, y, {"noise": ["noise"], "real": ["real"], "word": ["word"]}, is_classification=False, seed=0
    )
    assert found[0].column == "real"
    assert found[0].rise == pytest.approx(3 * np.sqrt(2), rel=0.1)  # two independent standard normals
    assert {one.column: one.rise for one in found}["noise"] == 0.0


def test_parts_of_one_column_are_shuffled_together():
    X = pd.DataFrame({"day": np.arange(50.0), "month": np.arange(50.0)})

    class Difference:
        def predict(self, frame):
            return (frame["day"] - frame["month"]).to_numpy()

    found = importances(Difference(), X, np.zeros(50), {"date": ["day", "month"]}, is_classification=False, seed=0)
    assert found[0].rise == 0.0


def test_a_method_without_coefficients_has_none():
    class Pipe(list):
        pass

    assert coefficients(Pipe([object()]), None) == ([], None)


def leaks(X, y, is_classification=True):
    found = find_leaks(pd.DataFrame(X), np.asarray(y), is_classification=is_classification, seed=0)
    return [leak.column for leak in found]


def test_a_column_that_alone_predicts_the_class_is_a_leak():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = {
        "copy": np.where(y == 1, "paid", "open").astype(object),
        "reason": np.where(y == 1, rng.choice(["a", "b", "c"], 300), None).astype(object),
        "code": y + 10.0,
        "scaled": y + rng.uniform(0, 0.5, 300),
        "good": y + rng.normal(0, 0.7, 300),
        "noise": rng.standard_normal(300),
    }
    assert set(leaks(X, np.array(["no", "yes"], dtype=object)[y])) == {"copy", "reason", "code", "scaled"}


def test_a_column_of_unique_words_is_no_leak_because_it_is_cross_validated():
    names = np.array([f"name {i}" for i in range(100)], dtype=object)
    assert leaks({"name": names}, np.arange(100) % 2) == []


def test_a_column_that_alone_predicts_the_number_is_a_leak():
    rng = np.random.default_rng(0)
    y = rng.standard_normal(400)
    X = {"euros": 1.1 * y + 3.0, "good": y + rng.normal(0, 0.5, 400), "gaps": np.where(y > 0, np.nan, 1.0)}
    assert leaks(X, y, is_classification=False) == ["euros"]


def test_linear_coefficients_come_with_their_names():
    columns = Columns({"x": "number"}, {})
    X = pd.DataFrame({"x": [-1.0, 1.0, -1.0, 1.0]})
    model = Pipeline([("prepare", standardized(columns, X)), ("method", LinearRegression())])
    found, intercept = coefficients(model.fit(X, np.array([0.0, 4.0, 0.0, 4.0])), columns)
    assert [(one.name, one.value) for one in found] == [("x", pytest.approx(2.0))]
    assert intercept == pytest.approx(2.0)


def test_the_curve_of_a_number_on_steps_is_what_the_method_adds():
    columns = Columns({"x": "number", "two": "yes or no"}, {})
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.integers(0, 9, 400).astype(float), "two": rng.integers(0, 2, 400).astype(float)})
    y = np.where(X["x"] > 4, 3.0, 0.0) + X["two"].to_numpy()
    model = Pipeline([("prepare", stepped(columns, X)), ("method", Ridge(1e-6))]).fit(X, y)
    (curve,) = effects(model, X)  # two values are a line, not a curve
    assert curve.column == "x"
    reference = 3.0 * (X["x"].median() > 4)
    np.testing.assert_allclose(curve.change, np.where(curve.values > 4, 3.0, 0.0) - reference, atol=1e-3)
    names = [one.name for one in without_steps(coefficients(model, columns)[0])]
    assert names == ["two"]


def test_a_method_without_steps_has_no_curves():
    X = pd.DataFrame({"x": np.arange(5.0)})
    columns = Columns({"x": "number"}, {})
    model = Pipeline([("prepare", standardized(columns, X)), ("method", LinearRegression())]).fit(X, X["x"])
    assert effects(model, X) == []
