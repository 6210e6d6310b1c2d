"""Speed of factors, canonical correlations and feature selection: as good a likelihood, correlation or score."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from sklearn import cross_decomposition as peers
from sklearn.decomposition import FactorAnalysis as PeerFactorAnalysis
from sklearn.feature_selection import SequentialFeatureSelector as PeerSelector
from sklearn.feature_selection import mutual_info_classif
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mutual_info_score
from sklearn.model_selection import cross_val_score

from benchmarks.growth import print_growth
from benchmarks.harness import OURS, Row
from pellucid.cross_decomposition import CCA
from pellucid.decomposition import FactorAnalysis
from pellucid.feature_selection import MRMR, FloatingSelector, SelectTop, SequentialFeatureSelector
from pellucid.feature_selection.filters.column_codes import coded_column


class Problem(NamedTuple):
    """Rows, their targets or second view, and how many components or columns are wanted."""

    X: np.ndarray
    y: np.ndarray
    k: int


def factors(n: int, p: int, k: int) -> Problem:
    rng = np.random.default_rng(0)
    noise = np.sqrt(rng.uniform(0.5, 2.0, p))
    X = rng.standard_normal((n, k)) @ rng.standard_normal((k, p)) + rng.standard_normal((n, p)) * noise
    return Problem(X, X[:, 0], k)


def two_views(n: int, p: int, q: int, k: int) -> Problem:
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((n, 5))
    X = Z @ rng.standard_normal((5, p)) + 3.0 * rng.standard_normal((n, p))
    return Problem(X, Z @ rng.standard_normal((5, q)) + 3.0 * rng.standard_normal((n, q)), k)


def columns(n: int, p: int, k: int, useful: int = 15) -> Problem:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)) @ (np.eye(p) + 0.3 * rng.standard_normal((p, p)))
    weights = np.where(np.arange(p) < useful, rng.uniform(0.2, 1.0, p), 0.0)
    return Problem(X, X @ weights + 3.0 * rng.standard_normal(n), k)


def labels(n: int, p: int, k: int) -> Problem:
    data = columns(n, p, k)
    return data._replace(y=np.digitize(data.y, np.quantile(data.y, [0.25, 0.5, 0.75])))


def minus_likelihood(data: Problem, model: Any) -> float:
    return -float(model.score(data.X))


def minus_correlations(data: Problem, model: Any) -> float:
    """Return minus the sum of the correlations of the scores, pair by pair."""
    x, y = model.transform(data.X, data.y)
    return -float(sum(np.corrcoef(x[:, j], y[:, j])[0, 1] for j in range(data.k)))


def minus_score(data: Problem, support: np.ndarray) -> float:
    """Return minus the cross-validated score of a line with the chosen columns."""
    return -float(cross_val_score(LinearRegression(), data.X[:, support], data.y, cv=5).mean())


def selected_by(kind: Any, **settings: Any) -> Callable[[Problem], np.ndarray]:
    def select(data: Problem) -> np.ndarray:
        return kind(LinearRegression(), n_features_to_select=data.k, cv=5, **settings).fit(data.X, data.y).get_support()

    return select


def by_mlxtend(*, forward: bool = True, floating: bool = False) -> Callable[[Problem], np.ndarray]:
    def select(data: Problem) -> np.ndarray:
        from mlxtend.feature_selection import SequentialFeatureSelector as Mlxtend

        search = Mlxtend(LinearRegression(), k_features=data.k, forward=forward, floating=floating, cv=5, scoring="r2")
        support = np.zeros(data.X.shape[1], dtype=bool)
        support[list(search.fit(data.X, data.y).k_feature_idx_)] = True
        return support

    return select


def plain_mrmr(data: Problem) -> np.ndarray:
    """Return the choice by scikit-learn's information of pairs, the loop that a user would write."""
    codes = [coded_column(data.X[:, j], None, 10).of_rows for j in range(data.X.shape[1])]
    relevance = np.array([mutual_info_score(column, data.y) for column in codes])
    shared, support = np.zeros(len(codes)), np.zeros(len(codes), dtype=bool)
    for step in range(data.k):
        chosen = int(np.argmax(np.where(support, -np.inf, relevance - shared / max(step, 1))))
        support[chosen] = True
        shared += [mutual_info_score(column, codes[chosen]) for column in codes]
    return support


