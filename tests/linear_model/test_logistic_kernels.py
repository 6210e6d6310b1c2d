"""The kernels of logistic regression, compiled and as plain Python, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, log_softmax, softmax

from pellucid.linear_model.logistic.logistic_kernels import (
    model_descent,
    sigmoid_pass,
    sigmoid_rows_pass,
    sigmoid_sums,
    softmax_pass,
    softmax_sums,
    weighted_moments,
)

forms = pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "python"])


def chosen(kernel, compiled):
    return kernel if compiled else kernel.py_func


def logits(k, scale=2.0):
    rng = np.random.default_rng(k)
    return scale * rng.standard_normal((7, k)), rng.standard_normal(k), rng.integers(0, max(k, 2), 7), rng.random(7)


@forms
@pytest.mark.parametrize("scale", [2.0, 400.0])
def test_two_classes_give_loss_probabilities_and_derivatives(compiled, scale):
    Z, b, labels, weight = logits(1, scale)
    P, slope, curvature = np.empty_like(Z), np.empty(1), np.empty((1, 1))
    loss = chosen(sigmoid_pass, compiled)(Z, b, labels, weight, P, slope, curvature)
    z = Z[:, 0] + b[0]
    p = expit(z)
    np.testing.assert_allclose(P[:, 0], p, rtol=1e-12, atol=1e-300)
    assert loss == pytest.approx(weight @ np.logaddexp(0.0, np.where(labels == 1, -z, z)))
    assert slope[0] == pytest.approx(weight @ (p - labels))
    assert curvature[0, 0] == pytest.approx(weight @ (p * expit(-z)))


@forms
@pytest.mark.parametrize("scale", [2.0, 400.0])
def test_a_pass_over_rows_does_what_products_and_a_pass_over_logits_do(compiled, scale):
    rng = np.random.default_rng(0)
    X, w, labels, weight = rng.standard_normal((7, 3)), scale * rng.standard_normal(3), np.arange(7) % 2, rng.random(7)
    Z, P, gradient, slope = np.empty((7, 1)), np.empty((7, 1)), np.full(3, 5.0), np.empty(1)
    loss, first = chosen(sigmoid_rows_pass, compiled)(X, w, 0.7, 0.3, labels, weight, Z, P, gradient)
    np.testing.assert_allclose(Z[:, 0], X @ w - 0.7)
    expected = np.empty((7, 1))
    assert loss == pytest.approx(sigmoid_pass(Z, np.array([0.3]), labels, weight, expected, slope, np.empty((1, 1))))
    np.testing.assert_allclose(P, expected, rtol=1e-12, atol=1e-300)
    assert first == pytest.approx(slope[0])
    np.testing.assert_allclose(gradient, 5.0 + X.T @ (weight * (P[:, 0] - labels)))


@forms
@pytest.mark.parametrize("scale", [2.0, 400.0])
def test_several_classes_give_loss_probabilities_and_derivatives(compiled, scale):
    Z, b, labels, weight = logits(4, scale)
    P, slope, curvature = np.empty_like(Z), np.empty(4), np.empty((4, 4))
    loss = chosen(softmax_pass, compiled)(Z, b, labels, weight, P, slope, curvature)
    p = softmax(Z + b, axis=1)
    np.testing.assert_allclose(P, p, rtol=1e-10, atol=1e-300)
    assert loss == pytest.approx(-weight @ log_softmax(Z + b, axis=1)[np.arange(7), labels])
    np.testing.assert_allclose(slope, weight @ (p - np.eye(4)[labels]), atol=1e-12)
    np.testing.assert_allclose(curvature, np.diag(weight @ p) - (p * weight[:, None]).T @ p, atol=1e-12)


def by_class(labels, values, k):
    return np.stack([values[labels == c].sum(axis=0) for c in range(k)])


@forms
@pytest.mark.parametrize("bend", [True, False])
@pytest.mark.parametrize("scale", [2.0, 400.0])
def test_sums_of_two_classes_are_those_of_numpy(compiled, bend, scale):
    rng = np.random.default_rng(0)
    A, w, labels, weight = rng.standard_normal((9, 3)), scale * rng.standard_normal(3), np.arange(9) % 2, rng.random(9)
    z, rows, entropies, gradients = A @ w, A.copy(), np.full(2, 5.0), np.full((2, 3), 5.0)
    p = expit(z)
    found = chosen(sigmoid_sums, compiled)(rows, w, labels, weight, entropies, gradients, bend)
    margins = np.where(labels == 1, z, -z)
    expected = weight @ np.logaddexp(0.0, -margins), weight @ (p - labels) ** 2, margins.min()
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    entropy = weight * (np.logaddexp(0.0, z) - z * p)
    np.testing.assert_allclose(entropies, 5.0 + by_class(labels, entropy, 2), rtol=1e-12)
    slopes = (weight * (p - labels))[:, None] * A
    np.testing.assert_allclose(gradients, 5.0 + by_class(labels, slopes, 2), rtol=1e-12)
    roots = np.sqrt(weight * p * expit(-z))[:, None] if bend else 1.0
    np.testing.assert_allclose(rows, roots * A, rtol=1e-12, atol=1e-150)  # the root of what expit loses


@forms
@pytest.mark.parametrize("separated", [True, False])
@pytest.mark.parametrize("scale", [2.0, 400.0])
def test_sums_of_several_classes_are_those_of_numpy(compiled, separated, scale):
    rng = np.random.default_rng(0)
    Z, _, labels, weight = logits(4, scale)
    labels = Z.argmax(axis=1) if separated else labels
    A, entropies, gradients = rng.standard_normal((7, 3)), np.full(4, 5.0), np.full((4, 4, 3), 5.0)
    logs, p, left = log_softmax(Z, axis=1), softmax(Z, axis=1), Z.copy()
    found = chosen(softmax_sums, compiled)(A, left, labels, weight, entropies, gradients)
    own = Z[np.arange(7), labels]
    margins = own - np.where(np.eye(4, dtype=bool)[labels], -np.inf, Z).max(axis=1)
    is_own = np.eye(4, dtype=bool)[labels]
    wrong = np.where(is_own, -np.where(is_own, 0.0, p).sum(axis=1, keepdims=True), p)  # digits of 1 - p that p has lost
    losses = np.logaddexp.reduce(np.where(is_own, 0.0, Z - own[:, None]), axis=1)
    expected = weight @ losses, weight @ np.sum(wrong**2, axis=1), margins.min()
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-300)
    assert (found[2] > 0.0) == separated
    entropy = -weight * np.sum(np.where(p > 0.0, p * logs, 0.0), axis=1)
    np.testing.assert_allclose(entropies, 5.0 + by_class(labels, entropy, 4), rtol=1e-10)
    slopes = weight[:, None, None] * wrong[:, :, None] * A[:, None, :]
    np.testing.assert_allclose(gradients, 5.0 + by_class(labels, slopes, 4), rtol=1e-10)
    np.testing.assert_allclose(left, np.sqrt(weight)[:, None] * p, rtol=1e-10, atol=1e-300)


@forms
@pytest.mark.parametrize("centers", [True, False])
def test_the_model_of_a_sparse_step_is_minimized(compiled, centers):
    rng = np.random.default_rng(0)
    X = sparse.random_array((9, 5), density=0.5, rng=rng, format="csc")
    h, gradient, w = rng.random(9), rng.standard_normal(5), np.zeros(5)
    first, second = np.empty(5), np.empty(5)
    chosen(weighted_moments, compiled)(X.data, X.indices, X.indptr, h, first, second)
    np.testing.assert_allclose(first, X.T @ h)
    np.testing.assert_allclose(second, X.multiply(X).T @ h)
    total, l1, l2 = h.sum() if centers else np.inf, 0.1, 0.3
    arguments = (X.data, X.indices, X.indptr, h, first, second, total, gradient, w, np.zeros(9), l1, l2)
    chosen(model_descent, compiled)(*arguments, 1e-16, 500)
    A = X.toarray() - (first / total if centers else 0.0)
    slope = gradient + A.T @ (h * (A @ w)) + l2 * w
    np.testing.assert_allclose(slope[w != 0.0], -l1 * np.sign(w[w != 0.0]), atol=1e-6)
    assert np.all(np.abs(slope[w == 0.0]) <= l1)
    assert np.any(w != 0.0)
