"""Speed of linear and quadratic discriminant analysis."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import sklearn.discriminant_analysis as peer

import pellucid.discriminant_analysis as ours
from benchmarks.harness import OURS, Row


class Groups(NamedTuple):
    """Rows and their labels."""

    X: np.ndarray
    y: np.ndarray


def groups(n: int, p: int, k: int = 3) -> Groups:
    rng = np.random.default_rng(0)
    y = rng.integers(k, size=n)
    return Groups(rng.standard_normal((n, p)) @ rng.standard_normal((p, p)) + rng.standard_normal((k, p))[y], y)


def log_loss(data: Groups, model: Any) -> float:
    X, y = data.X[:5000], data.y[:5000]
    return float(-model.predict_log_proba(X)[np.arange(len(y)), y].mean())


def fit(kind: Any, **settings: Any) -> Callable[[Groups], Any]:
    return lambda data: kind(**settings).fit(data.X, data.y)


def fit_and_predict(kind: Any) -> Callable[[Groups], Any]:
    def run(data: Groups) -> Any:
        model = kind().fit(data.X, data.y)
        model.predict(data.X)
        return model

    return run


def rows() -> list[Row]:
    """Return every row of the family."""
    linear, quadratic = "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"
    found = []
    for name, run in (("fit", fit), ("fit and predict", fit_and_predict)):
        for kind in (linear, quadratic):
            contenders = {OURS: run(getattr(ours, kind)), "scikit-learn": run(getattr(peer, kind))}
            if kind == linear and name == "fit":
                contenders["scikit-learn lsqr"] = fit(getattr(peer, kind), solver="lsqr")
                contenders["scikit-learn eigen"] = fit(getattr(peer, kind), solver="eigen")
            if kind == quadratic and name == "fit":
                contenders["scikit-learn eigen"] = fit(getattr(peer, kind), solver="eigen")
            if find_spec("sklearnex"):
                from sklearnex import discriminant_analysis as fast

                contenders["sklearnex"] = run(getattr(fast, kind))
            found.append(Row(f"{kind} {name}, 50,000 x 50", lambda: groups(50_000, 50), contenders, log_loss, rounds=5))
    return found
