"""The expected error of ridge regression by hand, for a truth that is known: bias squared, variance and noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Matrix, Rational, eye

from pellucid.core.types import Data
from pellucid.show.document import Block, Document, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import exact_features, exact_number, numbered_table
from pellucid.show.notation import column, math, matrix, typed

MOST_ROWS = 5
MOST_COLUMNS = 3


def show_ridge_error(X: Data, w: Data, alpha: Any = 1, noise: Any = 1, at: Data = None) -> Document:
    """Return bias², variance and noise of the prediction at a row, for targets ``X w`` plus noise of this variance.

    Without ``at`` the row is the first of ``X``. No intercept is fitted.

    Examples
    --------
    >>> work = show_ridge_error([[1], [2]], [3], alpha=5, noise=2)
    >>> work.answer  # the slope is shrunk by 5 / (5 + 5): bias -3/2, variance 2 · 5 / 100
    {'bias2': 9/4, 'variance': 1/10, 'noise': 2, 'error': 87/20}
    """
    rows, _, _ = exact_features(X, max_rows=MOST_ROWS, max_features=MOST_COLUMNS)
    truth = Matrix([exact_number(value, "w")[0] for value in np.asarray(w).ravel()])
    lam, sigma2 = exact_number(alpha, "alpha")[0], exact_number(noise, "noise")[0]
    if truth.rows != rows.cols or lam < 0 or sigma2 < 0:
        raise ValueError(
            f"w must have {rows.cols} numbers, alpha and noise must be at least 0, got {truth.rows} numbers, {alpha!r} "
            f"and {noise!r}."
        )
    x = rows.row(0).T if at is None else Matrix([exact_number(value, "at")[0] for value in np.asarray(at).ravel()])
    if x.rows != rows.cols:
        raise ValueError(f"at must have {rows.cols} numbers, got {x.rows}.")
    A = rows.T * rows + lam * eye(rows.cols)
    if A.det() == 0:
        raise ValueError("alpha must be above 0 where X'X has no inverse, got 0.")
    inverse = A.inv()
    mean = inverse * rows.T * rows * truth
    spread = sigma2 * inverse * rows.T * rows * inverse
    bias = (x.T * (mean - truth))[0]
    variance = (x.T * spread * x)[0]
    total = bias**2 + variance + sigma2
    steps = (
        step(
            "What ridge finds on average",
            sentence("Ridge is linear in the targets, and the noise has mean 0:"),
            formula("A = X^T X + λ I =", matrix(A), ", A^−1 =", matrix(inverse)),
            formula("E ŵ = A^−1 X^T X w =", column(list(mean))),
            formula("E ŵ − w = − λ A^−1 w =", column(list(mean - truth))),
            sentence("Without a penalty this is 0: least squares has no bias."),
        ),
        step(
            "How much it varies",
            formula("Cov ŵ = σ^2 A^−1 X^T X A^−1 =", matrix(spread)),
            remark(
                "Some notes carry a factor d, the number of columns, here. There is none: each column is in the sum."
            ),
        ),
        step(
            "The error at a row",
            formula("x =", column(list(x)), ", x^T w =", (x.T * truth)[0]),
            formula("bias = x^T", "E ŵ − x^T w =", bias),
            formula("variance = x^T Cov ŵ x =", variance),
            table(
                ["part", "value"],
                [["bias²", bias**2], ["variance", variance], ["noise", sigma2]],
                summary=[["sum", total]],
            ),
            result("E e^2 =", total),
        ),
        _shrinkage_step(rows, truth, sigma2, x),
    )
    opening: tuple[Block, ...] = (
        sentence(
            "The targets are ", math("y = X w + e"), ", with the true weights below and noise of variance ",
            math("σ^2 =", typed(sigma2)), ". Ridge has ", math("λ =", typed(lam)), ".",
        ),
        numbered_table(rows, [math(f"x_{j + 1}" if rows.cols > 1 else "x") for j in range(rows.cols)], caption="X"),
        formula("w =", column(list(truth))),
    )  # fmt: skip
    answer = {"bias2": bias**2, "variance": variance, "noise": sigma2, "error": total}
    return Document("The expected error of ridge", opening, steps, answer)


def _shrinkage_step(rows: Matrix, truth: Matrix, sigma2: Rational, x: Matrix) -> Any:
    """Return bias and variance for some penalties: the one rises, the other falls."""
    lines = []
    for lam in (Rational(1, 10), Rational(1), Rational(10)):
        inverse = (rows.T * rows + lam * eye(rows.cols)).inv()
        bias = (x.T * (inverse * rows.T * rows * truth - truth))[0]
        variance = (x.T * (sigma2 * inverse * rows.T * rows * inverse) * x)[0]
        told = [f"{float(value):.5g}" for value in (bias**2, variance, bias**2 + variance + sigma2)]
        lines.append([typed(lam), *told])
    return step(
        "Other penalties",
        sentence("A larger penalty trades variance for bias; the best one is in between:"),
        table([math("λ"), "bias²", "variance", "error"], lines),
    )
