"""Coordinate descent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from pellucid.core.checks import check_one_of
from pellucid.core.types import Array, RandomState
from pellucid.optimize.line_searches import StrongWolfe
from pellucid.optimize.method import NoStep
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.problem import Point

NEARLY_EXACT = StrongWolfe(curvature=0.01)
ORDERS = ("cyclic", "random", "greedy")


class CoordinateState(NamedTuple):
    """The iterate, its value and gradient, and the number of sweeps."""

    x: Array
    point: Point
    t: int


@dataclass(frozen=True)
class CoordinateDescent:
    r"""Minimize over one coordinate at a time, all others fixed; an iteration is a sweep over all of them.

    .. math:: x_j \leftarrow \arg\min_z\ F(x_1, \dots, x_{j-1}, z, x_{j+1}, \dots, x_n)

    On a quadratic with a separable penalty (l1, squared l2, box) that minimum is
    :math:`\mathrm{prox}_{h/A_{jj}}(x_j - \partial_j f / A_{jj})`, for the l1 penalty a soft threshold. Other smooth
    functions are searched along the coordinate until the slope is 1 % of what it was.

    Parameters
    ----------
    order : {"cyclic", "random", "greedy"}, default="cyclic"
        ``random`` shuffles the coordinates in each sweep, ``greedy`` takes the steepest one each time.
    random_state : int or None, default=0
        Seed of the shuffles.
    """

    order: str = "cyclic"
    random_state: RandomState = 0

    takes_batches: ClassVar[bool] = False
    takes_penalty: ClassVar[bool] = True
    descends: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_one_of(ORDERS, order=self.order)

    def start(self, oracle: Oracle, x: Array) -> CoordinateState:
        """Return the first state."""
        if oracle.problem.penalty is not None and not oracle.problem.is_quadratic:
            raise ValueError(
                "problem must be quadratic for CoordinateDescent if it has a penalty, got one that does not say so. "
                "Use FISTA."
            )
        return CoordinateState(x, oracle.at(x), 0)

    def step(self, oracle: Oracle, state: CoordinateState) -> CoordinateState:
        """Visit each coordinate once."""
        point, n = state.point, state.x.shape[0]
        order = np.arange(n)
        if self.order == "random":  # the shuffle of a sweep depends on the seed and its number only
            order = np.random.default_rng([check_random_state(self.random_state).randint(2**31), state.t]).permutation(
                n
            )
        for j in order:
            steepest = int(abs(point.gradient).argmax()) if self.order == "greedy" else int(j)
            point = _visit(oracle, point, steepest)
        return CoordinateState(point.x, point, state.t + 1)


def _visit(oracle: Oracle, point: Point, j: int) -> Point:
    if oracle.problem.is_quadratic:
        return _exact(oracle, point, j)
    if float(point.gradient[j]) == 0.0:
        return point
    direction = 0 * point.x
    direction[j] = -point.gradient[j]
    try:
        return NEARLY_EXACT.search(oracle, point, direction, 1.0 / max(1.0, abs(float(point.gradient[j]))), 0)
    except NoStep:  # flat up to rounding along this coordinate; another may not be
        return point


def _exact(oracle: Oracle, point: Point, j: int) -> Point:
    axis = 0 * point.x
    axis[j] = 1.0
    curvature = float(oracle.hessian_product(point.x, axis)[j])
    if curvature <= 0:
        raise NoStep(f"the objective has no minimum along coordinate {j}: its curvature there is {curvature:.3g}")
    x = point.x + 0
    x[j] = x[j] - point.gradient[j] / curvature
    if oracle.problem.penalty is not None:
        x[j : j + 1] = oracle.problem.penalty.prox(x[j : j + 1], 1.0 / curvature)
    return oracle.at(x)


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
