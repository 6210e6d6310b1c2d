"""Convex penalties with their proximal steps."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pellucid.core.array_api import array_namespace
from pellucid.core.checks import check_nonnegative
from pellucid.core.types import Array


@dataclass(frozen=True)
class L1:
    r"""The lasso penalty :math:`h(x) = \alpha\|x\|_1`; its proximal step is the soft threshold.

    .. math:: \mathrm{prox}_t(x)_j = \mathrm{sign}(x_j)\,\max(|x_j| - t\alpha,\ 0)

    Examples
    --------
    >>> import numpy as np
    >>> L1(1.0).prox(np.array([3.0, -0.5]), step=0.5)
    array([ 2.5, -0. ])
    """

    alpha: float
    r"""Weight :math:`\alpha` of the penalty, at least 0."""

    def __post_init__(self) -> None:
        check_nonnegative(alpha=self.alpha)

    def value(self, x: Array) -> float:
        """Return the penalty."""
        return self.alpha * float(abs(x).sum())

    def prox(self, x: Array, step: float) -> Array:
        """Return the soft threshold."""
        xp = array_namespace(x)
        return xp.sign(x) * xp.clip(abs(x) - step * self.alpha, 0.0, None)


@dataclass(frozen=True)
class SquaredL2:
    r"""The ridge penalty :math:`h(x) = \frac\alpha2\|x\|^2`; its proximal step shrinks: :math:`x / (1 + t\alpha)`."""

    alpha: float
    r"""Weight :math:`\alpha` of the penalty, at least 0."""

    def __post_init__(self) -> None:
        check_nonnegative(alpha=self.alpha)

    def value(self, x: Array) -> float:
        """Return the penalty."""
        return self.alpha / 2 * float(x @ x)

    def prox(self, x: Array, step: float) -> Array:
        """Return the shrunken point."""
        return x / (1 + step * self.alpha)


@dataclass(frozen=True)
class Box:
    r"""The constraint :math:`l \le x \le u`: 0 inside, infinite outside; its proximal step is the projection.

    Examples
    --------
    >>> import numpy as np
    >>> Box(0.0, 1.0).prox(np.array([-2.0, 0.5, 3.0]), step=1.0)
    array([0. , 0.5, 1. ])
    """

    low: float = -math.inf
    """Least value of each variable, one number for all; without it there is none."""
    high: float = math.inf
    """Largest value of each variable, not below ``low``; without it there is none."""

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"low must be at most high, got {self.low!r} and {self.high!r}. Swap them.")

    def value(self, x: Array) -> float:
        """Return 0 inside the box and infinity outside."""
        return 0.0 if bool(((x >= self.low) & (x <= self.high)).all()) else math.inf

    def prox(self, x: Array, step: float) -> Array:
        """Return the nearest point of the box."""
        return array_namespace(x).clip(x, self.low, self.high)
