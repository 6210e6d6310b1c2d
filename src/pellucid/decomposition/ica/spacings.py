r"""Entropy of numbers from the gaps between them, and what several columns share.

With sorted :math:`s_{(1)} \le \dots \le s_{(n)}` and :math:`m = \lfloor\sqrt n\rfloor` (Vasicek, Learned-Miller):

.. math:: \hat h = \frac1{n - m}\sum_{i=1}^{n - m} \log\Big(\frac{n + 1}{m}\,(s_{(i + m)} - s_{(i)})\Big)
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree
from scipy.special import digamma, gammaln

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
