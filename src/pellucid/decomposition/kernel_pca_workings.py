"""Kernel PCA by hand: centering of the products, eigenvalues and vectors, and the projection of a new point."""

from __future__ import annotations

from typing import Any

from mpmath import eigsy, mp  # type: ignore[import-untyped]  # it comes with SymPy, without types
from mpmath import matrix as mp_matrix
from sympy import Matrix, Poly, Rational, sqrt, symbols

from pellucid.core.types import Data
from pellucid.kernels.kernel_exact_workings import ExactKernel, exact_kernel
from pellucid.workings.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.workings.exact_data import exact_features
from pellucid.workings.notation import Accent, Symbol, Words, column, math, matrix, over, root, typed

MAX_ROWS = 5
DIGITS = 30
"""Digits kept of eigenvalues and vectors that are no fractions."""

SIMPLE = 1000
"""Denominators of eigenvalues that are recognized as fractions."""

SAME = Rational(1, 10**20)
"""Difference of two eigenvalues below which they count as one."""


def kernel_pca_workings(estimator: Any, X: Data, y: Data = None) -> Document:  # noqa: ARG001  (the signature of all)
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
        values_step(centered, values),
        vectors_step(centered, values, vectors),
        _projection_step(kernel, rows, means, mean, values, vectors),
    )
    found = {"eigenvalues_": values, "eigenvectors_": vectors.tolist(), "kernel_means_": means}
    return Document("Kernel PCA", _opening(rows), steps, found)


def eigenpairs(A: Matrix, n_components: int | None) -> tuple[list[Rational], Matrix]:
    """Return the eigenvalues above 0 in falling order, and vectors of length 1 whose first largest entry is above 0."""
    with mp.workdps(3 * DIGITS):
        found, vectors = eigsy(mp_matrix([[mp.mpf(entry.p) / entry.q for entry in A.row(i)] for i in range(A.rows)]))
        pairs = sorted(((found[k], [vectors[i, k] for i in range(A.rows)]) for k in range(A.rows)), key=lambda p: -p[0])
        values = [_recognized(A, Rational(mp.nstr(value, DIGITS + 10))) for value, _ in pairs]
        columns = [[_entry(Rational(mp.nstr(entry, DIGITS + 10))) for entry in vector] for _, vector in pairs]
    kept = [k for k, value in enumerate(values) if value > SAME][:n_components]
    if not kept:
        raise ValueError("X must have rows that differ to show the work, got rows that are all the same to the kernel.")
    for k in kept:
        if k + 1 < len(values) and values[k] - values[k + 1] < SAME:
            raise ValueError(
                f"X must have eigenvalues that differ to show the work, got {float(values[k]):g} twice: any two "
                "directions at right angles would do. Move a row."
            )
    signed = [_signed(columns[k]) for k in kept]
    return [values[k] for k in kept], Matrix([[vector[i] for vector in signed] for i in range(A.rows)])


def _entry(value: Rational) -> Rational:
    return Rational(0) if abs(value) < SAME else value


def _recognized(A: Matrix, value: Rational) -> Rational:
    """Return the simple fraction that an eigenvalue is, if it is one."""
    near = value.limit_denominator(SIMPLE)
    return near if abs(near - value) < SAME and (A - near * Matrix.eye(A.rows)).det() == 0 else value


def _signed(vector: list[Rational]) -> list[Rational]:
    largest = max(abs(entry) for entry in vector)
    first = next(entry for entry in vector if abs(entry) >= largest - SAME)
    return vector if first > 0 else [-entry for entry in vector]


def _opening(rows: Matrix) -> tuple[Block, ...]:
    head = [math("i"), *(math(f"x_{j + 1}" if rows.cols > 1 else "x") for j in range(rows.cols))]
    shown = [[math(i + 1), *map(typed, rows.row(i))] for i in range(rows.rows)]
    return (
        sentence(
            "Find the directions in which the rows spread most, in the space of the kernel. That space is never "
            "written down: all that is needed are products of rows, with their mean taken away."
        ),
        table(head, shown, caption="The data"),
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


def values_step(centered: Matrix, values: list[Rational]) -> Step:
    """Show the eigenvalues of the centered products C, and their parts of the whole."""
    unknown = symbols("t")
    coefficients = Poly((unknown * Matrix.eye(centered.rows) - centered).det(), unknown).all_coeffs()
    degree = len(coefficients) - 1
    shares = [value / centered.trace() for value in values]
    rows = [[math(f"λ_{k + 1}"), value, share] for k, (value, share) in enumerate(zip(values, shares, strict=True))]
    powers = [
        [math(f"t^{degree - i}" if degree - i > 1 else "t" if degree - i else "1"), value]
        for i, value in enumerate(coefficients)
    ]
    is_exact = all(value.q <= SIMPLE for value in values)
    return step(
        "The eigenvalues",
        sentence("They are where the determinant of ", math("t I − C"), " is 0, a polynomial with the coefficients"),
        table(["power", "coefficient"], powers),
        sentence("Its zeros above 0, and their part of the trace, which is the sum of all:"),
        table(["", "eigenvalue", "part"], rows),
        *([] if is_exact else [remark(f"Those that are no fractions are worked with their first {DIGITS} digits.")]),
    )


def vectors_step(centered: Matrix, values: list[Rational], vectors: Matrix) -> Step:
    """Show the eigenvectors of the centered products C."""
    blocks: list[Block] = []
    for k in range(len(values)):
        v, name = vectors.col(k), f"v_{k + 1}"
        blocks.append(
            formula(f"{name} =", column(list(v)), f", C {name} =", column(list(centered * v)), f"= λ_{k + 1} {name}")
        )
    return step(
        "The eigenvectors",
        sentence("Each has length 1, and the first of its largest entries is above 0:"),
        *blocks,
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
