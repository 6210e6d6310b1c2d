"""Gaussians of numbers and of rows by hand: mean and variance of largest likelihood, its bias, and a prior."""

from __future__ import annotations

from inspect import isclass
from typing import Any

import numpy as np
from sympy import Matrix, Rational, diag, eye, zeros

from pellucid.core.types import Data
from pellucid.probability.conjugate_priors import NormalInverseGamma, NormalInverseWishart
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import MAX_ROWS, ExactData, exact_features, exact_number, rounding_remark
from pellucid.show.notation import Math, Script, column, fenced, math, matrix, over, total, typed


def gaussian_workings(
    density: Any,  # noqa: ARG001  (workings are told what they show, and this one knows)
    X: Data,
    prior: NormalInverseGamma | None = None,
) -> Document:
    """Show how mean and variance are estimated and how biased they are, with a prior if one is given."""
    numbers = [exact_number(value, "X") for value in _column(X)]
    x = [value for value, _ in numbers]
    n, mean = len(x), sum(x, Rational(0)) / len(x)
    scatter = sum(((value - mean) ** 2 for value in x), Rational(0))
    steps = [_log_likelihood(), _mean_step(x, mean), _variance_step(x, mean, scatter), _bias_step(n, mean, x, scatter)]
    answer = {"mean": mean, "variance": scatter / n}
    if n > 1:
        steps.append(_unbiased_step(n, scatter))
    if prior is not None:
        prior_step, answer = _prior_step(n, mean, scatter, prior)
        steps.append(prior_step)
    elif scatter == 0:
        raise ValueError(f"X must hold two different values at least, got only {x[0]}: the variance would be 0.")
    notes = (rounding_remark(),) if any(rounded for _, rounded in numbers) else ()
    return Document("Mean and variance of a Gaussian", (*_opening(x), *notes), tuple(steps), answer)


def _column(X: Data) -> list[Any]:
    values = np.asarray(X)
    if values.size != max(values.shape, default=0) or not 1 <= values.size <= MAX_ROWS:
        raise ValueError(f"X must be a list of 1 to {MAX_ROWS} numbers to be worked by hand, got shape {values.shape}.")
    return list(values.ravel())


def _opening(x: list[Rational]) -> tuple[Block, ...]:
    listed = math(*(part for i, value in enumerate(x) for part in ([","] if i else []) + [typed(value)]))
    many = f" are {len(x)} independent draws from a normal density with mean "
    question = ". Which values of the two make them most likely?"
    return (sentence("The numbers ", listed, many, math("μ"), " and variance ", math("v"), question),)


def _squared(inside: str) -> Math:
    return Script(fenced(inside), above=math(2))


def _log_likelihood() -> Step:
    squares = math("∑", _squared("x_i − μ"))
    return step(
        "Write down the log likelihood",
        sentence("The log density of one number, summed over all of them:"),
        formula("ℓ", fenced("μ , v"), "= −", over("n", 2), "log", fenced("2 π v"), "−", over(squares, "2 v")),
    )


def _mean_step(x: list[Rational], mean: Rational) -> Step:
    return step(
        "Set the derivative in the mean to zero",
        formula(over("∂ ℓ", "∂ μ"), "=", over(math("∑", fenced("x_i − μ")), "v"), "= 0"),
        sentence("Whatever the variance, the deviations must cancel: the best mean is the average."),
        result("μ̂ = x̄ =", over(total([typed(value) for value in x]), len(x)), "=", mean),
    )


def _variance_step(x: list[Rational], mean: Rational, scatter: Rational) -> Step:
    n = len(x)
    rows = [[math(i + 1), typed(value), value - mean, (value - mean) ** 2] for i, value in enumerate(x)]
    return step(
        "Set the derivative in the variance to zero",
        formula(over("∂ ℓ", "∂ v"), "= −", over("n", "2 v"), "+", over("S", "2 v^2"), "= 0 ,"),
        sentence("where ", math("S"), " is the sum of the squared deviations from the mean:"),
        table(
            [math("i"), math("x_i"), math("x_i − x̄"), _squared("x_i − x̄")],
            rows,
            summary=[["sum", sum(x, Rational(0)), Rational(0), scatter]],
        ),
        sentence("Multiply by ", math("2 v^2"), " and solve:"),
        result("v̂ =", over("S", "n"), "=", over(scatter, n), *(["=", scatter / n] if (scatter / n).q != n else [])),
    )


def _bias_step(n: int, mean: Rational, x: list[Rational], scatter: Rational) -> Step:
    return step(
        "Is that right on average?",
        sentence(
            "Deviations are taken from the mean of the same numbers, and nothing is closer to them. "
            "Around the true mean the squares are larger:"
        ),
        formula("∑", _squared("x_i − μ"), "= S + n", _squared("x̄ − μ")),
        sentence("Try it on these numbers, with 0 in the place of ", math("μ"), ":"),
        formula(sum((value**2 for value in x), Rational(0)), "=", scatter, "+", n, "·", mean**2),
        sentence(
            "On average the left side is ",
            math("n σ^2"),
            " and the last term ",
            math("n ·", over("σ^2", "n"), "= σ^2"),
            ", the variance of a mean of ",
            math("n"),
            " numbers. So",
        ),
        formula("E", fenced("S", "[]"), "=", fenced("n − 1"), "σ^2"),
        result("E", fenced("v̂", "[]"), "=", over("n − 1", "n"), "σ^2 =", Rational(n - 1, n), "σ^2"),
        sentence("The estimate of largest likelihood has a bias of ", math("−", over("σ^2", n)), ": it is too small."),
    )


