"""LassoCV by hand: every part of the rows left out once, for every penalty, and the best of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import check_cv
from sympy import Matrix, Rational, zeros

from pellucid.core.types import Data
from pellucid.linear_model.least_squares.line_workings import chosen_line_step, mean, subtract_means
from pellucid.linear_model.sparse_regression.elastic_net_exact_workings import ElasticNetProblem
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import ExactData, exact_data, exact_number
from pellucid.show.notation import Script, Words, fenced, math, over, typed

if TYPE_CHECKING:
    from pellucid.linear_model.sparse_regression.elastic_net_cv import LassoCV

MOST_ROWS = 8
MOST_PENALTIES = 4
MOST_FOLDS = 4
MOST_FEATURES = 3

Line = tuple[Matrix, Rational]
"""Coefficients and intercept."""


def lasso_cv_workings(estimator: LassoCV, X: Data, y: Data) -> Document:
    """Show the errors of each penalty on the rows left out, and the line of the penalty that wins."""
    data = exact_data(X, y, max_rows=MOST_ROWS, max_features=MOST_FEATURES)
    penalties = _penalties(estimator)
    folds = [test.tolist() for _, test in check_cv(estimator.cv).split(np.zeros(data.n_samples))]
    if len(folds) > MOST_FOLDS:
        raise ValueError(f"cv must make at most {MOST_FOLDS} parts to be worked by hand, got {len(folds)}. Set cv=3.")
    tried = [[_left_out(data, alpha, fold, estimator) for fold in folds] for alpha in penalties]
    errors = [[error for _, error in of_penalty] for of_penalty in tried]
    scores = [sum(of_penalty, Rational(0)) / len(folds) for of_penalty in errors]
    best = min(range(len(penalties)), key=lambda k: (scores[k], k))
    w, b = _line(data, list(range(data.n_samples)), penalties[best], estimator)
    rows = [[typed(alpha), score, _decimal(score)] for alpha, score in zip(penalties, scores, strict=True)]
    steps = [
        *(_penalty_step(data, *one, folds) for one in zip(penalties, tried, scores, strict=True)),
        step(
            "Choose",
            table([math("α"), "mean of the errors", ""], rows),
            sentence("The smallest wins, of equal ones the larger penalty:"),
            result("α =", typed(penalties[best])),
        ),
        chosen_line_step(data, w, b, has_intercept=bool(estimator.fit_intercept)),
    ]
    answer: dict[str, Any] = {
        "alpha_": penalties[best],
        "alphas_": penalties,
        "mse_path_": errors,
        "coef_": list(w),
        "intercept_": b,
    }
    return Document("The lasso with a chosen penalty", _opening(data, len(folds)), tuple(steps), answer)


def _penalties(estimator: LassoCV) -> list[Rational]:
    """Return the penalties, the largest first, as the program takes them."""
    if np.ndim(estimator.alphas) != 1:
        raise ValueError(
            f"alphas must be a list to be worked by hand, got {estimator.alphas!r}. Write alphas=[1, 0.1]."
        )
    found = sorted((exact_number(value, "alphas")[0] for value in np.asarray(estimator.alphas).tolist()), reverse=True)
    if not 1 <= len(found) <= MOST_PENALTIES or found[-1] <= 0:
        wanted = f"alphas must be 1 to {MOST_PENALTIES} numbers above 0 to be worked by hand"
        raise ValueError(f"{wanted}, got {estimator.alphas!r}.")
    return found


def _line(data: ExactData, rows: list[int], alpha: Rational, estimator: LassoCV) -> Line:
    """Return the exact lasso of some rows."""
    X, y = data.X[rows, :], data.y[rows, :]
    means, middle = [mean(X.col(j)) for j in range(X.cols)], mean(y)
    if estimator.fit_intercept:
        X, y = subtract_means(X), subtract_means(y)
    else:
        means, middle = [Rational(0)] * X.cols, Rational(0)
    problem = ElasticNetProblem(X, y, alpha, Rational(0), bool(estimator.positive))
    w = problem.minimum(problem.sweep(zeros(X.cols, 1))[0])
    if not problem.is_unique(w):
        raise ValueError(
            f"X must leave one minimizer on every part of the rows, got several at alpha={float(alpha):g}."
        )
    return w, middle - sum((m * value for m, value in zip(means, w, strict=True)), Rational(0))


def _left_out(data: ExactData, alpha: Rational, fold: list[int], estimator: LassoCV) -> tuple[Line, Rational]:
    """Return the line of the other rows, and its mean squared error on those of a part."""
    w, b = _line(data, [i for i in range(data.n_samples) if i not in fold], alpha, estimator)
    errors = [data.y[i] - (data.X.row(i) * w)[0] - b for i in fold]
    return (w, b), sum((error**2 for error in errors), Rational(0)) / len(fold)


def _opening(data: ExactData, n_folds: int) -> tuple[Block, ...]:
    return (
        sentence(
            f"Which penalty predicts rows best that it has not seen? The rows are cut into {n_folds} parts in their "
            "order. Each part is left out once; the lasso of the others predicts it:"
        ),
        formula("e_k =", over(1, "n_k"), "∑", Script(fenced("y_i − ŷ_i"), above=math(2))),
        *data.opening(),
        remark("How a lasso is found for one penalty, the workings of Lasso show; here only its line is written."),
    )


def _penalty_step(
    data: ExactData, alpha: Rational, tried: list[tuple[Line, Rational]], score: Rational, folds: list[list[int]]
) -> Step:
    heads = [math("k"), "rows left out", *(data.symbol("w", j) for j in range(data.n_features)), math("b"), math("e_k")]
    rows = [
        [math(k + 1), ", ".join(str(i + 1) for i in fold), *map(math, w), math(b), math(error)]
        for k, (fold, ((w, b), error)) in enumerate(zip(folds, tried, strict=True))
    ]
    return step(f"The penalty {float(alpha):g}", table(heads, rows), formula(over(1, len(folds)), "∑ e_k =", score))


def _decimal(value: Rational) -> Words:
    return Words(f"{float(value):.5g}")
