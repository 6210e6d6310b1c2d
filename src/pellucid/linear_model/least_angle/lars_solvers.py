r"""Least angle regression and its lasso variant, one breakpoint after the other.

At a breakpoint all active columns have the same absolute correlation :math:`C` with the residual. Moving by
:math:`\gamma d`, :math:`d = G^{-1} s` (:math:`G` the Gram matrix of the active columns, :math:`s` the signs of their
correlations), lowers :math:`C` by :math:`\gamma`, until another column is as correlated or, in the lasso, a
coefficient reaches 0.

Where several columns arrive at once the lasso may need only some of them: of a column whose coefficient is 0 the
direction must have the sign of its correlation. The best such direction minimizes :math:`\frac12d'Gd - s'd`; columns
that would still gain join one by one, and on the way to the new minimum those whose part of the direction reaches 0
leave (Lawson and Hanson's method for nonnegative least squares).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dtpsv

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch, ignore
from pellucid.linear_model.least_angle.lars_kernels import arrivals_within, next_arrival
from pellucid.linear_model.least_angle.packed_cholesky_kernels import delete_packed_column
from pellucid.solvers.design import Design

SMALLEST_PIVOT = 1e-12
"""Part of a column that the active ones must leave unexplained for it to join them."""

REFRESH_EVERY = 25
"""Steps after which correlations are computed afresh from the data."""

NEARLY = 1e-10
"""Events closer than this, relative to the step, count as one: the end of the path goes first."""

TIED = 1e-13
"""Columns whose correlations differ by less than this, relative to the largest possible one, arrive together."""


@dataclass(frozen=True)
class LarsRules:
    """Which path, and how far."""

    n_rows: float
    """Rows counted by their weights."""
    lasso: bool = False
    positive: bool = False
    lowest: float = 0.0
    """Correlation at which to stop: ``n_rows * alpha_min``."""
    max_iter: int = 500


@dataclass(frozen=True)
class LarsPath:
    """Correlations and coefficients (n_features, n_breakpoints) at the breakpoints, and columns active at the end."""

    levels: Array
    coefs: Array
    active: list[int]
    n_iter: int
    trace: Trace


def lars(design: Design, b: Array, rules: LarsRules, gram: Array | None = None, watch: Watch = ignore) -> LarsPath:
    """Follow the path from 0 down to the lowest correlation, the least squares fit or the last allowed step."""
    state = _State(design, b, rules, gram)
    levels, coefs = [max(state.level, rules.lowest)], [state.w.copy()]
    trace = Trace()
    state.note(trace)
    entering: int | None = state.most_correlated()
    while state.n_iter < rules.max_iter and state.level > rules.lowest:
        if entering is not None:
            state.admit(entering)
        if not state.active:
            break
        entering = state.step()
        levels.append(state.level)
        coefs.append(state.w.copy())
        state.note(trace)
        if watch(state.w):
            break
    return LarsPath(np.array(levels), np.array(coefs).T, state.active, state.n_iter, trace)


class _State:
    """A point of the path with its active set."""

    def __init__(self, design: Design, b: Array, rules: LarsRules, gram: Array | None) -> None:
        n, p = design.shape
        self.design, self.b, self.rules, self.gram = design, b, rules, gram
        self.w = np.zeros(p)
        self.correlations = design.transposed_times(b)
        self.level = self.level_known = float(self._slopes(self.correlations).max(initial=0.0))
        self.sq_residual = float(b @ b)
        self.tied = TIED * float(np.sqrt(self.sq_residual * design.sq_norms().max(initial=0.0)))
        self.n_iter = 0
        self.most = most = min(n, p, rules.max_iter + 1)
        self.active: list[int] = []
        self.signs: list[float] = []
        # Each step multiplies by all columns: they are laid out one after the other, centered, once.
        self.scout = Scout(design.columns(np.arange(p))) if gram is None else None
        self.residual = b.copy()
        # The active columns: of A, or of the Gram matrix if there is one.
        self.columns = np.empty((n if gram is None else p, most), order="F")
        self.factor = GrowingCholesky(most)
        self.idle = np.ones(p, dtype=bool)  # neither active nor a combination of active columns
        self.direction = np.zeros(p)  # the best one so far at this point
        self.turned_away: list[int] = []  # columns that only rounding lets arrive at this point

    def most_correlated(self) -> int:
        """Return the column to start with; of equals the first."""
        return int(np.argmax(self._slopes(self.correlations)))

    def admit(self, j: int) -> None:
        """Make column ``j`` active, unless active columns explain it."""
        self.idle[j] = False
        if len(self.active) < self.most and self._extend_factor(j):
            self.active.append(j)
            self.signs.append(1.0 if self.correlations[j] > 0.0 else -1.0)

    def step(self) -> int | None:
        """Move to the next breakpoint; return the column that becomes active there."""
        direction, signs = self._allowed_direction()
        image = self.columns[:, : len(direction)] @ direction
        speeds = image if self.scout is None else self.scout.speeds(image)  # how fast correlations fall
        arrival, entering = self._next_arrival(speeds, image)
        departure, leaving = self._next_departure(direction)
        end = self.level - self.rules.lowest
        length = min(arrival, departure, end)
        if end <= length * (1.0 + NEARLY) + NEARLY * end:
            length, entering, leaving = end, None, None
        elif departure <= length:
            entering = None
        else:
            length, leaving = length if length > self.tied else 0.0, None
        self._move(length, direction, image, speeds, signs)
        if leaving is not None:
            self._drop(leaving)
        if length > 0.0:
            self._begin_anew()
        return entering

    def _allowed_direction(self) -> tuple[Array, Array]:
        """Return the direction of the active columns and their signs; in the lasso, after those that must wait left."""
        while True:
            signs = np.array(self.signs)
            direction = self.factor.solve(signs)
            wrong = np.flatnonzero((self.w[self.active] == 0.0) & (signs * direction < 0.0))
            if not self.rules.lasso or len(wrong) == 0:
                self.direction[self.active] = direction
                return direction, signs
            before = self.direction[self.active]
            parts = before[wrong] / (before[wrong] - direction[wrong])  # of the way, until it is 0
            first, j = int(np.argmin(parts)), self.active[wrong[np.argmin(parts)]]
            self.direction[self.active] = before + parts[first] * (direction - before)
            self.direction[j] = 0.0
            if parts[first] == 0.0:
                self.turned_away.append(j)
            self._drop(int(wrong[first]))

    def _begin_anew(self) -> None:
        """Begin anew at another point: active in the lasso are columns with coefficients of their sign."""
        self.direction[:] = 0.0
        self.idle[self.turned_away] = True
        self.turned_away.clear()
        if self.rules.lasso:
            for position in np.flatnonzero(self.w[self.active] * self.signs <= 0.0)[::-1]:
                self._drop(int(position))

    def note(self, trace: Trace) -> None:
        """Append a row to the trace."""
        n = self.rules.n_rows
        trace.add(
            iteration=self.n_iter, objective=0.5 * self.sq_residual / n, alpha=self.level / n, active=len(self.active)
        )
        trace.keep(coef=self.w)

    def _extend_factor(self, j: int) -> bool:
        k = len(self.active)
        if self.scout is None:
            assert self.gram is not None
            self.columns[:, k] = self.gram[:, j]
            return self.factor.append(self.gram[self.active, j], float(self.gram[j, j]), SMALLEST_PIVOT)
        column = self.columns[:, k] = self.scout.A[:, j]
        return self.factor.append(self.columns[:, :k].T @ column, float(column @ column), SMALLEST_PIVOT)

    def _slopes(self, correlations: Array) -> Array:
        return correlations if self.rules.positive else np.abs(correlations)

    def _next_arrival(self, speeds: Array, image: Array) -> tuple[float, int | None]:
        """Return how far it is until an idle column is as correlated as the active ones, and which."""
        if self.scout is not None:
            return self.scout.next_arrival(
                self.correlations, speeds, self.idle, self.level, self.rules.positive, self.residual, image
            )
        length, column = next_arrival(self.correlations, speeds, self.idle, self.level, self.rules.positive, SLOWEST)
        return float(length), int(column) if column >= 0 else None

    def _next_departure(self, direction: Array) -> tuple[float, int | None]:
        """Return how far it is until an active coefficient is 0, and its position; never for plain LARS."""
        if not self.rules.lasso:
            return np.inf, None
        coefs = self.w[self.active]
        towards_zero = direction * self.signs < 0.0
        lengths = np.where(towards_zero, np.abs(coefs / np.where(towards_zero, direction, 1.0)), np.inf)
        first = int(np.argmin(lengths))
        return (float(lengths[first]), first) if np.isfinite(lengths[first]) else (np.inf, None)

    def _move(self, length: float, direction: Array, image: Array, speeds: Array, signs: Array) -> None:
        self.w[self.active] += length * direction
        decrease = float(signs @ direction)  # of half the square residual, per unit of level and length
        self.sq_residual = max(0.0, self.sq_residual - length * (2.0 * self.level - length) * decrease)
        reaches_end = length == self.level - self.rules.lowest  # the difference may round to just above
        self.level = self.rules.lowest if reaches_end else max(self.rules.lowest, self.level - length)
        self.correlations -= length * speeds
        if self.scout is not None:
            self.residual -= length * image
        self.n_iter += 1
        if self.n_iter % REFRESH_EVERY == 0 or self.level < 0.5 * self.level_known:
            self._refresh(signs)

    def _refresh(self, signs: Array) -> None:
        """Compute residual and correlations from the data, and correct the coefficients to equal correlations."""
        self._compute_correlations()
        correction = self.factor.solve(self.correlations[self.active] - self.level * signs)
        self.w[self.active] += correction
        image = self.columns[:, : len(correction)] @ correction
        if self.scout is None:
            self.correlations -= image
        else:
            self.correlations -= self.scout.A.T @ image
            self.residual -= image
        self.level_known = self.level

    def _compute_correlations(self) -> None:
        if self.scout is None:
            self.residual, self.correlations = self.design.residual_and_correlations(self.b, self.w)
        else:
            self.residual = self.b - self.columns[:, : len(self.active)] @ self.w[self.active]
            self.correlations = self.scout.A.T @ self.residual
        self.sq_residual = float(self.residual @ self.residual)

    def _drop(self, position: int) -> None:
        j = self.active.pop(position)
        self.signs.pop(position)
        self.factor.delete(position)
        k = len(self.active)
        self.columns[:, position:k] = self.columns[:, position + 1 : k + 1]
        self.w[j] = 0.0
        self.idle[:] = True  # what the dropped column explained may now have to join
        self.idle[[*self.active, *self.turned_away]] = False


# Which column joins a LARS path next: single precision finds candidates, double precision decides.
#
# Every step needs the speed at which each correlation falls, one product with all columns; it is what a path spends
# most of its time on, and in single precision it takes half of it.


SLOWEST = 1e-10
"""A correlation that nears the level no faster than this never arrives."""

CLOSE = 1e-3
"""Columns that single precision sees arrive within this part of the level after the first are looked at exactly."""


class Scout:
    """Knows the correlations of all columns about, and those of candidates exactly."""

    def __init__(self, A: Array) -> None:
        self.A = A
        self.norms = np.sqrt(np.einsum("ij,ij->j", A, A))
        self.units = np.asfortranarray(A / np.where(self.norms > 0, self.norms, 1.0), dtype=np.float32)

    def speeds(self, image: Array) -> Array:
        """Return ``A' image`` to about seven digits of ``|a_j| |image|``."""
        size = float(np.linalg.norm(image))
        if size == 0.0:
            return np.zeros(len(self.norms))
        return (size * self.norms) * (self.units.T @ (image / size).astype(np.float32))

    def next_arrival(
        self, about: Array, speeds: Array, idle: Array, level: float, positive: bool, residual: Array, image: Array
    ) -> tuple[float, int | None]:
        """Return how far it is until an idle column is as correlated as the active ones, and which."""
        first, _ = next_arrival(about, speeds, idle, level, positive, SLOWEST)
        if not np.isfinite(first):
            return np.inf, None
        reach = first + CLOSE * level
        near = arrivals_within(about, speeds, idle, level, positive, SLOWEST, reach)
        length, k = self._exactly(near, residual, image, level, positive)
        if length > reach:  # the candidates come later than seemed, or never: others may come before
            near = np.flatnonzero(idle)
            length, k = self._exactly(near, residual, image, level, positive)
        return length, int(near[k]) if k >= 0 else None

    def _exactly(self, which: Array, residual: Array, image: Array, level: float, positive: bool) -> tuple[float, int]:
        """Return how far it is until one of these columns arrives, and its place among them."""
        columns, everyone = self.A[:, which], np.ones(len(which), dtype=np.bool_)
        length, k = next_arrival(columns.T @ residual, columns.T @ image, everyone, level, positive, SLOWEST)
        return float(length), int(k)