def _unbiased_step(n: int, scatter: Rational) -> Step:
    return step(
        "Divide by one less",
        sentence("Multiplying with ", over("n", "n − 1"), " removes the bias:"),
        formula("s^2 =", over("S", "n − 1"), "=", over(scatter, n - 1), "=", scatter / (n - 1)),
        remark(
            "Unbiased is not closer: S/n has the smaller mean squared error of the two. And the square root of an "
            "unbiased variance is a biased standard deviation."
        ),
    )


def _prior_step(
    n: int, mean: Rational, scatter: Rational, prior: NormalInverseGamma
) -> tuple[Step, dict[str, Rational]]:
    names = ("location", "pseudo_count", "shape", "scale")
    m, kappa, alpha, beta = (exact_number(getattr(prior, name), name)[0] for name in names)
    center = (kappa * m + n * mean) / (kappa + n)
    pull = kappa * n / (kappa + n) * (mean - m) ** 2
    variance = (2 * beta + scatter + pull) / (n + 2 * alpha + 3)
    blocks = (
        sentence(
            "The prior believes in the mean ",
            math("m =", m),
            ", with the weight of ",
            math("κ =", kappa),
            " numbers, and in a variance with ",
            math("α =", alpha),
            " and ",
            math("β =", beta),
            ". The means are averaged:",
        ),
        result("μ̂_MAP =", over("κ m + n x̄", "κ + n"), "=", center),
        sentence("and the squares get company: those of the prior, and what the two means are apart."),
        result(
            "v̂_MAP =",
            over(math("2 β + S +", over("κ n", "κ + n"), _squared("x̄ − m")), "n + 2 α + 3"),
            "=",
            over(2 * beta + scatter + pull, n + 2 * alpha + 3),
            "=",
            variance,
        ),
    )
    return step("Add the prior", *blocks), {"mean": center, "variance": variance}


T = math("T")


def multivariate_gaussian_workings(density: Any, X: Data, prior: NormalInverseWishart | None = None) -> Document:
    """Show how mean and covariance are estimated, with a normal-inverse-Wishart prior if one is given."""
    kind = "full" if isclass(density) else str(density.kind)
    features, names, rounded = exact_features(X)
    data = ExactData(features, zeros(features.rows, 1), names, rounded)
    n = features.rows
    mean = Matrix([sum(features.col(j), Rational(0)) / n for j in range(features.cols)])
    centered = features - Matrix([list(mean)] * n)
    scatter = centered.T * centered
    steps = [_log_likelihood_of_rows(), _mean_of_rows_step(features, mean), _scatter_step(centered, scatter)]
    if prior is None:
        covariance = _estimate(scatter, n, kind)
        steps.append(_covariance_step(scatter, n, kind, covariance))
    else:
        if kind != "full":
            raise ValueError(f"prior must be None to show the work of a {kind} covariance, got one.")
        made, mean, covariance = _prior_of_rows_step(n, mean, scatter, prior)
        steps.append(made)
    if covariance.det() == 0:
        raise ValueError(
            "X must vary in every direction to show the work, got a singular covariance. "
            "Leave out a column that depends on the others, or give a prior."
        )
    steps.append(_density_step(data, covariance))
    answer = {"mean": list(mean), "covariance": _stored(covariance, kind)}
    return Document("Mean and covariance of a Gaussian", _opening_of_rows(data), tuple(steps), answer)


def _stored(covariance: Matrix, kind: str) -> Any:
    if kind == "full":
        return covariance.tolist()
    return list(covariance.diagonal()) if kind == "diagonal" else covariance[0, 0]


def _opening_of_rows(data: ExactData) -> tuple[Block, ...]:
    return (
        sentence(
            f"The rows of X are {data.n_samples} independent draws from a normal density of {data.n_features} "
            "columns, with mean ",
            math("μ"),
            " and covariance ",
            math("Σ"),
            ". Which values of the two make them most likely?",
        ),
        formula("X =", matrix(data.X)),
        *data.notes(),
    )


def _log_likelihood_of_rows() -> Step:
    distance = math(Script(fenced("x_i − μ"), above=T), "Σ^−1", fenced("x_i − μ"))
    return step(
        "Write down the log likelihood",
        sentence("The log density of one row, summed over all of them; c has neither mean nor covariance in it:"),
        formula("ℓ = c −", over("n", 2), "log", fenced("Σ", "||"), "−", over(1, 2), "∑", distance),
    )


