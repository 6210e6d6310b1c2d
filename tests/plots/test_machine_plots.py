"""Decision regions and tubes as pictures."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

from pellucid.linear_model import LinearRegression
from pellucid.plots import plot_decision_regions, plot_tube
from pellucid.plots.decision_regions_plot import GRID
from pellucid.plots.feature_slice import feature_slice
from pellucid.plots.tube_plot import support_rows
from pellucid.svm import LinearSVC, LinearSVR

PLANE = np.array([[0.0, 0.0], [1.0, 0.2], [0.2, 1.0], [3.0, 3.0], [3.5, 2.0], [2.5, 3.5]])
SIDES = np.array(["low", "low", "low", "high", "high", "high"])


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def names(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def region_codes(ax):
    return ax.collections[0].get_array().reshape(GRID, GRID)


def test_the_regions_are_what_the_model_predicts():
    model = SVC(kernel="linear").fit(PLANE, SIDES)
    ax = plot_decision_regions(model, PLANE, SIDES)
    codes = region_codes(ax)
    assert codes[0, 0] == 1  # the corner of the low ones, which come second in the alphabet
    assert codes[-1, -1] == 0
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("feature 0", "feature 1")
    assert ax.get_title(loc="left") == ""


def test_support_vectors_have_rings_and_margins_dashes():
    model = SVC(kernel="linear").fit(PLANE, SIDES)
    ax = plot_decision_regions(model, PLANE, SIDES)
    assert names(ax) == ["high", "low", "support vector", "margin (score ±1)"]
    rings = next(one for one in ax.collections if one.get_label() == "support vector")
    np.testing.assert_array_equal(rings.get_offsets(), PLANE[model.support_])


def test_rings_are_left_out_for_other_rows_than_those_of_the_fit():
    model = SVC(kernel="linear").fit(PLANE, SIDES)
    assert names(plot_decision_regions(model, PLANE[:4], SIDES[:4])) == ["high", "low"]


def test_any_classifier_of_several_classes_can_be_drawn():
    X, y = load_iris(return_X_y=True)
    ax = plot_decision_regions(DecisionTreeClassifier(max_depth=3).fit(X[:, 2:], y), X[:, 2:], y)
    assert names(ax) == ["0", "1", "2"]
    assert set(np.unique(region_codes(ax))) == {0, 1, 2}


def test_a_slice_holds_the_other_features_at_their_median_or_where_it_is_told():
    iris = load_iris(as_frame=True)
    model = make_pipeline(StandardScaler(), LinearSVC(loss="hinge")).fit(iris.data, iris.target)
    wanted = ("petal length (cm)", "petal width (cm)")
    ax = plot_decision_regions(model, iris.data, iris.target, wanted)
    assert ax.get_title(loc="left") == "slice at sepal length (cm) = 5.8, sepal width (cm) = 3"
    assert ax.get_xlabel() == "petal length (cm)"
    told = plot_decision_regions(model, iris.data, iris.target, wanted, at={"sepal width (cm)": 4.5})
    assert "sepal width (cm) = 4.5" in told.get_title(loc="left")
    assert not np.array_equal(region_codes(ax), region_codes(told))
    by_number = plot_decision_regions(model, iris.data, iris.target, (2, 3), at=iris.data.median().to_numpy())
    np.testing.assert_array_equal(region_codes(ax), region_codes(by_number))


def test_words_are_held_at_the_most_frequent_one():
    table = pd.DataFrame({"size": [1.0, 2.0, 3.0], "kind": ["a", "b", "b"], "weight": [3, 1, 2]})
    rows = feature_slice(table, ["size"]).rows(np.array([0.5, 1.5]))
    assert rows["kind"].tolist() == ["b", "b"]
    assert rows["weight"].tolist() == [2, 2]
    assert rows["weight"].dtype == table["weight"].dtype
    polar = feature_slice(pl.DataFrame({"size": [1.0, 2.0], "weight": [3.0, 1.0]}), ["size"]).rows(np.array([0.5]))
    assert polar.rows() == [(0.5, 2.0)]
    thin = feature_slice(sparse.csr_array(PLANE), [1], at=[7.0, 0.0]).rows(np.array([0.5]))
    np.testing.assert_array_equal(thin, [[7.0, 0.5]])


def test_the_tube_has_the_width_of_epsilon():
    x = np.linspace(0.0, 3.0, 12)[:, None]
    y = np.sin(x[:, 0])
    y[3] += 2.0
    model = SVR(epsilon=0.1, C=10.0).fit(x, y)
    ax = plot_tube(model, x, y)
    lower, upper, center = (line.get_ydata() for line in ax.lines)
    np.testing.assert_allclose(upper - lower, 0.2)
    np.testing.assert_allclose(center, (upper + lower) / 2)
    assert names(ax) == ["prediction", "inside the tube", "outside", "support vector"]
    outside = next(one for one in ax.collections if one.get_label() == "outside")
    assert [x[3, 0], y[3]] in outside.get_offsets().tolist()
    assert ax.get_title(loc="left") == "tube ± 0.1"


def test_along_one_of_several_features_points_keep_their_residual():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.standard_normal(30)
    model = LinearSVR(epsilon=0.1).fit(X, y)
    ax = plot_tube(model, X, y, feature=1, at={0: 0.0, 2: 0.0})
    drawn = np.concatenate(
        [one.get_offsets() for one in ax.collections if one.get_label() in ("inside the tube", "outside")]
    )
    line = drawn[:, 0] * model.coef_[1] + model.intercept_[0]
    np.testing.assert_allclose(np.sort(drawn[:, 1] - line), np.sort(y - model.predict(X)), atol=1e-9)
    assert "feature 0 = 0" in ax.get_title(loc="left")


def test_support_rows_come_from_where_the_model_keeps_them():
    y = np.array([0, 0, 0, 1, 1, 1])
    hinge = LinearSVC(loss="hinge").fit(PLANE, y)
    np.testing.assert_array_equal(support_rows(hinge, 6), np.flatnonzero(hinge.dual_coef_[0]))
    assert len(support_rows(LinearSVC().fit(PLANE, y), 6)) == 0
    assert len(support_rows(LinearRegression().fit(PLANE, y), 6)) == 0
    inside = make_pipeline(StandardScaler(), SVC()).fit(PLANE, y)
    np.testing.assert_array_equal(support_rows(inside, 6), inside[-1].support_)


# errors


def test_what_cannot_be_drawn_is_refused():
    model = SVC().fit(PLANE, SIDES)
    with pytest.raises(ValueError, match="features must be two columns of X, got 3"):
        plot_decision_regions(model, PLANE, SIDES, (0, 1, 1))
    with pytest.raises(ValueError, match="features must be different ones"):
        plot_decision_regions(model, PLANE, SIDES, (1, 1))
    with pytest.raises(ValueError, match="features must be columns of X, got 'age'"):
        plot_decision_regions(model, PLANE, SIDES, ("age", 1))
    with pytest.raises(ValueError, match="y must have a class for each of the 6 rows"):
        plot_decision_regions(model, PLANE, SIDES[:3])
    with pytest.raises(ValueError, match="at must have a value for each of the 2 features"):
        plot_decision_regions(model, PLANE, SIDES, at=[1.0])
    with pytest.raises(ValueError, match="model must be a classifier, got LinearRegression"):
        plot_decision_regions(LinearRegression().fit(PLANE, range(6)), PLANE, SIDES)
    with pytest.raises(ValueError, match="model must have a tube, as SVR and LinearSVR, got LinearRegression"):
        plot_tube(LinearRegression().fit(PLANE, range(6)), PLANE, range(6))
    with pytest.raises(ValueError, match="y must have a number for each of the 6 rows"):
        plot_tube(LinearSVR().fit(PLANE, range(6)), PLANE, [1.0])
    table = pd.DataFrame({"kind": ["a", "b"], "size": [1, 2]})
    with pytest.raises(ValueError, match="features must be numbers to be drawn, got the column 'kind'"):
        feature_slice(table, ["kind"])
