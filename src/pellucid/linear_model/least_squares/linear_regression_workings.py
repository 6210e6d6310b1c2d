"""Least squares by hand: the closed form of one feature, the normal equations of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sympy import Matrix, Rational

from pellucid.core.types import Data
from pellucid.linear_model.least_squares.line_workings import (
    center,
    intercept_step,
    mean,
    mean_formulas,
    orthogonality,
    products_step,
    quality_step,
    residuals,
    solve_step,
    squares,
)
from pellucid.show.document import Block, Document, Figure, Series, Step, formula, result, sentence, step, table
from pellucid.show.exact_data import MAX_CELLS, ExactData, exact_data, require
from pellucid.show.notation import Mathlike, Script, combination, factor, fenced, math, over, typed

if TYPE_CHECKING:
    from pellucid.linear_model.least_squares.linear_regression import LinearRegression


def linear_regression_workings(estimator: LinearRegression, X: Data, y: Data) -> Document:
    """Show how the least-squares coefficients are found."""
    require(estimator, "positive", False)
    data = exact_data(X, y, max_cells=MAX_CELLS)
    if data.n_features == 1 and any(value != data.X[0] for value in data.X):
        return _line(data, fit_intercept=bool(estimator.fit_intercept))
    return _plane(data, fit_intercept=bool(estimator.fit_intercept))


def _line(data: ExactData, *, fit_intercept: bool) -> Document:
    slope, steps = _slope_with_intercept(data) if fit_intercept else _slope_through_origin(data)
    w = Matrix([slope])
    b = mean(data.y) - slope * mean(data.X) if fit_intercept else Rational(0)
    r = residuals(data, w, b)
    steps += [quality_step(data, w, b, check=orthogonality(data.X, r)), step("Draw it", fitted_line_figure(data, w, b))]
    return Document("A straight line by least squares", opening(data, fit_intercept), tuple(steps), answer(w, b))


def _plane(data: ExactData, *, fit_intercept: bool) -> Document:
    centered = center(data, fit_intercept=fit_intercept)
    system, solving = solve_step(centered.X, centered.y, Rational(0))
    w = system.solution
    b = centered.intercept(w)
    r = residuals(data, w, b)
    steps = (
        *centered.steps,
        products_step(centered.X, centered.y),
        solving,
        intercept_step(data, centered, w),
        quality_step(data, w, b, check=orthogonality(centered.X, r)),
    )
    return Document("Least squares by the normal equations", opening(data, fit_intercept), steps, answer(w, b))


def answer(w: Matrix, b: Rational) -> dict[str, Any]:
    """Return the exact coefficients under the names of the fitted attributes."""
    return {"coef_": list(w), "intercept_": b}


def opening(data: ExactData, fit_intercept: bool, *penalty: Mathlike, where: Sequence[Block] = ()) -> tuple[Block, ...]:
    """Return the problem in a formula, what its letters stand for, and the data."""
    terms = ["− b" if fit_intercept else "", *minus_products(data)]
    loss = math("∑", Script(fenced(math("y", *terms)), above=math(2)))
    coefficients = "the coefficient w" if data.n_features == 1 else "the coefficients w"
    unknown = f"the intercept b and {coefficients}" if fit_intercept else coefficients
    return (
        sentence(f"Find {unknown} that make this as small as possible, summed over the rows of the table:"),
        formula("min", loss, *penalty),
        *where,
        *data.opening(),
    )


def fitted_line_figure(data: ExactData, w: Matrix, b: Rational) -> Figure:
    """Return the points and the fitted line."""
    x = tuple(map(float, data.X))
    ends = (min(x), max(x))
    points = Series(x, tuple(map(float, data.y)))
    line = Series(ends, tuple(float(b) + float(w[0]) * end for end in ends), joined=True)
    name = data.names[0] if data.names else "x"
    return Figure((points, line), name, "y", "The points and the fitted line")


def minus_products(data: ExactData) -> list[Mathlike]:
    """Return ``− w_1 x_1 − w_2 x_2``, term by term."""
    return [math("−", data.symbol("w", j), data.symbol("x", j)) for j in range(data.n_features)]


def _slope_with_intercept(data: ExactData) -> tuple[Rational, list[Step]]:
    x, y = data.X, data.y
    x_mean, y_mean = mean(x), mean(y)
    dx, dy = x.applyfunc(lambda value: value - x_mean), y.applyfunc(lambda value: value - y_mean)
    sxx, sxy = squares(dx), (dx.T * dy)[0]
    slope = sxy / sxx
    b = y_mean - slope * x_mean
    head = [math(text) for text in ("i", "x", "y", "x − x̄", "y − ȳ")]
    head += [Script(fenced(math("x − x̄")), above=math(2)), math(fenced("x − x̄"), fenced("y − ȳ"))]
    rows = [
        [math(i + 1), typed(x[i]), typed(y[i]), dx[i], dy[i], dx[i] ** 2, dx[i] * dy[i]] for i in range(data.n_samples)
    ]
    total_row = ["sum", "", "", sum(dx, Rational(0)), sum(dy, Rational(0)), sxx, sxy]
    return slope, [
        step("Find the means", *mean_formulas("x̄", "x", x), *mean_formulas("ȳ", "y", y)),
        step(
            "List the deviations from the means",
            table(head, rows, summary=[total_row]),
            sentence("The deviations sum to zero, as they must. The last two sums are ", *_sums(sxx, sxy), "."),
        ),
        step(
            "Divide to get the slope",
            sentence("The slope is the joint spread of x and y over the spread of x:"),
            formula("w =", over("S_xy", "S_xx"), "=", over(sxy, sxx), "=", slope),
        ),
        step(
            "Find the intercept",
            sentence("The line passes through the point of means:"),
            formula("b = ȳ − w x̄ =", y_mean, "−", factor(slope), "·", factor(x_mean), "=", b),
            sentence("The fitted line is"),
            result("ŷ =", combination([(b, ""), (slope, data.name(0))])),
        ),
    ]


def _sums(sxx: Rational, sxy: Rational) -> list[Any]:
    return [math("S_xx =", sxx), " and ", math("S_xy =", sxy)]


def _slope_through_origin(data: ExactData) -> tuple[Rational, list[Step]]:
    x, y = data.X, data.y
    sxx, sxy = squares(x), (x.T * y)[0]
    rows = [[math(i + 1), typed(x[i]), typed(y[i]), x[i] ** 2, x[i] * y[i]] for i in range(data.n_samples)]
    return sxy / sxx, [
        step(
            "List the products",
            sentence("There is no intercept, so nothing is subtracted."),
            table([math(t) for t in ("i", "x", "y", "x^2", "x y")], rows, summary=[["sum", "", "", sxx, sxy]]),
        ),
        step(
            "Divide to get the slope",
            formula("w =", over("∑ x y", "∑ x^2"), "=", over(sxy, sxx), "=", sxy / sxx),
            sentence("The fitted line is"),
            result("ŷ =", combination([(sxy / sxx, data.name(0))])),
        ),
    ]