def _mean_of_rows_step(X: Matrix, mean: Matrix) -> Step:
    return step(
        "Set the derivative in the mean to zero",
        formula("Σ^−1 ∑", fenced("x_i − μ"), "= 0"),
        sentence("Whatever the covariance, the deviations must cancel: the best mean is the average of each column."),
        result(
            "μ̂ = x̄ =", over(1, X.rows), column([sum(X.col(j), Rational(0)) for j in range(X.cols)]), "=", column(mean)
        ),
    )


def _scatter_step(centered: Matrix, scatter: Matrix) -> Step:
    return step(
        "Multiply the deviations",
        sentence("Subtract the mean from every row:"),
        formula("D =", matrix(centered)),
        sentence(
            "The products of the deviations add up to the scatter: squares on the diagonal, products of two columns "
            "beside it."
        ),
        formula("S = ∑", fenced("x_i − x̄"), Script(fenced("x_i − x̄"), above=T), "= D^T D =", matrix(scatter)),
    )


def _estimate(scatter: Matrix, n: int, kind: str) -> Matrix:
    if kind == "full":
        return scatter / n
    if kind == "diagonal":
        return diag(*scatter.diagonal()) / n
    return eye(scatter.rows) * scatter.trace() / (n * scatter.rows)


def _covariance_step(scatter: Matrix, n: int, kind: str, covariance: Matrix) -> Step:
    p = scatter.rows
    words, rule = {
        "full": (
            "With the mean in place the derivative in the inverse covariance vanishes at",
            math(over(1, "n"), "S"),
        ),
        "diagonal": (
            "The columns are taken to be uncorrelated: each has its own variance, and the products beside the "
            "diagonal are left out.",
            math(over(1, "n"), "diag", fenced("S")),
        ),
        "spherical": (
            f"One variance for all {p} columns: the squares of all of them, divided by their number.",
            math(over(math("tr", fenced("S")), "n p"), "I"),
        ),
    }[kind]
    divided = [over(1, n), matrix(scatter), "="] if kind == "full" else []
    if kind == "spherical":
        divided = [over(scatter.trace(), n * p), "I ="]
    return step(
        "Set the derivative in the covariance to zero",
        sentence(words),
        result("Σ̂ =", rule, "=", *divided, matrix(covariance)),
        remark(
            "Divided by n it is too small on average, as deviations are taken from the mean of the same rows: ",
            math("E", fenced("Σ̂", "[]"), "=", over("n − 1", "n"), "Σ"),
            ".",
        ),
    )


def _prior_of_rows_step(
    n: int, mean: Matrix, scatter: Matrix, prior: NormalInverseWishart
) -> tuple[Step, Matrix, Matrix]:
    p = len(mean)
    m = Matrix([exact_number(value, "location")[0] for value in prior.location.tolist()])
    if len(m) != p:
        raise ValueError(f"prior must have dimension {p}, as X has, got {len(m)}.")
    kappa, nu = (exact_number(getattr(prior, name), name)[0] for name in ("pseudo_count", "degrees"))
    psi = Matrix([[exact_number(value, "scale")[0] for value in row] for row in prior.scale.tolist()])
    gap = mean - m
    center = (kappa * m + n * mean) / (kappa + n)
    whole = psi + scatter + kappa * n / (kappa + n) * gap * gap.T
    covariance = whole / (nu + n + p + 2)
    apart = math(over("κ n", "κ + n"), fenced("x̄ − m"), Script(fenced("x̄ − m"), above=T))
    made = step(
        "Add the prior",
        sentence(
            "The prior believes in the mean m with the weight of ",
            math("κ =", kappa),
            " rows, and in a covariance with ",
            math("ν =", nu),
            " degrees and the scale ",
            math("Ψ"),
            ":",
        ),
        formula("m =", column(m), ", Ψ =", matrix(psi)),
        sentence(
            "The means are averaged, and the scatter gets company: that of the prior, and what the means are apart."
        ),
        result("μ̂_MAP =", over("κ m + n x̄", "κ + n"), "=", column(center)),
        result("Σ̂_MAP =", over(math("Ψ + S +", apart), "ν + n + p + 2"), "=", matrix(covariance)),
    )
    return made, center, covariance


def _density_step(data: ExactData, covariance: Matrix) -> Step:
    p = data.n_features
    correlations: list[Block] = []
    for i in range(p):
        for j in range(i + 1, p):
            if covariance[i, j]:
                squared = covariance[i, j] ** 2 / (covariance[i, i] * covariance[j, j])
                correlations.append(_correlation(i, j, covariance, squared))
    words = "Its determinant and its inverse make it a density of rows:"
    return step(
        "What the covariance says",
        *(
            [sentence("The square of a correlation is the part of one column's variance that the other explains:")]
            if correlations
            else []
        ),
        *correlations,
        sentence(words),
        formula(fenced("Σ̂", "||"), "=", covariance.det(), ", Σ̂^−1 =", matrix(covariance.inv())),
    )


def _correlation(i: int, j: int, covariance: Matrix, squared: Rational) -> Block:
    square: Math = over(Script(fenced(covariance[i, j]), above=math(2)), math(covariance[i, i], "·", covariance[j, j]))
    return formula(f"ρ_{i + 1}{j + 1}^2 =", square, "=", squared)
