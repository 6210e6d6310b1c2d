"""Answers by onnxruntime, by us and by scikit-learn, of one row and of 10,000: ``python -m benchmarks onnx_graphs``.

The graph is that of our fitted model; scikit-learn's namesake is fitted to the same rows. All three run in alternating
rounds in one process on the same threads; what counts is the median. The last column is the largest difference of the
graph's numbers from the model's, as a part of the largest number in their column, on the 10,000 rows.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.base
from rich.console import Console
from rich.table import Table
from sklearn import (
    decomposition,
    discriminant_analysis,
    ensemble,
    linear_model,
    naive_bayes,
    neighbors,
    neural_network,
    pipeline,
    preprocessing,
    svm,
    tree,
)

import pellucid
import pellucid.decomposition
import pellucid.discriminant_analysis
import pellucid.ensemble
import pellucid.linear_model
import pellucid.naive_bayes
import pellucid.neighbors
import pellucid.neural_network
import pellucid.svm
import pellucid.tree
from pellucid.core.threads import thread_count
from pellucid.export.measuring import difference, session_of

ROUNDS = int(os.environ.get("PELLUCID_ROUNDS", "5"))
N_FITTED, N_ASKED, N_COLUMNS = 2000, 10_000, 20
FEWEST_SECONDS = 0.05
"""A round repeats an answer until it has taken so long."""

METHODS: tuple[tuple[Any, Any, dict[str, Any]], ...] = (
    (pellucid.linear_model.Ridge, linear_model.Ridge, {}),
    (pellucid.linear_model.LogisticRegression, linear_model.LogisticRegression, {}),
    (
        pellucid.discriminant_analysis.QuadraticDiscriminantAnalysis,
        discriminant_analysis.QuadraticDiscriminantAnalysis,
        {},
    ),
    (pellucid.naive_bayes.GaussianNB, naive_bayes.GaussianNB, {}),
    (pellucid.neighbors.KNeighborsClassifier, neighbors.KNeighborsClassifier, {}),
    (pellucid.svm.SVC, svm.SVC, {}),
    (pellucid.tree.DecisionTreeRegressor, tree.DecisionTreeRegressor, {"random_state": 0}),
    (pellucid.ensemble.RandomForestClassifier, ensemble.RandomForestClassifier, {"random_state": 0}),
    (pellucid.ensemble.HistGradientBoostingClassifier, ensemble.HistGradientBoostingClassifier, {"random_state": 0}),
    (pellucid.ensemble.HistGradientBoostingRegressor, ensemble.HistGradientBoostingRegressor, {"random_state": 0}),
    (pellucid.neural_network.MLPClassifier, neural_network.MLPClassifier, {"random_state": 0, "max_iter": 20}),
    (pellucid.decomposition.PCA, decomposition.PCA, {"n_components": 5}),
)


def report(console: Console, only: str) -> None:
    """Print the table."""
    rng = np.random.default_rng(0)
    X, asked = rng.standard_normal((N_FITTED, N_COLUMNS)), rng.standard_normal((N_ASKED, N_COLUMNS))
    numbers = X[:, 0] ** 2 + X[:, 1] + 0.1 * rng.standard_normal(N_FITTED)
    classes = np.digitize(numbers, [0.5, 1.5])
    table = Table(title=f"microseconds for one row; milliseconds for {N_ASKED:,} rows of {N_COLUMNS} columns")
    table.add_column("model")
    for heading in ("onnxruntime", "pellucid", "scikit-learn", "difference"):
        table.add_column(heading, justify="right")
    for ours, peer, settings in METHODS:
        name = ours.__name__
        if only not in name:
            continue
        y = classes if sklearn.base.is_classifier(ours()) else numbers
        made = [kind(**settings) for kind in (ours, peer)]
        if name == "PCA":  # in a pipeline, as it is used
            made = [pipeline.make_pipeline(preprocessing.StandardScaler(), one) for one in made]
        models = [one.fit(X, y) for one in made]
        cells = _cells(models, asked)
        table.add_row(name, *cells)
        console.print(f"{name}: {'; '.join(cells)}", highlight=False)
    console.print(table)


def _cells(models: list[Any], asked: Any) -> list[str]:
    proto = pellucid.to_onnx(models[0])
    session = session_of(proto, thread_count())

    def answers(rows: Any) -> list[Callable[[], Any]]:
        by_us, by_peer = (_asked(model) for model in models)
        return [lambda: session.run(None, {"X": rows}), lambda: by_us(rows), lambda: by_peer(rows)]

    one, many = _medians(answers(asked[:1])), _medians(answers(asked))
    cells = [f"{1e6 * few:.0f} / {1e3 * all_:.1f}" for few, all_ in zip(one, many, strict=True)]
    return [*cells, f"{difference(proto, models[0], asked).largest:.0e}"]


def _asked(model: Any) -> Callable[[Any], Any]:
    """Return what a graph of the model answers: probabilities, else labels, numbers or components."""
    for name in ("predict_proba", "predict", "transform"):
        if hasattr(model, name):
            return getattr(model, name)  # type: ignore[no-any-return]
    raise TypeError(f"model must answer about rows, got {type(model).__name__}.")


def _medians(answers: list[Callable[[], Any]]) -> list[float]:
    """Return the median seconds of each, in alternating rounds."""
    counts = []
    for answer in answers:
        answer()
        start = time.perf_counter()
        answer()
        counts.append(max(1, int(FEWEST_SECONDS / max(time.perf_counter() - start, 1e-6))))
    seconds: list[list[float]] = [[] for _ in answers]
    for _ in range(ROUNDS):
        for answer, count, own in zip(answers, counts, seconds, strict=True):
            start = time.perf_counter()
            for _ in range(count):
                answer()
            own.append((time.perf_counter() - start) / count)
    return [statistics.median(own) for own in seconds]
