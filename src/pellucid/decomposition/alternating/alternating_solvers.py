r"""Alternating least squares: the best factor of every row, then of every column, each by its own ridge regression.

For the solution of a ridge regression with right side :math:`r` the objective is half the squares of the data less
:math:`\tfrac12 r'z`, so that each half of a round tells its value without another look at the data. A round begins
beyond the last components, in the direction in which they moved; one that raises the objective is taken back. Factors
turned together are as good: those are kept whose components are at right angles, the longest first.
"""

from __future__ import annotations

import numpy as np

from pellucid.core.effort import Effort
from pellucid.core.fit import Fit
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.decomposition.alternating.observed_entries import Entries
from pellucid.decomposition.momentum import Momentum
from pellucid.proofs.rounding import TINY

SAFETY = 0.9
"""The residual is asked to be this part of ``tol``: factors are rounded when they are stored."""


def alternating_factors(
    entries: Entries, components: Array, alphas: tuple[float, float], effort: Effort, dtype: type
) -> Fit:
    """Return components (d, q) that one more step improves by no more than the goal, and the best rows for them."""
    half, trace, stopped = 0.5 * entries.squares, Trace(), "max_iter"
    before = last = components
    momentum, objective = Momentum(), np.inf

    def best_rows(begin: Array) -> tuple[Array, float]:
        weights, gained = entries.fit_rows(begin, alphas[0])
        return weights, half - gained + 0.5 * alphas[1] * float(np.vdot(begin, begin))

    for n_iter in range(1, effort.max_iter + 1):
        begin = _stored(last + momentum.part * (last - before), dtype)
        weights, reached = best_rows(begin)
        if reached > objective:
            momentum.slow_down()
            begin = _stored(last, dtype)
            weights, reached = best_rows(begin)
        else:
            momentum.speed_up()
        objective = reached
        following, gained = entries.fit_columns(weights, alphas[1])
        after = half - gained + 0.5 * alphas[0] * float(np.vdot(weights, weights))
        residual = float(np.sqrt(max(reached - after, 0.0) / max(half, TINY)))
        trace.add(iteration=n_iter, objective=objective, residual=residual)
        trace.keep(weights=weights, components=begin.T)
        is_done = residual <= SAFETY * effort.goal
        if effort.watch(begin.T) or is_done:
            stopped = "one more step gains no more than tol" if is_done else "a callback"
            break
        before, last = (following if n_iter == 1 else last), following  # what chance began with is no direction
    turned = _stored(_along_axes(begin), dtype)
    return Fit({"weights_": best_rows(turned)[0], "components_": turned.T, "n_iter_": n_iter}, trace, stopped)


def _along_axes(components: Array) -> Array:
    """Return components (d, q), as good, at right angles: the longest first, the largest entry of each above 0."""
    _, axes = np.linalg.eigh(components.T @ components)
    turned = components @ axes[:, ::-1]
    size = np.abs(turned)
    first = np.argmax(size >= (1.0 - 1e-9) * size.max(axis=0), axis=0)
    return np.asarray(turned * np.where(turned[first, np.arange(turned.shape[1])] < 0.0, -1.0, 1.0))


def _stored(components: Array, dtype: type) -> Array:
    """Return components as they will be stored: the rows are the best for these."""
    return components.astype(dtype).astype(np.float64)
