"""Speed of small fits, 300 x 8: what every fit pays for checks, trace and certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn.linear_model
import sklearn.naive_bayes
import sklearn.neighbors
import sklearn.svm

import pellucid.linear_model
import pellucid.naive_bayes
import pellucid.neighbors
import pellucid.svm
from benchmarks.harness import OURS, Row

FAMILIES = {
    "linear_model": ("LinearRegression", "Ridge", "Lasso", "LogisticRegression"),
    "svm": ("LinearSVC",),
    "naive_bayes": ("GaussianNB",),
    "neighbors": ("KNeighborsClassifier",),
}
REGRESSORS = ("LinearRegression", "Ridge", "Lasso")


def problem(name: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 8))
    y = X[:, :5].sum(axis=1) + rng.standard_normal(300)
    return (X, y) if name in REGRESSORS else (X, (y > 0).astype(int))


def row(family: str, name: str) -> Row:
    def fitted_by(library: Any) -> Any:
        kind = getattr(getattr(library, family), name)
        return lambda data: kind().fit(*data)

    return Row(
        f"{name} 300 x 8",
        lambda: problem(name),
        {OURS: fitted_by(pellucid), "scikit-learn": fitted_by(sklearn)},
        lambda data, model: -model.score(*data),
        slack=1e-2,  # each stops at its own tolerance; what is compared here is what a fit costs
        repeats=20,
    )


def rows() -> list[Row]:
    """Return a row for each method."""
    return [row(family, name) for family, names in FAMILIES.items() for name in names]
