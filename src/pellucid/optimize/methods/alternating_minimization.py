"""Alternating minimization over blocks of variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from pellucid.core.types import Array
from pellucid.optimize.oracle import Oracle


class AlternatingState(NamedTuple):
    """The iterate and the number of rounds."""

    x: Array
    t: int


@dataclass(frozen=True)
class AlternatingMinimization:
    r"""Minimize over one block of variables at a time, each in closed form, the others fixed.

    .. math:: u_{t+1} = \arg\min_u\ f(u, v_t), \qquad v_{t+1} = \arg\min_v\ f(u_{t+1}, v)

    K-means, EM and alternating least squares are of this kind.

    Parameters
    ----------
    minimizers : sequence of callables x -> x
        Each returns the point with its own block replaced by the best one.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.optimize import Problem, minimize
    >>> f = Problem(lambda x: (x[0] - x[1]) ** 2 + x[1] ** 2)
    >>> blocks = [lambda x: np.array([x[1], x[1]]), lambda x: np.array([x[0], x[0] / 2])]
    >>> minimize(f, [1.0, 1.0], AlternatingMinimization(blocks)).x.round(5)
    array([0., 0.])
    """

    minimizers: Sequence[Callable[[Array], Array]]

    takes_batches: ClassVar[bool] = False
    takes_penalty: ClassVar[bool] = True
    descends: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.minimizers or not all(map(callable, self.minimizers)):
            raise TypeError(f"minimizers must be functions from x to x, got {self.minimizers!r}.")

    def start(self, oracle: Oracle, x: Array) -> AlternatingState:
        """Return the first state."""
        return AlternatingState(x, 0)

    def step(self, oracle: Oracle, state: AlternatingState) -> AlternatingState:
        """Visit each block once."""
        x = state.x
        for minimizer in self.minimizers:
            new = minimizer(x)
            if tuple(getattr(new, "shape", ())) != tuple(x.shape):
                raise ValueError(f"minimizers must return a vector of shape {tuple(x.shape)} like x, got {new!r}.")
            x = new
        return AlternatingState(x, state.t + 1)
