"""Divisive analysis by hand: who leaves, who follows, split by split, in fractions."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from sympy import Matrix, Rational

from pellucid.cluster.agglomerative.agglomerative_workings import ExactDistances, exact_distances, written
from pellucid.cluster.agglomerative.tree_cut import cut_nodes
from pellucid.core.types import Data
from pellucid.show.document import Block, Document, formula, sentence, step, table
from pellucid.show.notation import Words, math

if TYPE_CHECKING:
    from pellucid.cluster.diana.diana import Diana

Rows = tuple[int, ...]


def diana_workings(estimator: Diana, X: Data, _y: Data = None) -> Document:
    """Show every split down to single rows, and then the cut."""
    known = exact_distances(X, estimator.metric, "diana")
    D, n = known.matrix, known.matrix.rows
    if not 1 <= estimator.n_clusters <= n:
        raise ValueError(f"n_clusters must be between 1 and {n}, the number of rows, got {estimator.n_clusters}.")
    steps, children, heights = [], [[0, 0] for _ in range(n - 1)], [Rational(0)] * (n - 1)
    waiting: list[tuple[Rational, int, int, int, Rows]] = []

    def put(rows: Rows, merge: int, side: int) -> None:
        if len(rows) == 1 and merge >= 0:
            children[merge][side] = rows[0]
        else:
            heappush(waiting, (-_width(D, rows), rows[0], merge, side, rows))

    put(tuple(range(n)), -1, 0)
    for merge in range(n - 2, -1, -1):
        width, _, above, side, rows = heappop(waiting)
        if above >= 0:
            children[above][side] = n + merge
        heights[merge] = -width
        leaves, told = _split(known, rows)
        put(leaves, merge, 0)
        put(tuple(row for row in rows if row not in leaves), merge, 1)
        others = [put_ for put_ in waiting if len(put_[4]) > 1]
        steps.append(step(f"Split {known.listed(rows)}", *_why(known, rows, -width, bool(others)), *told))
    found = [sorted(pair) for pair in children]
    labels, rows_of = _labels(found, n, estimator.n_clusters)
    cut = step(
        "Cut the tree",
        sentence(f"{_counted(estimator.n_clusters - 1, 'split')}, {_counted(estimator.n_clusters, 'cluster')}:"),
        table(("label", "rows"), [(math(k), known.listed(rows)) for k, rows in enumerate(rows_of)]),
    )
    answer = {"children_": found, "distances_": heights, "labels_": labels}
    return Document("Divisive analysis", _opening(known), (*steps, cut), answer)


def _width(D: Matrix, rows: Rows) -> Rational:
    return max((D[i, j] for i in rows for j in rows), default=Rational(0))


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _opening(known: ExactDistances) -> tuple[Block, ...]:
    return (
        sentence(
            "The widest cluster is split, again and again. The row with the largest mean distance to the rest leaves. "
            "Then follows whoever is nearer to those that left than to those that stay, the largest difference first:"
        ),
        formula("g_i = m_i − s_i"),
        sentence(
            "Here ", math("m_i"), " is the mean distance of row ", math("i"), " to the others that stay, ", math("s_i"),
            " that to those that left. Of equal rows the first counts.",
        ),
        *known.opening,
        known.table(),
    )  # fmt: skip


def _why(known: ExactDistances, rows: Rows, width: Rational, has_others: bool) -> list[Block]:
    words = "the widest cluster" if has_others else "the cluster to split"
    return [sentence(f"Rows {known.listed(rows)} are {words}: the largest distance is ", written(width), ".")]


def _split(known: ExactDistances, rows: Rows) -> tuple[Rows, list[Block]]:
    """Return the rows that leave, and how that is found."""
    D, named = known.matrix, known.names
    means = {i: sum((D[i, j] for j in rows), Rational(0)) / (len(rows) - 1) for i in rows}
    first = max(rows, key=lambda i: (means[i], -i))
    left = [first]
    blocks = [_table(known, ["mean distance"], {i: [means[i]] for i in rows}, "To the others of the cluster")]
    blocks.append(sentence(f"Row {named[first]} leaves."))
    while len(left) < len(rows) - 1:
        rest = [i for i in rows if i not in left]
        stay = {i: sum((D[i, j] for j in rest), Rational(0)) / (len(rest) - 1) for i in rest}
        go = {i: sum((D[i, j] for j in left), Rational(0)) / len(left) for i in rest}
        gains = {i: [stay[i], go[i], stay[i] - go[i]] for i in rest}
        best = max(rest, key=lambda i: (gains[i][2], -i))
        blocks.append(_table(known, [math("m_i"), math("s_i"), math("g_i")], gains, "Who follows"))
        if gains[best][2] <= 0:
            blocks.append(sentence("No difference is above 0: the others stay."))
            break
        left.append(best)
        blocks.append(sentence(f"Row {named[best]} follows."))
    return tuple(sorted(left)), blocks


def _table(known: ExactDistances, head: list[Any], values: dict[int, list[Rational]], caption: str) -> Block:
    rows = [[Words(known.names[i]), *map(written, numbers)] for i, numbers in values.items()]
    return table([math("i"), *head], rows, caption=caption)


def _labels(children: list[list[int]], n: int, n_clusters: int) -> tuple[list[int], list[Rows]]:
    members: dict[int, Rows] = {i: (i,) for i in range(n)}
    for k, (i, j) in enumerate(children, start=n):
        members[k] = tuple(sorted((*members[i], *members[j])))
    clusters = [members[node] for node in cut_nodes(children, n, n_clusters)]
    labels = [0] * n
    for label, rows in enumerate(clusters):
        for row in rows:
            labels[row] = label
    return labels, clusters
