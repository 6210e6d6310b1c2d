"""Speed of the support vector machines. a9a comes from the folder that PELLUCID_DATA names, or is made up."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn.svm as peer
from scipy import sparse
from sklearn.datasets import load_digits, load_svmlight_file

import pellucid.svm as ours
from benchmarks.harness import OURS, Row


class Labeled(NamedTuple):
    """Rows and their classes."""

    X: Any
    y: np.ndarray


def points(n: int, p: int, n_classes: int = 2) -> Labeled:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    scores = X @ rng.standard_normal((p, n_classes)) + 3.0 * rng.standard_normal((n, n_classes))
    return Labeled(X, scores.argmax(axis=1))


def adult() -> Labeled:
    """Return a9a, the Adult data as 0/1 columns, or random 0/1 rows of its shape."""
    path = Path(os.environ.get("PELLUCID_DATA", ".")) / "tabular" / "a9a.libsvm.gz"
    if path.exists():
        X, y = load_svmlight_file(str(path), n_features=123)
    else:
        rng = np.random.default_rng(0)
        X = sparse.random_array((32_561, 123), density=14 / 123, rng=rng, format="csr")
        X.data[:] = 1.0
        y = np.where(X @ rng.standard_normal(123) + rng.standard_normal(X.shape[0]) > 0, 1, -1)
    narrow = sparse.csr_matrix(X)
    narrow.indices, narrow.indptr = narrow.indices.astype(np.int32), narrow.indptr.astype(np.int32)  # for LIBLINEAR
    return Labeled(narrow, y)


def text(n: int = 5_000, p: int = 20_000) -> Labeled:
    """Return sparse rows of unit length, as of documents."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((n, p), density=0.003, rng=rng, format="csr")
    X = sparse.csr_matrix(sparse.diags_array(1.0 / np.maximum(sparse.linalg.norm(X, axis=1), 1e-12)) @ X)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return Labeled(X, np.where(X @ rng.standard_normal(p) + 0.2 * rng.standard_normal(n) > 0, 1, -1))


def topics(n: int = 3_000, p: int = 10_000, n_classes: int = 5) -> Labeled:
    """Return the same, of several classes."""
    rng = np.random.default_rng(0)
    X = text(n, p).X
    return Labeled(
        X, (X @ rng.standard_normal((p, n_classes)) + 0.2 * rng.standard_normal((n, n_classes))).argmax(axis=1)
    )


def digits() -> Labeled:
    return Labeled(*load_digits(return_X_y=True))


def objective(data: Labeled, model: Any) -> float:
    """Return the sum of the objectives of all machines."""
    if model.multi_class == "crammer_singer":
        return together_objective(data, model)
    total = 0.0
    for k, w in enumerate(model.coef_):
        own = model.classes_[1] if len(model.coef_) == 1 else model.classes_[k]
        signs = np.where(data.y == own, 1.0, -1.0)
        short = np.maximum(1.0 - signs * (data.X @ w + model.intercept_[k]), 0.0)
        u = np.append(w, model.intercept_[k])
        total += float(np.abs(u).sum()) if model.penalty == "l1" else 0.5 * float(u @ u)
        total += model.C * float(np.sum(short if model.loss == "hinge" else short**2))
    return total


