"""Partitioning around medoids by hand: BUILD, then the table of all swaps, until none helps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sympy import Matrix, Rational

from pellucid.cluster.agglomerative.agglomerative_workings import exact_distances
from pellucid.core.types import Data
from pellucid.show.document import Block, Document, Step, formula, result, sentence, step, table
from pellucid.show.notation import math

if TYPE_CHECKING:
    from pellucid.cluster.kmedoids.kmedoids import KMedoids

MOST_CLUSTERS = 4
Medoids = tuple[int, ...]


def kmedoids_workings(estimator: KMedoids, X: Data, _y: Data = None) -> Document:
    """Show the start and every table of swaps: each row with its best medoid to leave, tried in order."""
    known = exact_distances(X, estimator.metric, "kmedoids")
    D, k = known.matrix, estimator.n_clusters
    if k > min(MOST_CLUSTERS, D.rows):
        most = min(MOST_CLUSTERS, D.rows)
        raise ValueError(f"n_clusters must be at most {most} to be worked by hand, got {k}. Ask for fewer clusters.")
    if isinstance(estimator.init, str) and estimator.init != "build":
        raise ValueError(f"init must be 'build' or rows to be worked by hand, got {estimator.init!r}. Name the rows.")
    steps = []
    if isinstance(estimator.init, str):
        medoids, build = _build(D, k, known.order)
        steps.append(build)
    else:
        medoids = tuple(int(row) for row in estimator.init)
    place, quiet = 0, 0
    while quiet < D.rows:
        medoids, place, quiet, told = _tried(D, medoids, place, known.order)
        steps.append(told)
    medoids = tuple(sorted(medoids, key=known.order.index))
    labels = [min(range(k), key=lambda m: (D[medoids[m], i], m)) for i in range(D.rows)]
    steps.append(_end(D, medoids, labels))
    answer = {"medoid_indices_": list(medoids), "labels_": labels, "inertia_": _objective(D, medoids)}
    return Document("k-medoids", _opening(D, known.opening), tuple(steps), answer)


def _objective(D: Matrix, medoids: Medoids) -> Rational:
    return sum((min(D[m, i] for m in medoids) for i in range(D.rows)), Rational(0))


def _opening(D: Matrix, opening: tuple[Block, ...]) -> tuple[Block, ...]:
    n = D.rows
    head = ["", *(math(i + 1) for i in range(1, n))]
    rows = [[math(i + 1), *(D[i, j] if j > i else "" for j in range(1, n))] for i in range(n - 1)]
    return (
        sentence(
            "Each cluster is built around a row, its medoid. The sum of the distances to the nearest is to be small:"
        ),
        formula("E = ∑ d"),
        sentence("Rows are tried in the order of their values. Of equal rows, and of equal medoids, the first counts."),
        *opening,
        table(head, rows, caption="Distances of the rows"),
    )


def _build(D: Matrix, k: int, order: tuple[int, ...]) -> tuple[Medoids, Step]:
    medoids: list[int] = []
    blocks: list[Block] = [sentence("Medoids are chosen one by one, each the row that makes the objective least.")]
    for number in range(k):
        values = {x: _objective(D, (*medoids, x)) for x in order if x not in medoids}
        best = min(values, key=lambda x: values[x])
        rows = [[math(x + 1), value] for x, value in values.items()]
        blocks.append(table([math("i"), math("E")], rows, caption=f"With one more medoid, number {number + 1}"))
        blocks.append(sentence(f"Row {best + 1} becomes a medoid."))
        medoids.append(best)
    return tuple(medoids), step("Build", *blocks)


def _tried(D: Matrix, medoids: Medoids, place: int, order: tuple[int, ...]) -> tuple[Medoids, int, int, Step]:
    """Return the medoids after the next swap that helps, where to go on, how many rows were tried in vain, the step."""
    now = _objective(D, medoids)
    head = [math("i"), *(f"for {m + 1}" for m in medoids)]
    rows, n = [], D.rows
    for count in range(n):
        x = order[(place + count) % n]
        if x in medoids:
            continue
        values = [_objective(D, tuple(x if m == old else m for m in medoids)) - now for old in medoids]
        rows.append([math(x + 1), *values])
        least = min(values)
        if least < 0:
            slot = values.index(least)
            after = (*medoids[:slot], x, *medoids[slot + 1 :])
            words = sentence(
                f"Row {x + 1} in the place of row {medoids[slot] + 1} lowers the objective by ", math(-least), ", to ",
                math(now + least), ".",
            )  # fmt: skip
            blocks = (sentence("Now ", math("E =", now), "."), _changes(head, rows), words)
            return after, (place + count + 1) % n, 0, step(f"Swap {medoids[slot] + 1} for {x + 1}", *blocks)
    table_of_all = [_changes(head, rows)] if rows else []
    done = sentence("No swap lowers the objective: every change is at least 0.")
    return medoids, place, n, step("No swap helps", sentence("Now ", math("E =", now), "."), *table_of_all, done)


def _changes(head: list[Any], rows: list[Any]) -> Block:
    return table(head, rows, caption="Change of the objective if row i takes the place of a medoid")


def _end(D: Matrix, medoids: Medoids, labels: list[int]) -> Step:
    rows = [
        [math(k), math(medoid + 1), ", ".join(str(i + 1) for i, label in enumerate(labels) if label == k)]
        for k, medoid in enumerate(medoids)
    ]
    return step("The clusters", table(("label", "medoid", "rows"), rows), result("E =", _objective(D, medoids)))
