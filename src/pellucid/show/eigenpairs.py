"""Eigenvalues and vectors of a small symmetric matrix of fractions, by hand."""

from __future__ import annotations

from dataclasses import dataclass

from mpmath import eigsy, mp  # type: ignore[import-untyped]  # it comes with SymPy, without types
from mpmath import matrix as mp_matrix
from sympy import Matrix, Poly, Rational, symbols, zeros

from pellucid.show.document import Block, FormulaLine, Step, formula, remark, sentence, step, table
from pellucid.show.notation import Math, column, combination, math, matrix, root

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
        columns = [[without_dust(Rational(mp.nstr(entry, DIGITS + 10))) for entry in vector] for _, vector in pairs]
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


def without_dust(value: Rational) -> Rational:
    """Return 0 for what is left of 0 after many digits."""
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
            formula(
                f"{mark} =",
                column(list(v)),
                f", {name} {mark} =",
                column(map(without_dust, A * v)),
                f"= λ_{k + 1} {mark}",
            )
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


@dataclass(frozen=True)
class Elimination:
    """The solution of ``A x = b`` (several right-hand sides are columns) and the blocks that show how."""

    solution: Matrix
    blocks: tuple[Block, ...]
    is_singular: bool


def eliminate(A: Matrix, b: Matrix) -> Elimination:
    """Solve a consistent symmetric system exactly; a singular one gets its solution of least norm."""
    work, n = A.row_join(b), A.rows
    blocks: list[Block] = [
        sentence("Write the system as one matrix and clear it column by column:"),
        _shown(work, n),
    ]
    row = 0
    for j in range(n):
        found = next((i for i in range(row, n) if work[i, j] != 0), None)
        if found is None:
            continue
        operations = _clear(work, row, j, found)
        if operations:
            blocks += [sentence(f"Column {j + 1}: ", *_listed(operations), "."), _shown(work, n)]
        row += 1
    if row == n:
        return Elimination(work[:, n:], tuple(blocks), is_singular=False)
    blocks.append(
        sentence(
            f"Only {row} of the {n} columns could be cleared: the matrix is singular and the system has many "
            "solutions. Of these we take the one of least norm (the pseudo-inverse gives it)."
        )
    )
    least = A.pinv() * b if row else zeros(n, b.cols)
    return Elimination(least, tuple(blocks), is_singular=True)


def _shown(work: Matrix, n: int) -> FormulaLine:
    return FormulaLine(matrix(work, bar=n))


def _clear(work: Matrix, row: int, j: int, found: int) -> list[Math]:
    """Make column ``j`` a unit vector with its 1 in ``row``, in place; return the row operations done."""
    operations: list[Math] = []
    if found != row:
        work.row_swap(row, found)
        operations.append(math(_name(row), "↔", _name(found)))
    pivot = work[row, j]
    if pivot != 1:
        work[row, :] = work[row, :] / pivot
        operations.append(math(_name(row), "←", combination([(1 / pivot, _name(row))])))
    for i in range(work.rows):
        multiple: Rational = work[i, j]
        if i != row and multiple != 0:
            work[i, :] = work[i, :] - multiple * work[row, :]
            operations.append(math(_name(i), "←", combination([(1, _name(i)), (-multiple, _name(row))])))
    return operations


def _name(row: int) -> Math:
    return math(f"R_{row + 1}")


def _listed(operations: list[Math]) -> list[str | Math]:
    parts: list[str | Math] = []
    for operation in operations:
        parts += ["; ", operation] if parts else [operation]
    return parts
