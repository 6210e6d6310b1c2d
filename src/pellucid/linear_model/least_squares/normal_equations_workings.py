"""The normal equations, set up and solved with fractions."""

from __future__ import annotations

from sympy import Matrix, Rational, eye

from pellucid.workings.document import Block, Step, formula, sentence, step
from pellucid.workings.elimination import Elimination, eliminate
from pellucid.workings.notation import Math, Mathlike, factor, fenced, math, matrix, total

WIDEST_PRODUCT = 6
"""With more rows than this the factors of X'X no longer fit on a page next to the product."""


def products_step(X: Matrix, y: Matrix, target: str = "y") -> Step:
    """Return the step that multiplies X'X and X'y out."""
    small = X.rows <= WIDEST_PRODUCT
    blocks: list[Block] = []
    if X.cols > 1:
        blocks += [
            sentence("Every entry is a sum of products of two columns, for example"),
            formula("x_1^T x_2 =", dot(X.col(0), X.col(1))),
        ]
    left: list[Mathlike] = [matrix(X.T), matrix(X), "="] if small else []
    right: list[Mathlike] = [matrix(X.T), matrix(y), "="] if small else []
    blocks += [
        formula("X^T X =", *left, matrix(X.T * X)),
        formula(f"X^T {target} =", *right, matrix(X.T * y)),
    ]
    return step("Multiply out the products", *blocks)


def solve_step(X: Matrix, y: Matrix, alpha: Rational, target: str = "y") -> tuple[Elimination, Step]:
    """Return the solution of ``(X'X + alpha I) w = X'y`` and the step that eliminates."""
    system = eliminate(X.T * X + alpha * eye(X.cols), X.T * y)
    unknown = "w" if target == "y" else "W"
    matrix_name = fenced(math("X^T X + α I")) if alpha else math("X^T X")
    opening: list[Block] = [
        sentence("Setting the gradient to zero gives the normal equations"),
        formula(matrix_name, f"{unknown} = X^T {target}"),
    ]
    return system, step(
        "Solve the normal equations",
        *opening,
        *system.blocks,
        sentence("It is" if system.is_singular else "The right-hand side is the solution:"),
        formula(f"{unknown} =", matrix(system.solution)),
    )


def dot(a: Matrix, b: Matrix) -> Math:
    """Return ``1 · 2 + (−1) · 3 = −1``."""
    terms = [math(factor(u), "·", factor(v)) for u, v in zip(a, b, strict=True)]
    return math(total(terms), "=", (a.T * b)[0])
