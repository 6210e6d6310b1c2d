"""When to stop: the rules, and what a verdict says."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pellucid.core.checks import check_nonnegative, check_positive, check_whole


@dataclass(frozen=True)
class Progress:
    """What the driver knows after an iteration."""

    iteration: int
    objective: float
    decrease: float
    gradient: float
    step: float
    evaluations: int
    seconds: float


@dataclass(frozen=True)
class Stopping:
    r"""Stop at the first rule that is met.

    Parameters
    ----------
    gradient : float, default=None
        Largest entry of the gradient, or of the step :math:`x - \mathrm{prox}(x - \nabla f(x))` if there is a penalty.
        The certificate claims it. Without it :math:`10^{-6}`, or :math:`10^{-3}` in single precision.
    step : float, default=0
        Length of the last move; 0 turns the rule off.
    objective : float, default=0
        Decrease of the objective in one iteration, relative to :math:`\max(1, |f|)`; 0 turns the rule off.
    max_iter : int, default=1000
        Most iterations; epochs, if the gradients come from mini-batches. 0 certifies the start.
    max_evaluations : int, default=None
        No iteration begins after so many evaluations.
    seconds : float, default=None
        No iteration begins after so many seconds.
    """

    gradient: float | None = None
    step: float = 0.0
    objective: float = 0.0
    max_iter: int = 1000
    max_evaluations: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.gradient is not None:
            check_nonnegative(gradient=self.gradient)
        check_nonnegative(step=self.step, objective=self.objective)
        check_whole(low=0, max_iter=self.max_iter)
        if self.max_evaluations is not None:
            check_whole(low=0, max_evaluations=self.max_evaluations)
        if self.seconds is not None:
            check_positive(seconds=self.seconds)

    def tolerance(self, precision: float) -> float:
        """Return the bound on the gradient for numbers of this precision."""
        if self.gradient is not None:
            return self.gradient
        return 1e-6 if precision < 1e-10 else 1e-3

    def verdict(self, now: Progress, precision: float) -> str:
        """Return why to stop, or nothing if no rule is met."""
        flat = self.objective * max(1.0, abs(now.objective))
        rules = (
            (now.gradient <= self.tolerance(precision), "the gradient is small"),
            (now.iteration > 0 and now.step < self.step, "the step is small"),
            (now.iteration > 0 and 0 <= now.decrease < flat, "the objective is flat"),
            (now.objective <= _unbounded(precision), "the objective falls without end: it seems to have no minimum"),
            (now.iteration >= self.max_iter, f"max_iter = {self.max_iter} is used up"),
            (now.evaluations >= _or_inf(self.max_evaluations), f"max_evaluations = {self.max_evaluations} is used up"),
            (now.seconds >= _or_inf(self.seconds), f"the time of {self.seconds} s is used up"),
        )
        return next((reason for met, reason in rules if met), "")


def _or_inf(limit: float | None) -> float:
    return math.inf if limit is None else limit


def _unbounded(precision: float) -> float:
    """Return a value that only a function without a minimum reaches."""
    return -1e100 if precision < 1e-10 else -1e30
