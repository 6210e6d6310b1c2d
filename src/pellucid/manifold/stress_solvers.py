r"""SMACOF: a map whose stress falls with every step, as the minimum of a parabola that touches the stress from above.

.. math:: \sigma(Z) = \sum_{i<j} w_{ij}(d_{ij}(Z) - \delta_{ij})^2,\qquad Z \leftarrow V^+B(Z)Z

:math:`B(Z)Z` has the rows :math:`\sum_j w_{ij}\delta_{ij}(z_i - z_j)/d_{ij}`, and :math:`V^+` is 1/n where all weights
are 1 (de Leeuw, 1977).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pellucid.core.arrays import is_foreign
from pellucid.core.threads import run_blocks, shared_blas, split_evenly
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch, ignore
from pellucid.manifold.scalar_products import ScalarProducts, coordinates, main_axes
from pellucid.proofs.certificate import Claim
from pellucid.proofs.rounding import EPSILON, TINY

BLOCK_ROWS = 64


@dataclass(frozen=True)
class StressStep:
    """The stress of places, the weighted sum of their squared distances, and where they are pulled to."""

    stress: float
    spread: float
    pulled: Array


@dataclass(frozen=True)
class StressDescent:
    """The last places, their stress, the number of steps, and the way there."""

    places: Array
    stress: float
    n_iter: int
    trace: Trace


def look_at(places: Array, wanted: Array, weights: Array) -> StressStep:
    """Return the stress of places (n, p), and what each is pulled to; ``weights`` (n, n), or (1, n) of ones."""
    if is_foreign(wanted):
        from pellucid.manifold.mds.mds_on_device import stress_there

        return StressStep(*stress_there(places, wanted))
    from pellucid.manifold.stress_kernels import stress_of_rows

    n, p = places.shape
    columns = np.ascontiguousarray(places.T)

    def work(rows: slice) -> tuple[Array, Array]:
        pulled, sums = np.zeros((p, n)), np.empty(2)
        some = weights[rows] if len(weights) > 1 else weights
        stress_of_rows(columns, rows.start, wanted[rows], some, pulled, sums, np.empty(n), np.empty(n))
        return pulled, sums

    found = run_blocks(work, split_evenly(n, -(-n // BLOCK_ROWS)))
    stress, spread = np.sum([sums for _, sums in found], axis=0)
    return StressStep(float(stress), float(spread), np.sum([pulled for pulled, _ in found], axis=0).T)


def first_places(distances: Array, n_components: int) -> Array:
    """Return the places of classical scaling, with zeros for dimensions that it has no use for."""
    products = ScalarProducts.of(distances)
    known = coordinates(main_axes(products.matrix, min(len(distances), n_components)), products.unit)[1]
    found = np.zeros((len(distances), n_components))
    found[:, : known.shape[1]] = known
    return found


def weight_solver(weights: Array) -> Callable[[Array], Array]:
    """Return the function that multiplies by V^+, for weights (n, n), or (1, n) of ones."""
    n = weights.shape[1]
    if len(weights) == 1:
        return lambda pulled: pulled / n
    V = -weights
    np.fill_diagonal(V, 0.0)
    np.fill_diagonal(V, -V.sum(axis=1))
    scale = float(V.diagonal().mean()) / n
    with shared_blas(float(n) ** 3 / 3):
        factor = cho_factor(V + scale, lower=True, check_finite=False)  # constants are in the null space of V
    return lambda pulled: np.asarray(cho_solve(factor, pulled - pulled.mean(axis=0), check_finite=False))


def descend(
    start: Array,
    wanted: Callable[[Array, int], Array],
    weights: Array,
    *,
    eps: float,
    max_iter: int,
    watch: Watch = ignore,
) -> StressDescent:
    """Return the places after steps that each lower the stress by at least ``eps`` of the spread.

    ``wanted`` gives the distances that are aimed at, for places and the number of steps made.
    """
    solve, trace = weight_solver(weights), Trace()
    places, before = np.asarray(start, dtype=np.float64), np.inf
    aim = wanted(places, 0)
    seen = look_at(places, aim, weights)
    for step in range(1, max_iter + 1):
        places = solve(seen.pulled)
        seen = look_at(places, aim, weights)
        drop = (before - seen.stress) / seen.spread if seen.spread > 0.0 else 0.0
        trace.add(iteration=step, objective=seen.stress, drop=drop if np.isfinite(drop) else np.nan)
        if watch(places) or drop < eps:
            break
        before = seen.stress
        following = wanted(places, step)
        if following is not aim:
            aim = following
            seen = look_at(places, aim, weights)
    return StressDescent(places, seen.stress, step, trace)


def descent_claim(trace: Trace, size: float) -> Claim:
    """Return the claim that the stress never rose on the way; ``size`` is that of the weighted squared distances."""
    values = np.asarray(trace["objective"], dtype=np.float64)
    level = max(float(np.abs(values).max(initial=0.0)), 1e3 * EPSILON * size, TINY)
    rise = float(np.max(np.diff(values), initial=0.0)) / level
    return Claim("descent", "largest rise of the stress in a step, in parts of the largest", rise, 1e-9)
