"""Speed of the support vector machines. a9a comes from the folder that PELLUCID_DATA names, or is made up."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn.svm as peer
from scipy import sparse
from sklearn.datasets import load_svmlight_file

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


def objective(data: Labeled, model: Any) -> float:
    """Return the sum of the objectives of all machines."""
    total = 0.0
    for k, w in enumerate(model.coef_):
        own = model.classes_[1] if len(model.coef_) == 1 else model.classes_[k]
        signs = np.where(data.y == own, 1.0, -1.0)
        short = np.maximum(1.0 - signs * (data.X @ w + model.intercept_[k]), 0.0)
        u = np.append(w, model.intercept_[k])
        total += float(np.abs(u).sum()) if model.penalty == "l1" else 0.5 * float(u @ u)
        total += model.C * float(np.sum(short if model.loss == "hinge" else short**2))
    return total


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


def rows() -> list[Row]:
    """Return the rows of the table."""
    kinds: tuple[dict[str, Any], ...] = ({}, {"loss": "hinge"}, {"penalty": "l1"})
    return [
        *(row("50,000 x 50", lambda: points(50_000, 50), **kind) for kind in kinds),
        *(row("a9a", adult, **kind) for kind in kinds),
        *(row("5,000 x 20,000 sparse", text, **kind) for kind in kinds),
        row("20,000 x 30, 5 classes", lambda: points(20_000, 30, 5)),
    ]
