r"""Lower bounds of the k-means objective that no clustering into K clusters can beat.

With :math:`s_i = \sqrt{w_i}` and rows about their mean, let :math:`G_{ij} = s_i s_j x_i'x_j`. The objective is
:math:`\operatorname{tr} G - \langle G, Z\rangle`, where Z is the projection on the K vectors that hold :math:`s_i` for
the rows of one cluster. So :math:`Z s = s`, Z is symmetric with eigenvalues 0 and 1, its trace is K and no entry is
negative. Two bounds of :math:`\langle G, Z\rangle` follow:

* spectral: s is one of the K directions and G vanishes along it, so the K - 1 largest eigenvalues of G are a bound;
* semidefinite: for any :math:`\alpha` and any :math:`N \ge 0`,
  :math:`\langle G, Z\rangle \le \alpha's + \text{the K largest eigenvalues of } G + N - (\alpha s' + s\alpha')/2`.
  Which of them proves most is guessed from a clustering and then improved; the bound is true whatever the guess.
  For clusters that lie well apart it meets the objective, which proves the clustering best of all.

The first guess makes the cluster vectors eigenvectors, of which the bound then consists:

.. math::

   \alpha_i = s_i\Bigl(2x_i'\mu_t - \|\mu_t\|^2 - \frac{z}{W_t}\Bigr), \quad
   N_{ij} = \frac{s_i r_{iu}\, s_j r_{jt}}{\sum_{k \in t} w_k r_{ku}}, \quad
   r_{iu} = \frac{W_u}{2}\Bigl(\|x_i - \mu_u\|^2 - \|x_i - \mu_t\|^2 - \frac{z}{W_t} - \frac{z}{W_u}\Bigr)_+

for i in cluster t and j in cluster u, with means :math:`\mu`, sums of weights W and a number z. For one column dynamic
programming finds the least objective itself.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import eigh, eigvalsh

from pellucid.proofs.arrays import Array, SparseOrDense, dense, largest
from pellucid.proofs.rounding import EPSILON
from pellucid.proofs.sampling import is_fitting

MOST_COLUMNS = 1000
"""Of the rows, or rows, up to which the spectral bound is computed."""
FEW_COLUMNS, FEW_ROWS = 64, 64
"""Up to which a fit computes bounds; ``pellucid.verify`` does for more."""
MOST_ROWS = 1000
"""Up to which the semidefinite bound is computed for all at once: its time grows with the third power."""
FEWEST_ROWS, ROWS_PER_CLUSTER = 100, 25
"""Of the parts of more rows: the more rows for each cluster, the less the best of a part is below that of all."""
PARTS_WORK = 4e9
"""Rows times the squared rows of a part, up to which the parts are bounded."""
MOST_ENTRIES = 1 << 21
"""Different values of one column, times clusters, up to which its best clustering is found."""
ENTRIES_AT_ONCE = 1 << 16
MOST_STEPS = 60
STEP_WORK = 1e10
"""Rows to the third power, times steps, that improving a dual point may take."""
CLOSED = 1e-9
"""A gap, as a part of the objective, that is taken for none."""


def lower_bound(X: SparseOrDense, weight: Array, labels: Array, n_clusters: int, steps_at_fit: int = 0) -> float | None:
    """Return what no clustering can beat, by the best means that these data allow; None where there is none."""
    exact = line_bound(X, weight, n_clusters)
    if exact is not None:
        return exact
    n, d = X.shape
    known = spectral_bound(X, weight, n_clusters) if min(n, d) <= FEW_COLUMNS or not is_fitting() else None
    better = None
    if not is_fitting():
        better = semidefinite_bound(X, weight, labels, n_clusters, known or 0.0)
    elif n <= FEW_ROWS and n_clusters > 1:
        better = _bound_of_part(X, weight, labels, n_clusters, steps_at_fit)
    return max((bound for bound in (known, better) if bound is not None), default=None)


def spectral_bound(X: SparseOrDense, weight: Array, n_clusters: int) -> float | None:
    """Return the total scatter less its K - 1 largest eigenvalues; None where that would take too long."""
    n, d = X.shape
    if min(n, d) > MOST_COLUMNS:
        return None
    if n < d:
        rows = _dense(X)
        rows = rows - weight @ rows / weight.sum()
        rows -= weight @ rows / weight.sum()  # the first mean was rounded: scatter about it is too large
        rows *= np.sqrt(weight)[:, None]
        scatter = rows @ rows.T
    else:
        height = max(1, ENTRIES_AT_ONCE // d)
        parts = [slice(start, start + height) for start in range(0, n, height)]
        mean = np.sum([weight[part] @ _dense(X[part]) for part in parts], axis=0) / weight.sum()
        scatter, beside = np.zeros((d, d)), np.zeros(d)
        for part in parts:
            rows = _dense(X[part]) - mean
            beside += weight[part] @ rows
            rows *= np.sqrt(weight[part])[:, None]
            scatter += rows.T @ rows
        scatter -= np.outer(beside, beside) / weight.sum()
    return spectral_bound_of(scatter, n, n_clusters)


def spectral_bound_of(scatter: Array, n_rows: int, n_clusters: int) -> float:
    """Return the same from the scatter of so many rows about their mean."""
    total = float(np.trace(scatter))
    kept = _largest_eigenvalues(scatter, min(n_clusters - 1, len(scatter)))
    return max(total - kept - 8 * EPSILON * (len(scatter) + np.sqrt(n_rows)) * total, 0.0)


def line_bound(X: SparseOrDense, weight: Array, n_clusters: int) -> float | None:
    """Return the least objective of one column, by dynamic programming over its sorted values; None for many values.

    The best beginning of the last cluster never falls as points are added. So it is found for every second point of
    those still open, level by level, between the beginnings of the points found before: O(n log n) for a cluster.
    """
    if X.shape[1] != 1:
        return None
    values, places = np.unique(_dense(X).ravel(), return_inverse=True)
    weight = np.bincount(places, weights=weight, minlength=len(values))
    n = len(values)
    if n_clusters >= n:
        return 0.0
    if n * n_clusters > MOST_ENTRIES:
        return None
    moved = values - weight @ values / weight.sum()
    sums = np.stack([np.concatenate(([0.0], np.cumsum(weight * moved**power))) for power in range(3)])
    height = np.concatenate(([0.0], np.full(n, np.inf)))
    for _ in range(n_clusters):
        height = _with_one_cluster_more(height, sums)
    return max(float(height[n]) - 8 * EPSILON * np.sqrt(n) * float(sums[2, n]), 0.0)


def _with_one_cluster_more(height: Array, sums: Array) -> Array:
    n = len(height) - 1
    after, first, last = np.full(n + 1, np.inf), np.zeros(n + 2, np.intp), np.full(n + 2, n - 1)
    stride = 1 << n.bit_length()
    while stride >= 1:
        ends = np.arange(stride, n + 1, 2 * stride)
        if len(ends):
            low = first[np.maximum(ends - stride, 0)]
            high = np.minimum(last[np.minimum(ends + stride, n + 1)], ends - 1)
            lengths = high - low + 1
            offsets = np.concatenate(([0], np.cumsum(lengths)[:-1]))
            starts = np.arange(lengths.sum()) - np.repeat(offsets - low, lengths)
            weight, total, square = sums[:, np.repeat(ends, lengths)] - sums[:, starts]
            found = height[starts] + np.maximum(square - total**2 / weight, 0.0)
            after[ends] = np.minimum.reduceat(found, offsets)
            is_best = np.flatnonzero(found == np.repeat(after[ends], lengths))
            cuts = starts[is_best[np.searchsorted(is_best, offsets)]]
            first[ends] = last[ends] = cuts
        stride //= 2
    return after


def semidefinite_bound(
    X: SparseOrDense, weight: Array, labels: Array, n_clusters: int, known: float = 0.0
) -> float | None:
    """Return the best bound that a clustering leads to; None for one cluster, or for far too many rows.

    Many rows are dealt out into parts: whatever the centers are, the objective is the sum of those of the parts, and
    none of these is below the best of its part. If the first promises no more than is ``known``, the others are left.
    """
    n = X.shape[0]
    if n_clusters == 1:
        return None
    if n <= MOST_ROWS:
        return _bound_of_part(X, weight, labels, n_clusters, int(min(MOST_STEPS, STEP_WORK / n**3)))
    height = min(max(ROWS_PER_CLUSTER * n_clusters, FEWEST_ROWS), MOST_ROWS)
    if n * height**2 > PARTS_WORK:
        return None
    n_parts = -(-n // height)
    parts = (slice(first, None, n_parts) for first in range(n_parts))
    bounds = (_bound_of_part(X[part], weight[part], labels[part], n_clusters, 0) for part in parts)
    first = next(bounds)
    return None if first * n_parts <= known else first + sum(bounds)


def _bound_of_part(X: SparseOrDense, weight: Array, labels: Array, n_clusters: int, n_steps: int) -> float:
    """Return the bound for some rows, at least 0."""
    rows = _dense(X)
    rows = rows - weight @ rows / weight.sum()
    size = largest(rows)
    if size == 0.0:
        return 0.0
    unit = math.ldexp(1.0, -math.frexp(size)[1])
    rows *= unit  # so that fourth powers do not overflow
    used, labels = np.unique(labels, return_inverse=True)
    clusters = _Clusters(rows, weight, labels, len(used), n_clusters)
    points = [clusters.dual_point(z) for z in clusters.values_to_try()]
    if not all(np.isfinite(matrix).all() for matrix, _ in points):
        return 0.0
    found = (_improved(clusters, matrix, alpha, n_steps) for matrix, alpha in points)
    tightest = max(0.0, *(clusters.bound(matrix, alpha) for matrix, alpha in found))
    return tightest / unit / unit  # the square of the unit may overflow


class _Clusters:
    """A clustering, and the dual points it leads to: a matrix N of no negative entries, and alpha."""

    def __init__(self, rows: Array, weight: Array, labels: Array, n_used: int, n_clusters: int) -> None:
        counts = np.bincount(labels, weights=weight, minlength=n_used)
        self.labels, self.counts, self.root = labels, counts, np.sqrt(weight)
        self.n_largest = min(n_clusters, len(rows))
        scaled = self.root[:, None] * rows
        self.gram, self.total = scaled @ scaled.T, float(np.sum(np.square(scaled)))
        self.means = np.stack([rows[labels == t].T @ weight[labels == t] for t in range(len(counts))]) / counts[:, None]
        self.projections = np.einsum("ij,ij->i", rows, self.means[labels])
        squares = np.stack([np.square(rows - mean).sum(axis=1) for mean in self.means], axis=1)
        own = squares[np.arange(len(rows)), labels]
        self.objective = float(weight @ own)
        self.excess = squares - own[:, None]
        self.per_weight = 1.0 / counts[labels][:, None] + 1.0 / counts
        self.widest = float(np.linalg.norm(scaled - self.root[:, None] * self.means[labels], 2)) ** 2

    def values_to_try(self) -> list[float]:
        """Return numbers z: the least that the spread within clusters asks for, and the most that leaves N positive."""
        others = np.arange(len(self.counts)) != self.labels[:, None]
        tightest = float((self.excess / self.per_weight)[others].min(initial=np.inf))
        return sorted({self.widest, min(max(tightest, 0.0), 4.0 * self.widest)})

    def dual_point(self, z: float) -> tuple[Array, Array]:
        """Return N and alpha for one z."""
        own = np.einsum("kj,kj->k", self.means, self.means)[self.labels]
        alpha = self.root * (2.0 * self.projections - own - z / self.counts[self.labels])
        pulls = self.root[:, None] * np.maximum(0.5 * self.counts * (self.excess - z * self.per_weight), 0.0)
        matrix = np.zeros_like(self.gram)
        members = [np.flatnonzero(self.labels == t) for t in range(len(self.counts))]
        for t, of_t in enumerate(members):
            for u, of_u in enumerate(members[:t]):
                there, back = pulls[of_t, u], pulls[of_u, t]
                total = max(float(self.root[of_t] @ there), float(self.root[of_u] @ back))
                if total > 0.0:
                    matrix[np.ix_(of_t, of_u)] = np.outer(there, back) / total
                    matrix[np.ix_(of_u, of_t)] = matrix[np.ix_(of_t, of_u)].T
        return matrix, alpha

    def bounded_matrix(self, matrix: Array, alpha: Array) -> Array:
        """Return the matrix whose largest eigenvalues bound the product with Z."""
        return self.gram + matrix - 0.5 * (np.outer(alpha, self.root) + np.outer(self.root, alpha))

    def bound(self, matrix: Array, alpha: Array) -> float:
        """Return the lower bound of the objective that a dual point proves, less what rounding can add."""
        whole, k = self.bounded_matrix(matrix, alpha), self.n_largest
        size = float(np.abs(whole).sum(axis=1).max())
        rounding = 8 * EPSILON * len(whole) * (size * k + float(np.abs(alpha) @ self.root))
        return self.total - _largest_eigenvalues(whole, k) - float(alpha @ self.root) - rounding


def _improved(clusters: _Clusters, matrix: Array, alpha: Array, n_steps: int) -> tuple[Array, Array]:
    """Return the best dual point of some steps down the bound, as long as if it could reach the objective (Polyak)."""
    n, k, root = len(alpha), clusters.n_largest, clusters.root
    goal = clusters.total - clusters.objective
    best, found = np.inf, (matrix, alpha)
    for _ in range(n_steps):
        values, vectors = eigh(clusters.bounded_matrix(matrix, alpha), subset_by_index=(n - k, n - 1))
        height = float(values.sum() + alpha @ root)
        if height < best:
            best, found = height, (matrix, alpha)
        slope = vectors @ vectors.T
        free = np.where((matrix <= 0.0) & (slope > 0.0), 0.0, slope)
        along = root - slope @ root
        length = float(np.sum(np.square(free)) + along @ along)
        if height - goal <= CLOSED * clusters.objective or length == 0.0:
            break
        step = (height - goal) / length
        matrix, alpha = np.maximum(matrix - step * slope, 0.0), alpha - step * along
    return found


def _largest_eigenvalues(matrix: Array, count: int) -> float:
    """Return the sum of the largest eigenvalues."""
    if count == 0:
        return 0.0
    n = len(matrix)
    if not np.isfinite(matrix).all():
        return np.inf
    return float(eigvalsh(matrix, subset_by_index=(n - count, n - 1)).sum())


def _dense(X: SparseOrDense) -> Array:
    return dense(X).astype(np.float64)
