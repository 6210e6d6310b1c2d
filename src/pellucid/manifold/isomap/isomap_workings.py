"""Isomap by hand: who is near whom, the shortest paths step by step, and the map of their lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sympy import Matrix, Rational, oo, sqrt

from pellucid.core.types import Data
from pellucid.manifold.classical_mds.classical_mds_workings import centering_step, digits, places_step
from pellucid.show.document import Block, Document, Step, formula, sentence, step, table
from pellucid.show.eigenpairs import eigenpairs, values_step, vectors_step
from pellucid.show.exact_data import exact_features, numbered_table
from pellucid.show.notation import Words, math, matrix

if TYPE_CHECKING:
    from pellucid.manifold.isomap.isomap import Isomap

MAX_ROWS = 5
EUCLIDEAN = ("minkowski", "euclidean", "l2")


def isomap_workings(estimator: Isomap, X: Data, y: Data = None) -> Document:  # noqa: ARG001  (the signature of all)
    """Show the map of a few rows."""
    rows, _, _ = exact_features(X, max_rows=MAX_ROWS, max_features=MAX_ROWS)
    distances = _distances(estimator, rows)
    links = _links(estimator, distances)
    path_steps, paths = _shortest(links)
    if any(paths[i, j] == oo for i in range(paths.rows) for j in range(paths.rows)):
        raise ValueError("n_neighbors must link all rows to show the work, got parts without a link. Raise it.")
    squares = paths.applyfunc(lambda length: length**2)
    means = [sum(squares.col(j), Rational(0)) / squares.rows for j in range(squares.rows)]
    mean = sum(means, Rational(0)) / squares.rows
    products = Matrix(*squares.shape, lambda i, j: -(squares[i, j] - means[i] - means[j] + mean) / 2)
    values, vectors = eigenpairs(products, estimator.n_components)
    places = Matrix(*vectors.shape, lambda i, k: digits(vectors[i, k] * sqrt(values[k])))
    steps = (
        _links_step(distances, links),
        *path_steps,
        centering_step(squares, means, mean, products),
        values_step("C", products, values),
        vectors_step("C", products, values, vectors),
        places_step(values, places),
    )
    found = {"dist_matrix_": paths.tolist(), "squared_means_": means}
    if len(values) == estimator.n_components:
        found |= {"eigenvalues_": values, "embedding_": places.tolist()}
    return Document("Isomap", _opening(rows), steps, found)


def _distances(estimator: Isomap, rows: Matrix) -> Matrix:
    """Return the distances: whole where they are, and otherwise with their first digits."""
    if estimator.metric == "precomputed":
        return rows
    power = 1 if estimator.metric in ("manhattan", "cityblock", "l1") else estimator.p
    if power not in (1, 2) or (power == 2 and estimator.metric not in EUCLIDEAN):
        raise ValueError(
            "metric must be Euclidean, 'manhattan' or 'precomputed' to show the work, got "
            f"{estimator.metric!r} with p={estimator.p!r}."
        )

    def distance(i: int, j: int) -> Rational:
        apart = [abs(a - b) for a, b in zip(rows.row(i), rows.row(j), strict=True)]
        return sum(apart, Rational(0)) if power == 1 else _root(sum((a**2 for a in apart), Rational(0)))

    return Matrix(rows.rows, rows.rows, distance)


def _root(square: Rational) -> Rational:
    found = sqrt(square)
    return found if found.is_Rational else digits(found)


def _links(estimator: Isomap, distances: Matrix) -> Matrix:
    """Return the lengths of the links, infinite between rows without one."""
    n = distances.rows
    near = Matrix.zeros(n, n)
    for i in range(n):
        others = sorted((j for j in range(n) if j != i), key=lambda j: (distances[i, j], j))
        if estimator.n_neighbors is None:
            chosen = [j for j in others if distances[i, j] <= estimator.radius]
        else:
            chosen = others[: estimator.n_neighbors]
        for j in chosen:
            near[i, j] = 1

    def length(i: int, j: int) -> Any:
        if i == j:
            return Rational(0)
        return distances[i, j] if near[i, j] or near[j, i] else oo

    return Matrix(n, n, length)


def _opening(rows: Matrix) -> tuple[Block, ...]:
    heads = [math(f"x_{j + 1}") for j in range(rows.cols)]
    return (
        sentence("Map the rows so that distances on the map are those of ways from neighbor to neighbor."),
        numbered_table(rows, heads),
    )


def _entry(value: Any) -> Any:
    return Words("–") if value == oo else value


def _grid(values: Matrix) -> Any:
    head = [math("i"), *(math(j + 1) for j in range(values.cols))]
    return table(head, [[math(i + 1), *map(_entry, values.row(i))] for i in range(values.rows)])


def _links_step(distances: Matrix, links: Matrix) -> Step:
    return step(
        "Neighbors",
        sentence("The distances of all rows:"),
        formula("d =", matrix(distances)),
        sentence("Those of neighbors are links, in both directions; a dash is no link:"),
        _grid(links),
    )


def _shortest(links: Matrix) -> tuple[list[Step], Matrix]:
    """Return the steps of Floyd's method, one for each row that paths may go through, and the lengths."""
    paths, steps = links.as_mutable(), []
    for k in range(paths.rows):
        changes: list[Block] = []
        for i in range(paths.rows):
            for j in range(i + 1, paths.rows):
                longer = paths[i, k] + paths[k, j]
                if longer < paths[i, j]:
                    changes.append(formula(f"d_{i + 1}{j + 1} =", paths[i, k], "+", paths[k, j], "=", longer))
                    paths[i, j] = paths[j, i] = longer
        if changes:
            steps.append(step(f"Paths by way of row {k + 1}", *changes, sentence("All lengths so far:"), _grid(paths)))
    return steps, Matrix(paths)
