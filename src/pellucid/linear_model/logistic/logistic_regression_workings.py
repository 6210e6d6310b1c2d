"""Logistic regression by Newton's method, by hand: two steps in full, the rest as a table, and what the weights say.

All numbers have many digits; no code is shared with the solvers.
"""

from __future__ import annotations

import math as floats
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mpmath import mp, mpf  # type: ignore[import-untyped]  # it comes with sympy
from sympy import Matrix, Rational

from pellucid.core.types import Data
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import (
    ExactData,
    Label,
    class_column,
    exact_features,
    exact_parameter,
    read_labels,
    require,
    sorted_classes,
)
from pellucid.show.notation import Math, Script, column, fenced, math, matrix, over, typed

if TYPE_CHECKING:
    from pellucid.linear_model.logistic.logistic_regression import LogisticRegression

DIGITS = 30
"""Digits of the arithmetic."""

MOST_STEPS = 60

SHOWN = 4
"""Decimals that are written down."""

SHOWN_STEPS = 2


def logistic_regression_workings(estimator: LogisticRegression, X: Data, y: Data) -> Document:
    """Show two steps of Newton's method with an l2 penalty, and the odds that the weights stand for."""
    _require_l2(estimator)
    features, names, rounded = exact_features(X)
    labels = read_labels(y, features.rows)
    classes = sorted_classes(labels)
    data = ExactData(features, Matrix([classes.index(label) for label in labels]), names, rounded)
    C, fit_intercept = exact_parameter(estimator, "C"), bool(estimator.fit_intercept)
    with mp.workdps(DIGITS):
        task = _make_task(data, len(classes), C, fit_intercept=fit_intercept)
        path = _newton_path(task)
        steps = (
            _model_step(classes, C, fit_intercept),
            *(_newton_step(task, path, k) for k in range(min(SHOWN_STEPS, len(path) - 1))),
            _rest_step(path),
            _reading_step(data, task, classes, path[-1]),
        )
        blocks = [path[-1].theta[m * task.width : (m + 1) * task.width] for m in range(task.n_columns)]
        found = {
            "coef_": [block[: task.n_features] for block in blocks],
            "intercept_": [block[-1] if fit_intercept else mpf(0) for block in blocks],
        }
    return Document("Logistic regression", _opening(data, labels), steps, found)


def _require_l2(estimator: LogisticRegression) -> None:
    require(estimator, "class_weight", None)
    if estimator.l1_ratio not in (0, None) or estimator.penalty not in ("deprecated", "l2"):
        raise ValueError("l1_ratio must be 0 to show the work, got another penalty. Newton's steps need an l2 penalty.")
    if floats.isinf(estimator.C):
        raise ValueError("C must be finite to show the work, got inf. Without a penalty the weights may have no end.")
    if estimator.solver == "liblinear" and estimator.fit_intercept:
        raise ValueError("solver must not be 'liblinear' to show the work, which penalizes the intercept.")


def _shown(value: Any) -> Math:
    """Return a decimal, rounded."""
    return typed(Rational(int(mp.nint(value * 10**SHOWN)), 10**SHOWN))


def _opening(data: ExactData, labels: list[Label]) -> tuple[Block, ...]:
    return (
        sentence("Which class is how probable? The logarithm of the odds is taken to be linear in the features."),
        *data.opening(class_column(labels)),
        remark(f"Exponentials and logarithms have no end: all is computed to {DIGITS} digits and shown to {SHOWN}."),
    )


def _model_step(classes: list[Label], C: Rational, fit_intercept: bool) -> Step:
    linear = "w^T x + b" if fit_intercept else "w^T x"
    if len(classes) == 2:
        power = Script(math("e"), above=math("− z"))
        model: list[Block] = [
            sentence(f"The probability of {classes[1]} at x is"),
            formula("p =", over(1, math("1 +", power)), f", z = {linear}"),
        ]
    else:
        power = Script(math("e"), above=math("z_k"))
        model = [
            sentence("Every class has weights of its own and gets a share of the probability:"),
            formula("p_k =", over(power, math("∑", power)), ", z_k = w_k^T x" + (" + b_k" if fit_intercept else "")),
        ]
    return step(
        "Write down what is minimized",
        *model,
        sentence("The weights are best where the data are most probable, held back by a penalty on their squares:"),
        formula(math(C), "∑ −", math("log"), fenced("p_i"), "+", over(1, 2), "∑ w^2", "→ min"),
        sentence("Here ", math("p_i"), " is the probability of the class that row ", math("i"), " has."),
    )


