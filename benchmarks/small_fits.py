"""Speed of small fits, 300 x 8, 1,000 x 8 and iris, alone and a hundred of them in cross-validation.

What every fit pays for checks, trace and certificate shows here.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import RepeatedKFold, cross_val_score

from benchmarks.harness import OURS, Row

NUMBERS, CLASSES, POSITIVE, IRIS = "numbers", "classes", "positive", "iris"
"""What is learned: numbers, two classes, or no target, from any rows or from positive ones; or the species of iris."""
HUNDRED = RepeatedKFold(n_splits=10, n_repeats=10, random_state=0)
"""Fits of one cross-validation."""


class Method(NamedTuple):
    """A class of both libraries, what it learns and its settings."""

    path: str
    data: str = ""
    settings: dict[str, Any] = {}  # noqa: RUF012  (never written to)
    rows: int = 300
    is_crossed: bool = False
    """Whether a hundred fits are cross-validated, instead of one timed."""

    def __str__(self) -> str:
        shape = "150 x 4 (iris)" if self.data == IRIS else f"{self.rows:,} x 8"
        return f"{self.path.split('.')[1]} {shape}{', 100 fits crossed' if self.is_crossed else ''}"


METHODS = (
    Method("linear_model.LinearRegression", NUMBERS),
    Method("linear_model.Ridge", NUMBERS),
    Method("linear_model.Lasso", NUMBERS, {"alpha": 0.1}),
    Method("linear_model.LogisticRegression", CLASSES),
    Method("discriminant_analysis.LinearDiscriminantAnalysis", CLASSES),
    Method("naive_bayes.GaussianNB", CLASSES),
    Method("neighbors.KNeighborsClassifier", CLASSES),
    Method("svm.LinearSVC", CLASSES),
    Method("svm.SVC", CLASSES),
    Method("svm.SVC", IRIS),
    Method("svm.SVR", NUMBERS),
    Method("tree.DecisionTreeClassifier", CLASSES, {"random_state": 0}),
    Method("tree.DecisionTreeClassifier", IRIS, {"random_state": 0}),
    Method("tree.DecisionTreeRegressor", NUMBERS, {"random_state": 0}),
    Method("cluster.KMeans", settings={"n_clusters": 3, "random_state": 0}),
    Method("cluster.AgglomerativeClustering"),
    Method("mixture.GaussianMixture", settings={"n_components": 2, "random_state": 0}),
    Method("decomposition.PCA"),
    Method("decomposition.NMF", POSITIVE, {"n_components": 3, "random_state": 0}),
    Method("linear_model.LogisticRegression", CLASSES, rows=1000),
    Method("svm.SVC", CLASSES, rows=1000),
    Method("tree.DecisionTreeClassifier", CLASSES, {"random_state": 0}, rows=1000),
    Method("cluster.AgglomerativeClustering", rows=1000),
    Method("linear_model.Ridge", NUMBERS, is_crossed=True),
    Method("discriminant_analysis.LinearDiscriminantAnalysis", IRIS, is_crossed=True),
    Method("naive_bayes.GaussianNB", IRIS, is_crossed=True),
    Method("neighbors.KNeighborsClassifier", IRIS, is_crossed=True),
    Method("svm.SVC", IRIS, is_crossed=True),
    Method("tree.DecisionTreeClassifier", IRIS, {"random_state": 0}, is_crossed=True),
)


def problem(data: str, n: int = 300) -> tuple[np.ndarray, ...]:
    if data == IRIS:
        return load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 8))
    y = X[:, :5].sum(axis=1) + rng.standard_normal(n)
    return {NUMBERS: (X, y), CLASSES: (X, (y > 0).astype(int)), POSITIVE: (np.abs(X),)}.get(data, (X,))


def objective(data: tuple[np.ndarray, ...], model: Any) -> float:
    """Return what is the less the better; 0 where both find the one answer there is."""
    if isinstance(model, np.ndarray):
        return -float(model.mean())
    if hasattr(model, "reconstruction_err_"):
        return float(model.reconstruction_err_)
    return -float(model.score(*data)) if hasattr(model, "score") else 0.0


def row(method: Method) -> Row:
    def fitted_by(library: str) -> Any:
        package, name = method.path.split(".")
        new = partial(getattr(import_module(f"{library}.{package}"), name), **method.settings)
        if method.is_crossed:
            return lambda data: cross_val_score(new(), *data, cv=HUNDRED)
        return lambda data: new().fit(*data)

    return Row(
        str(method),
        lambda: problem(method.data, method.rows),
        {OURS: fitted_by("pellucid"), "scikit-learn": fitted_by("sklearn")},
        objective,
        slack=1e-2,  # each stops at its own tolerance; what is compared here is what a fit costs
        repeats=1 if method.is_crossed else 20,
    )


def rows() -> list[Row]:
    """Return a row for each method."""
    return [row(method) for method in METHODS]
