"""A walk through the lectures on machine learning: every worked number, and claims that a number can check."""

from __future__ import annotations

from fractions import Fraction
from math import comb, sqrt

import numpy as np
import pytest

from pellucid.cluster import KMeans, exhaustive_clustering
from pellucid.decomposition import PCA, FactorAnalysis, TruncatedSVD
from pellucid.kernels import RBF, Polynomial
from pellucid.linear_model import Lasso, LinearRegression, Perceptron, Ridge
from pellucid.losses import HingeLoss, LogisticLoss
from pellucid.mixture import GaussianMixture
from pellucid.naive_bayes import GaussianNB
from pellucid.neighbors import KNeighborsClassifier
from pellucid.optimize import Adam, Problem, StepDecay, Stopping, minimize
from pellucid.probability import Logistic
from pellucid.svm import SVC, SVR

rng = np.random.default_rng(0)


@pytest.mark.parametrize(("p", "distance"), [(1, 7.0), (2, 5.0), (np.inf, 4.0)])
def test_lecture_2_minkowski_distances_of_3_4(p, distance):
    model = KNeighborsClassifier(1, p=p).fit([[0.0, 0.0]], ["origin"])
    assert model.kneighbors([[3.0, 4.0]])[0] == pytest.approx(distance)


def test_lecture_3_the_boundary_of_naive_bayes_is_a_quadratic_of_each_column_without_cross_terms():
    X = rng.normal(size=(60, 2)) * [1.0, 2.0]
    y = (X[:, 0] > 0).astype(int)
    model = GaussianNB().fit(X, y)

    def odds(*row):
        return float(np.diff(model.predict_joint_log_proba([row]))[0, 0])

    mixed = odds(1.0, 1.0) - odds(1.0, 0.0) - odds(0.0, 1.0) + odds(0.0, 0.0)
    assert mixed == pytest.approx(0.0, abs=1e-9)


def test_lecture_3_the_sigmoid_is_the_distribution_function_of_the_logistic_density():
    z = np.linspace(-30, 3, 200_001)
    density = np.exp(Logistic(0.0, 1.0).log_prob(z))
    assert np.trapezoid(density, z) == pytest.approx(1.0 / (1.0 + np.exp(-3.0)), abs=1e-9)


def test_lecture_5_residuals_are_orthogonal_to_the_columns():
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    residual = y - LinearRegression().fit(X, y).predict(X)
    np.testing.assert_allclose(X.T @ residual, 0.0, atol=1e-12)


def orthonormal(n=8, p=3):
    return np.linalg.qr(rng.normal(size=(n, p)))[0]


def test_lecture_6_lasso_of_an_orthonormal_design_is_the_soft_threshold_and_ridge_the_division():
    """The notes write w / (1 + lambda) for the lasso: that is ridge."""
    X, strength = orthonormal(), 0.3
    y = rng.normal(size=8)
    least_squares = X.T @ y
    soft = np.sign(least_squares) * np.maximum(np.abs(least_squares) - strength, 0.0)
    lasso = Lasso(strength / len(y), fit_intercept=False, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(lasso.coef_, soft, atol=1e-9)
    ridge = Ridge(strength, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(ridge.coef_, least_squares / (1.0 + strength), atol=1e-12)


def test_lecture_7_the_margin_is_two_over_the_norm_and_b_comes_from_support_vectors():
    model = SVC(kernel="linear", C=1e6, tol=1e-10).fit([[0.0, 0.0], [2.0, 2.0], [-1.0, -3.0]], [-1, 1, -1])
    np.testing.assert_allclose(model.coef_, [[0.5, 0.5]], atol=1e-7)
    assert 2.0 / np.linalg.norm(model.coef_) == pytest.approx(2.0 * sqrt(2.0))
    assert model.intercept_[0] == pytest.approx(-1.0, abs=1e-7)
    assert sorted(model.support_) == [0, 1]


def test_lecture_7_alphas_between_0_and_c_lie_on_the_margin_and_add_up_to_nothing():
    X = np.vstack((rng.normal(size=(15, 2)), rng.normal(size=(15, 2)) + 1.5))
    y = np.repeat([-1, 1], 15)
    model = SVC(kernel="linear", C=1.0, tol=1e-10).fit(X, y)
    signed = model.dual_coef_[0]
    assert signed.sum() == pytest.approx(0.0, abs=1e-9)
    inside = model.support_[(np.abs(signed) > 1e-7) & (np.abs(signed) < 1 - 1e-7)]
    np.testing.assert_allclose(y[inside] * model.decision_function(X[inside]), 1.0, atol=1e-6)


def test_lecture_7_a_polynomial_kernel_is_an_inner_product_of_d_plus_n_over_d_features():
    x, z = np.array([1.0, 2.0]), np.array([3.0, -1.0])

    def features(row):
        a, b = row
        return np.array([1.0, sqrt(2) * a, sqrt(2) * b, a * a, sqrt(2) * a * b, b * b])

    assert len(features(x)) == comb(2 + 2, 2)
    kernel = Polynomial(degree=2, gamma=1.0, coef0=1.0)
    assert kernel(x[None], z[None])[0, 0] == pytest.approx(features(x) @ features(z)) == pytest.approx(4.0)


def test_lecture_7_the_gaussian_kernel_has_a_minus_sign():
    """exp(-|x - z|^2 / (2 sigma^2)): 1 for equal rows, less for others."""
    value = RBF(gamma=0.5)(np.array([[0.0, 0.0]]), np.array([[1.0, 1.0]]))[0, 0]
    assert value == pytest.approx(np.exp(-1.0))


def test_lecture_7_the_expansion_of_svr_has_no_extra_label():
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20) * 5.0
    model = SVR(kernel="linear", C=1.0, epsilon=0.1).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], model.dual_coef_[0] @ X[model.support_], atol=1e-9)


