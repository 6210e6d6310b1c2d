"""A walk through the concise notes: coins, least squares, bias and variance, penalties, kernels, k-means, trees."""

from __future__ import annotations

import numpy as np
import pytest

from pellucid.cluster import KMeans
from pellucid.kernel_ridge import KernelRidge
from pellucid.kernels import RBF
from pellucid.linear_model import (
    KernelPerceptron,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeCV,
    ridge_error_split,
)
from pellucid.losses import LogisticLoss
from pellucid.optimize import GradientDescent, Problem, minimize
from pellucid.probability import Bernoulli, Gaussian, hoeffding_interval
from pellucid.tree import DecisionTreeClassifier

rng = np.random.default_rng(1)


def test_1_1_k_heads_of_n_are_k_over_n():
    assert Bernoulli.fit([1] * 7 + [0] * 3).p == pytest.approx(0.7)


def test_1_1_hoeffdings_bound_for_a_mean_between_0_and_1():
    n, level = 100, 0.95
    low, high = hoeffding_interval([1] * 70 + [0] * 30, 0.0, 1.0, level)
    half = np.sqrt(np.log(2 / (1 - level)) / (2 * n))
    assert (low, high) == pytest.approx((0.7 - half, 0.7 + half))


def test_1_2_1_least_squares_are_the_maximum_likelihood_of_gaussian_noise():
    X, y = rng.normal(size=(25, 2)), rng.normal(size=25)
    model = LinearRegression().fit(X, y)

    def likelihood(shift):
        return float(np.sum(Gaussian(0.0, 1.0).log_prob(y - model.predict(X) - X @ shift)))

    assert likelihood(np.zeros(2)) > max(likelihood(0.01 * step) for step in rng.normal(size=(20, 2)))


def test_1_3_error_is_bias_squared_plus_variance_plus_noise_and_ridge_trades_them():
    X, w = rng.normal(size=(30, 3)), np.array([1.0, -2.0, 0.5])
    none, some = (ridge_error_split(X, w, alpha=alpha, noise_variance=0.5) for alpha in (0.0, 5.0))
    assert np.allclose(none.bias_squared, 0.0, atol=1e-20)
    assert np.mean(some.bias_squared) > 0.0
    assert np.mean(some.variance) < np.mean(none.variance)
    assert np.mean(none.variance) == pytest.approx(0.5 * 4 / 30)  # sigma^2 p / m, without another d


def test_1_5_1_ridge_in_closed_form():
    X, y = rng.normal(size=(12, 3)), rng.normal(size=12)
    by_hand = np.linalg.solve(X.T @ X + 0.7 * np.eye(3), X.T @ y)
    np.testing.assert_allclose(Ridge(0.7, fit_intercept=False).fit(X, y).coef_, by_hand)


def test_1_5_2_the_coordinate_update_of_the_lasso_has_a_2_on_both_sides():
    """a_j = 2 sum x^2 goes with c_j = 2 sum r x: at the minimum no coordinate moves."""
    X, y, strength = rng.normal(size=(20, 3)), rng.normal(size=20), 3.0
    w = Lasso(strength / 40, fit_intercept=False, tol=1e-13).fit(X, y).coef_
    for j in range(3):
        a = 2 * X[:, j] @ X[:, j]
        c = 2 * X[:, j] @ (y - X @ w + X[:, j] * w[j])
        moved = np.sign(c) * max(abs(c) - strength, 0.0) / a
        assert moved == pytest.approx(w[j], abs=1e-8)


def test_1_5_3_the_sigmoid_is_a_half_at_0_and_the_loss_is_log_2():
    model = LogisticRegression().fit([[-1.0], [1.0]], [0, 1])
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[0.5, 0.5]], atol=1e-6)
    assert LogisticLoss().value([0.0])[0] == pytest.approx(np.log(2.0))


def test_1_6_1_leaving_one_out_takes_one_fit_for_ridge():
    X, y = rng.normal(size=(15, 3)), rng.normal(size=15)
    model = RidgeCV([0.5], store_cv_results=True).fit(X, y)
    slow = [(y[i] - Ridge(0.5).fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[[i]])[0]) ** 2 for i in range(len(y))]
    np.testing.assert_allclose(model.cv_results_[:, 0], slow)


def test_1_7_gradient_descent_on_a_bowl():
    bowl = Problem(lambda w: float(w @ w), lambda w: 2 * w, strong_convexity=2.0, smoothness=2.0)
    assert np.abs(minimize(bowl, np.array([3.0, -1.0]), GradientDescent()).x).max() < 1e-6


def test_1_7_2_the_kernel_perceptron_only_counts_mistakes():
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([1, 1, -1, -1])
    model = KernelPerceptron("rbf", gamma=2.0, max_iter=200).fit(X, y)
    assert (model.predict(X) == y).all()  # no line does that


def test_1_7_3_kernel_ridge_solves_k_plus_lambda():
    X, y = rng.normal(size=(10, 2)), rng.normal(size=10)
    K = RBF(gamma=0.5)(X, X)
    model = KernelRidge(alpha=0.3, kernel="rbf", gamma=0.5).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_, np.linalg.solve(K + 0.3 * np.eye(10), y), rtol=1e-8)
    linear = KernelRidge(alpha=0.3, kernel="linear").fit(X, y)
    np.testing.assert_allclose(linear.dual_coef_ @ X, Ridge(0.3, fit_intercept=False).fit(X, y).coef_, rtol=1e-8)


def test_k_means_centers_are_means_and_the_gradient_there_is_zero():
    """The gradient for a center is 2 sum (mu - x): the notes have the other sign."""
    X = rng.normal(size=(40, 2))
    model = KMeans(3, n_init=1, random_state=0, tol=0.0).fit(X)
    for k in range(3):
        own = X[model.labels_ == k]
        np.testing.assert_allclose(2 * (model.cluster_centers_[k] - own).sum(axis=0), 0.0, atol=1e-12)

        def objective(center, own=own):
            return ((own - center) ** 2).sum()

        step = np.array([1e-6, 0.0])
        away = model.cluster_centers_[k] + 0.5
        slope = (objective(away + step) - objective(away - step)) / 2e-6
        assert slope == pytest.approx(2 * (away - own).sum(axis=0)[0], rel=1e-5)


def test_trees_the_classification_error_of_a_node_is_one_minus_the_largest_share():
    model = DecisionTreeClassifier(max_depth=1).fit([[0.0], [0.0], [0.0], [1.0]], [0, 0, 1, 1])
    shares = model.predict_proba([[0.0]])[0]
    assert 1 - shares.max() == pytest.approx(1 / 3)
