"""Speed of the naive Bayes family. Documents come from the folder that PELLUCID_DATA names, or are made up."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn.naive_bayes as peer
from scipy import sparse

import pellucid.naive_bayes as ours
from benchmarks.harness import OURS, Row

N_CLASSES = 65
"""Classes of the documents."""


class Labeled(NamedTuple):
    """Rows and their classes."""

    X: Any
    y: np.ndarray


class Outcome(NamedTuple):
    """A fitted model and what it predicted for the training rows."""

    model: Any
    labels: np.ndarray


def points(n: int, p: int, n_classes: int = 5, mean: float = 0.0) -> Labeled:
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n)
    X = rng.standard_normal((n, p)) + mean
    X += 0.1 * y[:, None]
    return Labeled(X, y)


def categories(n: int, p: int, most: int = 8) -> Labeled:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, n)
    return Labeled(np.minimum(rng.integers(0, most, (n, p)) + (y[:, None] > 2), most - 1), y)


def reuters() -> Labeled:
    """Return the Reuters-21578 counts if they are there, otherwise random counts of the same shape and density."""
    path = Path(os.environ.get("PELLUCID_DATA", ".")) / "text" / "reuters21578_counts.npz"
    if path.exists():
        parts = np.load(path)
        X = sparse.csr_array((parts["data"].astype(float), parts["indices"], parts["indptr"]), shape=parts["shape"])
        return Labeled(X, parts["y"])
    rng = np.random.default_rng(0)
    X = sparse.random_array((8293, 18933), density=0.00248, rng=rng, format="csr")
    X.data = np.ceil(X.data * 3)
    return Labeled(X, rng.integers(0, N_CLASSES, 8293))


def fit_predict(kind: Any, data: Labeled) -> Outcome:
    model = kind().fit(data.X, data.y)
    return Outcome(model, model.predict(data.X))


def errors(data: Labeled, outcome: Outcome) -> float:
    """Return the share of wrong labels: fits are closed forms, so equal models make equal errors."""
    return float(np.mean(outcome.labels != data.y))


def row(name: str, kind: str, prepare: Any) -> Row:
    contenders = {
        OURS: lambda data: fit_predict(getattr(ours, kind), data),
        "scikit-learn": lambda data: fit_predict(getattr(peer, kind), data),
    }
    return Row(f"{kind} fit + predict {name}", prepare, contenders, errors, slack=2e-5)


def rows() -> list[Row]:
    """Return the rows of the table."""
    return [
        row("200,000 x 50", "GaussianNB", lambda: points(200_000, 50)),
        row("200,000 x 50, mean 1e8", "GaussianNB", lambda: points(200_000, 50, mean=1e8)),
        row("2,000 x 10", "GaussianNB", lambda: points(2_000, 10)),
        row("Reuters", "MultinomialNB", reuters),
        row("Reuters", "BernoulliNB", reuters),
        row("50,000 x 20", "CategoricalNB", lambda: categories(50_000, 20)),
    ]