def test_lecture_8_bell_numbers():
    bell = [1]
    for m in range(6):
        bell.append(sum(comb(m, k) * bell[k] for k in range(m + 1)))
    assert bell == [1, 1, 2, 5, 15, 52, 203]
    found = exhaustive_clustering(rng.normal(size=(5, 1)), score=lambda X, labels: labels.max() * 1.0)
    assert found.n_partitions == bell[5]


def test_lecture_8_k_means_never_gets_worse():
    X = rng.normal(size=(60, 2))
    objective = KMeans(4, n_init=1, init="random", random_state=0).fit(X).trace_["objective"]
    assert (np.diff(objective) <= 1e-12).all()


def test_lecture_8_em_never_lowers_the_likelihood_and_responsibilities_add_up_to_one():
    X = np.concatenate((rng.normal(size=40), rng.normal(size=40) + 4.0))[:, None]
    model = GaussianMixture(2, random_state=0).fit(X)
    assert (np.diff(model.trace_["objective"]) <= 1e-9).all()  # minus the mean log likelihood
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_lecture_9_the_best_matrix_of_lower_rank_leaves_the_other_singular_values():
    X = rng.normal(size=(6, 4))
    values = np.linalg.svd(X, compute_uv=False)
    model = TruncatedSVD(2, algorithm="arpack").fit(X)
    error = np.linalg.norm(X - model.inverse_transform(model.transform(X)))
    assert error**2 == pytest.approx((values[2:] ** 2).sum())


def test_lecture_9_the_rank_is_neither_convex_nor_concave():
    rank = np.linalg.matrix_rank
    one, two = np.diag([1.0, 0.0]), np.diag([0.0, 1.0])
    assert rank(0.5 * one + 0.5 * two) == 2 > 0.5 * rank(one) + 0.5 * rank(two)
    one, two = np.eye(2), np.diag([0.0, -1.0])
    assert rank(0.5 * one + 0.5 * two) == 1 < 0.5 * rank(one) + 0.5 * rank(two) == 1.5


def test_lecture_9_eigenvalues_of_the_covariance_are_squares_of_singular_values_and_whitening_takes_the_root():
    X = rng.normal(size=(30, 3)) * [3.0, 1.0, 0.5]
    model = PCA().fit(X)
    np.testing.assert_allclose(model.explained_variance_, model.singular_values_**2 / 29)
    white = PCA(whiten=True).fit_transform(X)
    np.testing.assert_allclose(np.cov(white.T), np.eye(3), atol=1e-9)


def test_lecture_9_singular_values_of_a_symmetric_matrix_are_sizes_of_eigenvalues():
    matrix = np.array([[0.0, 2.0], [2.0, 0.0]])
    assert np.linalg.eigvalsh(matrix).tolist() == pytest.approx([-2.0, 2.0])
    np.testing.assert_allclose(TruncatedSVD(1, algorithm="arpack").fit(matrix).singular_values_, [2.0])


def test_lecture_9_the_noise_of_factor_analysis_has_mean_0_and_a_variance_for_each_column():
    X = rng.normal(size=(400, 1)) @ np.ones((1, 3)) + rng.normal(size=(400, 3)) * [0.5, 1.0, 1.5]
    model = FactorAnalysis(1, tol=1e-8).fit(X)
    np.testing.assert_allclose(model.noise_variance_, [0.25, 1.0, 2.25], rtol=0.25)
    np.testing.assert_allclose(model.mean_, X.mean(axis=0))


