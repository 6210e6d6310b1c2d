"""The hard margin: the same machine as C grows without bound, or the proof that there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.svm.kernel_machine.machine_problem import MachineFit, MachineProblem, NotSeparableError, machine_point

TIMES = 100.0
"""By how much C grows from one machine to the next."""

GROWTH = 1.5
"""By how much the dual objective must grow with C at least where a machine was not solved, or no more C is tried."""

THIN = 1e-6
"""Margin, as a share of the longest row in the space of the kernel, below which classes count as not separable."""

THINNEST = 1e-7
"""The same for a box that is finite but wide: the square of a thinner margin is rounding of the products."""

Solve = Callable[[MachineProblem, Array | None, bool], MachineFit]
"""The machine of a box, from a start; loosely or as well as asked for."""


def hard_margin(problem: MachineProblem, solve: Solve) -> MachineFit:
    """Return the machine of an infinite box, from those of growing boxes, each begun where the last one ended.

    If no coefficient is at the end of its box, the box does not matter. Otherwise the dual objective is at most half
    the squared norm of any separating machine, so that a large one says how thin the margin must be: too thin, and
    there is none that could be told from rounding. A box that is finite, but so wide that rounding of the scores would
    hide the tolerance, is treated alike: the machine is then the last one that could be measured. A regressor that
    allows no error beyond its tube is the same with half the range of the targets in place of 1.
    """
    is_regressor = bool(np.any(np.isinf(problem.lower) & np.isinf(problem.upper)))
    reach = 0.5 * float(np.ptp(problem.target)) if is_regressor else 1.0
    longest = float(np.sqrt(problem.diagonal().max(initial=0.0)))
    if longest == 0.0 and not (is_regressor and reach <= problem.tube):
        raise _refusal(0.0, is_regressor)
    widest = float(np.max(problem.upper - problem.lower))
    last = 0.0
    C, start, trace, n_iter = (reach or 1.0) / (longest or 1.0) ** 2, None, Trace(), 0
    while True:
        boxed = replace(problem, lower=np.maximum(problem.lower, -C), upper=np.minimum(problem.upper, C))
        machine = solve(boxed, start, True)
        trace, n_iter = Trace.joined([trace, machine.trace], renumber=True), n_iter + machine.n_iter
        if (machine.converged and _is_inside(machine, C)) or widest <= C:
            machine = solve(boxed, machine.coef, False)
            trace, n_iter = Trace.joined([trace, machine.trace], renumber=True), n_iter + machine.n_iter
            if _is_inside(machine, C) or widest <= C:
                return replace(machine, trace=trace, n_iter=n_iter)
        margin = reach / np.sqrt(2.0 * machine.dual) if machine.dual > 0.0 else np.inf
        is_lost = not machine.converged and machine.dual < GROWTH * last  # in rounding
        if (is_lost or margin <= THIN * longest) and not np.isfinite(widest):
            raise _refusal(margin, is_regressor)
        if is_lost or margin <= THINNEST * longest:
            point = machine_point(problem, machine.coef, machine.gradient)
            return MachineFit(**vars(point), n_iter=n_iter, trace=trace, converged=False)
        C, start, last = TIMES * C, machine.coef, machine.dual


def _is_inside(machine: MachineFit, C: float) -> bool:
    return bool(np.abs(machine.coef).max(initial=0.0) < C)


def _refusal(margin: float, is_regressor: bool) -> NotSeparableError:
    if is_regressor:
        return NotSeparableError(
            "C must be finite where no function stays within epsilon of all targets, got inf. Use a C such as 1000, a "
            "larger epsilon or another kernel."
        )
    return NotSeparableError(
        f"C must be finite for classes that cannot be separated, got inf: no margin is wider than {margin:.1g}."
        " Use a C such as 1000, or another kernel."
    )
