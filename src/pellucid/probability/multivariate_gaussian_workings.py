"""A Gaussian of several columns by hand: mean, scatter, covariance of each kind, what it says, and a prior."""

from __future__ import annotations

from inspect import isclass
from typing import Any

from sympy import Matrix, Rational, diag, eye, zeros

from pellucid.core.types import Data
from pellucid.probability.normal_inverse_wishart import NormalInverseWishart
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step
from pellucid.show.exact_data import ExactData, exact_features, exact_number
from pellucid.show.notation import Math, Script, column, fenced, math, matrix, over

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
    steps = [_log_likelihood(), _mean_step(features, mean), _scatter_step(centered, scatter)]
    if prior is None:
        covariance = _estimate(scatter, n, kind)
        steps.append(_covariance_step(scatter, n, kind, covariance))
    else:
        if kind != "full":
            raise ValueError(f"prior must be None to show the work of a {kind} covariance, got one.")
        made, mean, covariance = _prior_step(n, mean, scatter, prior)
        steps.append(made)
    if covariance.det() == 0:
        raise ValueError(
            "X must vary in every direction to show the work, got a singular covariance. "
            "Leave out a column that depends on the others, or give a prior."
        )
    steps.append(_density_step(data, covariance))
    answer = {"mean": list(mean), "covariance": _stored(covariance, kind)}
    return Document("Mean and covariance of a Gaussian", _opening(data), tuple(steps), answer)


def _stored(covariance: Matrix, kind: str) -> Any:
    if kind == "full":
        return covariance.tolist()
    return list(covariance.diagonal()) if kind == "diagonal" else covariance[0, 0]


def _opening(data: ExactData) -> tuple[Block, ...]:
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


def _log_likelihood() -> Step:
    distance = math(Script(fenced("x_i − μ"), above=T), "Σ^−1", fenced("x_i − μ"))
    return step(
        "Write down the log likelihood",
        sentence("The log density of one row, summed over all of them; c has neither mean nor covariance in it:"),
        formula("ℓ = c −", over("n", 2), "log", fenced("Σ", "||"), "−", over(1, 2), "∑", distance),
    )


def _mean_step(X: Matrix, mean: Matrix) -> Step:
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


def _prior_step(n: int, mean: Matrix, scatter: Matrix, prior: NormalInverseWishart) -> tuple[Step, Matrix, Matrix]:
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
