"""The singular value decomposition by hand, and the best approximation of rank 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sympy import Matrix, Rational, sqrt

from pellucid.core.types import Data
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.eigenpairs import DIGITS, eigenpairs, values_step
from pellucid.show.exact_data import exact_features
from pellucid.show.notation import Script, column, fenced, math, matrix, over, root

if TYPE_CHECKING:
    from pellucid.decomposition.svd.svd import SVD

MAX_ROWS = 6


def svd_workings(estimator: SVD, X: Data, y: Data = None) -> Document:  # noqa: ARG001  (the signature of all)
    """Show the singular values and vectors of a small matrix."""
    A, _, _ = exact_features(X, max_rows=MAX_ROWS)
    is_wide = A.rows < A.cols
    name, product = ("A A^T", A * A.T) if is_wide else ("A^T A", A.T * A)
    wanted = estimator.n_components if estimator.kind != "full" else None
    squares, vectors = eigenpairs(product, wanted)
    values = [_rounded(sqrt(square)) for square in squares]
    other = (A.T if is_wide else A) * vectors * Matrix.diag(*(1 / value for value in values))
    left, right = (vectors, other) if is_wide else (other, vectors)
    left, right = _signed(left, right)
    opening = (
        sentence("Write the matrix as a sum of products of two vectors at right angles to those of all the others."),
        formula("A =", matrix(A)),
    )
    steps = (
        step("Multiply it by itself", sentence("The shorter way:"), formula(f"{name} =", matrix(product))),
        values_step(name, product, squares),
        _values_step(values, is_symmetric=A == A.T),
        _vectors_step(A, values, left, right),
        _approximation_step(A, squares, values, left, right),
    )
    found = {
        "singular_values_": values,
        "components_": right.T.tolist(),
        "energy_": sum((x**2 for x in A), Rational(0)),
    }
    return Document("Singular value decomposition", opening, steps, found)


def _rounded(value: Any) -> Rational:
    """Return a number as the fraction it is, or its first digits."""
    return value if value.is_Rational else Rational(str(value.evalf(DIGITS)))


def _signed(left: Matrix, right: Matrix) -> tuple[Matrix, Matrix]:
    """Return the vectors with the first of the largest entries of each right one above 0."""
    signs = []
    for k in range(right.cols):
        v = list(right.col(k))
        largest = max(abs(entry) for entry in v)
        first = next(entry for entry in v if abs(entry) >= largest * (1 - Rational(1, 10**12)))
        signs.append(1 if first > 0 else -1)
    return left * Matrix.diag(*signs), right * Matrix.diag(*signs)


def _values_step(values: list[Rational], *, is_symmetric: bool) -> Step:
    rows = [[math(f"σ_{k + 1}"), math(root(f"λ_{k + 1}")), value] for k, value in enumerate(values)]
    return step(
        "The singular values",
        sentence("They are the roots of the eigenvalues:"),
        table(["", "", "value"], rows),
        *(
            [remark("This matrix is symmetric: they are the absolute values of its own eigenvalues, never below 0.")]
            if is_symmetric
            else []
        ),
    )


def _vectors_step(A: Matrix, values: list[Rational], left: Matrix, right: Matrix) -> Step:
    blocks: list[Block] = []
    for k in range(len(values)):
        u, v = f"u_{k + 1}", f"v_{k + 1}"
        blocks.append(formula(f"{u} =", column(list(left.col(k))), f", {v} =", column(list(right.col(k)))))
    is_wide = A.rows < A.cols
    return step(
        "The singular vectors",
        sentence("The eigenvectors on the shorter side, and their images on the other, divided by the singular value:"),
        formula("v_j =", over("A^T u_j", "σ_j")) if is_wide else formula("u_j =", over("A v_j", "σ_j")),
        *blocks,
    )


def _approximation_step(
    A: Matrix, squares: list[Rational], values: list[Rational], left: Matrix, right: Matrix
) -> Step:
    near = values[0] * left.col(0) * right.col(0).T
    rest = sum((x**2 for x in A), Rational(0)) - squares[0]
    numbers = A.rows + A.cols + 1
    return step(
        "The best approximation of rank 1",
        formula("A_1 = σ_1 u_1 v_1^T =", matrix(near)),
        sentence(
            "No matrix of rank 1 is nearer (Eckart and Young): what is left are the other singular values, and the sum "
            "of their squares is that of all entries less the first."
        ),
        formula(Script(fenced("A − A_1", "‖‖"), above=math(2)), "=", rest),
        result(fenced("A − A_1", "‖‖"), "=", root(rest), "=", _rounded(sqrt(rest))),
        remark(
            "The sum of squared errors is the square of this norm: books that give an error of an approximation mean "
            "one or the other. A bound that grows with the variance of the noise bounds the square."
        ),
        sentence(
            f"It is stored in {numbers} numbers instead of {A.rows * A.cols}: ", math(over(A.rows * A.cols, numbers))
        ),
    )
