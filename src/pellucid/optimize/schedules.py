r"""Step sizes that change with the iteration :math:`t = 0, 1, 2, \dots`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from pellucid.core.checks import check_between, check_nonnegative, check_positive, check_whole

Schedule: TypeAlias = Callable[[int], float]
"""From the number of the iteration to the step size: any function will do."""


@dataclass(frozen=True)
class ConstantStep:
    r""":math:`\eta_t = \eta`."""

    initial: float
    r"""The step size :math:`\eta`, above 0."""

    def __post_init__(self) -> None:
        check_positive(initial=self.initial)

    def __call__(self, t: int) -> float:
        """Return the step size of iteration ``t``."""
        return self.initial


@dataclass(frozen=True)
class InverseTime:
    r""":math:`\eta_t = \eta / (1 + \lambda t)`: the sum diverges, the sum of squares does not, so SGD converges.

    Examples
    --------
    >>> [InverseTime(1.0, decay=0.5)(t) for t in (0, 2, 6)]
    [1.0, 0.5, 0.25]
    """

    initial: float
    r"""First step size :math:`\eta`, above 0."""
    decay: float = 1.0
    r"""The rate :math:`\lambda`, above 0: after :math:`1/\lambda` iterations the step size has halved."""

    def __post_init__(self) -> None:
        check_positive(initial=self.initial, decay=self.decay)

    def __call__(self, t: int) -> float:
        """Return the step size of iteration ``t``."""
        return self.initial / (1 + self.decay * t)


@dataclass(frozen=True)
class InverseRoot:
    r""":math:`\eta_t = \eta / \sqrt{1 + t}`: the classical choice for subgradients."""

    initial: float
    r"""First step size :math:`\eta`, above 0."""

    def __post_init__(self) -> None:
        check_positive(initial=self.initial)

    def __call__(self, t: int) -> float:
        """Return the step size of iteration ``t``."""
        return self.initial / math.sqrt(1 + t)


@dataclass(frozen=True)
class StepDecay:
    r""":math:`\eta_t = \eta\,\gamma^{\lfloor t/k \rfloor}`: shrink by a factor every :math:`k` iterations.

    Examples
    --------
    >>> [StepDecay(1.0, factor=0.1, every=10)(t) for t in (0, 9, 10, 20)]
    [1.0, 1.0, 0.1, 0.010000000000000002]
    """

    initial: float
    r"""First step size :math:`\eta`, above 0."""
    factor: float = 0.5
    r"""The factor :math:`\gamma`, above 0 and at most 1."""
    every: int = 10
    """Iterations :math:`k` with the same step size, at least 1."""

    def __post_init__(self) -> None:
        check_positive(initial=self.initial, factor=self.factor)
        check_between(0, 1, factor=self.factor)
        check_whole(every=self.every)

    def __call__(self, t: int) -> float:
        """Return the step size of iteration ``t``."""
        return self.initial * self.factor ** (t // self.every)


@dataclass(frozen=True)
class LinearDecay:
    r"""From :math:`\eta` straight down to :math:`\eta_T` in :math:`T` iterations, then constant.

    Examples
    --------
    >>> [LinearDecay(1.0, final=0.0, length=4)(t) for t in (0, 1, 4, 9)]
    [1.0, 0.75, 0.0, 0.0]
    """

    initial: float
    r"""First step size :math:`\eta`, above 0."""
    final: float = 0.0
    r"""Last step size :math:`\eta_T`, at least 0."""
    length: int = 100
    """Iterations :math:`T` until the last step size, at least 1."""

    def __post_init__(self) -> None:
        check_positive(initial=self.initial)
        check_nonnegative(final=self.final)
        check_whole(length=self.length)

    def __call__(self, t: int) -> float:
        """Return the step size of iteration ``t``."""
        done = min(t / self.length, 1.0)
        return self.initial + (self.final - self.initial) * done


@dataclass(frozen=True)
class CosineDecay:
    r""":math:`\eta_t = \eta_T + \frac12(\eta - \eta_T)(1 + \cos(\pi t/T))`, then constant: slow, fast, slow.

    Examples
    --------
    >>> [round(CosineDecay(1.0, final=0.0, length=4)(t), 3) for t in (0, 2, 4, 9)]
    [1.0, 0.5, 0.0, 0.0]

    During a warm-up, the first iterations, it rises from a hundredth of the initial step to all of it: the first steps
    of a network are taken before anything is known.

    >>> [round(CosineDecay(1.0, length=100, warm_up=4)(t), 2) for t in (0, 2, 4, 50)]
    [0.01, 0.51, 1.0, 0.5]
    """

    initial: float
    r"""The step size :math:`\eta` that the decay begins with, above 0."""
    final: float = 0.0
    r"""Last step size :math:`\eta_T`, at least 0."""
    length: int = 100
    """Iterations :math:`T` until the last step size, at least 1; a warm-up counts among them."""
    warm_up: float = 0.0
    """Iterations of the warm-up, at least 0."""

    def __post_init__(self) -> None:
        check_positive(initial=self.initial)
        check_nonnegative(final=self.final, warm_up=self.warm_up)
        check_whole(length=self.length)

    def __call__(self, t: int) -> float:
        """Return the step size of iteration ``t``."""
        if t < self.warm_up:
            return self.initial * (0.01 + 0.99 * t / self.warm_up)
        done = min(t / self.length, 1.0)
        return self.final + (self.initial - self.final) * (1 + math.cos(math.pi * done)) / 2


def as_schedule(step_size: float | Schedule) -> Schedule:
    """Return the schedule itself, or the constant one of a number."""
    if callable(step_size):
        return step_size
    check_positive(step_size=step_size)
    return ConstantStep(float(step_size))
