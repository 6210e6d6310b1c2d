"""The step that removes the intercept from a regression, and the one that brings it back."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Matrix, Rational, zeros

from pellucid.workings.document import Formula, Step, Table, formula, result, sentence, step, table
from pellucid.workings.exact_data import ExactData
from pellucid.workings.line_breaking import fits
from pellucid.workings.notation import Math, Mathlike, combination, factor, math, over, total, typed


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


def mean_formulas(symbol: Mathlike, variable: Mathlike, values: Matrix) -> list[Formula]:
    """Return ``x̄ = (1 + 2 + 3) / 3 = 2``; a sum too long for a numerator comes first, on lines of its own."""
    n, terms = len(values), total([typed(value) for value in values])
    at_once = math(symbol, "=", over(terms, n), "=", mean(values))
    if fits(at_once):
        return [Formula(at_once)]
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
