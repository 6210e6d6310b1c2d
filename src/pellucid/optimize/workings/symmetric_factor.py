"""The factorization of a symmetric matrix that need not be positive definite, in exact arithmetic."""

from __future__ import annotations

from typing import NamedTuple

from sympy import Matrix, Rational, diag, eye, sqrt, zeros

from pellucid.optimize.workings.pencil import Pencil

PIVOT_SHARE = (1 + sqrt(17)) / 8
"""Bunch and Kaufman's: a pivot must be at least this share of what stands beside it, so that factors stay small."""
SMALLEST = Rational(1, 10**8)
"""Eigenvalues are raised to this share of the largest."""
EQUAL = Rational(1, 10**20)
"""Eigenvalues as near as this are the same, and differ by rounding only."""


class SymmetricFactor(NamedTuple):
    """``A[order, order] = lower * middle * lower.T``; the middle has blocks of the given sizes, 1 or 2."""

    order: list[int]
    lower: Matrix
    middle: Matrix
    blocks: list[int]


def factorize(A: Matrix) -> SymmetricFactor:
    """Return the factors of Bunch and Kaufman.

    Examples
    --------
    >>> factorize(Matrix([[4, 2], [2, -2]]))
    SymmetricFactor(order=[0, 1], lower=Matrix([
    [  1, 0],
    [1/2, 1]]), middle=Matrix([
    [4,  0],
    [0, -3]]), blocks=[1, 1])
    """
    n = A.rows
    work, lower, order, blocks = A.copy(), eye(n), list(range(n)), []
    middle = Matrix.zeros(n, n)
    k = 0
    while k < n:
        size, pivot = _choose(work, k)
        _swap(work, lower, order, k, k + size - 1, pivot)
        block = work[k : k + size, k : k + size]
        middle[k : k + size, k : k + size] = block
        if k + size < n and not block.is_zero_matrix:
            below = work[k + size :, k : k + size]
            factor = below * block.inv()
            lower[k + size :, k : k + size] = factor
            work[k + size :, k + size :] = work[k + size :, k + size :] - factor * below.T
        blocks.append(size)
        k += size
    return SymmetricFactor(order, lower, middle, blocks)


def positive_middle(factor: SymmetricFactor, pencil: Pencil) -> Matrix:
    """Return the middle factor with every eigenvalue replaced by its size, raised to a least value."""
    spectra, place = [], 0
    for size in factor.blocks:
        block = factor.middle[place : place + size, place : place + size]
        spectra.append((block, [block[0]] if size == 1 else pencil.eigenvalues(block)))
        place += size
    floor = SMALLEST * max(abs(value) for _, values in spectra for value in values)
    return pencil.kept(diag(*(_sized(block, values, floor) for block, values in spectra)))


def absolute(symmetric: Matrix, pencil: Pencil) -> Matrix:
    """Return the matrix with the same eigenvectors whose eigenvalues are the sizes, raised to a least value.

    Examples
    --------
    >>> absolute(Matrix([[0, 2], [2, 0]]), Pencil())
    Matrix([
    [2, 0],
    [0, 2]])
    """
    eigenvalues = pencil.eigenvalues(symmetric)
    floor = SMALLEST * max(map(abs, eigenvalues))
    return pencil.kept(_sized(symmetric, eigenvalues, floor))


def _sized(symmetric: Matrix, eigenvalues: list[Rational], floor: Rational) -> Matrix:
    """Return Lagrange's polynomial of the matrix that maps each eigenvalue to its size."""
    different = [b for i, b in enumerate(eigenvalues) if i == 0 or b - eigenvalues[i - 1] > EQUAL * (1 + abs(b))]
    total, n = zeros(symmetric.rows), symmetric.rows
    for value in different:
        basis = eye(n)
        for other in different:
            if other != value:
                basis = basis * (symmetric - other * eye(n)) / (value - other)
        total += max(abs(value), floor) * basis
    return total


def _choose(work: Matrix, k: int) -> tuple[int, int]:
    """Return the size of the next block and the row that comes to its last place."""
    n = work.rows
    if k == n - 1:
        return 1, k
    column = [abs(work[i, k]) for i in range(k + 1, n)]
    largest = max(column)
    here, row = abs(work[k, k]), k + 1 + column.index(largest)
    if here >= PIVOT_SHARE * largest:
        return 1, k
    beside = max(abs(work[row, j]) for j in range(k, n) if j != row)
    if here * beside >= PIVOT_SHARE * largest**2:
        return 1, k
    if abs(work[row, row]) >= PIVOT_SHARE * beside:
        return 1, row
    return 2, row


def _swap(work: Matrix, lower: Matrix, order: list[int], k: int, to: int, pivot: int) -> None:
    if to == pivot:
        return
    work.row_swap(to, pivot)
    work.col_swap(to, pivot)
    for j in range(k):
        lower[to, j], lower[pivot, j] = lower[pivot, j], lower[to, j]
    order[to], order[pivot] = order[pivot], order[to]