def rows() -> list[Row]:
    """Return the rows of the table."""
    has_mlxtend = find_spec("mlxtend") is not None
    forward = {OURS: selected_by(SequentialFeatureSelector), "sklearn": selected_by(PeerSelector)}
    backward = {
        OURS: selected_by(SequentialFeatureSelector, direction="backward"),
        "sklearn": selected_by(PeerSelector, direction="backward"),
    }
    found = [
        Row(
            "FactorAnalysis 20,000 x 100, 10 factors",
            lambda: factors(20_000, 100, 10),
            {
                OURS: lambda data: FactorAnalysis(data.k).fit(data.X),
                "sklearn randomized": lambda data: PeerFactorAnalysis(data.k).fit(data.X),
                "sklearn lapack": lambda data: PeerFactorAnalysis(data.k, svd_method="lapack").fit(data.X),
            },
            minus_likelihood,
            machine=lambda data: data.X.T @ data.X,
        ),
        Row(
            "CCA 20,000 x 50/30, 2 components",
            lambda: two_views(20_000, 50, 30, 2),
            {
                OURS: lambda data: CCA(data.k).fit(data.X, data.y),
                "sklearn": lambda data: peers.CCA(data.k).fit(data.X, data.y),
            },
            minus_correlations,
            machine=lambda data: data.X.T @ data.X,
        ),
        Row(
            "forward selection of 10 of 60 columns, 5,000 rows, line",
            lambda: columns(5_000, 60, 10),
            {**forward, **({"mlxtend": by_mlxtend()} if has_mlxtend else {})},
            minus_score,
        ),
        Row(
            "backward selection of 10 of 30 columns, 2,000 rows, line",
            lambda: columns(2_000, 30, 10),
            backward,
            minus_score,
        ),
        Row(
            "information ranking of 60 columns, 20,000 rows",
            lambda: labels(20_000, 60, 10),
            {
                OURS: lambda data: SelectTop(data.k).fit(data.X, data.y),
                "sklearn": lambda data: mutual_info_classif(data.X, data.y),  # nearest neighbours: another estimate
            },
            lambda _data, _model: 0.0,
        ),
        Row(
            "MRMR 10 of 60 columns, 20,000 rows",
            lambda: labels(20_000, 60, 10),
            {OURS: lambda data: MRMR(data.k).fit(data.X, data.y), "plain loop": plain_mrmr},
            lambda _data, _model: 0.0,
        ),
    ]
    if has_mlxtend:
        floating = {
            OURS: selected_by(FloatingSelector, direction="floating"),
            "mlxtend": by_mlxtend(floating=True),
        }
        found.append(
            Row(
                "floating selection of 8 of 30 columns, 2,000 rows, line",
                lambda: columns(2_000, 30, 8),
                floating,
                minus_score,
            )
        )
    return found


def report(console: Console, only: str) -> None:
    """Print how time and memory grow."""
    if only:
        return
    sizes = ((5_000, 50, 5), (20_000, 50, 5), (80_000, 50, 5), (20_000, 100, 5), (20_000, 200, 5), (20_000, 200, 20))
    print_growth(console, "FactorAnalysis", sizes, factors, lambda data: FactorAnalysis(data.k).fit(data.X))
    views = ((5_000, 50, 2), (20_000, 50, 2), (80_000, 50, 2), (20_000, 100, 2), (20_000, 200, 2))
    print_growth(
        console, "CCA", views, lambda n, d, k: two_views(n, d, d // 2, k), lambda data: CCA(data.k).fit(data.X, data.y)
    )
    print_growth(
        console,
        "forward selection",
        ((5_000, 60, 10), (20_000, 60, 10), (80_000, 60, 10), (5_000, 120, 10), (5_000, 240, 10), (5_000, 240, 40)),
        columns,
        selected_by(SequentialFeatureSelector),
    )
