"""Speed of trees and forests: the same parameters, scored on rows that no fit has seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import sklearn.ensemble
import sklearn.tree
from sklearn.datasets import make_classification, make_regression

import pellucid.ensemble
import pellucid.tree
from benchmarks.harness import OURS, Row
from pellucid.core.threads import thread_count

HELD_OUT = 10_000


class Problem(NamedTuple):
    """Rows to learn from and rows to be judged on."""

    X: np.ndarray
    y: np.ndarray
    new_rows: np.ndarray
    new_target: np.ndarray


def classes(n: int, p: int) -> Problem:
    X, y = make_classification(n + HELD_OUT, p, random_state=0)
    return Problem(X[:n], y[:n], X[n:], y[n:])


def numbers(n: int, p: int) -> Problem:
    X, y = make_regression(n + HELD_OUT, p, noise=10.0, random_state=0)
    return Problem(X[:n], y[:n], X[n:], y[n:])


def fit(kind: Any, **settings: Any) -> Callable[[Problem], Any]:
    return lambda data: kind(random_state=0, **settings).fit(data.X, data.y)


def error(data: Problem, model: Any) -> float:
    """Return 1 less the accuracy or R squared on new rows."""
    return 1.0 - float(model.score(data.new_rows, data.new_target))


def pair(name: str, peer_room: Any, our_room: Any, **settings: Any) -> dict[str, Callable[[Problem], Any]]:
    """Return ours and scikit-learn's, on the same threads."""
    shared = {"n_jobs": thread_count()} if peer_room is sklearn.ensemble else {}
    return {
        OURS: fit(getattr(our_room, name), **settings),
        "sklearn": fit(getattr(peer_room, name), **settings, **shared),
    }


def rows() -> list[Row]:
    """Return the rows of the table."""
    alone, many = (sklearn.tree, pellucid.tree), (sklearn.ensemble, pellucid.ensemble)
    tasks: list[tuple[str, Callable[[], Problem], dict[str, Any]]] = [
        ("DecisionTreeClassifier 50,000 x 50", lambda: classes(50_000, 50), pair("DecisionTreeClassifier", *alone)),
        ("DecisionTreeRegressor 50,000 x 20", lambda: numbers(50_000, 20), pair("DecisionTreeRegressor", *alone)),
        (
            "DecisionTreeRegressor 5,000 x 20, absolute error",
            lambda: numbers(5_000, 20),
            pair("DecisionTreeRegressor", *alone, criterion="absolute_error"),
        ),
        (
            "RandomForestClassifier 50,000 x 50, 100 trees",
            lambda: classes(50_000, 50),
            pair("RandomForestClassifier", *many),
        ),
        (
            "RandomForestRegressor 50,000 x 20, 50 trees",
            lambda: numbers(50_000, 20),
            pair("RandomForestRegressor", *many, n_estimators=50),
        ),
    ]
    return [Row(name, prepare, contenders, error, slack=0.05, rounds=3) for name, prepare, contenders in tasks]
