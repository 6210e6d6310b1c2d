"""Steps that regressions by hand share: the intercept removed and brought back, normal equations, quality of a fit."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Matrix, Rational, eye, zeros

from pellucid.show.document import Block, FormulaLine, Step, Table, formula, remark, result, sentence, step, table
from pellucid.show.eigenpairs import Elimination, eliminate
from pellucid.show.exact_data import ExactData
from pellucid.show.notation import (
    Math,
    Mathlike,
    Script,
    combination,
    factor,
    fenced,
    math,
    matrix,
    over,
    total,
    typed,
)
from pellucid.show.text_layout import fits


@dataclass(frozen=True)
class Centered:
    """Data less their means; without an intercept the means are 0 and nothing was subtracted."""

    X: Matrix
    y: Matrix
    x_means: tuple[Rational, ...]
    y_mean: Rational
    steps: tuple[Step, ...]

    def intercept(self, w: Matrix) -> Rational:
        """Return the intercept that belongs to the coefficients."""
        return self.y_mean - sum((w[j] * mean for j, mean in enumerate(self.x_means)), Rational(0))


def center(data: ExactData, *, fit_intercept: bool) -> Centered:
    """Return the data with their means subtracted, and the step that says so."""
    p = data.n_features
    if not fit_intercept:
        return Centered(data.X, data.y, (Rational(0),) * p, Rational(0), ())
    x_means = tuple(mean(data.X.col(j)) for j in range(p))
    y_mean = mean(data.y)
    X, y = subtract_means(data.X), subtract_means(data.y)
    explained = step(
        "Subtract the means",
        sentence(
            f"The fitted {shape(data)} passes through the point of means. So subtract the mean of every column, "
            "solve without an intercept, and find the intercept at the end."
        ),
        *(line for j in range(p) for line in mean_formulas(bar("x", data, j), data.symbol("x", j), data.X.col(j))),
        *mean_formulas("ȳ", "y", data.y),
        _centered_table(data, X, y),
    )
    return Centered(X, y, x_means, y_mean, (explained,))


def chosen_line_step(data: ExactData, w: Matrix, b: Rational, *, has_intercept: bool) -> Step:
    """Return the line that a chosen penalty makes of all rows."""
    return step(
        "The line of this penalty",
        *(result(data.symbol("w", j), "=", w[j]) for j in range(data.n_features)),
        *([result("b =", b)] if has_intercept else []),
        remark("It is fitted to all rows: those that were left out count again."),
    )


def shape(data: ExactData) -> str:
    """Return what the fitted function looks like."""
    return "line" if data.n_features == 1 else "plane"


def mean(values: Matrix) -> Rational:
    """Return the arithmetic mean."""
    return sum(values, Rational(0)) / len(values)


def subtract_means(columns: Matrix) -> Matrix:
    """Return the matrix with the mean of each column subtracted."""
    return Matrix.hstack(*[columns.col(j) - mean(columns.col(j)) * ones(columns.rows) for j in range(columns.cols)])


def ones(n: int) -> Matrix:
    """Return a column of ones."""
    return zeros(n, 1).applyfunc(lambda _: Rational(1))


def bar(letter: str, data: ExactData, j: int) -> Math:
    """Return the symbol of a mean, ``x̄_j``."""
    return data.symbol(f"{letter}\u0304", j)


def mean_formulas(symbol: Mathlike, variable: Mathlike, values: Matrix) -> list[FormulaLine]:
    """Return ``x̄ = (1 + 2 + 3) / 3 = 2``; a sum too long for a numerator comes first, on lines of its own."""
    n, terms = len(values), total([typed(value) for value in values])
    at_once = math(symbol, "=", over(terms, n), "=", mean(values))
    if fits(at_once):
        return [FormulaLine(at_once)]
    whole = sum(values, Rational(0))
    return [
        formula("∑", variable, "=", terms, "=", typed(whole)),
        formula(symbol, "=", over(typed(whole), n), "=", mean(values)),
    ]


def intercept_step(data: ExactData, centered: Centered, w: Matrix) -> Step:
    """Return the step that finds the intercept and writes the fitted function down."""
    b = centered.intercept(w)
    fitted = result("ŷ =", combination([(b, ""), *((w[j], data.name(j)) for j in range(len(w)))]))
    if not centered.steps:
        return step("Write the answer", sentence("There is no intercept, so the fitted function is"), fitted)
    means = [math("−", data.symbol("w", j), bar("x", data, j)) for j in range(len(w))]
    numbers: list[Mathlike] = []
    for j, x_mean in enumerate(centered.x_means):
        numbers += ["−", factor(w[j]), "·", factor(x_mean)]
    return step(
        "Find the intercept",
        sentence(f"The fitted {shape(data)} passes through the point of means:"),
        formula("b =", total([math("ȳ"), *means]), "=", centered.y_mean, *numbers, "=", b),
        sentence("The fitted function is"),
        fitted,
    )


def _centered_table(data: ExactData, X: Matrix, y: Matrix) -> Table:
    p = data.n_features
    head = [math("i"), *(math(data.symbol("x", j), "−", bar("x", data, j)) for j in range(p)), math("y − ȳ")]
    rows = [[math(i + 1), *X.row(i), y[i]] for i in range(data.n_samples)]
    return table(head, rows, caption="The centered data; from here on X and y stand for these")


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
