"""Partitioning around medoids by hand: BUILD, then the table of all swaps, until none helps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sympy import Matrix, Rational

from pellucid.cluster.agglomerative.agglomerative_workings import MANHATTAN, ExactDistances, exact_distances, written
from pellucid.core.types import Data
from pellucid.show.decisions import nearest_step, read_new
from pellucid.show.document import Block, Document, Step, formula, result, sentence, step, table
from pellucid.show.exact_data import exact_features
from pellucid.show.notation import Words, math

if TYPE_CHECKING:
    from pellucid.cluster.kmedoids.kmedoids import KMedoids

MOST_CLUSTERS = 4
Medoids = tuple[int, ...]


def kmedoids_workings(estimator: KMedoids, X: Data, _y: Data = None, new: Data = None) -> Document:
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
        medoids, build = _build(known, k)
        steps.append(build)
    else:
        medoids = tuple(int(row) for row in estimator.init)
    place, quiet = 0, 0
    while quiet < D.rows:
        medoids, place, quiet, told = _tried(known, medoids, place)
        steps.append(told)
    medoids = tuple(sorted(medoids, key=known.order.index))
    labels = [min(range(k), key=lambda m: (D[medoids[m], i], m)) for i in range(D.rows)]
    steps.append(_end(known, medoids, labels))
    answer = {"medoid_indices_": list(medoids), "labels_": labels, "inertia_": _objective(D, medoids)}
    if new is not None:
        decided = _new_steps(estimator, X, medoids, new)
        steps += [made for made, _ in decided]
        answer["predicted"] = [label for _, label in decided]
    return Document("k-medoids", _opening(known), tuple(steps), answer)


def _new_steps(estimator: KMedoids, X: Data, medoids: Medoids, new: Data) -> list[tuple[Step, int]]:
    if estimator.metric == "precomputed":
        raise ValueError("new must be left out where distances are given, got rows. There are no features to compare.")
    rows = exact_features(X)[0]
    centers = [list(rows.row(m)) for m in medoids]
    is_manhattan = estimator.metric in MANHATTAN
    return [nearest_step(i, row, centers, is_manhattan=is_manhattan) for i, row in enumerate(read_new(new, rows.cols))]


def _objective(D: Matrix, medoids: Medoids) -> Rational:
    return sum((min(D[m, i] for m in medoids) for i in range(D.rows)), Rational(0))


def _opening(known: ExactDistances) -> tuple[Block, ...]:
    return (
        sentence(
            "Each cluster is built around a row, its medoid. The sum of the distances to the nearest is to be small:"
        ),
        formula("E = ∑ d"),
        sentence("Rows are tried in the order of their values. Of equal rows, and of equal medoids, the first counts."),
        *known.opening,
        known.table(),
    )


def _build(known: ExactDistances, k: int) -> tuple[Medoids, Step]:
    medoids: list[int] = []
    blocks: list[Block] = [sentence("Medoids are chosen one by one, each the row that makes the objective least.")]
    for number in range(k):
        values = {x: _objective(known.matrix, (*medoids, x)) for x in known.order if x not in medoids}
        best = min(values, key=lambda x: values[x])
        rows = [[Words(known.names[x]), written(value)] for x, value in values.items()]
        blocks.append(table([math("i"), math("E")], rows, caption=f"With one more medoid, number {number + 1}"))
        blocks.append(sentence(f"Row {known.names[best]} becomes a medoid."))
        medoids.append(best)
    return tuple(medoids), step("Build", *blocks)


def _tried(known: ExactDistances, medoids: Medoids, place: int) -> tuple[Medoids, int, int, Step]:
    """Return the medoids after the next swap that helps, where to go on, how many rows were tried in vain, the step."""
    D, order, named = known.matrix, known.order, known.names
    now = _objective(D, medoids)
    head = [math("i"), *(f"for {named[m]}" for m in medoids)]
    rows, n = [], D.rows
    for count in range(n):
        x = order[(place + count) % n]
        if x in medoids:
            continue
        values = [_objective(D, tuple(x if m == old else m for m in medoids)) - now for old in medoids]
        rows.append([Words(named[x]), *map(written, values)])
        least = min(values)
        if least < 0:
            slot = values.index(least)
            after = (*medoids[:slot], x, *medoids[slot + 1 :])
            words = sentence(
                f"Row {named[x]} in the place of row {named[medoids[slot]]} lowers the objective by ", written(-least),
                ", to ", written(now + least), ".",
            )  # fmt: skip
            blocks = (sentence("Now ", math("E =", written(now)), "."), _changes(head, rows), words)
            return after, (place + count + 1) % n, 0, step(f"Swap {named[medoids[slot]]} for {named[x]}", *blocks)
    table_of_all = [_changes(head, rows)] if rows else []
    done = sentence("No swap lowers the objective: every change is at least 0.")
    return (
        medoids,
        place,
        n,
        step("No swap helps", sentence("Now ", math("E =", written(now)), "."), *table_of_all, done),
    )


def _changes(head: list[Any], rows: list[Any]) -> Block:
    return table(head, rows, caption="Change of the objective if row i takes the place of a medoid")


def _end(known: ExactDistances, medoids: Medoids, labels: list[int]) -> Step:
    rows = [
        [math(k), Words(known.names[medoid]), known.listed(i for i, label in enumerate(labels) if label == k)]
        for k, medoid in enumerate(medoids)
    ]
    return step(
        "The clusters",
        table(("label", "medoid", "rows"), rows),
        result("E =", written(_objective(known.matrix, medoids))),
    )
