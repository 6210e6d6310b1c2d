"""Speed of the ranking machines, against a linear machine on the differences of all pairs, which is the usual way."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import sklearn.svm as peer

import pellucid.ranking as ours
from benchmarks.harness import OURS, Row


class Queries(NamedTuple):
    """Rows with their relevance and query, and the numbers of the rows of all pairs, better first."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray
    better: np.ndarray
    worse: np.ndarray


def queries(n: int, p: int, n_queries: int, levels: int) -> Queries:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    hidden = X @ rng.standard_normal(p) + 3.0 * rng.standard_normal(n)
    y = np.digitize(hidden, np.quantile(hidden, np.arange(1, levels) / levels))
    qid = np.sort(rng.integers(0, n_queries, n))
    starts = np.searchsorted(qid, np.arange(n_queries + 1))
    pairs = [_pairs_of(y, first, last) for first, last in pairwise(starts)]
    better, worse = np.concatenate(pairs, axis=1)
    return Queries(X, y, qid, better, worse)


def _pairs_of(y: np.ndarray, first: int, last: int) -> np.ndarray:
    own = y[first:last]
    return np.stack(np.nonzero(own[:, None] > own)) + first


def on_listed_pairs(data: Queries, **options: Any) -> np.ndarray:
    differences = data.X[data.better] - data.X[data.worse]
    signs = np.where(np.arange(len(differences)) % 2, 1.0, -1.0)
    machine = peer.LinearSVC(fit_intercept=False, random_state=0, **options)
    return machine.fit(differences * signs[:, None], signs).coef_[0]


def objective(data: Queries, w: np.ndarray, loss: str, C: float) -> float:
    f = data.X @ w
    short = np.maximum(1.0 - f[data.better] + f[data.worse], 0.0)
    return 0.5 * float(w @ w) + C * float(np.sum(short if loss == "hinge" else short**2))


def row(name: str, shape: tuple[int, int, int, int], loss: str, C: float) -> Row:
    return Row(
        f"RankingSVM {name} {loss}",
        lambda: queries(*shape),
        {
            OURS: lambda data: ours.RankingSVM(C, loss=loss).fit(data.X, data.y, qid=data.qid).coef_,
            "LinearSVC on pairs": lambda data: on_listed_pairs(data, loss=loss, C=C, dual="auto"),
        },
        lambda data, w: objective(data, w, loss, C),
        rounds=3,
    )


def rows() -> list[Row]:
    """Return the rows of the table."""
    many, one = (10_000, 20, 500, 5), (1_500, 20, 1, 5)
    return [
        row("10,000 x 20, 500 queries", many, "squared_hinge", 0.01),
        row("10,000 x 20, 500 queries", many, "hinge", 0.01),
        row("1,500 x 20, one query", one, "squared_hinge", 0.01),
        row("1,500 x 20, one query", one, "hinge", 0.001),
    ]
