"""Speed of small fits, 300 x 8 and iris: what every fit pays for checks, trace and certificate."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_iris

from benchmarks.harness import OURS, Row

NUMBERS, CLASSES, POSITIVE, IRIS = "numbers", "classes", "positive", "iris"
"""What is learned: numbers, two classes, or no target, from any rows or from positive ones; or the species of iris."""


class Method(NamedTuple):
    """A class of both libraries, what it learns and its settings."""

    path: str
    data: str = ""
    settings: dict[str, Any] = {}  # noqa: RUF012  (never written to)


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
)


def problem(data: str) -> tuple[np.ndarray, ...]:
    if data == IRIS:
        return load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 8))
    y = X[:, :5].sum(axis=1) + rng.standard_normal(300)
    return {NUMBERS: (X, y), CLASSES: (X, (y > 0).astype(int)), POSITIVE: (np.abs(X),)}.get(data, (X,))


def objective(data: tuple[np.ndarray, ...], model: Any) -> float:
    """Return what is the less the better; 0 where both find the one answer there is."""
    if hasattr(model, "reconstruction_err_"):
        return float(model.reconstruction_err_)
    return -float(model.score(*data)) if hasattr(model, "score") else 0.0


def row(method: Method) -> Row:
    def fitted_by(library: str) -> Any:
        package, name = method.path.split(".")
        kind = getattr(import_module(f"{library}.{package}"), name)
        return lambda data: kind(**method.settings).fit(*data)

    return Row(
        f"{method.path.split('.')[1]} {'150 x 4 (iris)' if method.data == IRIS else '300 x 8'}",
        lambda: problem(method.data),
        {OURS: fitted_by("pellucid"), "scikit-learn": fitted_by("sklearn")},
        objective,
        slack=1e-2,  # each stops at its own tolerance; what is compared here is what a fit costs
        repeats=20,
    )


def rows() -> list[Row]:
    """Return a row for each method."""
    return [row(method) for method in METHODS]
