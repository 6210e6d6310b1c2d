"""Means and scatter of classes, from one pass over the rows."""

from __future__ import annotations

import numpy as np
import pytest

from pellucid.core.labels import rows_by_class
from pellucid.discriminant_analysis.class_moments import class_moments, class_scatter


def test_two_classes_by_hand():
    X = np.array([[0.0, 1.0], [5.0, 5.0], [2.0, 3.0], [7.0, 9.0]])
    means, scatters = class_moments(X, rows_by_class(np.array([0, 1, 0, 1]), 2))
    assert means.tolist() == [[1.0, 2.0], [6.0, 7.0]]
    assert [scatter.tolist() for scatter in scatters] == [[[2.0, 2.0], [2.0, 2.0]], [[2.0, 4.0], [4.0, 8.0]]]


@pytest.mark.parametrize("n_classes", [3, 70_000])
def test_rows_are_split_in_order(n_classes):
    y = np.concatenate([np.arange(n_classes), np.arange(n_classes)])
    rows_of = rows_by_class(y, n_classes)
    assert [rows.tolist() for rows in rows_of[:2]] == [[0, n_classes], [1, n_classes + 1]]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_classes_far_from_zero_keep_their_digits(dtype):
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((9000, 20)) + 1e4).astype(dtype)
    y = np.arange(9000) % 2
    means, scatters = class_moments(X, rows_by_class(y, 2))
    for k in (0, 1):
        exact = X[y == k].astype(np.longdouble)
        centered = exact - exact.mean(axis=0)
        np.testing.assert_allclose(means[k], exact.mean(axis=0).astype(float), rtol=1e-14)
        np.testing.assert_allclose(scatters[k], (centered.T @ centered).astype(float), rtol=1e-11, atol=1e-9)
        np.testing.assert_allclose(scatters[k], class_scatter(X, np.flatnonzero(y == k), means[k]), atol=1e-9)


def test_extreme_first_rows_do_no_harm():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8000, 30))
    X[0, 0] = 1e8
    means, scatters = class_moments(X, rows_by_class(np.zeros(8000, int), 1))
    np.testing.assert_allclose(means[0], X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(scatters[0][1:, 1:], np.cov(X[:, 1:].T, ddof=0) * 8000, rtol=1e-10, atol=1e-8)
