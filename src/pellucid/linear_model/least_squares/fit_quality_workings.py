"""Residuals, their sum of squares and R²: the last page of a regression worked by hand."""

from __future__ import annotations

from sympy import Matrix, Rational

from pellucid.linear_model.least_squares.centering_workings import mean
from pellucid.workings.document import Block, Step, formula, sentence, step, table
from pellucid.workings.exact_data import ExactData
from pellucid.workings.notation import Math, Script, factor, fenced, math, over, typed


def squares(values: Matrix) -> Rational:
    """Return the sum of squares."""
    return sum((value**2 for value in values), Rational(0))


def residuals(data: ExactData, w: Matrix, b: Rational) -> Matrix:
    """Return ``y − b − X w``."""
    return (data.y - data.X * w).applyfunc(lambda value: value - b)


def quality_step(data: ExactData, w: Matrix, b: Rational, *, check: list[Block]) -> Step:
    """Return the table of residuals, RSS and R², and a check that the answer must pass."""
    r = residuals(data, w, b)
    rss, y_mean = squares(r), mean(data.y)
    tss = squares(data.y.applyfunc(lambda value: value - y_mean))
    rows = [[math(i + 1), typed(data.y[i]), data.y[i] - r[i], r[i], r[i] ** 2] for i in range(data.n_samples)]
    head = [math("i"), math("y"), math("ŷ"), math("r = y − ŷ"), math("r^2")]
    blocks: list[Block] = [
        table(head, rows, summary=[["sum", "", "", sum(r, Rational(0)), rss]]),
        sentence("The residual sum of squares is ", math("RSS =", rss), ". Its share of the spread of y gives"),
    ]
    if tss == 0:
        blocks[-1] = sentence(math("RSS =", rss), ". All y are equal, so ", math("R^2"), " is not defined.")
    else:
        blocks.append(
            formula(
                "R^2 = 1 −",
                over("RSS", math("∑", Script(fenced("y − ȳ"), above=math(2)))),
                "= 1 −",
                over(rss, tss),
                "=",
                1 - rss / tss,
            )
        )
    return step("Look at the residuals", *blocks, *check)


def matrix_or_number(values: Matrix) -> Math:
    """Return a matrix, or the number in it if it has one entry."""
    return factor(values[0]) if len(values) == 1 else math(values)


def orthogonality(centered_X: Matrix, r: Matrix) -> list[Block]:
    """Return the check of least squares: the residuals are orthogonal to every column."""
    return [
        sentence(
            "Check: at the minimum the residuals are orthogonal to every feature, and the product is indeed zero:"
        ),
        formula("∑ x r =" if centered_X.cols == 1 else "X^T r =", matrix_or_number(centered_X.T * r)),
    ]


def stationarity(centered_X: Matrix, r: Matrix, alpha: Rational, w: Matrix) -> list[Block]:
    """Return the check of ridge: the pull of the residuals balances the pull of the penalty."""
    return [
        sentence("Check: at the minimum the pull of the residuals balances the pull of the penalty:"),
        formula(
            "∑ x r =" if centered_X.cols == 1 else "X^T r =",
            matrix_or_number(centered_X.T * r),
            "=",
            factor(alpha),
            "·",
            matrix_or_number(w),
            "= α w",
        ),
    ]
