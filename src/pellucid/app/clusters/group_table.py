"""From a table to clusters: understand, make comparable, choose how many, compare methods, fit, describe."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pellucid.app.clusters.methods import ClusterMethodScore, best_method, compare_methods
from pellucid.app.clusters.profiles import Profile, describe
from pellucid.app.clusters.result import Grouping, draw_map
from pellucid.app.table_model import TableModel
from pellucid.app.tables.column_reader import ColumnReader
from pellucid.app.tables.comparable_numbers import understand_chosen
from pellucid.app.tables.preparation import comparable, readable_names
from pellucid.app.tables.reading import TableError, as_frame
from pellucid.app.tables.understanding import Columns
from pellucid.cluster import KMeans, choose_clusters, silhouette_samples
from pellucid.cluster.choosing.criteria import largest
from pellucid.cluster.choosing.recommendation import SHAKY, WEAK, ClusterChoice
from pellucid.core.random_state import some_rows
from pellucid.core.types import Array
from pellucid.core.watching import listening

FEWEST_ROWS = 3
MOST_CLUSTERS = 10
MOST_WITHOUT_STRUCTURE = 4
"""Clusters that are shown, at most, where there are none to be found."""
MOST_COMPARED = 2000
"""Rows on which numbers of clusters and methods are compared."""
MOST_LOOKED_AT = 10_000
TARGET = "cluster"

Listener = Callable[[str, int, int], None]
"""Called with what is being done, and how much of how much is done."""


def group_table(
    frame: Any,
    k: int | None = None,
    *,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    coerce: bool = True,
    seed: int = 0,
    listen: Listener | None = None,
) -> Grouping:
    """Find the clusters of a table, and say what they are.

    Parameters
    ----------
    frame : DataFrame of pandas or polars
        One row per example; numbers, words, dates, texts and gaps as they are.
    k : int or None, default=None
        The number of clusters; None chooses it, see :func:`pellucid.cluster.choose_clusters`.
    drop, keep : sequence of str, default=()
        Columns to leave out, and columns to use although they look like an id.
    coerce : bool, default=True
        Whether prices, dates, yes and no are read into texts.
    seed : int, default=0
        The same seed gives the same clusters.
    listen : callable, default=None
        Called with what is being done, and how much of how much is done; None shows a bar in a notebook.
    """
    start = time.monotonic()
    table = as_frame(frame)
    columns = understand_chosen(table, drop, keep, coerce=coerce)
    _check_rows(table, k)
    reader = ColumnReader(dict(columns.kinds))
    read = reader.fit_transform(table)
    preparation = comparable(columns, read)
    X = np.ascontiguousarray(preparation.fit_transform(read), dtype=np.float64)
    n_different = _check_different(X, k)
    compared = X[some_rows(len(X), MOST_COMPARED)]
    with listening(listen) as hear:
        choice = None if k is not None else _choose(compared, min(MOST_CLUSTERS, n_different), seed, hear)
        number, alarm = _shown(k, choice)
        scores = compare_methods(compared, number, seed, lambda name: hear(name, 0, 1))
    chosen = best_method(scores, len(X))
    model, labels, warned = _fit(chosen, X, number, seed)
    silhouettes = _mean_silhouettes(X, labels)
    names = readable_names(preparation.get_feature_names_out(), columns)
    profiles = describe(read, columns, X, names, labels, silhouettes)
    pipeline = TableModel([("columns", reader), ("preparation", preparation), ("method", model)])
    _remember(pipeline, read, labels)
    return Grouping(
        k=len(profiles),
        was_asked=k is not None,
        choice=choice,
        scores=scores,
        chosen=chosen,
        model=pipeline,
        labels=labels,
        X=X,
        profiles=profiles,
        table_map=draw_map(X, names),
        columns=columns,
        table=table,
        n_compared=len(compared),
        alarm=alarm,
        cautions=(*cautions_on(columns, table, profiles, chosen, len(X)), *warned),
        notes=tuple(columns.notes()),
        seed=seed,
        seconds=time.monotonic() - start,
    )


def _check_rows(table: pd.DataFrame, k: int | None) -> None:
    if len(table) < FEWEST_ROWS:
        raise TableError(f"table must have at least {FEWEST_ROWS} rows to be clustered, got {len(table)}.")
    if k is not None and k > len(table):
        raise TableError(f"k must be at most the number of rows, got {k} for {len(table)} rows.")


def _check_different(X: Array, k: int | None) -> int:
    """Return how many different rows there are; of many rows, those among the first if these are enough."""
    wanted = max(2, k or 2)
    n_different = len(np.unique(X[:MOST_LOOKED_AT], axis=0))
    if n_different < wanted:
        n_different = len(np.unique(X, axis=0))
    if n_different < wanted:
        raise TableError(f"table must have {wanted} different rows for as many clusters, got {n_different}.")
    return n_different


def _choose(X: Array, most: int, seed: int, listen: Listener) -> ClusterChoice:
    """Return what every number of clusters is worth, for k-means."""
    highest = min(most, len(X) - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows drawn with replacement may be fewer than clusters
        return choose_clusters(
            X,
            KMeans(n_init=3),
            k=range(1, max(highest, 2) + 1),
            random_state=seed,
            listen=lambda done, total: listen("choosing the number of clusters", done, total),
        )


def _shown(k: int | None, choice: ClusterChoice | None) -> tuple[int, str]:
    """Return the number of clusters to show, and the alarm if there are none to be found."""
    if choice is None or choice.k > 1:
        return int(k or choice.k), ""  # type: ignore[union-attr]  # one of the two is there
    few = (choice.ks > 1) & (choice.ks <= MOST_WITHOUT_STRUCTURE)
    best = largest(choice.ks[few], choice.silhouette[few]) or 2
    why = choice.reason.removeprefix("No clusters: ")
    said = f"The {best} shown below cut the rows as well as any other, and stand for nothing more."
    return best, f"No clusters were found: {why} {said}"


def _fit(chosen: ClusterMethodScore, X: Array, k: int, seed: int) -> tuple[Any, Array, list[str]]:
    """Return the chosen method fitted to every row, the clusters, and what it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = chosen.method.make(k, len(X), seed).fit(X)
    labels = np.asarray(model.labels_ if hasattr(model, "labels_") else model.predict(X))
    return model, labels, list(dict.fromkeys(str(warning.message) for warning in caught))


