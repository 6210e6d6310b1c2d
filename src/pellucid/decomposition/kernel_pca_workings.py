"""Kernel PCA by hand: centering of the products, eigenvalues and vectors, and the projection of a new point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Matrix, Rational, sqrt

from pellucid.core.types import Data
from pellucid.kernels.kernel_workings import ExactKernel, exact_kernel
from pellucid.show.document import Block, Document, Step, formula, result, sentence, step, table
from pellucid.show.eigenpairs import DIGITS, eigenpairs, values_step, vectors_step
from pellucid.show.exact_data import exact_features, numbered_table
from pellucid.show.notation import Accent, Symbol, Words, column, math, matrix, over, root

if TYPE_CHECKING:
    from pellucid.decomposition.kernel_pca import KernelPCA

MAX_ROWS = 5


def kernel_pca_workings(estimator: KernelPCA, X: Data, y: Data = None) -> Document:  # noqa: ARG001  (the signature of all)
    """Show the components of a few rows."""
    rows, _, _ = exact_features(X, max_rows=MAX_ROWS)
    kernel = exact_kernel(estimator, rows)
    K = kernel.products(rows)
    means = [sum(K.col(j), Rational(0)) / K.rows for j in range(K.rows)]
    mean = sum(means, Rational(0)) / K.rows
    centered = Matrix(K.rows, K.rows, lambda i, j: K[i, j] - means[i] - means[j] + mean)
    values, vectors = eigenpairs(centered, estimator.n_components)
    steps = (
        _products_step(kernel, K),
        _centering_step(means, mean, centered),
        values_step("C", centered, values),
        vectors_step("C", centered, values, vectors),
        _projection_step(kernel, rows, means, mean, values, vectors),
    )
    found = {"eigenvalues_": values, "eigenvectors_": vectors.tolist(), "kernel_means_": means}
    return Document("Kernel PCA", _opening(rows), steps, found)


def _opening(rows: Matrix) -> tuple[Block, ...]:
    heads = [math(f"x_{j + 1}" if rows.cols > 1 else "x") for j in range(rows.cols)]
    return (
        sentence(
            "Find the directions in which the rows spread most, in the space of the kernel. That space is never "
            "written down: all that is needed are products of rows, with their mean taken away."
        ),
        numbered_table(rows, heads),
    )


def _products_step(kernel: ExactKernel, K: Matrix) -> Step:
    return step("Multiply the rows", formula("k =", kernel.formula()), *kernel.notes(), formula("K =", matrix(K)))


def _centering_step(means: list[Rational], mean: Rational, centered: Matrix) -> Step:
    return step(
        "Center the products",
        sentence("The mean of each column, and the mean of these:"),
        formula("m =", column(means), ",", Accent(Symbol("m"), "bar"), "=", mean),
        sentence(
            "The product of two rows less their mean is ",
            math("K_ij − m_i − m_j +", Accent(Symbol("m"), "bar")),
            "; each row and column of the result sums to 0:",
        ),
        formula("C =", matrix(centered)),
    )


def _projection_step(
    kernel: ExactKernel, rows: Matrix, means: list[Rational], mean: Rational, values: list[Rational], vectors: Matrix
) -> Step:
    point = (rows.row(0) + rows.row(rows.rows - 1)) / 2
    products = list(kernel.products(point, rows))
    own = sum(products, Rational(0)) / len(products)
    centered = [product - own - m + mean for product, m in zip(products, means, strict=True)]
    shown = [[math(i + 1), products[i], centered[i], *vectors.row(i)] for i in range(rows.rows)]
    heads = [math(f"v_{k + 1}") for k in range(len(values))]
    blocks: list[Block] = [
        sentence(
            "A new row, half way between the first and the last: its products with the rows, less their own mean and "
            "the means m, plus the mean of the means."
        ),
        formula("x =", matrix(point)),
        table([math("i"), math("k_i"), "centered", *heads], shown),
    ]
    for k, value in enumerate(values):
        total = sum((c * v for c, v in zip(centered, vectors.col(k), strict=True)), Rational(0))
        blocks.append(
            result(
                f"z_{k + 1} =",
                over(Words("sum of centered times vector"), root(value)),
                "=",
                Rational(str((total / sqrt(value)).evalf(DIGITS))),
            )
        )
    return step("Project a new row", *blocks)
