"""The dual problem of one kernel machine, and what a point of it says about the answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.core.arrays import is_foreign, on_host
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.kernels import Kernel
from pellucid.svm.kernel_machine.kernel_sums import kernel_sums
from pellucid.svm.kernel_machine.machine_kernels import measured


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
        if self.is_matrix:
            return np.asarray(self.rows @ coef - self.target)
        used = np.flatnonzero(coef)
        if len(used) == 0:
            return -self.target
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
class MachineFit:
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
    """Which no primal objective is below."""
    n_iter: int = 0
    trace: Trace = field(default_factory=Trace)
    converged: bool = True

    @property
    def gap(self) -> float:
        """How far the primal objective is above its minimum, at most."""
        return self.objective - self.dual


def machine_point(problem: MachineProblem, coef: Array, gradient: Array, **more: Any) -> MachineFit:
    """Return what the coefficients and the gradient there say, with what else is known."""
    low, high, intercept, violation, squared, cost, _, dual = measured(
        coef, gradient, problem.target, problem.lower, problem.upper, problem.tube
    )
    objective = 0.5 * squared + cost  # the square is below 0 where the kernel is no inner product
    return MachineFit(coef, gradient, intercept, (low, high), violation, objective, dual, **more)
