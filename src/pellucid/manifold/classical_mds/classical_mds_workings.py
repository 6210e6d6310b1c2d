"""Classical MDS by hand: squared distances, double centering in fractions, eigenvectors, places, and a new row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sympy import Matrix, Rational, sqrt

from pellucid.core.types import Data, MetricLike
from pellucid.show.document import Block, Document, Step, formula, result, sentence, step, table
from pellucid.show.eigenpairs import DIGITS, SAME, eigenpairs, values_step, vectors_step
from pellucid.show.exact_data import exact_features, numbered_table
from pellucid.show.notation import Words, math, matrix, over, root

if TYPE_CHECKING:
    from pellucid.manifold.classical_mds.classical_mds import ClassicalMDS

MAX_ROWS = 5


def classical_mds_workings(estimator: ClassicalMDS, X: Data, y: Data = None) -> Document:  # noqa: ARG001  (the signature of all)
    """Show the map of a few rows."""
    given = estimator.metric == "precomputed"
    rows, _, _ = exact_features(X, max_rows=MAX_ROWS, max_features=MAX_ROWS)
    squares = _squares(rows, estimator.metric)
    means = [sum(squares.col(j), Rational(0)) / squares.rows for j in range(squares.rows)]
    mean = sum(means, Rational(0)) / squares.rows
    products = Matrix(*squares.shape, lambda i, j: -(squares[i, j] - means[i] - means[j] + mean) / 2)
    values, vectors = eigenpairs(products, estimator.n_components)
    places = Matrix(*vectors.shape, lambda i, k: digits(vectors[i, k] * sqrt(values[k])))
    steps = (
        _squares_step(squares),
        centering_step(squares, means, mean, products),
        values_step("C", products, values),
        vectors_step("C", products, values, vectors),
        places_step(values, places),
        _new_row_step(squares, means, values, places),
    )
    found = {"squared_means_": means}
    if len(values) == estimator.n_components:
        found |= {"eigenvalues_": values, "embedding_": places.tolist()}
    return Document("Classical MDS", _opening(rows, given=given), steps, found)


def digits(value: Any) -> Rational:
    """Return the first digits of a number that need not be a fraction; what is left of a 0 is 0."""
    return Rational(0) if abs(value.evalf(DIGITS)) < SAME else Rational(str(value.evalf(DIGITS)))


def _squares(rows: Matrix, metric: MetricLike) -> Matrix:
    if metric == "precomputed":
        if not rows.is_square or rows != rows.T or any(rows[i, i] != 0 for i in range(rows.rows)):
            raise ValueError("X must be a symmetric matrix of distances with zeros on its diagonal to show the work.")
        return rows.applyfunc(lambda entry: entry**2)
    if metric != "euclidean":
        raise ValueError(f"metric must be 'euclidean' or 'precomputed' to show the work, got {metric!r}.")
    return Matrix(rows.rows, rows.rows, lambda i, j: (rows.row(i) - rows.row(j)).dot(rows.row(i) - rows.row(j)))


def _opening(rows: Matrix, *, given: bool) -> tuple[Block, ...]:
    heads = [math(j + 1) if given else math(f"x_{j + 1}") for j in range(rows.cols)]
    return (
        sentence("Find places for the rows on a map, so that their distances there are those that are known."),
        numbered_table(rows, heads, caption="The distances" if given else "The data"),
    )


def _squares_step(squares: Matrix) -> Step:
    return step("Square the distances", formula("D =", matrix(squares)))


def centering_step(squares: Matrix, means: list[Rational], mean: Rational, products: Matrix) -> Step:
    """Show how squared distances become products about the mean."""
    shown = [[math(i + 1), *squares.row(i), means[i]] for i in range(squares.rows)]
    head = [math("i"), *(math(j + 1) for j in range(squares.cols)), math("m_i")]
    return step(
        "Center twice",
        sentence("The mean of each row of D, and the mean of these means:"),
        table(head, shown),
        formula("m =", mean),
        sentence(
            "Take the mean of its row and that of its column from each entry, add the mean of all, and halve with the "
            "other sign: that is the product of two places, seen from the middle of all."
        ),
        formula("c_ij = −", over(math("d_ij − m_i − m_j + m"), 2)),
        result("C =", matrix(products)),
    )


def places_step(values: list[Rational], places: Matrix) -> Step:
    """Show the places: eigenvectors times the roots of their eigenvalues."""
    head = [math("i"), *(math(f"z_{k + 1}") for k in range(places.cols))]
    return step(
        "The places",
        sentence("Each eigenvector times the root of its eigenvalue is one coordinate of all rows:"),
        *(formula(f"z_{k + 1} =", root(value), f"v_{k + 1}") for k, value in enumerate(values)),
        table(head, [[math(i + 1), *places.row(i)] for i in range(places.rows)]),
    )


def _new_row_step(squares: Matrix, means: list[Rational], values: list[Rational], places: Matrix) -> Step:
    """Show the place of a new row that is where the first one is: it must come out at the same place."""
    apart = [m - d for m, d in zip(means, squares.row(0), strict=True)]
    shown = [[math(i + 1), squares[0, i], apart[i], *places.row(i)] for i in range(places.rows)]
    blocks: list[Block] = [
        sentence("A new row with the distances of the first one. Its squared distances d are taken from the means:"),
        table(
            [math("i"), math("d_i"), math("m_i − d_i"), *(math(f"z_{k + 1}") for k in range(places.cols))],
            shown,
        ),
    ]
    for k, value in enumerate(values):
        total = sum((a * z for a, z in zip(apart, places.col(k), strict=True)), Rational(0))
        blocks.append(
            result(
                f"z_{k + 1} =",
                over(Words("sum of (m − d) times z"), math(f"2 λ_{k + 1}")),
                "=",
                digits(total / (2 * value)),
            )
        )
    return step("Place a new row", *blocks)