def _mean_silhouettes(X: Array, labels: Array) -> Array:
    """Return the mean silhouette of each cluster, of some rows where they are many."""
    rows = some_rows(len(X), 5 * MOST_COMPARED)
    different = np.unique(labels)
    if not 1 < len(np.unique(labels[rows])) < len(rows):
        return np.zeros(len(different))
    values = silhouette_samples(X[rows], labels[rows])
    own = [values[labels[rows] == label] for label in different]
    return np.array([part.mean() if len(part) else 0.0 for part in own])


def _remember(pipeline: TableModel, read: pd.DataFrame, labels: Array) -> None:
    pipeline.target_ = TARGET
    pipeline.errors_ = pipeline.judged_ = pipeline.calibration_ = pipeline.costs_ = None
    pipeline.remember(read, labels)


FEW_PER_CLUSTER = 10
TINY = 0.01
MANY_GAPS = 0.3


def cautions_on(
    columns: Columns, table: pd.DataFrame, profiles: list[Profile], chosen: ClusterMethodScore, n_rows: int
) -> list[str]:
    """Return what to beware of, in sentences."""
    found = []
    if chosen.silhouette == chosen.silhouette and chosen.silhouette < WEAK:
        found.append(
            f"The clusters overlap: the mean silhouette is {chosen.silhouette:.2f}. They cut a cloud into parts, which "
            "may be useful, but they are no groups that stand apart."
        )
    if chosen.stability == chosen.stability and chosen.stability < SHAKY:
        found.append(
            "The clusters do not come back when the rows are drawn again (adjusted Rand index "
            f"{chosen.stability:.2f}): another sample would give others."
        )
    if n_rows < FEW_PER_CLUSTER * len(profiles):
        found.append(f"There are only {n_rows} rows for {len(profiles)} clusters.")
    small = [profile for profile in profiles if profile.share < TINY or profile.n_rows == 1]
    if small:
        named = ", ".join(f"{profile.label} ({profile.n_rows} row{'s' * (profile.n_rows > 1)})" for profile in small)
        found.append(f"Very small clusters may be outliers rather than groups: {named}.")
    gaps = [str(name) for name in columns.kinds if table[name].isna().mean() > MANY_GAPS]
    if gaps:
        found.append(f"Many gaps, taken for the median or for a word of their own, are in {', '.join(gaps)}.")
    left_out = "; ".join(f"{name} ({reason})" for name, reason in columns.left_out.items())
    if left_out:
        found.append(f"Left out: {left_out}.")
    return found
