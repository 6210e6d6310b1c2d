r"""Links between rows, and the matrix whose largest eigenvectors tell rows apart that few links join.

.. math:: M = I + D^{-1/2}(A - \mathrm{diag}\,A)D^{-1/2}, \qquad L = 2I - M

:math:`A` are the affinities, :math:`D` the sums of its rows without the diagonal, :math:`L` the normalized Laplacian.
The smallest eigenvalues of :math:`L`, none of them below 0, are the largest of :math:`M`, none of them above 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from pellucid.core.types import Array

UNLINKED = 1e-200
"""Part of the largest sum of links that counts as none: the squares of what is divided by its root would overflow."""


def asymmetry(affinity: Any) -> float:
    """Return the largest difference of two affinities of the same rows, in parts of the largest affinity."""
    apart, size = abs(affinity - affinity.T).max(), abs(affinity).max()
    return float(apart) / float(size) if apart > 0.0 else 0.0


def symmetric_links(affinity: Any) -> Any:
    """Return given affinities, the mean of both orders where these differ."""
    if asymmetry(affinity) == 0.0:
        return affinity
    mean = (affinity + affinity.T) / 2.0
    if sparse.issparse(mean):
        mean = mean.tocsr()
        mean.sum_duplicates()  # and puts the columns of each row in order
    return mean


def without_diagonal(affinity: Any) -> Any:
    """Return a copy of the affinities, float64, with 0 for each row and itself."""
    if sparse.issparse(affinity):
        links = affinity.tocoo()
        apart = links.row != links.col
        rows, columns = links.row[apart], links.col[apart]
        return sparse.csr_array((links.data[apart].astype(np.float64), (rows, columns)), shape=links.shape)
    links = np.array(affinity, dtype=np.float64)
    np.fill_diagonal(links, 0.0)
    return links


def normalized(affinity: Any) -> tuple[Any, Array]:
    """Return :math:`M` and the roots of the sums of the rows, 1 for a row without links; refuse sums below 0."""
    links = without_diagonal(affinity)
    degrees = np.asarray(links.sum(axis=1)).ravel()
    if not np.all(degrees >= 0.0):
        worst = int(np.argmin(degrees))
        raise ValueError(
            f"affinity must link every row by a sum of at least 0, got {degrees[worst]:g} for row {worst}. "
            "Use an affinity without negative values, such as 'rbf'."
        )
    roots = np.where(degrees > UNLINKED * degrees.max(initial=0.0), np.sqrt(degrees), 1.0)
    if sparse.issparse(links):
        scale = sparse.diags_array(1.0 / roots)
        return (scale @ links @ scale + sparse.eye_array(len(roots))).tocsr(), roots
    links /= roots
    links /= roots[:, None]
    links.flat[:: len(roots) + 1] = 1.0
    return links, roots


def is_connected(affinity: Any) -> bool:
    """Return whether a way over links leads from every row to every other."""
    if sparse.issparse(affinity):
        return bool(connected_components(affinity, directed=False, return_labels=False) == 1)
    seen = np.zeros(len(affinity), bool)
    seen[0] = True
    newest = np.array([0])
    while len(newest):
        reached = (affinity[newest] != 0.0).any(axis=0) & ~seen
        seen |= reached
        newest = np.flatnonzero(reached)
    return bool(seen.all())
