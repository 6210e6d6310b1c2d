"""Gauss-Jordan elimination, one matrix per pivot, as it is done on a blackboard."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Matrix, Rational, zeros

from pellucid.workings.document import Block, Formula, sentence
from pellucid.workings.notation import Math, combination, math, matrix


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


def _shown(work: Matrix, n: int) -> Formula:
    return Formula(matrix(work, bar=n))


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