def test_perceptron_theorem_3_counts_at_most_alpha_over_gamma_squared_mistakes():
    X = np.array([[2.0, 1.0], [1.0, 3.0], [-1.0, -2.0], [-2.0, -1.0]])
    y = np.array([1, 1, -1, -1])
    unit = np.ones(2) / sqrt(2)
    bound = (np.linalg.norm(X, axis=1).max() / (y * (X @ unit)).min()) ** 2
    model = Perceptron(fit_intercept=False, shuffle=False, tol=None, max_iter=20).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.trace_["updates"][-1] <= bound


def test_perceptron_starts_from_zero_because_an_activation_of_zero_is_a_mistake():
    """With y a < 0 instead of <= nothing would ever be learned from w = 0."""
    model = Perceptron(fit_intercept=False).fit([[1.0], [-1.0]], [1, -1])
    assert model.coef_[0, 0] > 0


def test_losses_only_the_logistic_loss_to_base_2_bounds_the_mistakes():
    at_zero = float(LogisticLoss().value([0.0])[0])
    assert at_zero == pytest.approx(np.log(2.0))
    assert at_zero < 1.0 <= at_zero / np.log(2.0) + 1e-15
    assert float(HingeLoss().value([0.0])[0]) == 1.0


def test_optimizers_adam_divides_by_the_root_plus_epsilon_and_its_second_rate_is_999():
    assert Adam().decay2 == 0.999
    epsilon, gradient, step = 0.5, 3.0, 0.1
    slope = Problem(lambda w: gradient * w[0], lambda w: np.array([gradient]))
    with pytest.warns(Warning, match="."):
        first = minimize(slope, np.zeros(1), Adam(step, epsilon=epsilon), stopping=Stopping(max_iter=1))
    assert first.x[0] == pytest.approx(-step * gradient / (sqrt(gradient**2) + epsilon))


def test_training_of_residual_networks_divides_the_rate_by_ten_after_30_60_90():
    rate = StepDecay(0.1, factor=0.1, every=30)
    assert [rate(t) for t in (0, 29, 30, 60, 90)] == pytest.approx([0.1, 0.1, 0.01, 1e-3, 1e-4])


def test_signals_the_convolution_of_3_1_2_and_3_2_1():
    from pellucid.neural_network import convolve, unit_sample_response

    assert convolve([3, 1, 2], [3, 2, 1]).tolist() == [9, 9, 11, 5, 2]
    response = unit_sample_response(lambda x: np.convolve(x, [3, 2, 1]), 4)
    assert np.trim_zeros(np.asarray(response)).tolist() == [3, 2, 1]


def test_networks_backpropagation_of_the_sum_times_z():
    torch = pytest.importorskip("torch")
    assert torch
    from pellucid.neural_network import Graph

    graph = Graph("(x + y) * z", x=-2, y=5, z=-4)
    assert (graph.value, graph.gradients["x"], graph.gradients["y"], graph.gradients["z"]) == (-12, -4, -4, 3)
    sigmoid = Graph("sigmoid(a)", a=Fraction(0))
    assert float(sigmoid.gradients["a"]) == pytest.approx(0.5 * (1 - 0.5))


def test_networks_six_filters_of_5_x_5_make_28_x_28_x_6_of_32_x_32_x_3():
    from pellucid.neural_network import convolution_layer

    assert convolution_layer(np.zeros((1, 3, 32, 32)), np.zeros((6, 3, 5, 5))).shape == (1, 6, 28, 28)


@pytest.mark.parametrize(("configuration", "layers"), [("A", 11), ("B", 13), ("C", 16), ("D", 16), ("E", 19)])
def test_networks_weight_layers_of_vgg(configuration, layers):
    torch = pytest.importorskip("torch")
    from pellucid.vision.models import VGG

    with torch.device("meta"):
        module = VGG(configuration).build()
    assert sum(isinstance(part, torch.nn.Conv2d | torch.nn.Linear) for part in module.modules()) == layers


def test_detection_a_map_of_20_x_15_has_k_anchors_at_each_place():
    from pellucid.vision.detection import AnchorGrid

    (anchors,) = AnchorGrid(sizes=((64, 128, 256),), ratios=(0.5, 1.0, 2.0)).at([(15, 20)], (480, 640))
    assert len(anchors) == 9 * 20 * 15
