"""PCA by hand: center, multiply, find the directions, project, whiten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Matrix, Rational, sqrt

from pellucid.core.types import Data
from pellucid.show.document import Document, Step, formula, remark, sentence, step, table
from pellucid.show.eigenpairs import DIGITS, eigenpairs, values_step, vectors_step, without_dust
from pellucid.show.exact_data import exact_features, numbered_table
from pellucid.show.notation import column, fenced, math, matrix, over, root, typed

if TYPE_CHECKING:
    from pellucid.decomposition.pca.pca import PCA

MAX_ROWS = 12


def pca_workings(
    estimator: PCA,
    X: Data,
    y: Data = None,  # noqa: ARG001  (the signature of all)
    divisor: str = "m-1",
) -> Document:
    """Show the principal components of a few rows; the covariance is divided by m − 1, or by ``divisor="m"``."""
    if divisor not in ("m", "m-1"):
        raise ValueError(f"divisor must be 'm' or 'm-1', got {divisor!r}: what the covariance is divided by.")
    rows, _, _ = exact_features(X, max_rows=MAX_ROWS)
    if rows.rows < 2:
        raise ValueError("X must have at least two rows to show the work, got one: a single row has no spread.")
    n = rows.rows
    mean = [sum(rows.col(j), Rational(0)) / n for j in range(rows.cols)]
    centered = Matrix(n, rows.cols, lambda i, j: rows[i, j] - mean[j])
    covariance = (centered.T * centered) / (n if divisor == "m" else n - 1)
    wanted = estimator.n_components if isinstance(estimator.n_components, int) else None
    values, vectors = eigenpairs(covariance, wanted)
    shares = [value / covariance.trace() for value in values]
    opening = (
        sentence("Find the directions in which the rows spread most, each at right angles to those before."),
        numbered_table(rows, [math(f"x_{j + 1}") for j in range(rows.cols)]),
    )
    steps = (
        _centering_step(mean, centered),
        _covariance_step(centered, covariance, divisor),
        values_step("C", covariance, values),
        vectors_step("C", covariance, values, vectors),
        _projection_step(centered, values, vectors),
    )
    found = {
        "mean_": mean,
        "explained_variance_" if divisor == "m-1" else "variances": values,
        "explained_variance_ratio_": shares,
        "components_": vectors.T.tolist(),
    }
    return Document("Principal components", opening, steps, found)


def _centering_step(mean: list[Rational], centered: Matrix) -> Step:
    return step(
        "Take the mean away",
        formula("μ =", column(mean)),
        sentence("Each row less the mean:"),
        formula("A =", matrix(centered)),
    )


def _covariance_step(centered: Matrix, covariance: Matrix, divisor: str) -> Step:
    n = centered.rows
    has_decimals = any(not value.is_Integer for value in centered.T * centered)
    shown = matrix(covariance if not has_decimals else [map(typed, covariance.row(i)) for i in range(covariance.rows)])
    by, number, other = (
        ("m", n, "m − 1, as the program does,") if divisor == "m" else ("m − 1", n - 1, "m, as some do,")
    )
    return step(
        "The covariance matrix",
        sentence("Products of the columns of A, summed over the rows:"),
        formula("A^T A =", matrix(centered.T * centered)),
        formula("C =", over(1, by), "A^T A =", over(1, number), "A^T A =", shown),
        remark(
            f"Divided by the {n} rows (1/m) instead of {n - 1} (1/(m − 1)), the covariance is smaller, by the same "
            f"factor everywhere. Who divides by {other} finds the same directions and shares."
        ),
    )


def _projection_step(centered: Matrix, values: list[Rational], vectors: Matrix) -> Step:
    projected = (centered * vectors).applyfunc(without_dust)
    deviations = [Rational(str(sqrt(value).evalf(DIGITS))) for value in values]
    white = projected * Matrix.diag(*(1 / deviation for deviation in deviations))
    tables = [
        table(
            [math("i"), *(math(f"{letter}_{j + 1}") for j in range(len(values)))],
            [[math(i + 1), *numbers.row(i)] for i in range(centered.rows)],
        )
        for letter, numbers in (("z", projected), ("w", white))
    ]
    return step(
        "Project and whiten",
        sentence(
            "The coordinates along the directions, ",
            math("z_j = v_j^T", fenced("x − μ")),
            ", have the eigenvalues as variances and no covariance. Divided by the root of the eigenvalue, ",
            math("w_j =", over("z_j", root("λ_j"))),
            ", they have variance 1: the rows are white.",
        ),
        *tables,
    )
