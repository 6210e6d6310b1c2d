"""Stochastic gradient descent by hand: one row, one step; the first epochs in full, the others in a line each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sympy import Matrix, Rational, exp, log, zeros

from pellucid.core.checks import check_one_of
from pellucid.core.types import Data
from pellucid.linear_model.sgd.perceptron_workings import two_classes
from pellucid.optimize.workings.exact_function import small
from pellucid.optimize.workings.pencil import Pencil
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import (
    ExactData,
    Label,
    class_column,
    exact_features,
    exact_parameter,
    read_labels,
    require,
)
from pellucid.show.notation import Math, Mathlike, Script, Words, cases, combination, fenced, math, over, typed
from pellucid.show.shown_rows import ShownRows, read_shown_rows

if TYPE_CHECKING:
    from pellucid.linear_model.sgd.sgd_classifier import SGDClassifier

IN_FULL = 2
"""Epochs of which every step is shown."""
FEW_FEATURES = 1
"""Features whose weights still stand beside the scores."""


def sgd_classifier_workings(estimator: SGDClassifier, X: Data, y: Data) -> Document:
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
    descent = ExactDescent(LOSSES[estimator.loss], rates, penalty, bool(estimator.fit_intercept))
    tol = None if estimator.tol is None else exact_parameter(estimator, "tol")
    done = descend_rows(descent, features, signs, shown, estimator, tol, pencil)
    steps = [_rule_step(descent, estimator, pencil)]
    steps += [_epoch_step(k, data, signs, descent, made) for k, made in enumerate(done.steps[:IN_FULL])]
    steps += [_summary_step(data, descent, done)] if len(done.steps) > IN_FULL else []
    steps.append(_end_step(data, descent, done))
    last = done.steps[-1][-1]
    found: dict[str, Any] = {
        "coef_": [list(last.w)],
        "intercept_": [last.b],
        "n_iter_": len(done.steps),
        "t_": last.t + 1,
    }
    found["objectives"] = list(done.objectives)
    opening = (*_opening(data, labels, classes, estimator, penalty), *shown.notes(estimator.random_state))
    return Document("Stochastic gradient descent", (*opening, *pencil.remark()), tuple(steps), found)


def _check_settings(estimator: SGDClassifier) -> None:
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
    data: ExactData, labels: list[Label], classes: list[Label], estimator: SGDClassifier, penalty: Rational
) -> tuple[Block, ...]:
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
        *data.opening(class_column(labels), (math("y"), data.y)),
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


def _rule_step(descent: ExactDescent, estimator: SGDClassifier, pencil: Pencil) -> Step:
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


def _epoch_step(k: int, data: ExactData, signs: list[int], descent: ExactDescent, made: tuple[RowStep, ...]) -> Step:
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


def _weights(descent: ExactDescent, made: RowStep) -> list[Rational]:
    return [*made.w, *([made.b] if descent.has_intercept else [])]


def _weight_names(data: ExactData, descent: ExactDescent) -> list[Math]:
    return [*(data.symbol("w", j) for j in range(data.n_features)), *([math("b")] if descent.has_intercept else [])]


def _summary_step(data: ExactData, descent: ExactDescent, done: Epochs) -> Step:
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


def _end_step(data: ExactData, descent: ExactDescent, done: Epochs) -> Step:
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


MOST_EPOCHS = 60

Loss = Callable[[int, Rational], tuple[Any, Any]]


def _hinge(y: int, f: Rational, width: int = 1) -> tuple[Any, Any]:
    return (width - y * f, Rational(-y)) if y * f <= width else (Rational(0), Rational(0))


def _squared_hinge(y: int, f: Rational) -> tuple[Any, Any]:
    gap = max(Rational(0), 1 - y * f)
    return gap**2, -2 * y * gap


LOSSES: dict[str, Loss] = {
    "hinge": _hinge,
    "perceptron": lambda y, f: _hinge(y, f, width=0),
    "squared_hinge": _squared_hinge,
    "log_loss": lambda y, f: (log(1 + exp(-y * f)), -y / (1 + exp(y * f))),
    "squared_error": lambda y, f: ((f - y) ** 2 / 2, f - y),
}
"""Name -> loss of a row with the sign y and the score f, and its derivative in f."""


@dataclass(frozen=True)
class Rates:
    """Step sizes: ``eta0``, ``eta0 / t^power``, or ``1 / (alpha (t0 + t - 1))``."""

    schedule: str
    eta0: Rational
    power: Rational
    alpha: Rational

    def at(self, t: int, pencil: Pencil) -> Rational:
        """Return the size of step t, counted from 1."""
        if self.schedule == "optimal":
            return pencil.kept(1 / (self.alpha * (self.first(pencil) + t - 1)))
        return pencil.kept(self.eta0 / Rational(t) ** self.power) if self.schedule == "invscaling" else self.eta0

    def first(self, pencil: Pencil) -> Rational:
        """Return t0 of the schedule 'optimal'."""
        return pencil.kept(self.alpha ** Rational(-3, 4))


@dataclass(frozen=True)
class RowStep:
    """One row is shown: the step size, its score before, whether it pulls, and the weights after."""

    t: int
    row: int
    eta: Rational
    score: Rational
    pulls: bool
    w: Matrix
    b: Rational


@dataclass(frozen=True)
class Epochs:
    """All steps by epoch, the mean objective of each epoch, and what ended them: ``tol`` or ``max_iter``."""

    steps: tuple[tuple[RowStep, ...], ...]
    objectives: tuple[Rational, ...]
    end: str


@dataclass(frozen=True)
class ExactDescent:
    """What a step depends on: loss, rates, the l2 penalty, and whether there is an intercept."""

    loss: Loss
    rates: Rates
    penalty: Rational
    has_intercept: bool

    def step(self, t: int, i: int, x: Matrix, y: int, weight: int, w: Matrix, b: Rational, pencil: Pencil) -> Any:
        """Return the step at a row and the objective before it."""
        score = (x * w)[0] + b
        value, slope = (pencil.kept(number) for number in self.loss(y, score))
        objective = value + self.penalty / 2 * (w.T * w)[0]
        eta = self.rates.at(t, pencil)
        change = -eta * slope * weight
        w = pencil.kept(max(Rational(0), 1 - eta * self.penalty) * w + change * x.T)
        b = pencil.kept(b + change) if self.has_intercept else b
        return RowStep(t, i, eta, score, slope != 0, w, b), objective


def descend_rows(
    descent: ExactDescent,
    X: Matrix,
    signs: list[int],
    shown: ShownRows,
    estimator: SGDClassifier,
    tol: Rational | None,
    pencil: Pencil,
) -> Epochs:
    """Run the epochs as the estimator does, or refuse more than can be shown."""
    w, b, t = zeros(X.cols, 1), Rational(0), 1
    steps, objectives, best, waited = [], list[Rational](), None, 0
    for epoch in range(1, estimator.max_iter + 1):
        if epoch > MOST_EPOCHS:
            raise ValueError(
                f"max_iter must be at most {MOST_EPOCHS} to be worked by hand, as the loss still improves by tol after "
                f"so many epochs, got {estimator.max_iter}. Lower it, or raise tol."
            )
        made, total = [], Rational(0)
        for i in shown.order(epoch):
            done, objective = descent.step(t, i, X.row(i), signs[i], shown.weights[i], w, b, pencil)
            made.append(done)
            w, b, t, total = done.w, done.b, t + 1, total + shown.weights[i] * objective
        steps.append(tuple(made))
        objectives.append(pencil.kept(total / shown.total))
        improves = tol is None or best is None or objectives[-1] <= best - tol
        waited = 0 if improves else waited + 1
        best = objectives[-1] if best is None else min(best, objectives[-1])
        if waited == estimator.n_iter_no_change:
            return Epochs(tuple(steps), tuple(objectives), "tol")
    return Epochs(tuple(steps), tuple(objectives), "max_iter")
