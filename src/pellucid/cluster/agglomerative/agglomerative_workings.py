"""Agglomerative clustering by hand: every merge, and the distance matrix after it, in fractions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

from sympy import Expr, Matrix, Rational, sqrt

from pellucid.cluster.agglomerative.distances import EUCLIDEAN
from pellucid.cluster.agglomerative.tree_cut import cut_nodes
from pellucid.core.types import Data, MetricLike
from pellucid.show.document import Block, Document, Step, Table, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import MAX_FEATURES, exact_features, numbered_table, rounding_remark, row_names
from pellucid.show.notation import Math, Script, Words, fenced, math, minus, over, root

if TYPE_CHECKING:
    from pellucid.cluster.agglomerative.agglomerative_clustering import AgglomerativeClustering

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

WORDS = {
    "single": "the least distance of their rows",
    "complete": "the largest distance of their rows",
    "average": "the mean distance of their rows",
    "ward": "that of their means, times a factor of their sizes",
}


@dataclass
class Bench:
    """The clusters of now: node, name, rows, and the distances between them by pairs of nodes."""

    linkage: str
    rows: dict[int, tuple[int, ...]]
    names: dict[int, str]
    gaps: dict[frozenset[int], Rational]
    children: list[tuple[int, int]] = field(default_factory=list)
    heights: list[Rational] = field(default_factory=list)

    def nearest(self, D: Matrix) -> tuple[int, int, list[tuple[int, int]]]:
        """Return the pair to merge, by the rule for ties, and all pairs that are as near."""
        least = min(self.gaps.values())
        tied = [(min(pair), max(pair)) for pair, gap in self.gaps.items() if gap == least]
        first = min(tied, key=lambda pair: self._rank(pair, D))
        return first[0], first[1], tied

    def _rank(self, pair: tuple[int, ...], D: Matrix) -> tuple[int, ...]:
        one, other = self.rows[pair[0]], self.rows[pair[1]]
        if self.linkage != "single":
            return tuple(sorted((max(one), max(other))))
        least = min(D[i, j] for i in one for j in other)
        return min(tuple(sorted((i, j))) for i in one for j in other if D[i, j] == least)

    def merge(self, i: int, j: int, new: int, name: str) -> None:
        """Put one cluster in the place of two."""
        a, b, between = len(self.rows[i]), len(self.rows[j]), self.gaps.pop(frozenset((i, j)))
        self.children.append((i, j))
        self.heights.append(between)
        self.rows[new] = tuple(sorted((*self.rows.pop(i), *self.rows.pop(j))))
        self.names[new] = name
        for k in self.rows.keys() - {new}:
            one, other, c = self.gaps.pop(frozenset((i, k))), self.gaps.pop(frozenset((j, k))), len(self.rows[k])
            self.gaps[frozenset((new, k))] = self.updated(one, other, c, a, b, between)

    def updated(self, x: Rational, y: Rational, c: int, a: int, b: int, between: Rational) -> Rational:
        """Return the distance to a cluster of ``c`` rows, of two clusters of ``a`` and ``b`` rows that merge."""
        if self.linkage == "average":
            return (a * x + b * y) / (a + b)
        if self.linkage == "ward":
            return ((a + c) * x + (b + c) * y - c * between) / (a + b + c)
        return min(x, y) if self.linkage == "single" else max(x, y)


def agglomerative_workings(estimator: AgglomerativeClustering, X: Data, _y: Data = None) -> Document:
    """Show all merges, whatever the number of clusters, and then the cut."""
    if estimator.connectivity is not None:
        raise ValueError("connectivity must be None to be worked by hand, got one. Leave it out.")
    known = exact_distances(X, estimator.metric, estimator.linkage)
    n = known.matrix.rows
    gaps = {frozenset(pair): known.matrix[pair[0], pair[1]] for pair in combinations(range(n), 2)}
    bench = Bench(estimator.linkage, {i: (i,) for i in range(n)}, dict(enumerate(known.names)), gaps)
    steps = []
    for k in range(n - 1):
        i, j, tied = bench.nearest(known.matrix)
        told = _merge_blocks(bench, i, j, tied, LETTERS[k], known)
        updated = _update_blocks(bench, i, j, LETTERS[k], known)
        bench.merge(i, j, n + k, LETTERS[k])
        heading = f"Merge {bench.names[i]} and {bench.names[j]}"
        steps.append(step(heading, *told, *updated, *_matrix_blocks(bench, known)))
    heights = [sqrt(height) if known.squared else height for height in bench.heights]
    n_clusters = estimator.n_clusters
    if n_clusters is None:
        n_clusters = sum(bool(height >= Rational(str(estimator.distance_threshold))) for height in heights) + 1
    labels, last = _cut_step(bench, known.names, n_clusters)
    answer = {"children_": [sorted(pair) for pair in bench.children], "distances_": heights, "labels_": labels}
    return Document("Agglomerative clustering", _opening(bench, known), (*steps, last), answer)


def _opening(bench: Bench, known: ExactDistances) -> tuple[Block, ...]:
    rule = (
        "Of equally near pairs of rows the first counts."
        if bench.linkage == "single"
        else "A cluster is known by its last row: of equally near pairs the one with the first names merges."
    )
    return (
        sentence(
            "At first each row is a cluster. Again and again the nearest two merge. The distance of two clusters is "
            f"{WORDS[bench.linkage]}. When A and B become N, it follows from those before:"
        ),
        *_update_rule(bench.linkage),
        sentence(rule),
        *known.opening,
        known.table(),
    )


def _update_rule(linkage: str) -> list[Block]:
    """Return how the distances of a new cluster follow; a, b and c are the sizes of A, B and C."""
    if linkage == "average":
        return [formula("d_NC =", over("a d_AC + b d_BC", "a + b"))]
    if linkage == "ward":
        means = Script(fenced("ā − b̄", "‖‖"), above=math(2))
        parts = math(fenced("a + c"), "d_AC^2 +", fenced("b + c"), "d_BC^2 − c d_AB^2")
        return [formula("d_AB^2 =", over("2 a b", "a + b"), means), formula("d_NC^2 =", over(parts, "a + b + c"))]
    return [formula("d_NC =", "min" if linkage == "single" else "max", fenced("d_AC , d_BC"))]


def _merge_blocks(
    bench: Bench, i: int, j: int, tied: list[tuple[int, int]], name: str, known: ExactDistances
) -> list[Block]:
    gap = bench.gaps[frozenset((i, j))]
    rows = known.listed((*bench.rows[i], *bench.rows[j]))
    height: list[Any] = [math("d^2 =", gap)] if known.squared else [math("d =", written(gap))]
    blocks: list[Block] = [
        sentence(
            f"Nearest are {bench.names[i]} and {bench.names[j]}, at ", *height, f". They become {name}: rows {rows}."
        )
    ]
    if len(tied) > 1:
        others = ", ".join(f"{bench.names[a]} and {bench.names[b]}" for a, b in sorted(tied) if {a, b} != {i, j})
        blocks.append(remark(f"As near are {others}: the rule for ties decides."))
    return blocks


def _update_blocks(bench: Bench, i: int, j: int, name: str, known: ExactDistances) -> list[Block]:
    """Return how each distance to the new cluster follows from the two before, with its numbers."""
    others = sorted(bench.rows.keys() - {i, j}, key=lambda node: max(bench.rows[node]))
    a, b, between = len(bench.rows[i]), len(bench.rows[j]), bench.gaps[frozenset((i, j))]
    rows = []
    for k in others:
        x, y, c = bench.gaps[frozenset((i, k))], bench.gaps[frozenset((j, k))], len(bench.rows[k])
        first, second, new = written(x), written(y), written(bench.updated(x, y, c, a, b, between))
        how = {
            "single": lambda x, y, _: math("min", fenced(math(x, ",", y))),
            "complete": lambda x, y, _: math("max", fenced(math(x, ",", y))),
            "average": lambda x, y, _: over(math(a, "·", x, "+", b, "·", y), a + b),
            "ward": lambda x, y, c: over(math(a + c, "·", x, "+", b + c, "·", y, "−", c, "·", between), a + b + c),
        }[bench.linkage](first, second, c)
        rows.append([bench.names[k], math(how, "=", new)])
    head = ["to", "squared distance" if known.squared else "distance"]
    return [table(head, rows, caption=f"From {name} to the others")] if rows else []


def _matrix_blocks(bench: Bench, known: ExactDistances) -> list[Block]:
    nodes = sorted(bench.rows, key=lambda node: max(bench.rows[node]))
    if len(nodes) == 1:
        return [sentence("One cluster is left.")]
    head: list[str | Math] = ["", *(_label(bench, node) for node in nodes[1:])]
    rows = [
        [
            _label(bench, one),
            *(written(bench.gaps[frozenset((one, other))]) if b > a else "" for b, other in _numbered(nodes)),
        ]
        for a, one in enumerate(nodes[:-1])
    ]
    return [table(head, rows, caption="Squared distances now" if known.squared else "Distances now")]


def _numbered(nodes: list[int]) -> list[tuple[int, int]]:
    return list(enumerate(nodes))[1:]


def _label(bench: Bench, node: int) -> Math:
    return Words(bench.names[node])


def _cut_step(bench: Bench, names: tuple[str, ...], n_clusters: int) -> tuple[list[int], Step]:
    """Return the label of each row, and the step that undoes the last merges."""
    n = len(names)
    members: dict[int, tuple[int, ...]] = {i: (i,) for i in range(n)}
    for k, (i, j) in enumerate(bench.children, start=n):
        members[k] = tuple(sorted((*members[i], *members[j])))
    labels = [0] * n
    rows = []
    for label, node in enumerate(cut_nodes(bench.children, n, n_clusters)):
        for row in members[node]:
            labels[row] = label
        rows.append((math(label), bench.names[node], ", ".join(names[row] for row in members[node])))
    undone = n_clusters - 1
    last = "merge is" if undone == 1 else f"{undone} merges are"
    words = f"The last {last} undone" if undone else "Nothing is undone"
    return labels, step(
        "Cut the tree",
        sentence(f"{words}: {n_clusters} {'cluster is' if n_clusters == 1 else 'clusters are'} left."),
        table(("label", "cluster", "rows"), rows),
        result("K =", n_clusters),
    )


MOST_ROWS = 7
"""Rows whose distance matrix fits a page, also when its numbers have many digits."""
SHORT_ROOT = 10
"""Characters of a root that a cell of a table has room for."""
MANHATTAN = ("manhattan", "cityblock", "l1")


@dataclass(frozen=True)
class ExactDistances:
    """The matrix, whether of squares, and what to say before it."""

    matrix: Matrix
    squared: bool
    opening: tuple[Block, ...]
    order: tuple[int, ...]
    """The rows in the order of their values; those of a given matrix as they stand."""
    names: tuple[str, ...]
    """What the rows are called."""

    def table(self) -> Table:
        """Return the distances of the rows, each pair once."""
        n = self.matrix.rows
        rows = [
            [Words(self.names[i]), *(written(self.matrix[i, j]) if j > i else "" for j in range(1, n))]
            for i in range(n - 1)
        ]
        caption = "Squared distances of the rows" if self.squared else "Distances of the rows"
        return table(["", *map(Words, self.names[1:])], rows, caption=caption)

    def listed(self, rows: Iterable[int]) -> str:
        """Return the names of some rows, in their order."""
        return ", ".join(self.names[row] for row in sorted(rows))


def exact_distances(X: Data, metric: MetricLike, linkage: str = "", *, most_rows: int = MOST_ROWS) -> ExactDistances:
    """Return exact distances: squares of Euclidean ones, unless their roots must be added."""
    given = isinstance(metric, str) and metric == "precomputed"
    features, names, rounded = exact_features(X, max_rows=most_rows, max_features=most_rows if given else MAX_FEATURES)
    n = features.rows
    if given:
        if features.cols != n:
            raise ValueError(f"X must be a square distance matrix, got {n} rows and {features.cols} columns.")
        called = names or row_names(X, n)
        return ExactDistances(features, False, (rounding_remark(),) if rounded else (), tuple(range(n)), called)
    called = row_names(X, n)
    opening: list[Block] = [_data_table(features, names, called)]
    if metric in MANHATTAN:
        gaps = Matrix(n, n, lambda i, j: sum((abs(x) for x in features.row(i) - features.row(j)), Rational(0)))
    elif metric in EUCLIDEAN:
        gaps = Matrix(n, n, lambda i, j: sum((x**2 for x in features.row(i) - features.row(j)), Rational(0)))
        if linkage not in ("ward", "single", "complete"):
            gaps = gaps.applyfunc(sqrt)
            if any(not gap.is_Rational for gap in gaps):
                opening.append(ROOTS_REMARK)
    else:
        raise ValueError(
            f"metric must be 'euclidean', 'manhattan' or 'precomputed' to be worked by hand, got {metric!r}."
        )
    squared = metric in EUCLIDEAN and linkage in ("ward", "single", "complete")
    order = tuple(sorted(range(n), key=lambda i: (*features.row(i), i)))
    return ExactDistances(gaps, squared, (*opening, *((rounding_remark(),) if rounded else ())), order, called)


ROOTS_REMARK = remark(
    "Distances are square roots. A sum of several is written with four decimals; what is added and compared is exact."
)


def written(value: Expr) -> Math:
    """Return a distance: a fraction or a short root as it is, anything longer with four decimals."""
    if value.is_Rational:
        return math(value)
    count, rest = value.as_coeff_Mul()
    if rest.is_Pow and count.is_Integer and rest.base.is_Integer and len(str(value)) <= SHORT_ROOT:
        return math(*([count] if count != 1 else []), root(rest.base))
    return Words(minus(f"{float(value):.4f}"))


def _data_table(features: Matrix, names: tuple[str, ...], called: tuple[str, ...]) -> Block:
    symbols = [math(f"x_{j + 1}") if features.cols > 1 else math("x") for j in range(features.cols)]
    return numbered_table(features, names or symbols, called=called)
