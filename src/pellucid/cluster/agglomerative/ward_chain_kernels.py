"""Ward's linkage without a matrix of distances: the chain of nearest neighbors on means.

Distances are bounded from below in float32; what could be the nearest is measured again in float64.
"""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.cluster.agglomerative.chain_kernels import pushed
from pellucid.cluster.agglomerative.strip_kernels import add_products
from pellucid.numerics.compiling_kernels import lean, lean_and_kept, lean_in_any_order

STRIP = 512
"""Clusters whose bounds are computed in one go: they stay in the nearest cache."""
FLOAT32_UNIT = 2.0**-24
UNDERFLOW = 1e-36
"""Pays for products too small for single precision; rows are scaled to at most 1."""
LOOSE = 1.0 + 1e-6
"""Pays for the rounding of the factor that the sizes of two clusters make."""


@lean
def ward_distance(sums, sizes, a, b):
    """Return half the squared height at which two clusters would merge, exact for small whole numbers. O(p)."""
    total = 0.0
    for j in range(sums.shape[1]):
        gap = sizes[b] * sums[a, j] - sizes[a] * sums[b, j]
        total += gap * gap
    return total / ((sizes[a] * sizes[b]) * (sizes[a] + sizes[b]))


@lean_in_any_order
def bound_strip(means, norms, shares, query, own, share, bounds):
    """Write lower bounds of the distances of a strip of clusters to one of share 1 / size; return the least. O(p)."""
    add_products(means, norms, query, own, bounds)
    least = np.float32(np.inf)
    for i in range(bounds.shape[0]):
        value = bounds[i] / (shares[i] + share)
        bounds[i] = value
        least = value if value < least else least
    return least


@lean
def encode(means, norms, shares, sums, sizes, cluster, spot, error):
    """Store the mean of a cluster in single precision; ``norms`` pays for the rounding of all products. O(p)."""
    norm, k, i = 0.0, spot // STRIP, spot % STRIP
    for j in range(sums.shape[1]):
        mean = sums[cluster, j] / sizes[cluster]
        means[k, j, i] = mean
        norm += mean * mean
    norms[k, i], shares[k, i] = (1.0 - error) * norm - UNDERFLOW, 1.0 / sizes[cluster]


@lean
def move(means, norms, shares, source, target):
    """Move a stored mean to another place; its own holds nothing then. O(p)."""
    k, i, to, at = source // STRIP, source % STRIP, target // STRIP, target % STRIP
    for j in range(means.shape[1]):
        means[to, j, at] = means[k, j, i]
    norms[to, at], shares[to, at] = norms[k, i], shares[k, i]
    norms[k, i] = np.inf


@lean
def nearest_by_ward(means, norms, shares, sums, sizes, who, mine, active, bounds, lows, query):
    """Return the cluster nearest to the one at place ``mine``, of equally near ones the first named. O(n p)."""
    strip, inside, n_strips = mine // STRIP, mine % STRIP, (active + STRIP - 1) // STRIP
    tip, own, share = who[mine], norms[strip, inside], shares[strip, inside]
    for j in range(query.size):
        query[j] = np.float32(-2.0) * means[strip, j, inside]
    norms[strip, inside] = np.inf  # it is not its own neighbor
    start = 0
    for k in range(n_strips):
        width = min(STRIP, active - STRIP * k)
        lows[k] = bound_strip(means[k], norms[k], shares[k], query, own, share, bounds[k, :width])
        start = k if lows[k] < lows[start] else start
    norms[strip, inside] = own
    best, found = np.inf, np.int64(-1)
    for step in range(-1, n_strips):
        k = start if step < 0 else step  # the most promising strip first
        if step == start or not lows[k] <= LOOSE * best:
            continue
        for i in range(min(STRIP, active - STRIP * k)):
            if bounds[k, i] <= LOOSE * best and bounds[k, i] < np.inf:
                other = who[STRIP * k + i]
                value = ward_distance(sums, sizes, tip, other)
                if value < best or (value == best and other < found):
                    best, found = value, other
    return found


def ward_chain(X, merges, heights):
    """Write the merges of all rows of X, in the order of the chain: names of both clusters, half the squared heights.

    A cluster is named by its last row; of equally near ones the first named is the nearest. O(n^2 p), memory O(n p).
    """
    n, p = X.shape
    n_strips = (n + STRIP - 1) // STRIP
    means, norms = np.zeros((n_strips, p, STRIP), np.float32), np.full((n_strips, STRIP), np.float32(np.inf))
    shares, bounds = np.ones((n_strips, STRIP), np.float32), np.empty((n_strips, STRIP), np.float32)
    lows, query = np.empty(n_strips, np.float32), np.empty(p, np.float32)
    chain, place = np.empty(n + 1, np.int64), np.full(n, -1)
    state = (X.copy(), np.ones(n), means, norms, shares, bounds, lows, query, np.arange(n), np.arange(n))
    follow_ward_chain(*state, chain, place, merges, heights)


@lean_and_kept
def follow_ward_chain(sums, sizes, means, norms, shares, bounds, lows, query, who, spot, chain, place, merges, heights):
    """Merge to the end: ``who`` is the cluster at each place of the means, ``spot`` its place. O(n^2 p)."""
    n, p = sums.shape
    error = (2.0 * p + 32.0) * FLOAT32_UNIT
    for i in range(n):
        encode(means, norms, shares, sums, sizes, i, i, error)
    length, active = 0, n
    for done in range(n - 1):
        if length == 0:
            chain[0], place[who[0]], length = who[0], 0, 1
        while length > 0:
            mine = spot[chain[length - 1]]
            found = nearest_by_ward(means, norms, shares, sums, sizes, who, mine, active, bounds, lows, query)
            length = pushed(chain, length, place, found)
        length = -length - 2
        a, b = min(chain[length], chain[length + 1]), max(chain[length], chain[length + 1])
        place[a], place[b] = -1, -1
        merges[done, 0], merges[done, 1], heights[done] = a, b, ward_distance(sums, sizes, a, b)
        for j in range(p):
            sums[b, j] += sums[a, j]
        sizes[b] += sizes[a]
        encode(means, norms, shares, sums, sizes, b, spot[b], error)
        active -= 1
        moved, hole = who[active], spot[a]  # the last one fills the hole
        move(means, norms, shares, active, hole)
        who[hole], spot[moved] = moved, hole
