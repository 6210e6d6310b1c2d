"""The dual problem of one kernel machine, and what a point of it says about the answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.core.arrays import is_foreign, on_host
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.kernels import Kernel
from pellucid.svm.kernel_machine.kernel_sums import kernel_sums


class NotSeparableError(ValueError):
    """No machine of infinite C exists: the classes overlap in the space of the kernel."""


@dataclass(frozen=True)
class MachineProblem:
    r"""One machine, written for the signed dual coefficients.

    .. math:: \min_\beta\ \tfrac12\beta'K\beta - t'\beta + \varepsilon\|\beta\|_1
              \quad\text{with}\quad \sum_i\beta_i = 0,\quad l \le \beta \le u

    A classifier has targets +1 and -1, no tube, and the boxes [0, C] and [-C, 0]: :math:`\beta_i = \alpha_i y_i`. A
    regressor has the box [-C, C] and :math:`\beta = \alpha - \alpha^*`, one variable a row instead of two.
    """

    kernel: Kernel
    rows: Any
    """The data, dense or CSR; of a given kernel the square matrix of the products."""
    target: Array
    lower: Array
    upper: Array
    tube: float = 0.0

    def __post_init__(self) -> None:
        for name in ("target", "lower", "upper"):  # one kind of array, so that loops are compiled once
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=np.float64))
        object.__setattr__(self, "tube", float(self.tube))

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.target)

    @property
    def is_matrix(self) -> bool:
        """Whether the products are there as a plain array of float64."""
        return self.kernel.is_given and isinstance(self.rows, np.ndarray) and self.rows.dtype == np.float64

    def gradient(self, coef: Array) -> Array:
        r"""Return :math:`K\beta - t` in float64, from the rows of non-zero coefficients alone."""
        used = np.flatnonzero(coef)
        if len(used) == 0:
            return -self.target
        if self.is_matrix:
            return np.asarray(self.rows @ coef - self.target)
        if is_foreign(self.rows):
            from pellucid.svm.kernel_machine.machine_on_device import sums_there

            return sums_there(self.kernel, self.rows, used, coef[used]) - self.target
        vectors = used if self.kernel.is_given else self.rows[used]
        return kernel_sums(self.kernel, self.rows, vectors, coef[used]) - self.target

    def diagonal(self) -> Array:
        """Return the product of each row with itself."""
        if is_foreign(self.rows):
            from pellucid.kernels.products_on_device import diagonal_there

            return on_host(diagonal_there(self.kernel, self.rows))
        return self.kernel.diagonal(self.rows)


@dataclass(frozen=True)
class MachinePoint:
    """A feasible point of the dual problem: its bias, and the two objectives that enclose the minimum."""

    coef: Array
    gradient: Array
    intercept: float
    intercept_range: tuple[float, float]
    """Between which numbers the bias may lie; both are the bias unless no coefficient is inside its box."""
    violation: float
    """By how much the optimality conditions fail, at most."""
    objective: float
    """Of the primal problem, at this bias."""
    dual: float

    @property
    def gap(self) -> float:
        """How far the primal objective is above its minimum, at most."""
        return self.objective - self.dual


@dataclass(frozen=True)
class MachineFit(MachinePoint):
    """The point that a solver stopped at."""

    n_iter: int = 0
    trace: Trace = field(default_factory=Trace)
    converged: bool = True


def slopes(coef: Array, gradient: Array, lower: Array, upper: Array, tube: float) -> tuple[Array, Array]:
    """Return the slope of the objective as each coefficient rises and, mirrored, as it falls.

    Where the box forbids the move they are plus and minus infinity, so that the conditions of the minimum read: no
    slope upwards is below a slope downwards.
    """
    up = gradient + np.where(coef >= 0.0, tube, -tube) if tube else gradient
    down = gradient + np.where(coef > 0.0, tube, -tube) if tube else gradient
    return np.where(coef < upper, up, np.inf), np.where(coef > lower, down, -np.inf)


def machine_point(problem: MachineProblem, coef: Array, gradient: Array) -> MachinePoint:
    """Return what the coefficients and the gradient there say."""
    rising, falling = slopes(coef, gradient, problem.lower, problem.upper, problem.tube)
    low, high = -float(rising.min(initial=np.inf)), -float(falling.max(initial=-np.inf))
    violation = max(0.0, low - high) if math.isfinite(low - high) else 0.0
    intercept, interval = _bias(problem, coef, gradient, low, high)
    squared_norm = float(coef @ (gradient + problem.target))  # below 0 where the kernel is no inner product
    residual = -gradient - intercept
    cost = np.maximum(
        _product(problem.upper, residual - problem.tube), _product(problem.lower, residual + problem.tube)
    )
    objective = 0.5 * squared_norm + float(np.maximum(cost, 0.0).sum())
    dual = dual_objective(problem, coef, gradient)
    return MachinePoint(coef, gradient, intercept, interval, violation, objective, dual)


def dual_objective(problem: MachineProblem, coef: Array, gradient: Array) -> float:
    """Return the dual objective of the coefficients, which no primal one is below."""
    tubes = problem.tube * float(np.abs(coef).sum()) if problem.tube else 0.0
    return 0.5 * float((problem.target - gradient) @ coef) - tubes


def _bias(
    problem: MachineProblem, coef: Array, gradient: Array, low: float, high: float
) -> tuple[float, tuple[float, float]]:
    """Return the mean of what coefficients inside their boxes ask for; if there are none, the middle of the rest.

    They count by the widths of their boxes: a row that stands for k rows has a box k times as wide.
    """
    free = (coef > problem.lower) & (coef < problem.upper)
    if problem.tube:
        free &= coef != 0.0
    if free.any():
        width = (problem.upper - problem.lower)[free]
        asked = -gradient[free]
        if problem.tube:
            asked -= problem.tube * np.sign(coef[free])
        mean = float(asked @ width / width.sum() if np.isfinite(width).all() else asked.mean())
        return mean, (mean, mean)
    ends = [end for end in (low, high) if math.isfinite(end)]
    middle = sum(ends) / len(ends) if ends else 0.0
    return middle, (min(low, high), max(low, high))


def _product(bound: Array, excess: Array) -> Array:
    """Return the product, 0 where the bound is 0 whatever the other factor is."""
    return np.where(bound == 0.0, 0.0, bound * excess)
