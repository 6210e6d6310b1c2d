"""Noise, bias and variance: they add up, agree with theory, and are worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.dummy import DummyRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sympy import Rational

from pellucid import show_work
from pellucid.linear_model import Ridge, ridge_error_split
from pellucid.model_selection import bias_variance_bootstrap, bias_variance_simulation
from pellucid.model_selection.bias_variance import _mistake_split, _squared_split

POINTS = np.linspace(0, 6, 30)[:, None]


def wave(X):
    return np.sin(X[:, 0])


def draw(random):
    X = random.uniform(0, 6, (40, 1))
    return X, wave(X) + 0.3 * random.standard_normal(40)


# by hand


def test_two_fits_by_hand():
    # fits 1 and 3 at a truth of 1: mean 2, variance 2, squared bias 1 - 2/2 = 0; mean squared error (0 + 4) / 2 = 2
    split = _squared_split(np.array([[1.0], [3.0]]), np.array([1.0]), noise=0.5)
    assert (split.bias, split.variance, split.error) == (0.0, 2.0, 2.5)
    assert split.certificate.holds


def test_votes_by_hand():
    # row 1: a a b, truth a: bias 0, variance 1/3, error 1/3; row 2: b b a, truth a: bias 1, variance 1/3, error 2/3
    rows = [np.array(["a", "a", "b"]), np.array(["b", "b", "a"])]
    split = _mistake_split(rows, np.array(["a", "a"]), repeats=3)
    assert split.bias == 0.5
    assert split.variance == pytest.approx(1 / 3)
    assert split.error == pytest.approx(0.5)
    assert split.certificate.holds


def test_workings_split_fractions():
    work = show_work(bias_variance_simulation, [1, 2, 1.5, 2.5], 2)
    assert work.answer == {"noise": 0, "bias": Rational(1, 16), "variance": Rational(5, 16), "error": Rational(3, 8)}
    for format_ in ("text", "markdown", "latex", "html"):
        assert "variance" in work.printed(format_).lower()


# properties


@given(st.integers(0, 10**6))
def test_the_parts_always_add_up(seed):
    random = np.random.default_rng(seed)
    split = _squared_split(random.standard_normal((7, 4)), random.standard_normal(4), noise=0.1)
    assert split.certificate.holds
    assert split.noise + split.bias + split.variance == pytest.approx(split.error)


def test_more_neighbors_trade_variance_for_bias():
    few, many = (
        bias_variance_simulation(KNeighborsRegressor(k), draw, POINTS, wave, noise_variance=0.09, n_repeats=100)
        for k in (1, 20)
    )
    assert few.bias < many.bias
    assert few.variance > many.variance


def test_a_constant_has_bias_only():
    split = bias_variance_simulation(DummyRegressor(strategy="constant", constant=0.0), draw, POINTS, wave, n_repeats=5)
    assert split.variance == 0.0
    assert split.bias == pytest.approx(np.mean(wave(POINTS) ** 2))


def test_simulation_agrees_with_the_formula_of_ridge():
    random = np.random.default_rng(0)
    X, w = random.standard_normal((30, 3)), np.array([1.0, -2.0, 0.5])

    def sample(rng):
        return X, X @ w + rng.standard_normal(30)

    model = Ridge(10.0, fit_intercept=False)
    split = bias_variance_simulation(model, sample, X, lambda Z: Z @ w, noise_variance=1.0, n_repeats=2000)
    exact = ridge_error_split(X, w, alpha=10.0, noise_variance=1.0, fit_intercept=False)
    assert split.bias == pytest.approx(exact.bias_squared, rel=0.05)
    assert split.variance == pytest.approx(exact.variance, rel=0.1)


def test_resampling_splits_real_errors_and_repeats_itself():
    X, y = load_iris(return_X_y=True)
    once, again = (
        bias_variance_bootstrap(DecisionTreeClassifier(random_state=0), X, y, n_repeats=20) for _ in range(2)
    )
    assert (once.bias, once.variance, once.error) == (again.bias, again.variance, again.error)
    assert once.certificate.holds
    assert np.isnan(once.noise)
    deep = bias_variance_bootstrap(DecisionTreeRegressor(random_state=0), X[:, :3], X[:, 3], n_repeats=20)
    shallow = bias_variance_bootstrap(DecisionTreeRegressor(max_depth=1), X[:, :3], X[:, 3], n_repeats=20)
    assert deep.variance / deep.error > shallow.variance / shallow.error


# errors


def test_bad_settings_get_one_sentence():
    with pytest.raises(ValueError, match="n_repeats must be at least 2, got 1"):
        bias_variance_simulation(Ridge(), draw, POINTS, wave, n_repeats=1)
    with pytest.raises(ValueError, match="noise_variance must be at least 0, got -1"):
        bias_variance_simulation(Ridge(), draw, POINTS, wave, noise_variance=-1)
    with pytest.raises(ValueError, match="n_repeats must be at least 10, got 3"):
        bias_variance_bootstrap(Ridge(), [[0.0], [1.0]], [0.0, 1.0], n_repeats=3)
    with pytest.raises(ValueError, match="predictions must be of 2 to 20 fits to be worked by hand, got 1"):
        show_work(bias_variance_simulation, [1], 2)
