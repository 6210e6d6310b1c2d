"""Stochastic gradient descent by hand: one row, one step; the first epochs in full, the others in a line each."""

from __future__ import annotations

from typing import Any

from sympy import Matrix, Rational

from pellucid.core.checks import check_one_of
from pellucid.core.types import Data
from pellucid.linear_model.sgd.perceptron_workings import two_classes
from pellucid.linear_model.sgd.sgd_exact_workings import LOSSES, Descent, Epochs, Rates, RowStep, descend_rows
from pellucid.optimize.workings.pencil import Pencil
from pellucid.optimize.workings.settings import small
from pellucid.workings.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.workings.exact_data import ExactData, exact_features
from pellucid.workings.exact_labels import read_labels
from pellucid.workings.notation import Math, Mathlike, Script, Words, cases, combination, fenced, math, over, typed
from pellucid.workings.parameters import exact_parameter, require
from pellucid.workings.shown_rows import read_shown_rows

IN_FULL = 2
"""Epochs of which every step is shown."""
FEW_FEATURES = 1
"""Features whose weights still stand beside the scores."""


def sgd_classifier_workings(estimator: Any, X: Data, y: Data) -> Document:
    """Show the epochs of a linear classifier of two classes, rows in the order in which the program shows them."""
    _check_settings(estimator)
    features, names, rounded = exact_features(X)
    labels = read_labels(y, features.rows)
    classes = two_classes(labels)
    signs = [1 if label == classes[1] else -1 for label in labels]
    data = ExactData(features, Matrix(signs), names, rounded)
    shown, pencil = read_shown_rows(estimator, X, y, features, signs), Pencil()
    alpha = exact_parameter(estimator, "alpha")
    rates = Rates(
        estimator.learning_rate, exact_parameter(estimator, "eta0"), exact_parameter(estimator, "power_t"), alpha
    )
    penalty = alpha if estimator.penalty == "l2" else Rational(0)
    descent = Descent(LOSSES[estimator.loss], rates, penalty, bool(estimator.fit_intercept))
    tol = None if estimator.tol is None else exact_parameter(estimator, "tol")
    done = descend_rows(descent, features, signs, shown, estimator, tol, pencil)
    steps = [_rule_step(descent, estimator, pencil)]
    steps += [_epoch_step(k, data, signs, descent, made) for k, made in enumerate(done.steps[:IN_FULL])]
    steps += [_summary_step(data, descent, done)] if len(done.steps) > IN_FULL else []
    steps.append(_end_step(data, descent, done))
    last = done.steps[-1][-1]
    found = {"coef_": [list(last.w)], "intercept_": [last.b], "n_iter_": len(done.steps), "t_": last.t + 1}
    opening = (*_opening(data, labels, classes, estimator, penalty), *shown.notes(estimator.random_state))
    return Document("Stochastic gradient descent", (*opening, *pencil.remark()), tuple(steps), found)


def _check_settings(estimator: Any) -> None:
    check_one_of(tuple(LOSSES), hint="The steps of others are not written down.", loss=estimator.loss)
    if estimator.penalty not in ("l2", None):
        raise ValueError(f"penalty must be 'l2' or None to show the work, got {estimator.penalty!r}.")
    check_one_of(
        ("optimal", "constant", "invscaling"),
        hint="The steps of others are not written down.",
        learning_rate=estimator.learning_rate,
    )
    for name, wanted in (("early_stopping", False), ("class_weight", None), ("average", False)):
        require(estimator, name, wanted)


def _opening(
    data: ExactData, labels: list[Any], classes: list[Any], estimator: Any, penalty: Rational
) -> tuple[Block, ...]:
    rows = [[math(i + 1), *map(typed, data.X.row(i)), str(labels[i]), data.y[i]] for i in range(data.n_samples)]
    head = [math("i"), *(data.symbol("x", j) for j in range(data.n_features)), "class", math("y")]
    squares = Script(fenced("w", "‖‖"), above=math(2))
    price: list[Mathlike] = ["+", over("α", 2), squares] if penalty else []
    scale: list[Any] = ["Here ", math("α =", small(penalty)), "."] if penalty else []
    return (
        sentence(
            f"Write +1 for {classes[1]} and −1 for {classes[0]}. The score of a row is ",
            math("f = w x + b" if estimator.fit_intercept else "f = w x"),
            ". We want a small mean loss",
            " and short weights:" if penalty else ":",
        ),
        formula("min", over(1, "n"), "∑ ℓ", fenced("y_i , f_i"), *price),
        *([sentence(*scale)] if scale else []),
        table(head, rows, caption="The data"),
        *data.notes(),
    )