def _newton_step(task: ExactTask, path: list[ExactIterate], k: int) -> Step:
    point, moved = path[k], path[k + 1]
    solving = _two_class_blocks(task, point) if task.n_columns == 1 else _several_class_blocks(task, point)
    return step(
        f"Newton's step {k + 1}",
        *solving,
        sentence("The new weights", " and the intercept" if task.width > task.n_features else "", " are"),
        *_weights(task, moved),
        sentence("The objective falls from ", _shown(point.objective), " to ", _shown(moved.objective), "."),
    )


def _two_class_blocks(task: ExactTask, point: ExactIterate) -> list[Block]:
    rows = [
        [math(i + 1), _shown(z[0]), _shown(p[0]), math(t[0]), _shown(p[0] - t[0]), _shown(p[0] * (1 - p[0]))]
        for i, (z, p, t) in enumerate(zip(point.Z, point.P, task.targets, strict=True))
    ]
    head = [math("i"), math("z"), math("p"), math("y"), math("p − y"), math("p", fenced("1 − p"))]
    d = _newton_direction(point)
    return [
        table(head, rows),
        sentence(
            "The gradient sums ", math("p − y"), " times the features, the Hessian ", math("p", fenced("1 − p")),
            " times their products" + (", both times C" if task.C != 1 else ""),
            "; the penalty adds the weights and, on the diagonal, ones:",
        ),
        formula("g =", column(map(_shown, point.gradient))),
        formula("H =", matrix([[_shown(v) for v in row] for row in point.hessian.tolist()])),
        sentence("Newton's step solves ", math("H d = − g"), ":"),
        formula("d =", column(map(_shown, d))),
    ]  # fmt: skip


def _several_class_blocks(task: ExactTask, point: ExactIterate) -> list[Block]:
    k, width = task.n_columns, task.width
    rows = [[math(i + 1), *map(_shown, p)] for i, p in enumerate(point.P)]
    gradient = [[_shown(v) for v in point.gradient[m * width : (m + 1) * width]] for m in range(k)]
    return [
        table([math("i"), *(math(f"p_{m + 1}") for m in range(k))], rows),
        sentence("The gradient has a row for each class:"),
        formula("G =", matrix(gradient)),
        sentence(
            f"The Hessian has {k * width} rows and as many columns, so the equations ", math("H d = − g"),
            " are not written out.",
        ),
    ]  # fmt: skip


def _weights(task: ExactTask, point: ExactIterate) -> list[Block]:
    blocks = [point.theta[m * task.width : (m + 1) * task.width] for m in range(task.n_columns)]
    if task.n_columns == 1:
        return [formula("θ =", column(map(_shown, blocks[0])))]
    return [formula("Θ =", matrix([[_shown(v) for v in block] for block in blocks]))]


def _rest_step(path: list[ExactIterate]) -> Step:
    rows = [
        [math(k), _shown(point.objective), f"{float(max(map(abs, point.gradient))):.1e}"]
        for k, point in enumerate(path)
    ]
    return step(
        "Go on until nothing changes",
        sentence("Close to the minimum every step about doubles the number of right digits:"),
        table(["step", "objective", "largest entry of the gradient"], rows),
    )


def _reading_step(data: ExactData, task: ExactTask, classes: list[Label], point: ExactIterate) -> Step:
    if task.n_columns > 1:
        return step(
            "Read the weights",
            *_weights(task, point),
            sentence(
                "A row per class", ", the intercept last" if task.width > task.n_features else "",
                ": where a class has a larger weight than another, more of that feature moves the odds towards it.",
            ),
        )  # fmt: skip
    rows = [
        [data.name(j) if data.names else data.symbol("x", j), _shown(point.theta[j]), _shown(mp.exp(point.theta[j]))]
        for j in range(task.n_features)
    ]
    blocks: list[Block] = [
        sentence(
            f"One more unit of a feature multiplies the odds of {classes[1]} by ",
            Script(math("e"), above=math("w")),
            ":",
        ),
        table(["feature", math("w"), math(Script(math("e"), above=math("w")))], rows),
    ]
    if task.width > task.n_features:
        b = point.theta[-1]
        blocks += [
            result("b =", _shown(b)),
            sentence("Where all features are 0, the odds are ", _shown(mp.exp(b)), " to 1."),
        ]
    return step("Read the weights", *blocks)


