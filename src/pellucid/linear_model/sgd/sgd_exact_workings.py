"""The steps of learning row by row in fractions, while they are short, and in thirty digits after that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sympy import Matrix, Rational, exp, log, zeros

from pellucid.optimize.workings.pencil import Pencil
from pellucid.workings.shown_rows import ShownRows

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
class Descent:
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
    descent: Descent,
    X: Matrix,
    signs: list[int],
    shown: ShownRows,
    estimator: Any,
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
