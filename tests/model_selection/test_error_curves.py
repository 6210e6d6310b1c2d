"""Error curves: their verdicts on data whose answer is known."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeRegressor

from pellucid.linear_model import LinearRegression
from pellucid.model_selection import ErrorCurve, error_against_capacity, error_against_size
from pellucid.model_selection.error_curves import size_curve


def noisy_steps(seed=0, n=300):
    random = np.random.default_rng(seed)
    X = random.uniform(0, 1, (n, 1))
    return X, np.floor(4 * X[:, 0]) + 0.3 * random.standard_normal(n)


def curve(validation, error=0.0):
    validation = np.array(validation, dtype=float)
    return ErrorCurve("depth", (1, 2, 3), validation, validation, np.full(3, error), 1.0, "")


# by hand


def test_the_one_standard_error_rule_takes_the_simplest():
    assert curve([0.32, 0.30, 0.31]).best == 2
    assert curve([0.32, 0.30, 0.31], error=0.03).simplest_within_one_standard_error == 1
    assert curve([0.40, 0.30, 0.31], error=0.03).simplest_within_one_standard_error == 2


# properties


def test_shallow_trees_underfit_and_deep_ones_overfit():
    X, y = noisy_steps()
    found = error_against_capacity(DecisionTreeRegressor(random_state=0), X, y, "max_depth", [1, 2, 3, 12])
    assert "underfits up to 1" in found.verdict
    assert "overfits from 12 on" in found.verdict
    assert found.best in (2, 3)
    assert list(found.frame().columns) == ["max_depth", "train", "validation", "standard_error"]


def test_the_best_value_at_an_end_is_pointed_out():
    X, y = noisy_steps()
    found = error_against_capacity(DecisionTreeRegressor(random_state=0), X, y, "max_depth", [1, 2])
    assert "at the upper end: try beyond it" in found.verdict


def test_noise_cannot_be_learned():
    random = np.random.default_rng(0)
    found = error_against_size(LinearRegression(), random.standard_normal((200, 2)), random.standard_normal(200))
    assert "no better than the baseline" in found.verdict


def test_one_neighbor_overfits_noisy_labels():
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 2))
    y = (X[:, 0] + 0.7 * random.standard_normal(300) > 0).astype(int)
    found = error_against_size(KNeighborsClassifier(1), X, y)
    assert found.verdict.startswith("overfits: validation error")
    assert found.values[-1] == 240


def test_a_line_through_a_line_fits():
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 1))
    found = error_against_size(LinearRegression(), X, X[:, 0] + 0.1 * random.standard_normal(300))
    assert found.verdict.startswith("neither over- nor underfits clearly")
    assert "more rows would change little" in found.verdict


def test_a_line_through_a_parabola_underfits():
    random = np.random.default_rng(0)
    X = random.uniform(-1, 2, (400, 1))
    found = error_against_size(LinearRegression(), X, X[:, 0] ** 2 + 0.05 * random.standard_normal(400))
    assert found.verdict.startswith("underfits, or the columns say no more")
    assert "more rows would change little" in found.verdict


def test_a_weak_but_sure_signal_is_no_noise():
    random = np.random.default_rng(0)
    X = random.standard_normal((2000, 1))
    found = error_against_size(LinearRegression(), X, 0.3 * X[:, 0] + random.standard_normal(2000))
    assert "no better than the baseline" not in found.verdict


def test_an_error_that_still_falls_asks_for_more_rows():
    random = np.random.default_rng(0)
    X = random.uniform(0, 1, (600, 3))
    y = np.sin(6 * X).sum(axis=1) + 0.1 * random.standard_normal(600)
    found = error_against_size(DecisionTreeRegressor(random_state=0), X, y)
    assert "so more rows would help" in found.verdict


def test_the_slope_of_the_last_sizes_by_hand():
    # errors 0.4, 0.3, 0.2 at 100, 200, 400 rows: 0.1 less with each doubling, in both splits
    errors = np.array([[0.4, 0.4], [0.3, 0.3], [0.2, 0.2]])
    verdict = size_curve([100, 200, 400], errors, errors, np.array([0.5, 0.5])).verdict
    assert "each doubling of the rows lowered the error by about 0.1 (± 0)" in verdict
    noisy = np.array([[0.4, 0.2], [0.2, 0.4], [0.4, 0.1]])
    assert "cannot be seen" in size_curve([100, 200, 400], noisy, noisy, np.array([0.9, 0.9])).verdict


def test_an_error_in_the_unit_of_the_target_is_the_root_of_the_squared_one():
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 1))
    y = 5.0 * X[:, 0] + random.standard_normal(300)
    squared = error_against_size(LinearRegression(), X, y, sizes=(1.0,))
    rooted = error_against_size(LinearRegression(), X, y, sizes=(1.0,), scoring="neg_root_mean_squared_error")
    np.testing.assert_allclose(rooted.validation, np.sqrt(squared.validation), rtol=0.01)
    np.testing.assert_allclose(rooted.baseline, np.sqrt(squared.baseline), rtol=0.02)


def test_where_no_error_is_left_more_rows_cannot_help():
    X = np.concatenate([np.full(150, -1.0), np.full(150, 1.0), [-9.0]])[:, None]
    y = np.concatenate([np.zeros(150), np.ones(150), [0]]).astype(int)
    found = error_against_size(KNeighborsClassifier(5), X, y, sizes=(5, 200))
    assert found.validation[-1] == 0.0
    assert "more rows would change little" in found.verdict


def test_the_picture_has_both_errors_and_the_baseline():
    X, y = noisy_steps()
    ax = error_against_capacity(DecisionTreeRegressor(random_state=0), X, y, "max_depth", [1, 2, 100]).plot()
    assert [line.get_label() for line in ax.lines] == ["baseline", "validation", "training"]
    assert ax.get_xscale() == "log"
    plt.close("all")


# errors


def test_one_value_is_no_curve():
    with pytest.raises(ValueError, match="values must have at least two settings, got 1"):
        error_against_capacity(LinearRegression(), *noisy_steps(), "fit_intercept", [True])
