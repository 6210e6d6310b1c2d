"""The bake-off against other ways to a model in the same time: errors, log loss and AUC on rows that nobody has seen.

LightGBM and CatBoost have their defaults, FLAML searches as long as the bake-off may (``PELLUCID_SECONDS``, 60 each).
With ``PELLUCID_RESULTS`` what was measured is kept in that file, a line each, and not measured again: so tables can be
run side by side on a machine of many cores, and be printed together in the end.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn import metrics

from benchmarks.fit_tables import SOURCES, Problem, problems
from benchmarks.harness import OURS, geometric_mean
from pellucid.app.bake_off import bake_off
from pellucid.core.types import Array

SECONDS = float(os.environ.get("PELLUCID_SECONDS", "60"))
RESULTS = os.environ.get("PELLUCID_RESULTS", "")
MEASURES = ("error", "log loss", "1 - AUC")
LEAST_CHANCE = 1e-6
"""A class that was held impossible costs no more than this in the log loss."""


class Said(NamedTuple):
    """Predictions for the test rows, and the probabilities of the sorted classes."""

    predicted: Array
    chances: Array | None = None


def ours(problem: Problem) -> Said:
    model = bake_off(problem.learn, problem.target, seconds=SECONDS).model
    if problem.is_class:
        return Said(model.predict(problem.test), model.predict_proba(problem.test))
    if hasattr(model, "classes_"):  # whole numbers in an order: the mean of their probabilities
        return Said(model.predict_proba(problem.test) @ model.classes_.astype(float))
    return Said(model.predict(problem.test))


def categories(problem: Problem) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the columns with words as categories, which boosting of others takes as they are."""
    learn, test = problem.learn.drop(columns=problem.target), problem.test.drop(columns=problem.target)
    for name in learn.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in learn.dtypes]]:
        kind = pd.CategoricalDtype(sorted(learn[name].dropna().astype(str).unique()))
        learn[name], test[name] = (one[name].astype(str).astype(kind) for one in (learn, test))
    return learn, test


def lightgbm(problem: Problem) -> Said:
    import lightgbm

    learn, test = categories(problem)
    kind = lightgbm.LGBMClassifier if problem.is_class else lightgbm.LGBMRegressor
    return _asked(kind(verbose=-1).fit(learn, problem.learn[problem.target]), test, problem)


def catboost(problem: Problem) -> Said:
    import catboost

    learn, test = categories(problem)
    words = [name for name in learn.columns if isinstance(learn[name].dtype, pd.CategoricalDtype)]
    for one in (learn, test):
        one[words] = one[words].astype(object).where(one[words].notna(), "gap")
    kind = catboost.CatBoostClassifier if problem.is_class else catboost.CatBoostRegressor
    model = kind(verbose=False, allow_writing_files=False, thread_count=int(os.environ.get("OMP_NUM_THREADS", "-1")))
    return _asked(model.fit(learn, problem.learn[problem.target], cat_features=words), test, problem)


def flaml(problem: Problem) -> Said:
    from flaml import AutoML

    learn, test = categories(problem)
    found = AutoML()
    task = "classification" if problem.is_class else "regression"
    metric = "accuracy" if problem.is_class else "rmse"
    options: dict[str, Any] = {"task": task, "metric": metric, "time_budget": SECONDS, "verbose": 0, "seed": 0}
    options["n_jobs"] = int(os.environ.get("OMP_NUM_THREADS", "-1"))
    found.fit(learn, problem.learn[problem.target], **options)
    return _asked(found, test, problem)


def _asked(model: Any, test: pd.DataFrame, problem: Problem) -> Said:
    predicted = np.asarray(model.predict(test)).ravel()
    return Said(predicted, np.asarray(model.predict_proba(test)) if problem.is_class else None)


def everybody() -> dict[str, Callable[[Problem], Said]]:
    peers = {"LightGBM": lightgbm, "CatBoost": catboost, "FLAML": flaml}
    return {OURS: ours} | {name: run for name, run in peers.items() if find_spec(name.lower())}


def judged(problem: Problem, said: Said) -> dict[str, float]:
    """Return what answers about the test rows are worth, the less the better.

    Everybody has half a mistake more than were counted: none at all would be infinitely better than one.
    """
    actual = problem.test[problem.target].to_numpy()
    if not problem.is_class:
        return {"error": float(np.sqrt(np.mean((np.asarray(said.predicted, dtype=float) - actual) ** 2)))}
    classes = np.unique(problem.learn[problem.target].astype(str))
    truth = actual.astype(str)
    mistakes = np.sum(np.asarray(said.predicted).astype(str) != truth)
    found = {"error": float((mistakes + 0.5) / len(truth))}
    assert said.chances is not None  # classifiers give them
    chances = np.clip(said.chances, LEAST_CHANCE, 1.0)
    chances /= chances.sum(axis=1, keepdims=True)
    found["log loss"] = float(metrics.log_loss(truth, chances, labels=classes))
    ranked: dict[str, Any] = {"multi_class": "ovr", "labels": classes} if len(classes) > 2 else {}
    scores = chances if len(classes) > 2 else chances[:, 1]
    auc = metrics.roc_auc_score(truth if len(classes) > 2 else truth == classes[1], scores, **ranked)
    found["1 - AUC"] = float(1.0 - auc + 0.5 / len(truth))
    return found


def measured(name: str, who: str, run: Callable[[Problem], Said]) -> dict[str, float]:
    """Return the means over the splits of a table, from the file of results if they are there; empty without data."""
    known = {(one["table"], one["who"]): one for one in _kept()}
    if (name, who) in known:
        return dict(known[name, who]["found"])
    found: list[dict[str, float]] = []
    start = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found += [judged(problem, run(problem)) for problem in problems(name)]
    if not found:
        return {}
    means = {key: float(np.mean([one[key] for one in found])) for key in found[0]}
    means["seconds"] = (time.monotonic() - start) / len(found)
    if RESULTS:
        with Path(RESULTS).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"table": name, "who": who, "found": means}) + "\n")
    return means


def _kept() -> Iterator[dict[str, Any]]:
    if RESULTS and Path(RESULTS).is_file():
        yield from map(json.loads, Path(RESULTS).read_text(encoding="utf-8").splitlines())


def report(console: Console, only: str = "") -> None:
    """Print what everybody reached on every table, and how we compare, the worst ratio first."""
    everyone = everybody()
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name in (name for name in SOURCES if only in name):
        found[name] = {who: measured(name, who, run) for who, run in everyone.items()}
        console.print(f"{name}: {found[name]}", highlight=False)
    peers = [who for who in everyone if who != OURS]
    for measure in MEASURES:
        table = Table(title=f"{measure} on rows held out, {SECONDS:g} s each; {OURS} / peer below 1 is better")
        for heading in ("table", *everyone, *(f"{OURS} / {who}" for who in peers)):
            table.add_column(heading, justify="left" if heading == "table" else "right")
        lines = []
        for name, row in found.items():
            if measure in row.get(OURS, {}):
                ratios = [row[OURS][measure] / row[who][measure] for who in peers]
                lines.append((name, [row[who][measure] for who in everyone], ratios))
        for name, values, ratios in sorted(lines, key=lambda line: -max(line[2], default=1.0)):
            table.add_row(name, *(f"{one:.4f}" for one in values), *(f"{one:.3f}" for one in ratios))
        means = [f"{geometric_mean([line[2][place] for line in lines]):.3f}" for place in range(len(peers)) if lines]
        table.add_row("geometric mean", *[""] * len(everyone), *means)
        console.print(table)
