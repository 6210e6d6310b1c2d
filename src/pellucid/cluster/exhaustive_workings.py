"""Exhaustive clustering by hand: every clustering of five points or fewer, with its sum of squared distances."""

from __future__ import annotations

from typing import Any

from sympy import Matrix, Rational

from pellucid.cluster.exhaustive import bell_number, partition_count, partitions, stirling_number
from pellucid.core.types import Data
from pellucid.show.document import Document, formula, result, sentence, step, table
from pellucid.show.exact_data import ExactData, exact_features
from pellucid.show.notation import math

MOST_ROWS = 5


def exhaustive_workings(_function: Any, X: Data, n_clusters: Any = None) -> Document:
    """Show the table of all clusterings, into any number of clusters or into so many."""
    features, names, rounded = exact_features(X, max_rows=MOST_ROWS)
    data, n = ExactData(features, Matrix.zeros(features.rows, 1), names, rounded), features.rows
    k = None if n_clusters is None else int(n_clusters)
    if k is not None and not 1 <= k <= n:
        raise ValueError(f"n_clusters must be between 1 and {n}, the number of rows, got {k}.")
    tried = [(tuple(labels), _objective(features, labels)) for labels in partitions(n, k)]
    best: dict[int, tuple[tuple[int, ...], Rational]] = {}
    for labels, value in tried:
        count = max(labels) + 1
        if count not in best or value < best[count][1]:
            best[count] = (labels, value)
    chosen = best[k] if k is not None else min(best.values(), key=lambda found: found[1])
    rows = [[_clusters(labels), math(max(labels) + 1), value] for labels, value in tried]
    steps = [
        _counting(n, k),
        step("All clusterings", table(("clusters", "K", math("E")), rows)),
        step(
            "The best",
            table(
                ("K", "best clusters", math("E")),
                [(math(j), _clusters(found), e) for j, (found, e) in sorted(best.items())],
            ),
            sentence("Of equal ones the first counts. ", *_moral(k)),
            result("E =", chosen[1]),
        ),
    ]
    opening = (
        sentence(
            "Every way to cut the rows into clusters is tried. The sum of squared distances to the means decides:"
        ),
        formula("E = ∑ d^2"),
        data.feature_table(),
        *data.notes(),
    )
    answer = {"labels": list(chosen[0]), "score": chosen[1], "n_partitions": len(tried)}
    return Document("Exhaustive clustering", opening, tuple(steps), answer)


def _moral(k: int | None) -> tuple[str, ...]:
    return () if k is not None else ("More clusters never cost more: this score does not choose their number.",)


def _counting(n: int, k: int | None) -> Any:
    counts = [[math(j), math(stirling_number(n, j))] for j in range(1, n + 1)]
    words = "A new row joins one of j clusters or begins its own, so that S(n, j) = j S(n − 1, j) + S(n − 1, j − 1)."
    total = bell_number(n) if k is None else partition_count(n, k)
    into = "into any number of clusters" if k is None else f"into {k}"
    summary = [["all", math(bell_number(n))]]
    return step(
        "Count them",
        sentence(words),
        table(("j", f"S({n}, j)"), counts, summary=summary, caption=f"Clusterings of {n} rows into j clusters"),
        sentence(f"There are {total} clusterings {into}."),
    )


def _objective(X: Matrix, labels: list[int]) -> Rational:
    total = Rational(0)
    for label in range(max(labels) + 1):
        rows = [i for i, code in enumerate(labels) if code == label]
        for j in range(X.cols):
            mean = sum((X[i, j] for i in rows), Rational(0)) / len(rows)
            total += sum(((X[i, j] - mean) ** 2 for i in rows), Rational(0))
    return total


def _clusters(labels: tuple[int, ...]) -> str:
    parts = ([str(i + 1) for i, code in enumerate(labels) if code == label] for label in range(max(labels) + 1))
    return " | ".join(", ".join(part) for part in parts)
