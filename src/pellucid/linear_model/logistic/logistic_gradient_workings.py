"""Batch gradient descent of logistic regression by hand: all rows, one step, again."""

from __future__ import annotations

from typing import Any

from mpmath import mp, mpf  # type: ignore[import-untyped]  # it comes with sympy
from sympy import Matrix, Rational

from pellucid.core.types import Data
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import ExactData, class_column, exact_features, exact_number, read_labels, sorted_classes
from pellucid.show.notation import Script, column, fenced, math, over, typed

DIGITS = 30
SHOWN = 4
MOST_STEPS = 10


def show_logistic_gradient(X: Data, y: Data, step_size: Any = 1, steps: int = 2, lam: Any = 0) -> Document:
    """Return steps of gradient descent on the logistic loss of two classes, summed over all rows, from weights of 0.

    Examples
    --------
    >>> work = show_logistic_gradient([[0], [1], [2]], [0, 0, 1], steps=1)
    >>> work.answer["first_gradient"]  # (1/2 - 0) 1 + (1/2 - 1) 2 = -1/2 and 1/2 + 1/2 - 1/2 = 1/2
    [-1/2, 1/2]
    """
    features, names, rounded = exact_features(X)
    labels = read_labels(y, features.rows)
    classes = sorted_classes(labels)
    if len(classes) != 2:
        raise ValueError(f"y must have two classes, got {len(classes)}.")
    if not isinstance(steps, int) or not 1 <= steps <= MOST_STEPS:
        raise ValueError(f"steps must be a whole number from 1 to {MOST_STEPS}, got {steps!r}.")
    rate, penalty = exact_number(step_size, "step_size")[0], exact_number(lam, "lam")[0]
    if rate <= 0 or penalty < 0:
        raise ValueError(f"step_size must be above 0 and lam at least 0, got {step_size!r} and {lam!r}.")
    data = ExactData(features, Matrix([classes.index(label) for label in labels]), names, rounded)
    with mp.workdps(DIGITS):
        rows = [[mpf(int(v.p)) / int(v.q) for v in features.row(i)] + [mpf(1)] for i in range(features.rows)]
        theta = [mpf(0)] * (features.cols + 1)
        made, path, first = [], [], list[Any]()
        for k in range(steps):
            theta, own, gradient, loss = _descend(k, rows, list(data.y), theta, rate, penalty)
            made.append(own)
            path.append(loss)
            first = first or gradient
    found = {
        "theta": [Rational(mp.nstr(v, 20)) for v in theta],
        "first_gradient": [Rational(mp.nstr(v, 20)) for v in first],
        "losses": [Rational(mp.nstr(v, 20)) for v in path],
    }
    power = Script(math("e"), above=math("− z"))
    added = ["+ λ w"] if penalty else []
    opening: tuple[Block, ...] = (
        *data.opening(class_column(labels)),
        sentence(f"With y = 1 for {classes[1]} and 0 for {classes[0]}, the probability of a row is"),
        formula("p =", over(1, math("1 +", power)), ", z = w^T x + b"),
        sentence("The gradient of the negative log likelihood needs no more than the errors:"),
        formula("∇_w = ∑", fenced("p_i − y_i"), "x_i", *added, ", ∇_b = ∑", fenced("p_i − y_i")),
        formula("w ← w − η ∇_w ,", "η =", typed(rate), *([", λ =", typed(penalty)] if penalty else [])),
        remark("The step subtracts the gradient of the loss, which is to add that of the likelihood."),
    )
    return Document("Logistic regression by gradient descent", opening, tuple(made), found)


def _descend(
    k: int, rows: list[list[Any]], y: list[Any], theta: list[Any], rate: Rational, penalty: Rational
) -> tuple[list[Any], Step, list[Any], Any]:
    """Return the weights after one step, the step in words, the gradient, and the loss before it."""
    z = [mp.fdot(row, theta) for row in rows]
    p = [1 / (1 + mp.exp(-v)) for v in z]
    errors = [a - int(b) for a, b in zip(p, y, strict=True)]
    weight = mpf(int(penalty.p)) / int(penalty.q)
    gradient = [
        mp.fdot(errors, [row[j] for row in rows]) + (weight * theta[j] if j < len(theta) - 1 else 0)
        for j in range(len(theta))
    ]
    loss = -mp.fsum(mp.log(a if t else 1 - a) for a, t in zip(p, y, strict=True))
    eta = mpf(int(rate.p)) / int(rate.q)
    moved = [t - eta * g for t, g in zip(theta, gradient, strict=True)]
    lines = [
        [math(i + 1), _shown(a), _shown(b), math(int(t)), _shown(e)]
        for i, (a, b, t, e) in enumerate(zip(z, p, y, errors, strict=True))
    ]
    blocks = (
        table([math("i"), math("z"), math("p"), math("y"), math("p − y")], lines),
        formula("∇ =", column(map(_shown, gradient))),
        sentence("The loss is ", _shown(loss), " here. The new weights, the intercept last:"),
        result("θ =", column(map(_shown, moved))),
    )
    return moved, step(f"Descent {k + 1}", *blocks), gradient, loss


def _shown(value: Any) -> Any:
    return typed(Rational(int(mp.nint(value * 10**SHOWN)), 10**SHOWN))
