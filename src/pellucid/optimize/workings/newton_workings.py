"""Newton's method by hand: Hessian, elimination, step, and what to do where the Hessian is indefinite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sympy import Matrix, Rational, diag, eye, sqrt, zeros

from pellucid.optimize.workings.exact_function import ExactFunction
from pellucid.optimize.workings.line_search_workings import Line, search_line
from pellucid.optimize.workings.pencil import Pencil
from pellucid.optimize.workings.step_notation import scaled, sum_of_terms
from pellucid.optimize.workings.walk import Walk, minimum_step, value_sentence
from pellucid.show.document import Block, formula, remark, sentence, step
from pellucid.show.eigenpairs import eliminate
from pellucid.show.notation import Math, Script, Symbol, column, fenced, math, matrix, over
from pellucid.show.text_layout import fits


def newton_workings(method: Any, f: ExactFunction, start: Matrix, count: int) -> Walk:
    """Go to the minimum of the parabola that fits best, or part of the way."""
    points, steps = [start], []
    for k in range(count):
        x, gradient = points[-1], f.gradient(points[-1])
        if gradient.is_zero_matrix:
            steps.append(minimum_step(f, k))
            break
        direction, solving = _direction(f, k, f.hessian(x), gradient, method.repair)
        line = Line(f, k, x, direction, gradient, Rational(1))
        t, searching = search_line(method.line_search, line)
        points.append(line.at(t))
        steps.append(
            step(
                f"Iteration {k + 1}",
                sentence("The gradient and the Hessian here are"),
                f.gradient_formula(k, gradient),
                formula(f"A_{k} =", matrix(f.hessian(x))),
                *solving,
                *searching,
                formula(
                    f.point(k + 1), "=", f.point(k), f"+ t d_{k} =", column(x), "+", scaled(t, column(direction)), "=",
                    column(points[-1]),
                ),
                value_sentence(f, k + 1, points[-1], f.value(x)),
            )
        )  # fmt: skip
    return Walk("Newton's method", _rule(f), tuple(steps), tuple(points))


def _rule(f: ExactFunction) -> tuple[Block, ...]:
    blocks: list[Block] = [
        sentence(
            "Near each point the function looks like a parabola with the Hessian ", math("A_k"),
            ". Newton's direction leads to its lowest point, where the gradient of the parabola is 0:",
        ),
        formula("A_k d_k = − g_k ,", f.point("k+1"), "=", f.point("k"), "+ t d_k"),
        sentence("The Hessian collects the second derivatives:"),
        *_second_derivatives(f),
    ]  # fmt: skip
    if f.is_quadratic:
        blocks.append(
            sentence("It is the same everywhere: the parabola is the function itself, and one full step is enough.")
        )
    return tuple(blocks)


def _second_derivatives(f: ExactFunction) -> list[Block]:
    """Return the Hessian as a matrix, or entry by entry if that is too wide."""
    hessian = f.formula.hessian
    whole = math(Script(Symbol("∇"), above=math("2")), "f =", matrix(hessian))
    if fits(whole):
        return [formula(whole)]
    squared = math(Script(Symbol("∂"), above=math("2")), "f")
    return [
        formula(over(squared, math("∂", f.variables[i], "∂", f.variables[j])), "=", sum_of_terms(hessian[i, j]))
        for i in range(hessian.rows)
        for j in range(i + 1)
        if hessian[i, j] != 0
    ]


def _direction(f: ExactFunction, k: int, hessian: Matrix, gradient: Matrix, repair: str) -> tuple[Matrix, list[Block]]:
    minors = [f.pencil.kept(hessian[: i + 1, : i + 1].det()) for i in range(hessian.rows)]
    if min(minors) > 0:
        solved = eliminate(hessian, -gradient)
        return f.pencil.kept(solved.solution), [
            sentence(
                "Its leading minors ",
                *_listed(minors),
                " are positive, so it is positive definite: the parabola opens upwards.",
            ),
            *solved.blocks,
            formula(f"d_{k} =", column(f.pencil.kept(solved.solution))),
        ]
    near, repairing = REPAIRS[repair](f, hessian)
    solved = eliminate(near, -gradient)
    direction = f.pencil.kept(solved.solution)
    return direction, [
        remark(
            "Its eigenvalues are ", *_listed(f.pencil.eigenvalues(hessian)), ": not all are positive, so the parabola "
            "has no lowest point, and Newton's direction may lead uphill.",
        ),
        *repairing,
        sentence("The matrix is near the Hessian and positive definite, so we solve with it instead."),
        *solved.blocks,
        formula(f"d_{k} =", column(direction)),
    ]  # fmt: skip


def _by_eigenvalues(f: ExactFunction, hessian: Matrix) -> tuple[Matrix, list[Block]]:
    near = absolute(hessian, f.pencil)
    return near, [
        sentence("We keep the eigenvectors and replace every eigenvalue by its size:"),
        formula("Ã =", matrix(near)),
    ]


def _by_blocks(f: ExactFunction, hessian: Matrix) -> tuple[Matrix, list[Block]]:
    factor = factorize(hessian)
    middle = positive_middle(factor, f.pencil)
    back = [factor.order.index(i) for i in range(len(factor.order))]
    near = f.pencil.kept(factor.lower * middle * factor.lower.T).extract(back, back)
    order = ", ".join(str(i + 1) for i in factor.order)
    swapped = f" with its rows and columns in the order {order}" if factor.order != sorted(factor.order) else ""
    transposed = Script(Symbol("L"), above=math("T"))
    product = math("L D", transposed, "=", matrix(factor.lower), matrix(factor.middle), matrix(factor.lower.T))
    apart = [formula("L =", matrix(factor.lower)), formula("D =", matrix(factor.middle))]
    return near, [
        sentence(f"We factor the Hessian{swapped} into a triangle, a middle and the triangle again,"),
        *([formula(product)] if fits(product) else apart),
        sentence("and replace the eigenvalues of the middle by their sizes:"),
        formula(fenced("D", "||"), "=", matrix(middle)),
        formula("Ã = L", fenced("D", "||"), transposed, "=", matrix(near)),
    ]


def _listed(values: list[Rational]) -> list[Math | str]:
    parts: list[Math | str] = []
    for i, value in enumerate(values):
        parts += [", " if i else "", math(value)]
    return parts


REPAIRS: dict[str, Callable[[ExactFunction, Matrix], tuple[Matrix, list[Block]]]] = {
    "eigenvalues": _by_eigenvalues,
    "bunch-kaufman": _by_blocks,
}
"""How an indefinite Hessian is made positive definite."""


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
