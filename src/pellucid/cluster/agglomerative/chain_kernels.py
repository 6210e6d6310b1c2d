"""The chain of nearest neighbors, on means and on a matrix of distances. Clusters are named by their last row."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import lean, lean_and_kept, lean_in_any_order


@lean
def pushed(chain, length, place, found):
    """Add the nearest neighbor of the last cluster to the chain; return its length, or minus it if two must merge.

    Each cluster of the chain is followed by its nearest neighbor. Two at the end that are nearest to each other merge.
    Where rounding has made a cluster in the middle the nearest, the chain is cut there and goes on from it.
    """
    tip = chain[length - 1]
    if place[found] < 0:
        chain[length], place[found] = found, length
        return length + 1
    where = place[found]
    if where == length - 2:
        return -length
    for k in range(where, length):
        place[chain[k]] = -1
    chain[where], chain[where + 1] = tip, found
    place[tip], place[found] = where, where + 1
    return where + 2


@lean_in_any_order
def add_products(columns, norms, query, own, bounds):
    """Write ``norms[i] + own`` plus the product of each point with the query; four features at a time. O(n p).

    It is done for as many points as there is room for in ``bounds``.
    """
    p, n = columns.shape[0], bounds.shape[0]
    for i in range(n):
        bounds[i] = norms[i] + own
    for j in range(0, p - p % 4, 4):
        a, b, c, d = query[j], query[j + 1], query[j + 2], query[j + 3]
        one, two, three, four = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
        for i in range(n):
            bounds[i] += a * one[i] + b * two[i] + c * three[i] + d * four[i]
    for j in range(p - p % 4, p):
        a, one = query[j], columns[j]
        for i in range(n):
            bounds[i] += a * one[i]


# Ward's linkage without a matrix of distances: the chain of nearest neighbors on means.
#
# Distances are bounded from below in float32; what could be the nearest is measured again in float64.


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


# Complete and average linkage on a matrix of distances: the chain of nearest neighbors.
#
# A merged cluster writes its distances to its row only: others read that column when they next look for a neighbor,
# since writing columns costs more than all else.


TILE = 64
COMPLETE, AVERAGE = 0, 1
CLOSE = 1.0 + 4.0 * 2.0**-52


@lean
def fill_tile(rows, columns, rooted, tile):
    """Write the squared distances of some rows (p, TILE) to others, or their roots; each is summed in order. O(p)."""
    p = rows.shape[0]
    for i in range(TILE):
        out = tile[i]
        for k in range(TILE):
            out[k] = 0.0
        for j in range(0, p - p % 4, 4):
            a, b, c, d = rows[j, i], rows[j + 1, i], rows[j + 2, i], rows[j + 3, i]
            one, two, three, four = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
            for k in range(TILE):
                total = out[k]
                total += (one[k] - a) * (one[k] - a)
                total += (two[k] - b) * (two[k] - b)
                total += (three[k] - c) * (three[k] - c)
                total += (four[k] - d) * (four[k] - d)
                out[k] = total
        for j in range(p - p % 4, p):
            a, one = rows[j, i], columns[j]
            for k in range(TILE):
                out[k] += (one[k] - a) * (one[k] - a)
        if rooted:
            for k in range(TILE):
                out[k] = np.sqrt(out[k])


@lean_and_kept
def fill_tiles(tiles, first, last, rooted, tile, D):
    """Write the distances of the rows in some tiles to themselves and to all before, on both sides of D.

    ``tiles`` is X cut in strips of rows, each transposed; ``tile`` is scratch. Distances are squared unless ``rooted``.
    O(n m p).
    """
    n = D.shape[0]
    for t in range(first, last):
        top, height = t * TILE, min(TILE, n - t * TILE)
        for s in range(t + 1):
            left, width = s * TILE, min(TILE, n - s * TILE)
            fill_tile(tiles[t], tiles[s], rooted, tile)
            for i in range(height):
                for k in range(width):
                    D[top + i, left + k] = tile[i, k]
            if s < t:
                for k in range(width):
                    for i in range(height):
                        D[left + k, top + i] = tile[i, k]


@lean
def refresh(D, x, ages, seen, older, youngest, now):
    """Bring the row of a cluster up to date: read what younger ones have written to theirs. O(n)."""
    y = youngest
    while y >= 0 and ages[y] > seen[x]:
        D[x, y] = D[y, x]
        y = older[y]
    seen[x] = now


@lean
def nearest_in_row(row, x, active, n_active, sizes, linkage):
    """Return the cluster nearest to x, of equally near ones the first named, and its distance. O(n)."""
    best, found, limit = np.inf, np.int64(-1), np.inf
    if linkage == COMPLETE:
        for k in range(n_active):
            y = active[k]
            if row[y] < best and y != x:
                best, found = row[y], y
        return best, found
    for k in range(n_active):
        y = active[k]
        if row[y] <= limit * sizes[y] and y != x:  # quotients are slow
            value = row[y] / (sizes[x] * sizes[y])
            if value < best:
                best, found, limit = value, y, value * sizes[x] * CLOSE
    return best, found


@lean
def join_rows(one, two, a, active, n_active, linkage):
    """Write the distances of two clusters that merge to the row of the second; the first leaves the active ones."""
    left = 0
    for k in range(n_active):
        y = active[k]
        two[y] = one[y] + two[y] if linkage == AVERAGE else max(one[y], two[y])
        active[left] = y
        left += y != a


def matrix_chain(D, linkage, merges, heights):
    """Write the merges, in the order of the chain: names of both clusters and heights. D is used up.

    A cluster is named by its last row; of equally near ones the first named is the nearest. For average linkage D holds
    sums of distances, which are exact for whole numbers. O(n^2).
    """
    n = D.shape[0]
    clusters = (np.arange(n), np.ones(n), np.zeros(n, np.int64), np.zeros(n, np.int64), np.full(n, -1), np.full(n, -1))
    neighbors = (np.full(n, -1), np.zeros(n, np.int64), np.empty(n))
    follow_chain(D, linkage, *clusters, *neighbors, np.empty(n + 1, np.int64), np.full(n, -1), merges, heights)


@lean_and_kept
def follow_chain(
    D, linkage, active, sizes, ages, seen, older, younger, near, near_age, gaps, chain, place, merges, heights
):
    """Merge to the end. O(n^2).

    ``ages`` is when a cluster was merged, ``seen`` when its row was last up to date; ``older`` and ``younger`` list the
    merged clusters in the order of age. ``near`` is the neighbor found before, of that age, at the distance ``gaps``.
    """
    n, youngest = D.shape[0], np.int64(-1)
    length, n_active = 0, n
    for now in range(n - 1):
        if length == 0:
            chain[0], place[active[0]], length = active[0], 0, 1
        while length > 0:
            tip = chain[length - 1]
            if near[tip] < 0 or ages[near[tip]] != near_age[tip]:
                # a neighbor that has not merged since stays the nearest: no merged cluster can be nearer
                refresh(D, tip, ages, seen, older, youngest, now)
                gaps[tip], near[tip] = nearest_in_row(D[tip], tip, active, n_active, sizes, linkage)
                near_age[tip] = ages[near[tip]]
            length = pushed(chain, length, place, near[tip])
        length = -length - 2
        a, b = min(chain[length], chain[length + 1]), max(chain[length], chain[length + 1])
        place[a], place[b] = -1, -1
        merges[now, 0], merges[now, 1], heights[now] = a, b, gaps[chain[length + 1]]
        refresh(D, a, ages, seen, older, youngest, now)
        refresh(D, b, ages, seen, older, youngest, now)
        join_rows(D[a], D[b], a, active, n_active, linkage)
        n_active -= 1
        sizes[b] += sizes[a]
        for gone in (a, b):
            if ages[gone] > 0:
                youngest = unlink(older, younger, youngest, gone)
        ages[a], ages[b], seen[b] = -1, now + 1, now + 1
        older[b], younger[b] = youngest, -1
        if youngest >= 0:
            younger[youngest] = b
        youngest = b
        gaps[b], near[b] = nearest_in_row(D[b], b, active, n_active, sizes, linkage)
        near_age[b] = ages[near[b]]


@lean
def unlink(older, younger, youngest, x):
    """Take a cluster out of the list of merged ones; return the youngest of the others."""
    if older[x] >= 0:
        younger[older[x]] = younger[x]
    if younger[x] >= 0:
        older[younger[x]] = older[x]
        return youngest
    return older[x]
