"""Speed of ensembles: boosting against LightGBM, XGBoost and scikit-learn, AdaBoost against scikit-learn.

The objective is the loss on rows that nobody was fitted to. Other libraries bin in their own way and regularize a
little by default, so their losses differ by some parts in a hundred. Adult comes from the folder PELLUCID_DATA.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn.ensemble as peer
from sklearn.datasets import make_classification, make_friedman1
from sklearn.metrics import log_loss, mean_squared_error

import pellucid.ensemble as ours
from benchmarks.harness import OURS, Row
from pellucid.core.threads import thread_count

SLACK = 0.05
ADULT = Path(os.environ.get("PELLUCID_DATA", ".")) / "tabular"


class Problem(NamedTuple):
    """Rows to fit and rows to judge by."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    is_class: bool


def parted(X: Any, y: np.ndarray, n: int, *, is_class: bool) -> Problem:
    return Problem(X[:n], y[:n], X[n:], y[n:], is_class)


def classes(n: int, p: int) -> Problem:
    X, y = make_classification(n + n // 5, p, n_informative=p // 2, random_state=0)
    return parted(X, y, n, is_class=True)


def numbers(n: int, p: int) -> Problem:
    X, y = make_friedman1(n + n // 5, p, noise=1.0, random_state=0)
    return parted(X, y, n, is_class=False)


def adult() -> Problem:
    """Return the table of incomes, words as codes that every library takes."""
    import pandas as pd

    tables = [pd.read_parquet(ADULT / f"adult_{part}.parquet") for part in ("train", "test")]
    whole = pd.concat(tables, ignore_index=True)
    target = whole.columns[-1]
    y = whole.pop(target).astype("category").cat.codes.to_numpy()
    for name in whole.columns:
        if not pd.api.types.is_numeric_dtype(whole[name]):
            whole[name] = whole[name].astype("category").cat.codes
    return parted(whole.to_numpy(dtype=np.float64), y, len(tables[0]), is_class=True)


def loss(data: Problem, model: Any) -> float:
    if data.is_class:
        return float(log_loss(data.y_test, model.predict_proba(data.X_test)))
    return float(mean_squared_error(data.y_test, model.predict(data.X_test)))


def boosters() -> dict[str, Callable[[bool], Any]]:
    """Return what makes an unfitted booster for classes or for numbers, 100 rounds of 31 leaves each."""

    def histogram(library: Any) -> Callable[[bool], Any]:
        kinds = library.HistGradientBoostingRegressor, library.HistGradientBoostingClassifier
        return lambda is_class: kinds[is_class](max_iter=100, early_stopping=False)

    found = {OURS: histogram(ours), "sklearn": histogram(peer)}
    if find_spec("lightgbm"):
        import lightgbm

        light = lightgbm.LGBMRegressor, lightgbm.LGBMClassifier
        found["lightgbm"] = lambda is_class: light[is_class](
            n_estimators=100, num_leaves=31, learning_rate=0.1, max_bin=255, n_jobs=thread_count(), verbose=-1
        )
    if find_spec("xgboost"):
        import xgboost

        extreme = xgboost.XGBRegressor, xgboost.XGBClassifier
        found["xgboost"] = lambda is_class: extreme[is_class](
            n_estimators=100, max_leaves=31, max_depth=0, grow_policy="lossguide", learning_rate=0.1, max_bin=255,
            tree_method="hist", n_jobs=thread_count(),
        )  # fmt: skip
    return found


def fitting() -> dict[str, Callable[[Problem], Any]]:
    def fit(make: Callable[[bool], Any]) -> Callable[[Problem], Any]:
        return lambda data: make(data.is_class).fit(data.X, data.y)

    return {name: fit(make) for name, make in boosters().items()}


def predicting() -> dict[str, Callable[[Problem], Any]]:
    """Return what predicts the training rows; each model is fitted at its first call, which is not timed."""
    fitted: dict[str, Any] = {}

    def predict(name: str, make: Callable[[bool], Any]) -> Callable[[Problem], Any]:
        def run(data: Problem) -> Any:
            if name not in fitted:
                fitted[name] = make(data.is_class).fit(data.X, data.y)
            return fitted[name], fitted[name].predict_proba(data.X)

        return run

    return {name: predict(name, make) for name, make in boosters().items()}


def stumps() -> dict[str, Callable[[Problem], Any]]:
    return {
        name: lambda data, library=library: library.AdaBoostClassifier(n_estimators=50).fit(data.X, data.y)
        for name, library in ((OURS, ours), ("sklearn", peer))
    }


def rows() -> list[Row]:
    """Return the rows of the table."""
    found = [
        Row("boosting, classes, 100,000 x 30", lambda: classes(100_000, 30), fitting(), loss, rounds=3, slack=SLACK),
        Row("boosting, numbers, 100,000 x 30", lambda: numbers(100_000, 30), fitting(), loss, rounds=3, slack=SLACK),
        Row(
            "boosting, predictions, 100,000 x 30",
            lambda: classes(100_000, 30),
            predicting(),
            lambda data, result: loss(data, result[0]),
            rounds=5,
            slack=SLACK,
        ),
        Row("AdaBoost, 50 stumps, 50,000 x 50", lambda: classes(50_000, 50), stumps(), loss, rounds=2, slack=SLACK),
    ]
    if ADULT.is_dir():
        found.append(Row("boosting, Adult", adult, fitting(), loss, rounds=3, slack=SLACK))
    return found
