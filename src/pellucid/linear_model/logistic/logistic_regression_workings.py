"""Logistic regression by Newton's method, by hand: two steps in full, the rest as a table, and what the weights say."""

from __future__ import annotations

import math as floats
from typing import Any

from mpmath import mp, mpf  # type: ignore[import-untyped]  # it comes with sympy
from sympy import Matrix, Rational

from pellucid.core.types import Data
from pellucid.linear_model.logistic.logistic_exact_workings import (
    DIGITS,
    Iterate,
    Task,
    make_task,
    newton_direction,
    newton_path,
)
from pellucid.workings.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.workings.exact_data import ExactData, exact_features
from pellucid.workings.exact_labels import read_labels, sorted_classes
from pellucid.workings.notation import Math, Script, column, fenced, math, matrix, over, typed
from pellucid.workings.parameters import exact_parameter, require

SHOWN = 4
"""Decimals that are written down."""

SHOWN_STEPS = 2


def logistic_regression_workings(estimator: Any, X: Data, y: Data) -> Document:
    """Show two steps of Newton's method with an l2 penalty, and the odds that the weights stand for."""
    _require_l2(estimator)
    features, names, rounded = exact_features(X)
    labels = read_labels(y, features.rows)
    classes = sorted_classes(labels)
    data = ExactData(features, Matrix([classes.index(label) for label in labels]), names, rounded)
    C, fit_intercept = exact_parameter(estimator, "C"), bool(estimator.fit_intercept)
    with mp.workdps(DIGITS):
        task = make_task(data, len(classes), C, fit_intercept=fit_intercept)
        path = newton_path(task)
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


def _require_l2(estimator: Any) -> None:
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


def _opening(data: ExactData, labels: list[Any]) -> tuple[Block, ...]:
    head = [math("i"), *(data.symbol("x", j) for j in range(data.n_features)), "class"]
    rows = [[math(i + 1), *map(typed, data.X.row(i)), str(labels[i])] for i in range(data.n_samples)]
    return (
        sentence("Which class is how probable? The logarithm of the odds is taken to be linear in the features."),
        table(head, rows, caption="The data"),
        *data.notes(),
        remark(f"Exponentials and logarithms have no end: all is computed to {DIGITS} digits and shown to {SHOWN}."),
    )


def _model_step(classes: list[Any], C: Rational, fit_intercept: bool) -> Step:
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


def _newton_step(task: Task, path: list[Iterate], k: int) -> Step:
    at, moved = path[k], path[k + 1]
    solving = _two_class_blocks(task, at) if task.n_columns == 1 else _several_class_blocks(task, at)
    return step(
        f"Newton's step {k + 1}",
        *solving,
        sentence("The new weights", " and the intercept" if task.width > task.n_features else "", " are"),
        *_weights(task, moved),
        sentence("The objective falls from ", _shown(at.objective), " to ", _shown(moved.objective), "."),
    )


def _two_class_blocks(task: Task, at: Iterate) -> list[Block]:
    rows = [
        [math(i + 1), _shown(z[0]), _shown(p[0]), math(t[0]), _shown(p[0] - t[0]), _shown(p[0] * (1 - p[0]))]
        for i, (z, p, t) in enumerate(zip(at.Z, at.P, task.targets, strict=True))
    ]
    head = [math("i"), math("z"), math("p"), math("y"), math("p − y"), math("p", fenced("1 − p"))]
    d = newton_direction(at)
    return [
        table(head, rows),
        sentence(
            "The gradient sums ", math("p − y"), " times the features, the Hessian ", math("p", fenced("1 − p")),
            " times their products" + (", both times C" if task.C != 1 else ""),
            "; the penalty adds the weights and, on the diagonal, ones:",
        ),
        formula("g =", column(map(_shown, at.gradient))),
        formula("H =", matrix([[_shown(v) for v in row] for row in at.hessian.tolist()])),
        sentence("Newton's step solves ", math("H d = − g"), ":"),
        formula("d =", column(map(_shown, d))),
    ]  # fmt: skip


def _several_class_blocks(task: Task, at: Iterate) -> list[Block]:
    k, width = task.n_columns, task.width
    rows = [[math(i + 1), *map(_shown, p)] for i, p in enumerate(at.P)]
    gradient = [[_shown(v) for v in at.gradient[m * width : (m + 1) * width]] for m in range(k)]
    return [
        table([math("i"), *(math(f"p_{m + 1}") for m in range(k))], rows),
        sentence("The gradient has a row for each class:"),
        formula("G =", matrix(gradient)),
        sentence(
            f"The Hessian has {k * width} rows and as many columns, so the equations ", math("H d = − g"),
            " are not written out.",
        ),
    ]  # fmt: skip


def _weights(task: Task, at: Iterate) -> list[Block]:
    blocks = [at.theta[m * task.width : (m + 1) * task.width] for m in range(task.n_columns)]
    if task.n_columns == 1:
        return [formula("θ =", column(map(_shown, blocks[0])))]
    return [formula("Θ =", matrix([[_shown(v) for v in block] for block in blocks]))]


def _rest_step(path: list[Iterate]) -> Step:
    rows = [[math(k), _shown(at.objective), f"{float(max(map(abs, at.gradient))):.1e}"] for k, at in enumerate(path)]
    return step(
        "Go on until nothing changes",
        sentence("Close to the minimum every step about doubles the number of right digits:"),
        table(["step", "objective", "largest entry of the gradient"], rows),
    )


def _reading_step(data: ExactData, task: Task, classes: list[Any], at: Iterate) -> Step:
    if task.n_columns > 1:
        return step(
            "Read the weights",
            *_weights(task, at),
            sentence(
                "A row per class", ", the intercept last" if task.width > task.n_features else "",
                ": where a class has a larger weight than another, more of that feature moves the odds towards it.",
            ),
        )  # fmt: skip
    rows = [
        [data.name(j) if data.names else data.symbol("x", j), _shown(at.theta[j]), _shown(mp.exp(at.theta[j]))]
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
        b = at.theta[-1]
        blocks += [
            result("b =", _shown(b)),
            sentence("Where all features are 0, the odds are ", _shown(mp.exp(b)), " to 1."),
        ]
    return step("Read the weights", *blocks)
