r"""Entropy of numbers from the gaps between them, and what several columns share.

With sorted :math:`s_{(1)} \le \dots \le s_{(n)}` and :math:`m = \lfloor\sqrt n\rfloor` (Vasicek, Learned-Miller):

.. math:: \hat h = \frac1{n - m}\sum_{i=1}^{n - m} \log\Big(\frac{n + 1}{m}\,(s_{(i + m)} - s_{(i)})\Big)
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.spatial import KDTree
from scipy.special import digamma, gammaln

from pellucid.core.fit import Effort, Fit
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.proofs.rounding import TINY

NEIGHBORS = 4
"""The joint entropy is taken from the distance to the neighbor of this number."""


def spacings_entropy(values: Array) -> Array:
    """Return the entropy of each row of numbers, in nats; equal numbers count as very near.

    Examples
    --------
    Numbers spread evenly over an interval of length 2 have the entropy log 2.

    >>> spacings_entropy(np.linspace(0.0, 2.0, 10_001)[None]).round(2)
    array([0.69])
    """
    ordered = np.sort(values, axis=-1)
    n = ordered.shape[-1]
    m = max(1, int(np.sqrt(n)))
    gaps = ordered[..., m:] - ordered[..., :-m]
    return np.asarray(np.mean(np.log(np.maximum(gaps * ((n + 1) / m), TINY)), axis=-1))


def multi_information(sources: Data) -> float:
    r"""Return an estimate of :math:`\sum_k h(s_k) - h(s)`, in nats: 0 where the columns are independent.

    Shuffled columns are independent and have the same entropies, so that it is the joint entropy of shuffled columns
    less that of the rows; each comes from the distances to fourth neighbors (Kozachenko and Leonenko), whose bias is
    then nearly the same. Few rows of many columns tell little; noise makes it a little less or more than 0.

    Parameters
    ----------
    sources : array-like of shape (n_samples, n_sources)
        A column for each source; their units do not matter.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> independent = rng.random((2000, 2))
    >>> abs(multi_information(independent)) < 0.05 < multi_information(independent @ [[1.0, 1.0], [-1.0, 1.1]])
    True
    """
    rows = np.asarray(sources, dtype=np.float64)
    deviation = rows.std(axis=0)
    rows = (rows - rows.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0)
    if rows.shape[1] == 1 or len(rows) < 2:
        return 0.0
    shuffled = np.random.default_rng(0).permuted(rows, axis=0)
    return _joint_entropy(shuffled) - _joint_entropy(rows)


def _joint_entropy(rows: Array) -> float:
    """Return the entropy of rows from the distances to their neighbors."""
    n, q = rows.shape
    k = min(NEIGHBORS, n - 1)
    distance = KDTree(rows).query(rows, k=k + 1)[0][:, k]
    ball = 0.5 * q * np.log(np.pi) - gammaln(0.5 * q + 1.0)
    return float(digamma(n) - digamma(k) + ball + q * np.mean(np.log(np.maximum(distance, TINY))))


# The rotation with the least sum of marginal entropies: pairs of coordinates are turned in their plane, one by one.
#
# The joint entropy of white rows is the same for every rotation, so that the sum of the entropies of the coordinates is
# their multi-information plus a constant. Entropies come from spacings (Learned-Miller and Fisher). Every angle of a
# quarter turn is tried on a grid, then around the best on finer ones.


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