class GrowingCholesky:
    """Upper ``R`` with ``R'R = G``, stored column after column: a new column is appended, nothing moves."""

    def __init__(self, capacity: int) -> None:
        self.size = 0
        self._packed = np.empty(capacity * (capacity + 1) // 2)

    def append(self, cross: Array, square: float, smallest_pivot: float) -> bool:
        """Add a column with these products with the others and with itself.

        Return False, and add nothing, if the others explain all but ``smallest_pivot`` of it.
        """
        k = self.size
        column = dtpsv(k, self._factor(), cross, trans=1) if k else cross
        pivot = square - float(column @ column)
        if not pivot > smallest_pivot * square:
            return False
        start = k * (k + 1) // 2
        self._packed[start : start + k] = column
        self._packed[start + k] = np.sqrt(pivot)
        self.size = k + 1
        return True

    def delete(self, i: int) -> None:
        """Remove column ``i``; later ones move up."""
        delete_packed_column(self._packed, self.size, i)
        self.size -= 1

    def solve(self, rhs: Array) -> Array:
        """Return ``G^-1 rhs``."""
        factor = self._factor()
        return np.asarray(dtpsv(self.size, factor, dtpsv(self.size, factor, rhs, trans=1)))

    def _factor(self) -> Array:
        return self._packed[: self.size * (self.size + 1) // 2]
