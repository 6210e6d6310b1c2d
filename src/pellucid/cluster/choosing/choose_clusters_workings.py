"""Choosing K by hand: squared distances to the means, silhouettes and BIC of one to four clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sympy import Integer, Matrix, Rational, log, pi, sqrt

from pellucid.core.cards import find_card
from pellucid.core.types import Data
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import ExactData, exact_features
from pellucid.show.notation import Words, math, over

MOST_CLUSTERS = 4
DIGITS = 12
"""Digits that roots and logarithms are worked with."""

STARTS = 10


@dataclass(frozen=True)
class Clustering:
    """The clusters of one K, with all that is worked out of them."""

    labels: tuple[int, ...]
    spread: Rational
    silhouettes: tuple[tuple[Rational, Rational, Rational], ...]
    """Mean distance to the own cluster and to the nearest other, and the silhouette, row by row."""
    bic: Rational | None

    @property
    def k(self) -> int:
        """The number of clusters."""
        return max(self.labels) + 1

    @property
    def mean(self) -> Rational | None:
        """The mean silhouette; none of one cluster."""
        return sum((s for _, _, s in self.silhouettes), Rational(0)) / len(self.labels) if self.silhouettes else None


def choose_clusters_workings(_function: Any, X: Data, _y: Data = None) -> Document:
    """Show what each number of clusters, as k-means finds them, is worth; for ``show_work(choose_clusters, X)``."""
    features, names, rounded = exact_features(X)
    data = ExactData(features, Matrix.zeros(features.rows, 1), names, rounded)
    if features.rows < 3:
        raise ValueError(f"X must have at least 3 rows to choose a number of clusters by hand, got {features.rows}.")
    most = min(MOST_CLUSTERS, features.rows - 1)
    distances = Matrix(features.rows, features.rows, lambda i, j: _distance(features.row(i), features.row(j)))
    tried = [_clustering(features, distances, _labels(X, k)) for k in range(1, most + 1)]
    answer = {
        "ks": [one.k for one in tried],
        "dispersion": [one.spread for one in tried],
        "silhouette": [one.mean for one in tried[1:]],
        "bic": [one.bic for one in tried if one.bic is not None],
        "k": _preferred(tried),
    }
    is_exact = all(_distance(features.row(0), features.row(i), exact=True).is_Rational for i in range(features.rows))
    steps = [_clustering_step(one) for one in tried]
    return Document("Choosing the number of clusters", _opening(data, is_exact), (*steps, _choice_step(tried)), answer)


def _labels(X: Data, k: int) -> tuple[int, ...]:
    """Return the clusters that k-means finds, numbered in the order of their first rows."""
    card = find_card("KMeans")
    assert card is not None
    found = card.estimator(n_clusters=k, n_init=STARTS, random_state=0).fit(np.asarray(X, dtype=np.float64)).labels_
    order = {label: place for place, label in enumerate(dict.fromkeys(found.tolist()))}
    return tuple(order[label] for label in found.tolist())


def _distance(one: Matrix, other: Matrix, *, exact: bool = False) -> Any:
    root = sqrt(sum(((a - b) ** 2 for a, b in zip(one, other, strict=True)), Rational(0)))
    return root if exact or root.is_Rational else Rational(str(root.evalf(DIGITS)))


def _clustering(X: Matrix, distances: Matrix, labels: tuple[int, ...]) -> Clustering:
    k = max(labels) + 1
    members = [[i for i, label in enumerate(labels) if label == c] for c in range(k)]
    spread = Rational(0)
    for rows in members:
        mean = sum((X.row(i) for i in rows), Matrix.zeros(1, X.cols)) / len(rows)
        spread += sum(((X[i, j] - mean[j]) ** 2 for i in rows for j in range(X.cols)), Rational(0))
    silhouettes = [_silhouette(i, labels[i], members, distances) for i in range(X.rows)] if k > 1 else []
    return Clustering(labels, spread, tuple(silhouettes), _bic(X, members, spread))


def _silhouette(i: int, own: int, members: list[list[int]], distances: Matrix) -> tuple[Rational, Rational, Rational]:
    means = [sum((distances[i, j] for j in rows), Rational(0)) / len(rows) for rows in members]
    b = min(mean for c, mean in enumerate(means) if c != own)
    alone = len(members[own]) == 1
    a = Rational(0) if alone else means[own] * len(members[own]) / (len(members[own]) - 1)
    largest = max(a, b)
    return a, b, Rational(0) if alone or largest == 0 else (b - a) / largest


def _bic(X: Matrix, members: list[list[int]], spread: Rational) -> Rational | None:
    n, d, k = X.rows, X.cols, len(members)
    if spread == 0:
        return None
    shares = sum((len(rows) * log(Rational(len(rows), n)) for rows in members), Integer(0))
    fit = -2 * shares + n * d * log(2 * pi * spread / (d * (n - k))) + d * (n - k)
    return Rational(str((fit + (k * d + k) * log(n)).evalf(DIGITS)))


def _preferred(tried: list[Clustering]) -> int:
    """Return the K of the largest mean silhouette, the first of equal ones."""
    return max(tried[1:], key=lambda one: (one.mean, -one.k)).k


def _opening(data: ExactData, is_exact: bool) -> tuple[Block, ...]:
    blocks: list[Block] = [
        sentence(
            f"For each number of clusters take those that k-means finds (the best of {STARTS} starts), and ask what "
            "they are worth. W is the sum of squared distances to the means of the clusters. The silhouette of a row "
            "compares its mean distance a to the other rows of its cluster with the least mean distance b to another:"
        ),
        formula("s =", over(math("b − a"), Words("the larger of a and b"))),
        data.feature_table(),
        *data.notes(),
    ]
    if not is_exact:
        blocks.append(remark(f"Roots and logarithms are worked with their first {DIGITS} digits."))
    return tuple(blocks)


def _clustering_step(one: Clustering) -> Step:
    blocks: list[Block] = []
    for c in range(one.k):
        rows = [i + 1 for i, label in enumerate(one.labels) if label == c]
        blocks.append(sentence(f"Cluster {c + 1}: row{'s' if rows[1:] else ''} {', '.join(map(str, rows))}."))
    blocks.append(result("W =", one.spread))
    if one.silhouettes:
        head = [math("i"), "cluster", math("a"), math("b"), math("s")]
        cells = [
            [math(i + 1), math(one.labels[i] + 1), "alone" if one.labels.count(one.labels[i]) == 1 else a, b, s]
            for i, (a, b, s) in enumerate(one.silhouettes)
        ]
        blocks += [table(head, cells, caption="Silhouettes"), result(Words("mean of s"), "=", one.mean)]
    return step(f"{one.k} cluster{'s' if one.k > 1 else ''}", *blocks)


def _choice_step(tried: list[Clustering]) -> Step:
    n = len(tried[0].labels)
    rows = [
        [math(one.k), one.spread, "-" if one.mean is None else one.mean, "-" if one.bic is None else one.bic]
        for one in tried
    ]
    known = [(one.bic, one.k) for one in tried if one.bic is not None]
    least = min(known)[1] if known else None
    best = _preferred(tried)
    words = [
        f"W always falls: look for the elbow, from where on it falls little. The silhouette prefers {best} clusters"
    ]
    words.append("." if least is None else f", BIC, which charges log {n} for each number that is fitted, {least}.")
    return step(
        "Compare",
        table([math("K"), math("W"), "mean silhouette", "BIC"], rows),
        sentence("".join(words)),
        remark(
            "The gap statistic compares log W with that of rows spread evenly over the same box. It draws such rows at "
            "random, many times, and is left to the program: choose_clusters(X)."
        ),
        result("K =", best),
    )