def measured(n: int = 50_000, p: int = 50) -> Labeled:
    """Return rows with a number each, of which one in ten is far off."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    noise = rng.standard_normal(n) * np.where(rng.random(n) < 0.1, 10.0, 1.0)
    return Labeled(X, X @ rng.standard_normal(p) + 2.0 + noise)


def counted(prepare: Any) -> Labeled:
    """Return the rows of another set, with numbers."""
    X, rng = prepare().X.sorted_indices(), np.random.default_rng(1)
    return Labeled(X, X @ rng.standard_normal(X.shape[1]) + rng.standard_normal(X.shape[0]))


def tube_objective(data: Labeled, model: Any) -> float:
    """Return the objective of a regression with a tube."""
    beyond = np.maximum(np.abs(data.y - data.X @ model.coef_ - model.intercept_[0]) - model.epsilon, 0.0)
    norm = 0.5 * float(model.coef_ @ model.coef_) + 0.5 * float(model.intercept_[0] ** 2)
    return norm + model.C * float(np.sum(beyond if model.loss == "epsilon_insensitive" else beyond**2))


def together_objective(data: Labeled, model: Any) -> float:
    """Return the objective of one machine for all classes."""
    each, own = np.arange(len(data.y)), np.searchsorted(model.classes_, data.y)
    scores = data.X @ model.coef_.T + model.intercept_
    lacks = scores - scores[each, own][:, None] + 1.0
    lacks[each, own] = 0.0
    norm = 0.5 * float(np.sum(model.coef_**2)) + 0.5 * float(np.sum(model.intercept_**2))
    return norm + model.C * float(lacks.max(axis=1).sum())


def together_row(name: str, prepare: Any, **options: Any) -> Row:
    """Return a row of one machine for all classes, against LIBLINEAR as it is and with the tolerance our gap needs."""
    options = {"multi_class": "crammer_singer", **options}
    plain = row(name, prepare, **options)
    finer = {"scikit-learn, tol=1e-6": lambda data: peer.LinearSVC(random_state=0, tol=1e-6, **options).fit(*data)}
    return replace(plain, contenders=plain.contenders | finer, rounds=5)


def row(name: str, prepare: Any, **options: Any) -> Row:
    return Row(
        f"LinearSVC {name} {', '.join(str(value) for value in options.values()) or 'squared_hinge'}",
        prepare,
        {
            OURS: lambda data: ours.LinearSVC(**options).fit(data.X, data.y),
            "scikit-learn": lambda data: peer.LinearSVC(random_state=0, **options).fit(data.X, data.y),
        },
        objective,
    )


def tube_row(name: str, prepare: Any, **options: Any) -> Row:
    """Return a row of LinearSVR, against LIBLINEAR as it is and with the tolerance our gap needs."""
    return Row(
        f"LinearSVR {name} {', '.join(str(value) for value in options.values()) or 'epsilon_insensitive'}",
        prepare,
        {
            OURS: lambda data: ours.LinearSVR(**options).fit(data.X, data.y),
            "scikit-learn": lambda data: peer.LinearSVR(random_state=0, **options).fit(data.X, data.y),
            "scikit-learn, tol=1e-6": lambda data: peer.LinearSVR(random_state=0, tol=1e-6, **options).fit(*data),
        },
        tube_objective,
    )


def rows() -> list[Row]:
    """Return the rows of the table."""
    kinds: tuple[dict[str, Any], ...] = ({}, {"loss": "hinge"}, {"penalty": "l1"})
    return [
        *(row("50,000 x 50", lambda: points(50_000, 50), **kind) for kind in kinds),
        *(row("a9a", adult, **kind) for kind in kinds),
        *(row("5,000 x 20,000 sparse", text, **kind) for kind in kinds),
        row("20,000 x 30, 5 classes", lambda: points(20_000, 30, 5)),
        together_row("digits", digits),
        together_row("digits", digits, C=0.01),
        together_row("3,000 x 20, 5 classes", lambda: points(3_000, 20, 5)),
        together_row("3,000 x 10,000 sparse, 5 classes", topics),
        *(
            tube_row(name, prepare, **kind)
            for name, prepare in (
                ("50,000 x 50", measured),
                ("a9a", lambda: counted(adult)),
                ("5,000 x 20,000 sparse", lambda: counted(text)),
                ("20,000 x 2,000 sparse", lambda: counted(lambda: text(20_000, 2_000))),
            )
            for kind in ({}, {"epsilon": 0.5}, {"loss": "squared_epsilon_insensitive", "epsilon": 0.1})
        ),
    ]
