"""One round of alternating least squares by hand: the equations of every row, then of every column, in fractions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sympy import Matrix, Rational, eye, zeros

from pellucid.core.types import Data
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import exact_features, exact_number, rounding_remark
from pellucid.show.notation import column, math, matrix, typed

if TYPE_CHECKING:
    from pellucid.decomposition.alternating.alternating_least_squares import AlternatingLeastSquares

MAX_ROWS, MAX_FEATURES, MAX_COMPONENTS = 5, 4, 2

Ridge = tuple[Matrix, Matrix, Matrix]
"""The matrix, the right side and the solution of one system of equations."""


def alternating_workings(estimator: AlternatingLeastSquares, X: Data, y: Data = None) -> Document:  # noqa: ARG001  (the signature of all)
    """Show one round from components of ones and twos, for a few rows, of which entries may be missing."""
    rows, known, rounded = _known_entries(X)
    q = estimator.n_components
    if q > MAX_COMPONENTS:
        raise ValueError(f"n_components must be at most {MAX_COMPONENTS} to be worked by hand, got {q}.")
    alpha, _ = exact_number(estimator.alpha, "alpha")
    beta = alpha if estimator.alpha_components is None else exact_number(estimator.alpha_components, "beta")[0]
    if not (alpha and beta):
        raise ValueError("alpha must be above 0 to show the work, got 0: then not every row has one best factor.")
    B = Matrix(q, rows.cols, lambda k, j: 1 + (j % q == k))
    of_rows = [_ridge(rows.row(i), known[i], B, alpha) for i in range(rows.rows)]
    Z = Matrix([list(solution) for _, _, solution in of_rows])
    across = [[known[i][j] for i in range(rows.rows)] for j in range(rows.cols)]
    of_columns = [_ridge(rows.col(j).T, across[j], Z.T, beta) for j in range(rows.cols)]
    new_B = Matrix([list(solution) for _, _, solution in of_columns]).T
    halves = [_objective(rows, known, Z, components, alpha, beta) for components in (B, new_B)]
    steps = (
        _half_step("row", "z", "b", of_rows, alpha),
        _half_step("column", "b", "z", of_columns, beta),
        _result_step(Z, new_B, halves),
    )
    answer = {"Z": Z.tolist(), "B": new_B.tolist(), "objective": halves}
    return Document("Alternating least squares, one round", _opening(rows, known, B, rounded), steps, answer)


def _known_entries(X: Data) -> tuple[Matrix, list[list[bool]], bool]:
    """Return the entries, 0 where one is missing, and which are there."""
    if sparse.issparse(X):
        stored = sparse.csr_array(X)
        known = sparse.csr_array((np.ones(stored.nnz), stored.indices, stored.indptr), shape=X.shape).toarray() > 0.0
        rows, _, rounded = exact_features(X, max_rows=MAX_ROWS, max_features=MAX_FEATURES)
        return rows, known.tolist(), rounded
    numbers = np.asarray(X, dtype=object)
    known = np.array([[not _is_nan(value) for value in row] for row in numbers], dtype=bool)
    rows, _, rounded = exact_features(np.where(known, numbers, 0), max_rows=MAX_ROWS, max_features=MAX_FEATURES)
    return rows, known.tolist(), rounded


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and np.isnan(value)


def _ridge(values: Matrix, known: list[bool], others: Matrix, penalty: Rational) -> Ridge:
    """Return the equations of one row or column on the columns of ``others``, and their solution."""
    places = [j for j in range(others.cols) if known[j]]
    chosen = others.extract(list(range(others.rows)), places) if places else zeros(others.rows, 0)
    gram = chosen * chosen.T + penalty * eye(others.rows)
    right = chosen * Matrix([values[j] for j in places]) if places else zeros(others.rows, 1)
    return gram, right, gram.LUsolve(right)


def _objective(
    rows: Matrix, known: list[list[bool]], Z: Matrix, B: Matrix, alpha: Rational, beta: Rational
) -> Rational:
    product = Z * B
    places = [(i, j) for i in range(rows.rows) for j in range(rows.cols) if known[i][j]]
    error = sum(((rows[i, j] - product[i, j]) ** 2 for i, j in places), Rational(0))
    sizes = [sum((entry**2 for entry in part), Rational(0)) for part in (Z, B)]
    return (error + alpha * sizes[0] + beta * sizes[1]) / 2


def _opening(rows: Matrix, known: list[list[bool]], B: Matrix, rounded: bool) -> tuple[Block, ...]:
    head = [math("i"), *(math(f"x_{j + 1}") for j in range(rows.cols))]
    shown = [
        [math(i + 1), *(typed(rows[i, j]) if known[i][j] else "?" for j in range(rows.cols))] for i in range(rows.rows)
    ]
    return (
        sentence(
            "Find a factor z of every row and b of every column whose products are near the entries that are known. "
            "For given b each row is a ridge regression, and for given z each column is."
        ),
        table(head, shown, caption="The data; a question mark is not known"),
        sentence("Components of ones and twos to begin with, one column b for each column of the data:"),
        formula("B =", matrix(B)),
        *([rounding_remark()] if rounded else []),
    )


def _half_step(kind: str, own: str, other: str, ridges: list[Ridge], penalty: Rational) -> Step:
    blocks: list[Block] = [
        sentence(f"Sums go over the entries of the {kind} that are known; the penalty is ", math(penalty), "."),
        formula(f"A = ∑ {other} {other}^T +", penalty, f"I , r = ∑ x {other} , A {own} = r"),
    ]
    for number, (gram, right, solution) in enumerate(ridges, start=1):
        equations = (f"A_{number} =", matrix(gram), f", r_{number} =", column(list(right)))
        blocks.append(formula(*equations, f", {own}_{number} =", column(list(solution))))
    return step(f"The best factor of each {kind}", *blocks)


def _result_step(Z: Matrix, B: Matrix, halves: list[Rational]) -> Step:
    return step(
        "After one round",
        formula("Z =", matrix(Z)),
        formula("B =", matrix(B)),
        result("Z B =", matrix(Z * B)),
        sentence("Half the squared errors of known entries and the penalties, after the rows and after the columns:"),
        formula(halves[0], "≥", halves[1]),
        remark("Where nothing was known, the product is the prediction. Further rounds improve it."),
    )