@dataclass(frozen=True)
class ExactIterate:
    """Weights, by class and then by feature with the intercept last, and what one step of Newton's method computes."""

    theta: list[Any]
    Z: list[list[Any]]
    P: list[list[Any]]
    objective: Any
    gradient: list[Any]
    hessian: Any


@dataclass(frozen=True)
class ExactTask:
    """The problem: rows with a 1 appended if there is an intercept, 0/1 targets per column of logits, ``C``."""

    rows: list[list[Any]]
    targets: list[list[int]]
    C: Any
    n_features: int

    @property
    def width(self) -> int:
        """Weights per column of logits."""
        return len(self.rows[0])

    @property
    def n_columns(self) -> int:
        """One for two classes, else one per class."""
        return len(self.targets[0])


def _make_task(data: ExactData, n_classes: int, C: Rational, *, fit_intercept: bool) -> ExactTask:
    """Return the problem in floating numbers of many digits."""
    ones = [mpf(1)] if fit_intercept else []
    rows = [[mpf(int(v.p)) / int(v.q) for v in data.X.row(i)] + ones for i in range(data.n_samples)]
    shown = [1] if n_classes == 2 else range(n_classes)
    targets = [[int(label == k) for k in shown] for label in data.y]
    return ExactTask(rows, targets, mpf(int(C.p)) / int(C.q), data.n_features)


def _newton_path(task: ExactTask) -> list[ExactIterate]:
    """Return the iterates from 0 until the gradient vanishes; a step that would climb is halved."""
    path = [_iterate(task, [mpf(0)] * (task.width * task.n_columns))]
    while len(path) <= MOST_STEPS and max(map(abs, path[-1].gradient)) > mpf(10) ** (8 - DIGITS):
        now, share = path[-1], mpf(1)
        d = _newton_direction(now)
        moved = _iterate(task, [t + v for t, v in zip(now.theta, d, strict=True)])
        while moved.objective > now.objective * (1 + mpf(10) ** (4 - DIGITS)):
            share /= 2
            moved = _iterate(task, [t + share * v for t, v in zip(now.theta, d, strict=True)])
        path.append(moved)
    return path


def _newton_direction(point: ExactIterate) -> list[Any]:
    """Return the solution of ``H d = -g``."""
    return list(mp.lu_solve(point.hessian, -mp.matrix(point.gradient)))


def _iterate(task: ExactTask, theta: list[Any]) -> ExactIterate:
    width, k = task.width, task.n_columns
    Z = [[mp.fdot(row, theta[m * width : (m + 1) * width]) for m in range(k)] for row in task.rows]
    P, loss = [], mpf(0)
    for z, t in zip(Z, task.targets, strict=True):
        total = sum(map(mp.exp, z)) + (1 if k == 1 else 0)
        P.append([mp.exp(v) / total for v in z])
        loss += mp.log(total) - mp.fdot(z, t)
    penalized = [j % width < task.n_features for j in range(width * k)]
    squares = sum(v * v for v, counts in zip(theta, penalized, strict=True) if counts)
    gradient = [
        task.C * sum((p[m] - t[m]) * row[j] for p, t, row in zip(P, task.targets, task.rows, strict=True))
        + (theta[m * width + j] if j < task.n_features else 0)
        for m in range(k)
        for j in range(width)
    ]
    return ExactIterate(theta, Z, P, task.C * loss + squares / 2, gradient, _hessian(task, P, penalized))


def _hessian(task: ExactTask, P: list[list[Any]], penalized: list[bool]) -> Any:
    width, k = task.width, task.n_columns
    H = mp.zeros(width * k)
    for p, row in zip(P, task.rows, strict=True):
        for m in range(k):
            for o in range(k):
                weight = task.C * p[m] * ((m == o) - p[o])
                for i in range(width):
                    for j in range(width):
                        H[m * width + i, o * width + j] += weight * row[i] * row[j]
    for j, counts in enumerate(penalized):
        H[j, j] += int(counts)
    if k > 1 and not all(penalized):  # equal intercepts for all classes change nothing: any curvature keeps them apart
        for m in range(k):
            for o in range(k):
                H[m * width + width - 1, o * width + width - 1] += 1
    return H
