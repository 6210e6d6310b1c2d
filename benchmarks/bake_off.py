"""Errors of the bake-off against other ways to a model in the same time, on rows that nobody has seen.

The tables come from the folder PELLUCID_DATA. LightGBM has its defaults; scikit-learn's boosting has a small search
that takes as long as the bake-off may; so has FLAML, if it is installed. ``PELLUCID_SECONDS`` is the time of each (60).
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import cross_val_score, train_test_split

from benchmarks.harness import OURS, geometric_mean
from pellucid.bake_off import bake_off
from pellucid.tables import read_table

FOLDER = Path(os.environ.get("PELLUCID_DATA", ".")) / "tabular"
SECONDS = float(os.environ.get("PELLUCID_SECONDS", "60"))
TABLES = {
    "adult_train.parquet": ("income", "adult_test.parquet"),
    "california_housing.parquet": ("median_house_value", ""),
    "car_evaluation.csv": ("acceptability", ""),
    "covtype_15120.parquet": ("Cover_Type", ""),
    "energy_efficiency.csv": ("Y1", ""),
    "mushroom.csv": ("class", ""),
    "winequality_red.csv": ("quality", ""),
    "winequality_white.csv": ("quality", ""),
}
"""Target of each table, and the file of its test rows if it has one; else a quarter of its rows is held out."""
TOLD_LATER = ("Y2", "Id")
"""Columns that are left out for everybody: another target, and a number of the row."""


class Problem(NamedTuple):
    """A table to learn from, and rows to judge by."""

    name: str
    learn: pd.DataFrame
    test: pd.DataFrame
    target: str

    @property
    def is_class(self) -> bool:
        """Whether the target is a class."""
        return self.learn[self.target].nunique() <= 10 or not pd.api.types.is_numeric_dtype(self.learn[self.target])


def read(name: str) -> Problem:
    target, test = TABLES[name]
    table = read_table(FOLDER / name)
    table = table.drop(columns=[one for one in TOLD_LATER if one in table])
    if test:
        return Problem(name, table, read_table(FOLDER / test), target)
    learn, held_out = train_test_split(table, test_size=0.25, random_state=7)
    return Problem(name, learn.reset_index(drop=True), held_out.reset_index(drop=True), target)


def ours(problem: Problem) -> Any:
    return bake_off(problem.learn, problem.target, seconds=SECONDS).model.predict(problem.test)


def categories(problem: Problem) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the columns with words as categories, which boosting of others takes as they are."""
    learn, test = problem.learn.drop(columns=problem.target), problem.test.drop(columns=problem.target)
    for name in learn.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in learn.dtypes]]:
        kind = pd.CategoricalDtype(sorted(learn[name].dropna().astype(str).unique()))
        learn[name], test[name] = learn[name].astype(str).astype(kind), test[name].astype(str).astype(kind)
    return learn, test


def lightgbm(problem: Problem) -> Any:
    import lightgbm

    learn, test = categories(problem)
    kind = lightgbm.LGBMClassifier if problem.is_class else lightgbm.LGBMRegressor
    return kind(verbose=-1).fit(learn, problem.learn[problem.target]).predict(test)


def scikit_learn(problem: Problem) -> Any:
    """Draw settings at random while there is time, and fit the best of them."""
    start, rng = time.monotonic(), np.random.default_rng(0)
    learn, test = categories(problem)
    kind = HistGradientBoostingClassifier if problem.is_class else HistGradientBoostingRegressor
    y = problem.learn[problem.target]
    best: tuple[float, dict[str, Any]] = (-np.inf, {})
    settings: dict[str, Any] = {}
    while True:
        model = kind(categorical_features="from_dtype", random_state=0, **settings)
        scoring = None if problem.is_class else "neg_root_mean_squared_error"
        score = float(np.mean(cross_val_score(model, learn, y, cv=3, scoring=scoring)))
        best = max(best, (score, settings), key=lambda pair: pair[0])
        if time.monotonic() - start > 0.8 * SECONDS:
            return kind(categorical_features="from_dtype", random_state=0, **best[1]).fit(learn, y).predict(test)
        settings = {
            "learning_rate": float(10 ** rng.uniform(-2, -0.5)),
            "max_iter": int(rng.integers(100, 500)),
            "max_leaf_nodes": int(rng.integers(7, 63)),
            "min_samples_leaf": int(rng.integers(5, 40)),
        }


def flaml(problem: Problem) -> Any:
    from flaml import AutoML

    learn, test = categories(problem)
    found = AutoML()
    task = "classification" if problem.is_class else "regression"
    metric = "accuracy" if problem.is_class else "rmse"
    options: dict[str, Any] = {"task": task, "metric": metric, "time_budget": SECONDS, "verbose": 0, "seed": 0}
    found.fit(learn, problem.learn[problem.target], **options)
    return found.predict(test)


def peers() -> dict[str, Callable[[Problem], Any]]:
    found = {"LightGBM": lightgbm} if find_spec("lightgbm") else {}
    found["scikit-learn, searched"] = scikit_learn
    if find_spec("flaml"):
        found["FLAML"] = flaml
    return found


def error_of(problem: Problem, predicted: Any) -> float:
    actual = problem.test[problem.target].to_numpy()
    if problem.is_class:
        return float(np.mean(np.asarray(predicted).astype(str) != actual.astype(str)))
    return float(np.sqrt(np.mean((np.asarray(predicted, dtype=float) - actual) ** 2)))


def report(console: Console, only: str = "") -> None:
    """Print the errors of everybody on every table, and how ours compare."""
    table = Table(title=f"errors on rows held out, {SECONDS:g} s each: share of mistakes, or root mean squared error")
    others = peers()
    for heading in ("table", OURS, "seconds", *others, *(f"{OURS} / {name}" for name in others)):
        table.add_column(heading, justify="left" if heading == "table" else "right")
    ratios: dict[str, list[float]] = {name: [] for name in others}
    for name in (name for name in TABLES if only in name and (FOLDER / name).is_file()):
        problem = read(name)
        start = time.monotonic()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mine = error_of(problem, ours(problem))
            seconds = time.monotonic() - start
            errors = {peer: error_of(problem, run(problem)) for peer, run in others.items()}
        row_ratios = {peer: mine / error if error > 0 else float("nan") for peer, error in errors.items()}
        for peer, ratio in row_ratios.items():
            if np.isfinite(ratio) and ratio > 0:
                ratios[peer].append(ratio)
        shown = (f"{error:.4f}" for error in errors.values())
        table.add_row(
            name.split(".")[0], f"{mine:.4f}", f"{seconds:.0f}", *shown, *(f"{r:.3f}" for r in row_ratios.values())
        )
        console.print(f"{name}: {mine:.4f} in {seconds:.0f} s, {errors}", highlight=False)
    means = [f"{geometric_mean(found):.3f}" if found else "" for found in ratios.values()]
    table.add_row("geometric mean", *[""] * (2 + len(others)), *means)
    console.print(table)
