"""Eigenvalues and vectors of a small symmetric matrix of fractions, by hand."""

from __future__ import annotations

from mpmath import eigsy, mp  # type: ignore[import-untyped]  # it comes with SymPy, without types
from mpmath import matrix as mp_matrix
from sympy import Matrix, Poly, Rational, symbols

from pellucid.workings.document import Block, Step, formula, remark, sentence, step, table
from pellucid.workings.notation import column, math, root

DIGITS = 30
"""Digits kept of eigenvalues and vectors that are no fractions."""

SIMPLE = 1000
"""Denominators of eigenvalues that are recognized as fractions."""

SAME = Rational(1, 10**20)
"""Difference of two eigenvalues below which they count as one."""


def eigenpairs(A: Matrix, n_components: int | None) -> tuple[list[Rational], Matrix]:
    """Return the eigenvalues above 0 in falling order, and vectors of length 1 whose first largest entry is above 0."""
    with mp.workdps(3 * DIGITS):
        found, vectors = eigsy(mp_matrix([[mp.mpf(entry.p) / entry.q for entry in A.row(i)] for i in range(A.rows)]))
        pairs = sorted(((found[k], [vectors[i, k] for i in range(A.rows)]) for k in range(A.rows)), key=lambda p: -p[0])
        values = [_recognized(A, Rational(mp.nstr(value, DIGITS + 10))) for value, _ in pairs]
        columns = [[_entry(Rational(mp.nstr(entry, DIGITS + 10))) for entry in vector] for _, vector in pairs]
    kept = [k for k, value in enumerate(values) if value > SAME][:n_components]
    if not kept:
        raise ValueError("X must have rows that differ to show the work, got rows that are all the same.")
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


def values_step(name: str, A: Matrix, values: list[Rational]) -> Step:
    """Show the eigenvalues above 0 of the matrix of this name, and their parts of the sum of all."""
    rows = [[math(f"λ_{k + 1}"), value, value / A.trace()] for k, value in enumerate(values)]
    is_exact = all(value.q <= SIMPLE for value in values)
    return step(
        "The eigenvalues",
        *_characteristic_blocks(name, A),
        sentence("Its zeros above 0, and their part of the trace, which is the sum of all:"),
        table(["", "eigenvalue", "part"], rows),
        *([] if is_exact else [remark(f"Those that are no fractions are worked with their first {DIGITS} digits.")]),
    )


def vectors_step(name: str, A: Matrix, values: list[Rational], vectors: Matrix) -> Step:
    """Show the eigenvectors of the matrix of this name."""
    blocks = []
    for k in range(len(values)):
        v, mark = vectors.col(k), f"v_{k + 1}"
        blocks.append(
            formula(f"{mark} =", column(list(v)), f", {name} {mark} =", column(list(A * v)), f"= λ_{k + 1} {mark}")
        )
    return step(
        "The eigenvectors",
        sentence("Each has length 1, and the first of its largest entries is above 0:"),
        *blocks,
    )


def _characteristic_blocks(name: str, A: Matrix) -> list[Block]:
    """Show the polynomial whose zeros are the eigenvalues, and its zeros as roots where it is a square."""
    unknown = symbols("t")
    coefficients = Poly((unknown * Matrix.eye(A.rows) - A).det(), unknown).all_coeffs()
    degree = len(coefficients) - 1
    powers = [
        [math(f"t^{degree - i}" if degree - i > 1 else "t" if degree - i else "1"), value]
        for i, value in enumerate(coefficients)
    ]
    blocks: list[Block] = [
        sentence(
            "They are where the determinant of ", math(f"t I − {name}"), " is 0, a polynomial with the coefficients"
        ),
        table(["power", "coefficient"], powers),
    ]
    if degree == 2:
        half = -coefficients[1] / 2
        blocks.append(formula("t =", half, "±", root(half**2 - coefficients[2])))
    return blocks
