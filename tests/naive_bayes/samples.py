"""Small data for the naive Bayes family."""

from __future__ import annotations

import numpy as np
import pytest

seeds = pytest.mark.parametrize("seed", range(4))


def points(seed, n=80, p=5, n_classes=3, mean=0.0):
    """Return normal rows of a few classes, and labels of which every one occurs."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    return rng.standard_normal((n, p)) * rng.uniform(0.5, 2.0, p) + y[:, None] * rng.uniform(0, 1, p) + mean, y


def counts(seed, n=60, p=7, n_classes=3, most=4):
    """Return whole numbers below ``most``, and labels of which every one occurs."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    return rng.binomial(most - 1, 0.2 + 0.2 * y[:, None], (n, p)), y


def repeated(X, y, weight):
    """Return every row as often as its weight says."""
    return np.repeat(X, weight, axis=0), np.repeat(y, weight)