WRITTEN: dict[str, tuple[Any, Any]] = {
    "hinge": (
        cases((math("1 − y f"), math("y f ≤ 1")), (math(0), Words("otherwise"))),
        cases((math("− y"), math("y f ≤ 1")), (math(0), Words("otherwise"))),
    ),
    "perceptron": (
        cases((math("− y f"), math("y f ≤ 0")), (math(0), Words("otherwise"))),
        cases((math("− y"), math("y f ≤ 0")), (math(0), Words("otherwise"))),
    ),
    "squared_hinge": (
        cases((Script(fenced("1 − y f"), above=math(2)), math("y f < 1")), (math(0), Words("otherwise"))),
        cases((math("− 2 y", fenced("1 − y f")), math("y f < 1")), (math(0), Words("otherwise"))),
    ),
    "log_loss": (
        math("log", fenced(math("1 +", Script(math("e"), above=math("− y f"))))),
        math("−", over("y", math("1 +", Script(math("e"), above=math("y f"))))),
    ),
    "squared_error": (math(over(1, 2), Script(fenced("f − y"), above=math(2))), math("f − y")),
}
"""Name -> the loss and its derivative as they are written."""


def _rule_step(descent: Descent, estimator: Any, pencil: Pencil) -> Step:
    loss, slope = WRITTEN[estimator.loss]
    shrunk: Mathlike = math(fenced("1 − η α"), "w") if descent.penalty else math("w")
    penalty = ", and of the penalty," if descent.penalty else ""
    moves: list[Mathlike] = ["w ←", shrunk, "− η ℓ′ x"]
    return step(
        "One step",
        sentence("The loss of one row and its derivative in the score are"),
        formula("ℓ =", loss),
        formula("ℓ′ =", slope),
        sentence(
            f"One row stands for all: go down the slope of its loss{penalty} by the step size ",
            math("η"),
            ".",
        ),
        formula(*moves, *([", b ← b − η ℓ′"] if descent.has_intercept else [])),
        *_rate_blocks(descent.rates, pencil),
        remark("The direction of one row is right only on average; smaller steps make the average."),
    )


def _rate_blocks(rates: Rates, pencil: Pencil) -> list[Block]:
    if rates.schedule == "constant":
        return [sentence("The step size stays ", math("η =", typed(rates.eta0)), ".")]
    if rates.schedule == "invscaling":
        power = Script(math("t"), above=math(rates.power))
        return [
            sentence("The step size falls with the number t of the step:"),
            formula("η =", over(typed(rates.eta0), power)),
        ]
    first = rates.first(pencil)
    whole = over(1, math("α", fenced("t_0 + t − 1")))
    return [
        sentence("The step size falls with the number t of the step:"),
        formula("η =", whole, ", t_0 =", Script(math("α"), above=math("−", over(3, 4))), "=", first),
        sentence("so that the first step is about as long as weights are."),
    ]


def _epoch_step(k: int, data: ExactData, signs: list[int], descent: Descent, made: tuple[RowStep, ...]) -> Step:
    head: list[Any] = [math("t"), math("i"), math("η"), math("f"), math("y f"), ""]
    rows = [
        [math(s.t), math(s.row + 1), s.eta, s.score, signs[s.row] * s.score, "pulls" if s.pulls else "rests"]
        for s in made
    ]
    weights = [_weights(descent, s) for s in made]
    names = _weight_names(data, descent)
    if data.n_features <= FEW_FEATURES:
        head, rows = (
            [*head[:4], head[5], *names],
            [[*row[:4], row[5], *w] for row, w in zip(rows, weights, strict=True)],
        )
        return step(f"Epoch {k + 1}", table(head, rows))
    after = [[row[0], *w] for row, w in zip(rows, weights, strict=True)]
    return step(
        f"Epoch {k + 1}", table(head, rows), sentence("The weights after each step:"), table([math("t"), *names], after)
    )


def _weights(descent: Descent, made: RowStep) -> list[Rational]:
    return [*made.w, *([made.b] if descent.has_intercept else [])]


def _weight_names(data: ExactData, descent: Descent) -> list[Math]:
    return [*(data.symbol("w", j) for j in range(data.n_features)), *([math("b")] if descent.has_intercept else [])]


def _summary_step(data: ExactData, descent: Descent, done: Epochs) -> Step:
    rows = [
        [math(k + 1), objective, *_weights(descent, made[-1])]
        for k, (made, objective) in enumerate(zip(done.steps, done.objectives, strict=True))
    ]
    return step(
        "All epochs",
        sentence(
            "The same steps, epoch after epoch. The objective is the mean over the rows of loss and penalty, each just "
            "before its step; the weights are those at the end of the epoch:"
        ),
        table(["epoch", "objective", *_weight_names(data, descent)], rows),
    )


def _end_step(data: ExactData, descent: Descent, done: Epochs) -> Step:
    n, last = len(done.steps), done.steps[-1][-1]
    words = {
        "tol": f"The objective has not improved by tol for some epochs, so epoch {n} is the last.",
        "max_iter": f"max_iter ends the work after {n} {'epoch' if n == 1 else 'epochs'}.",
    }[done.end]
    pairs: list[tuple[Any, Any]] = [(last.w[j], data.name(j)) for j in range(data.n_features)]
    pairs += [(last.b, "")] if descent.has_intercept else []
    scores = [(data.X.row(i) * last.w)[0] + last.b for i in range(data.n_samples)]
    right = sum(bool(score * y > 0) for score, y in zip(scores, data.y, strict=True))
    return step(
        "The line",
        sentence(words),
        result("f =", combination(pairs)),
        sentence(f"{right} of {data.n_samples} rows are on the right side."),
        remark("The steps go round the minimum and do not end in it: the certificate of the model says how far it is."),
    )
