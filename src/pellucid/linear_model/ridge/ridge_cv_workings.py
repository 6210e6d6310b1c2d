"""RidgeCV by hand: every row left out without a second fit, for every penalty, and the best of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Matrix, Rational, eye, ones

from pellucid.core.types import Data
from pellucid.linear_model.least_squares.line_workings import chosen_line_step
from pellucid.show.document import Block, Document, Step, formula, result, sentence, step, table
from pellucid.show.exact_data import ExactData, exact_data, exact_number, require
from pellucid.show.notation import Script, Words, fenced, math, minus, over, typed

if TYPE_CHECKING:
    from pellucid.linear_model.ridge.ridge_cv import RidgeCV

MOST_ROWS = 6
MOST_PENALTIES = 4


def ridge_cv_workings(estimator: RidgeCV, X: Data, y: Data) -> Document:
    """Show the left-out errors of each penalty, and the line of the penalty that wins."""
    require(estimator, "cv", None)
    require(estimator, "scoring", None)
    data = exact_data(X, y, max_rows=MOST_ROWS)
    penalties = [exact_number(value, "alphas")[0] for value in np.atleast_1d(np.asarray(estimator.alphas)).tolist()]
    if len(penalties) > MOST_PENALTIES:
        raise ValueError(f"alphas must be at most {MOST_PENALTIES} to be worked by hand, got {len(penalties)}.")
    has_intercept = bool(estimator.fit_intercept)
    tried = [_left_out(data, lam, has_intercept) for lam in penalties]
    scores = [sum((error**2 for error in errors), Rational(0)) / data.n_samples for _, errors in tried]
    best = min(range(len(penalties)), key=lambda k: (scores[k], k))
    w, b = _line(data, penalties[best], has_intercept)
    steps = [_penalty_step(data, lam, *one, score) for lam, one, score in zip(penalties, tried, scores, strict=True)]
    rows = [
        [typed(lam), score, Words(minus(f"{float(score):.5g}"))] for lam, score in zip(penalties, scores, strict=True)
    ]
    steps.append(
        step(
            "Choose",
            table([math("α"), "mean squared left-out error", ""], rows),
            sentence("The smallest wins, of equal ones the first:"),
            result("α =", typed(penalties[best])),
        )
    )
    steps.append(chosen_line_step(data, w, b, has_intercept=has_intercept))
    answer: dict[str, Any] = {
        "alpha_": penalties[best],
        "best_score_": -scores[best],
        "coef_": list(w),
        "intercept_": b,
        "scores": scores,
    }
    return Document("Ridge regression with a chosen penalty", _opening(data), tuple(steps), answer)


def _hat(data: ExactData, lam: Rational, has_intercept: bool) -> Matrix:
    """Return the matrix that turns targets into predictions."""
    n = data.n_samples
    mean = ones(n, n) / n if has_intercept else Matrix.zeros(n, n)
    centered = data.X - mean * data.X
    A = centered.T * centered + lam * eye(data.n_features)
    return mean + centered * A.inv() * centered.T


def _left_out(data: ExactData, lam: Rational, has_intercept: bool) -> tuple[Matrix, list[Rational]]:
    """Return the hat matrix and the error of each row when it is left out."""
    H = _hat(data, lam, has_intercept)
    residuals = data.y - H * data.y
    if any(H[i, i] == 1 for i in range(H.rows)):
        raise ValueError(f"alphas must be above 0 where a row alone decides its prediction, got {lam}.")
    return H, [residuals[i] / (1 - H[i, i]) for i in range(H.rows)]


def _line(data: ExactData, lam: Rational, has_intercept: bool) -> tuple[Matrix, Rational]:
    n = data.n_samples
    mean = Matrix([[sum(data.X.col(j), Rational(0)) / n for j in range(data.n_features)]])
    middle = sum(data.y, Rational(0)) / n
    if not has_intercept:
        mean, middle = mean * 0, Rational(0)
    centered = data.X - ones(n, 1) * mean
    w = (centered.T * centered + lam * eye(data.n_features)).inv() * centered.T * (data.y - ones(n, 1) * middle)
    return w, middle - (mean * w)[0]


def _opening(data: ExactData) -> tuple[Block, ...]:
    leave = over("y_i − ŷ_i", "1 − h_ii")
    return (
        sentence("Which penalty predicts a row best that it has not seen? Each row is left out once:"),
        *data.opening(),
        sentence("Ridge predicts ", math("ŷ = H y"), ". When row i is left out, its error needs no second fit:"),
        formula("e_i =", leave),
        sentence("because a row pulls its own prediction towards its target by the share ", math("h_ii"), "."),
    )


def _penalty_step(data: ExactData, lam: Rational, H: Matrix, errors: list[Rational], score: Rational) -> Step:
    fitted = H * data.y
    rows = [[math(i + 1), typed(data.y[i]), math(fitted[i]), math(H[i, i]), math(errors[i])] for i in range(H.rows)]
    square = Script(fenced("e_i"), above=math(2))
    return step(
        f"The penalty {float(lam):g}",
        table([math("i"), math("y_i"), math("ŷ_i"), math("h_ii"), math("e_i")], rows),
        formula(over(1, data.n_samples), "∑", square, "=", score),
    )
