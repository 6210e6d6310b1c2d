"""Newton's method on a small logistic regression, in many digits; it shares no code with the solvers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mpmath import mp, mpf  # type: ignore[import-untyped]  # it comes with sympy
from sympy import Rational

from pellucid.workings.exact_data import ExactData

DIGITS = 30
"""Digits of the arithmetic."""

MOST_STEPS = 60


@dataclass(frozen=True)
class Iterate:
    """Weights, by class and then by feature with the intercept last, and what one step of Newton's method computes."""

    theta: list[Any]
    Z: list[list[Any]]
    P: list[list[Any]]
    objective: Any
    gradient: list[Any]
    hessian: Any


@dataclass(frozen=True)
class Task:
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


def make_task(data: ExactData, n_classes: int, C: Rational, *, fit_intercept: bool) -> Task:
    """Return the problem in floating numbers of many digits."""
    ones = [mpf(1)] if fit_intercept else []
    rows = [[mpf(int(v.p)) / int(v.q) for v in data.X.row(i)] + ones for i in range(data.n_samples)]
    shown = [1] if n_classes == 2 else range(n_classes)
    targets = [[int(label == k) for k in shown] for label in data.y]
    return Task(rows, targets, mpf(int(C.p)) / int(C.q), data.n_features)


def newton_path(task: Task) -> list[Iterate]:
    """Return the iterates from 0 until the gradient vanishes; a step that would climb is halved."""
    path = [_iterate(task, [mpf(0)] * (task.width * task.n_columns))]
    while len(path) <= MOST_STEPS and max(map(abs, path[-1].gradient)) > mpf(10) ** (8 - DIGITS):
        now, share = path[-1], mpf(1)
        d = newton_direction(now)
        moved = _iterate(task, [t + v for t, v in zip(now.theta, d, strict=True)])
        while moved.objective > now.objective * (1 + mpf(10) ** (4 - DIGITS)):
            share /= 2
            moved = _iterate(task, [t + share * v for t, v in zip(now.theta, d, strict=True)])
        path.append(moved)
    return path


def newton_direction(at: Iterate) -> list[Any]:
    """Return the solution of ``H d = -g``."""
    return list(mp.lu_solve(at.hessian, -mp.matrix(at.gradient)))


def _iterate(task: Task, theta: list[Any]) -> Iterate:
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
    return Iterate(theta, Z, P, task.C * loss + squares / 2, gradient, _hessian(task, P, penalized))


def _hessian(task: Task, P: list[list[Any]], penalized: list[bool]) -> Any:
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
