"""A Gaussian by hand: mean and variance of largest likelihood, why the variance is too small, and a prior."""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Rational

from pellucid.core.types import Data
from pellucid.probability.normal_inverse_gamma import NormalInverseGamma
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import MAX_ROWS, exact_number, rounding_remark
from pellucid.show.notation import Math, Script, fenced, math, over, total, typed


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
