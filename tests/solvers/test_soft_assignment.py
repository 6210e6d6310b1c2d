"""One EM step in one pass: against plain NumPy, whatever the threads, weights and units."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp
from threadpoolctl import threadpool_limits

from pellucid.solvers import soft_assignment_kernels as kernels
from pellucid.solvers.soft_assignment import (
    COLUMNS,
    LENGTH,
    PRODUCTS,
    SQUARES,
    given_sums,
    soft_sums,
    standard_rows,
)

every_kind = pytest.mark.parametrize("features", [PRODUCTS, SQUARES, LENGTH, COLUMNS])


def written_out(x, features):
    """Return the features of standardized rows, of shape (n, width)."""
    a, b = np.triu_indices(x.shape[1])
    first = {
        PRODUCTS: x[:, a] * x[:, b],
        SQUARES: x**2,
        LENGTH: (x**2).sum(axis=1, keepdims=True),
        COLUMNS: np.empty((len(x), 0)),
    }[features]
    return np.hstack([first, x, np.ones((len(x), 1))])


def problem(n=700, d=5, k=3, spread=1.0):
    rng = np.random.default_rng(0)
    return 3.0 + 2.0 * rng.standard_normal((n, d)), rng.uniform(0.5, 3.0, n), spread * rng.standard_normal((k, 40))


@every_kind
@pytest.mark.parametrize("spread", [0.1, 30.0])  # shares of all components, and of one
def test_sums_are_those_of_plain_numpy(features, spread):
    X, weight, coefficients = problem(spread=spread)
    rows = standard_rows(X, weight)
    x = (X - rows.center) / rows.scale
    phi = written_out(x, features)
    coefficients = coefficients[:, : phi.shape[1]]
    scores = phi @ coefficients.T
    shares = np.exp(scores - logsumexp(scores, axis=1)[:, None]) * weight[:, None]
    log_sum, sums = soft_sums(rows, features, coefficients)
    assert log_sum == pytest.approx(weight @ logsumexp(scores, axis=1), rel=1e-12)
    np.testing.assert_allclose(sums, shares.T @ phi, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(given_sums(rows, features, 3, lambda part: shares.T[:, part] / weight[part]), sums)


def test_rows_are_standardized_with_their_weights():
    X, weight, _ = problem()
    rows = standard_rows(X + 1e8, weight)
    center = 1e8 + weight @ X / weight.sum()
    np.testing.assert_allclose(rows.center, center, rtol=1e-15)
    np.testing.assert_allclose(rows.scale, np.sqrt(weight @ (X + 1e8 - center) ** 2 / weight.sum()), rtol=1e-7)
    assert rows.total == pytest.approx(weight.sum())
    assert standard_rows(np.ones((4, 2)), None).scale.tolist() == [1.0, 1.0]


def test_the_number_of_threads_changes_no_bit():
    X, weight, coefficients = problem(n=30_000)
    found = []
    for limit in (1, 2):
        with threadpool_limits(limit):
            rows = standard_rows(X, weight)
            found.append((rows.center, rows.scale, *soft_sums(rows, PRODUCTS, coefficients[:, :21])))
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


def test_kernels_do_the_same_as_plain_python():
    rng = np.random.default_rng(1)
    rows, center, inverse, shares = rng.random((6, 3)), rng.random(3), rng.random(3), rng.random((2, 6))
    shares[0, 2:4] = 0.0
    outcomes = []
    for plain in (False, True):
        write, products, respond, add, count = (
            getattr(kernels, name).py_func if plain else getattr(kernels, name)
            for name in ("write_columns", "write_products", "responsibilities_pass", "add_significant", "count_above")
        )
        features, scores, logs, sums = np.ones((10, 6)), 5.0 * shares, np.empty(6), np.zeros((2, 7))
        write(rows, center, inverse, features)
        products(features, 3)
        respond(scores, np.arange(1.0, 7.0), logs, np.empty(6))
        add(shares, rows, center, inverse, 1e-18, sums)
        assert count(shares, 1e-18) == 10
        outcomes.append((features, scores, logs, sums))
    for compiled, plain in zip(*outcomes, strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-14)
    x = (rows - center) * inverse
    np.testing.assert_allclose(outcomes[0][3], shares @ np.hstack([x**2, x, np.ones((6, 1))]))
    np.testing.assert_allclose(outcomes[0][1].sum(axis=0), np.arange(1.0, 7.0))


def test_scores_that_are_far_apart_neither_overflow_nor_vanish():
    scores = np.array([[0.0, -1e4, 1e4], [-1e5, 1e4, 1e4]])
    logs = np.empty(3)
    kernels.responsibilities_pass(scores, np.ones(3), logs, np.empty(3))
    np.testing.assert_allclose(scores, [[1, 0, 0.5], [0, 1, 0.5]], atol=1e-300)
    np.testing.assert_allclose(logs, [0.0, 1e4, 1e4 + np.log(2)])
