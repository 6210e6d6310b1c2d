"""Ridge regression by hand: the normal equations with alpha on the diagonal, and what it does to least squares."""

from __future__ import annotations

from typing import Any

from sympy import Matrix, Rational, eye, roots, simplify, symbols

from pellucid.core.types import Data
from pellucid.linear_model.least_squares.line_workings import (
    Centered,
    center,
    dot,
    intercept_step,
    products_step,
    quality_step,
    residuals,
    solve_step,
    squares,
    stationarity,
)
from pellucid.linear_model.least_squares.linear_regression_workings import answer, fitted_line_figure, opening
from pellucid.workings.document import Block, Document, Step, formula, sentence, step, table
from pellucid.workings.exact_data import ExactData, exact_data
from pellucid.workings.notation import fenced, math, over, total
from pellucid.workings.parameters import exact_parameter, require


def ridge_workings(estimator: Any, X: Data, y: Data) -> Document:
    """Show how the ridge coefficients are found and how they compare with least squares."""
    require(estimator, "positive", False)
    data, alpha = exact_data(X, y), exact_parameter(estimator, "alpha")
    fit_intercept = bool(estimator.fit_intercept)
    centered = center(data, fit_intercept=fit_intercept)
    w, solving = (_one_feature if data.n_features == 1 else _several_features)(centered, alpha)
    b = centered.intercept(w)
    check = stationarity(centered.X, residuals(data, w, b), alpha, w)
    steps = [*centered.steps, *solving, intercept_step(data, centered, w), quality_step(data, w, b, check=check)]
    if data.n_features == 1:
        steps.append(step("Draw it", fitted_line_figure(data, w, b)))
    return Document("Ridge regression", _opening(data, fit_intercept, alpha), tuple(steps), answer(w, b))


def _opening(data: ExactData, fit_intercept: bool, alpha: Rational) -> tuple[Block, ...]:
    squared = [math("w^2")] if data.n_features == 1 else [math(f"w_{j + 1}^2") for j in range(data.n_features)]
    penalty = squared[0] if len(squared) == 1 else fenced(total(squared))
    return opening(data, fit_intercept, "+ α", penalty, where=[sentence("with ", math("α =", alpha), ".")])


def _one_feature(centered: Centered, alpha: Rational) -> tuple[Matrix, list[Step]]:
    x, y = centered.X, centered.y
    sxx, sxy = squares(x), (x.T * y)[0]
    w = sxy / (sxx + alpha) if sxx + alpha else Rational(0)
    blocks: list[Block] = [
        formula("S_xx =", dot(x, x)),
        formula("S_xy =", dot(x, y)),
        sentence("The penalty adds ", math("α"), " to the denominator of the slope, and nothing else:"),
        formula("w =", over("S_xy", "S_xx + α"), "=", over(sxy, math(sxx, "+", alpha)), "=", w),
    ]
    if sxx:
        shrink = sxx / (sxx + alpha)
        blocks += [
            sentence("Least squares alone gives ", math(over("S_xy", "S_xx"), "=", sxy / sxx), ". Ridge shrinks it by"),
            formula(over("S_xx", "S_xx + α"), "=", shrink),
            sentence(
                "a factor between 0 and 1 that tends to 0 as the penalty grows: the slope shrinks but never vanishes."
            ),
        ]
    return Matrix([w]), [step("Shrink the slope", *blocks)]


def _several_features(centered: Centered, alpha: Rational) -> tuple[Matrix, list[Step]]:
    system, solving = solve_step(centered.X, centered.y, alpha)
    steps = [products_step(centered.X, centered.y), solving]
    shrinkage = _shrinkage(centered, alpha, system.solution)
    return system.solution, [*steps, *([step("Compare with least squares", *shrinkage)] if shrinkage else [])]


def _shrinkage(centered: Centered, alpha: Rational, w: Matrix) -> list[Block]:
    gram = centered.X.T * centered.X
    if alpha == 0 or gram.det() == 0:
        return []
    plain = gram.LUsolve(centered.X.T * centered.y)
    rows = [[math(f"w_{j + 1}"), plain[j], w[j], w[j] / plain[j] if plain[j] else "—"] for j in range(len(w))]
    blocks: list[Block] = [
        table(["coefficient", "least squares", "ridge", "ratio"], rows),
        sentence(
            "A single coefficient may even grow; what must shrink is the length of w: ",
            math(squares(w), "<" if squares(w) < squares(plain) else "=", squares(plain)),
            ", the sums of squares of ridge and of least squares.",
        ),
    ]
    return blocks + _directions(gram, alpha)


def _directions(gram: Matrix, alpha: Rational) -> list[Block]:
    """Return the shrinkage along the principal directions, if the squared singular values can be written down."""
    unknown = symbols("t")
    squared = roots((gram - unknown * eye(gram.rows)).det(), unknown)
    readable = sum(squared.values()) == gram.rows and (gram.rows == 2 or all(value.is_Rational for value in squared))
    if not readable:
        return []
    ordered = sorted(squared, key=lambda value: -float(value))
    rows = [[value, simplify(value / (value + alpha)), f"{float(value / (value + alpha)):.4f}"] for value in ordered]
    return [
        sentence(
            "Along the principal directions of X the shrinkage is exact. With the squared singular values ",
            math("s^2"),
            " (the eigenvalues of ",
            math("X^T X"),
            ") the component of w in each direction is multiplied by ",
            over("s^2", "s^2 + α"),
            ": weak directions shrink most.",
        ),
        table([math("s^2"), over("s^2", "s^2 + α"), "as a decimal"], rows),
    ]
