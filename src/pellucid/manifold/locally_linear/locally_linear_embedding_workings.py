"""Locally linear embedding by hand: the weights that write each row as a mean of its neighbors, in fractions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Matrix, Rational

from pellucid.core.types import Data
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import exact_features, exact_number, numbered_table
from pellucid.show.notation import column, math, matrix

if TYPE_CHECKING:
    from pellucid.manifold.locally_linear.locally_linear_embedding import LocallyLinearEmbedding

MAX_ROWS = 8
MAX_NEIGHBORS = 4


def locally_linear_workings(estimator: LocallyLinearEmbedding, X: Data, y: Data = None) -> Document:  # noqa: ARG001
    """Show the weights of a few rows, those of the first in full."""
    if estimator.method != "standard":
        raise ValueError(f"method must be 'standard' to show the work, got {estimator.method!r}.")
    rows, _, _ = exact_features(X, max_rows=MAX_ROWS)
    k = estimator.n_neighbors
    if not 1 <= k < rows.rows or k > MAX_NEIGHBORS:
        raise ValueError(
            f"n_neighbors must be at most {MAX_NEIGHBORS} and below the number of rows to show the work, got {k} for "
            f"{rows.rows} rows."
        )
    reg, _ = exact_number(estimator.reg, "reg")
    nearest = [_nearest(rows, i, k) for i in range(rows.rows)]
    solved = [_solve(rows, i, nearest[i], reg) for i in range(rows.rows)]
    weights = [found[-1] for found in solved]
    steps = (
        _neighbors_step(rows, nearest),
        *_first_steps(rows, nearest[0], solved[0], reg),
        _all_step(nearest, weights),
    )
    found = {"neighbors_": nearest, "weights_": [list(w) for w in weights]}
    return Document("Locally linear embedding", _opening(rows), steps, found)


def _apart(rows: Matrix, i: int, j: int) -> Matrix:
    return rows.row(j) - rows.row(i)


def _nearest(rows: Matrix, i: int, k: int) -> list[int]:
    others = [j for j in range(rows.rows) if j != i]
    return sorted(others, key=lambda j: (_apart(rows, i, j).dot(_apart(rows, i, j)), j))[:k]


def _solve(rows: Matrix, i: int, near: list[int], reg: Rational) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Return the products of differences, the same with the penalty, the solution for ones, and the weights."""
    products = Matrix(len(near), len(near), lambda a, b: _apart(rows, i, near[a]).dot(_apart(rows, i, near[b])))
    trace = products.trace()
    penalized = products + (reg * trace if trace > 0 else reg) * Matrix.eye(len(near))
    if penalized.det() == 0:
        raise ValueError(
            f"reg must be above 0 to show the work of these rows, got {reg}: their equations are singular."
        )
    solution = penalized.LUsolve(Matrix.ones(len(near), 1))
    return products, penalized, solution, solution / sum(solution, Rational(0))


def _opening(rows: Matrix) -> tuple[Block, ...]:
    heads = [math(f"x_{j + 1}") for j in range(rows.cols)]
    return (
        sentence("Write every row as a mean of its neighbors. A map then keeps these means."),
        numbered_table(rows, heads),
    )


def _neighbors_step(rows: Matrix, nearest: list[list[int]]) -> Step:
    shown = [
        [math(i + 1), *(cell for j in near for cell in (math(j + 1), _apart(rows, i, j).dot(_apart(rows, i, j))))]
        for i, near in enumerate(nearest)
    ]
    head = [math("i"), *(cell for _ in nearest[0] for cell in (math("j"), math("d^2")))]
    return step("Neighbors", sentence("The nearest rows of each, with their squared distances:"), table(head, shown))


def _first_steps(
    rows: Matrix, near: list[int], solved: tuple[Matrix, Matrix, Matrix, Matrix], reg: Rational
) -> tuple[Step, ...]:
    products, penalized, solution, weights = solved
    apart = Matrix([list(_apart(rows, 0, j)) for j in near])
    mean = sum((weights[a] * rows.row(j) for a, j in enumerate(near)), Matrix.zeros(1, rows.cols))
    return (
        step(
            "Products of the first row",
            sentence("The differences of its neighbors to it, as rows, and the products of these with each other:"),
            formula("Δ =", matrix(apart), ", G = Δ Δ' =", matrix(products)),
            sentence("The penalty is ", math(reg), " times the sum of the diagonal, on the diagonal:"),
            formula("G =", matrix(penalized)),
        ),
        step(
            "Weights of the first row",
            sentence("The weights solve the equations with ones on the right, divided by their sum:"),
            formula("u =", column(list(solution)), ", G u =", column([1] * len(near))),
            result("w =", column(list(weights))),
            sentence(
                "The mean of the neighbors by these weights, which comes as near to the row as the penalty allows:"
            ),
            formula("Σ w_j x_j =", matrix(mean), ", x_1 =", matrix(rows.row(0))),
        ),
    )


def _all_step(nearest: list[list[int]], weights: list[Matrix]) -> Step:
    shown = [[math(i + 1), *list(w)] for i, w in enumerate(weights)]
    head = [math("i"), *(math(f"w_{a + 1}") for a in range(len(nearest[0])))]
    return step(
        "All weights",
        sentence("In the same way for every row:"),
        table(head, shown),
        remark(
            "The map takes the eigenvectors of (I − W)'(I − W) with the smallest eigenvalues beside the constant one: "
            "places whose rows are the same means of the same neighbors."
        ),
    )
