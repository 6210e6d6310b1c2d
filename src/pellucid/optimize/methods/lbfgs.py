"""L-BFGS: BFGS with a short memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from pellucid.core.array_api import array_namespace, device
from pellucid.core.arrays import as_numpy, like
from pellucid.core.checks import check_whole
from pellucid.core.types import Array
from pellucid.optimize.line_searches import LineSearch, StrongWolfe
from pellucid.optimize.methods.quasi_newton import CURVED, first_trial
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.problem import Point


class Pairs(NamedTuple):
    """The last steps ``S`` and changes of gradient ``Y``, by rows, with the small products that directions need."""

    S: RowWindow
    Y: RowWindow
    SY: Array
    YY: Array


class LBFGSState(NamedTuple):
    """The iterate, its value and gradient, the last pairs, and the number of steps."""

    x: Array
    point: Point
    pairs: Pairs
    t: int


@dataclass(frozen=True)
class LBFGS:
    r"""BFGS that remembers the last few pairs :math:`(s, y)` instead of a matrix.

    .. math:: x_{t+1} = x_t - \eta_t H_t \nabla f(x_t)

    where :math:`H_t` is :math:`\gamma I`, :math:`\gamma = s'y/y'y` of the last pair, updated by BFGS with the pairs
    remembered. It is applied in the compact form of Byrd, Nocedal and Schnabel (1994): with the pairs as columns of
    :math:`S` and :math:`Y`, :math:`R` the upper triangle of :math:`S'Y` and :math:`D` its diagonal,

    .. math::
        H g = \gamma g + S\,R^{-T}\bigl((D + \gamma Y'Y)\,R^{-1}S'g - \gamma Y'g\bigr) - \gamma Y R^{-1} S'g

    Parameters
    ----------
    memory : int, default=10
        Number of pairs to remember.
    line_search : LineSearch, default=StrongWolfe()
        How the length of a step is found.
    """

    memory: int = 10
    line_search: LineSearch = StrongWolfe()

    takes_batches: ClassVar[bool] = False
    takes_penalty: ClassVar[bool] = False
    descends: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_whole(memory=self.memory)

    def start(self, oracle: Oracle, x: Array) -> LBFGSState:
        """Return the first state, which remembers nothing."""
        return LBFGSState(x, oracle.at(x), self._no_pairs(x), 0)

    def step(self, oracle: Oracle, state: LBFGSState) -> LBFGSState:
        """Search along the quasi-Newton direction, then remember the new pair."""
        pairs, gradient = state.pairs, state.point.gradient
        direction = -inverse_hessian_product(pairs, gradient)
        if not float(direction @ gradient) < 0:  # rounding has ruined the pairs: start over
            pairs, direction = self._no_pairs(state.x), -gradient
        first = 1.0 if pairs.SY.size else first_trial(state.point)
        point = self.line_search.search(oracle, state.point, direction, first, state.t)
        s, y = point.x - state.x, point.gradient - gradient
        if float(s @ y) > CURVED * float(s @ s) ** 0.5 * float(y @ y) ** 0.5:
            pairs = remember(pairs, s, y, self.memory)
        return LBFGSState(point.x, point, pairs, state.t + 1)

    def _no_pairs(self, x: Array) -> Pairs:
        return Pairs(empty_rows(x, self.memory), empty_rows(x, self.memory), np.zeros((0, 0)), np.zeros((0, 0)))


def remember(pairs: Pairs, s: Array, y: Array, memory: int) -> Pairs:
    """Return the pairs with a new one, and without the oldest if there would be too many."""
    S, Y = pairs.S.appended(s, memory), pairs.Y.appended(y, memory)
    keep = slice(-(S.last - S.first - 1), None) if S.last - S.first > 1 else slice(0, 0)
    return Pairs(
        S,
        Y,
        _grown(pairs.SY[keep, keep], S.matrix @ y, Y.matrix @ s),
        _grown_symmetric(pairs.YY[keep, keep], Y.matrix @ y),
    )


def inverse_hessian_product(pairs: Pairs, gradient: Array) -> Array:
    """Return the approximate inverse Hessian times a vector."""
    if not pairs.SY.size:
        return gradient
    S, Y = pairs.S.matrix, pairs.Y.matrix
    scale = float(pairs.SY[-1, -1] / pairs.YY[-1, -1])
    triangle = np.triu(pairs.SY)
    along_s, along_y = as_numpy(S @ gradient), as_numpy(Y @ gradient)
    u = solve_triangular(triangle, along_s, check_finite=False)
    middle = np.diag(pairs.SY) * u + scale * (pairs.YY @ u) - scale * along_y
    v = solve_triangular(triangle, middle, trans="T", check_finite=False)
    return scale * gradient + like(v, gradient) @ S - like(scale * u, gradient) @ Y


def _grown(square: Array, column: Array, row: Array) -> Array:
    """Return the matrix with a new last column and row; they share the corner."""
    grown = np.empty((len(square) + 1,) * 2)
    grown[:-1, :-1] = square
    grown[:, -1] = as_numpy(column)
    grown[-1, :] = as_numpy(row)
    return grown


def _grown_symmetric(square: Array, border: Array) -> Array:
    return _grown(square, border, border)


SPARE = 3
"""A buffer holds so many times the memory: the window moves through it and is copied only when it reaches the end."""


class RowWindow(NamedTuple):
    """A window of rows of a buffer. Appending never changes rows that an older window shows."""

    buffer: Array
    used: list[int]
    first: int
    last: int

    @property
    def matrix(self) -> Array:
        """The rows of the window."""
        return self.buffer[self.first : self.last]

    def appended(self, row: Array, capacity: int) -> RowWindow:
        """Return the window with one row more, without its oldest if there would be too many."""
        first = max(self.first, self.last + 1 - capacity)
        buffer, used, last = self.buffer, self.used, self.last
        if last == buffer.shape[0] or used[0] != last:  # at the end, or somebody else has appended here
            fresh = empty_rows(row, capacity)
            fresh.buffer[: last - first] = buffer[first:last]
            buffer, used, first, last = fresh.buffer, fresh.used, 0, last - first
        buffer[last] = row
        used[0] = last + 1
        return RowWindow(buffer, used, first, last + 1)


def empty_rows(like: Array, capacity: int) -> RowWindow:
    """Return a window without rows, for rows like this one."""
    xp = array_namespace(like)
    shape = (SPARE * capacity, like.shape[0])
    return RowWindow(xp.empty(shape, dtype=like.dtype, device=device(like)), [0], 0, 0)
