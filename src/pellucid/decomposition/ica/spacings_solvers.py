r"""The rotation with the least sum of marginal entropies: pairs of coordinates are turned in their plane, one by one.

The joint entropy of white rows is the same for every rotation, so that the sum of the entropies of the coordinates is
their multi-information plus a constant. Entropies come from spacings (Learned-Miller and Fisher). Every angle of a
quarter turn is tried on a grid, then around the best on finer ones.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from pellucid.core.effort import Effort
from pellucid.core.fit import Fit
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.decomposition.ica.spacings import spacings_entropy

ANGLES = 32
"""Angles of the first grid."""

REFINEMENTS = 4
"""Finer grids, each between the neighbors of the best angle so far."""

FINER = 9


def least_entropy_rotation(Z: Array, W: Array, effort: Effort) -> Fit:
    """Return the rotation at which turning any pair lowers the sum of entropies by no more than the goal."""
    rows, trace, stopped = W @ Z, Trace(), "max_iter"
    total = float(np.sum(spacings_entropy(rows)))
    for n_iter in range(1, effort.max_iter + 1):
        for i, j in combinations(range(len(W)), 2):
            angle, gain = best_angle(rows[[i, j]])
            if gain > 0.0:
                rotation = plane_rotation(angle)
                rows[[i, j]], W[[i, j]] = rotation @ rows[[i, j]], rotation @ W[[i, j]]
        before, total = total, float(np.sum(spacings_entropy(rows)))
        trace.add(iteration=n_iter, objective=total, decrease=before - total)
        trace.keep(W=W)
        if effort.watch(W) or before - total <= effort.goal:
            stopped = "no pair gains more than tol" if before - total <= effort.goal else "a callback"
            break
    return Fit({"rotation": W, "n_iter_": n_iter}, trace, stopped)


def best_angle(pair: Array) -> tuple[float, float]:
    """Return the angle that lowers the sum of the entropies of two rows most, and by how much."""
    centre, width = 0.0, np.pi / 4
    before = float(np.sum(spacings_entropy(pair)))
    best, least = 0.0, before
    for count in (ANGLES, *(FINER,) * REFINEMENTS):
        angles = centre + width * (2.0 * np.arange(count) / count - 1.0 + 1.0 / count)
        turned = np.stack([plane_rotation(angle) for angle in angles]) @ pair
        sums = spacings_entropy(turned).sum(axis=-1)
        k = int(np.argmin(sums))
        if sums[k] < least:
            best, least = float(angles[k]), float(sums[k])
        centre, width = best, 2.0 * width / count
    return best, before - least


def plane_rotation(angle: float) -> Array:
    """Return the rotation of a plane by an angle."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, s], [-s, c]])
