"""Complete and average linkage on a matrix of distances: the chain of nearest neighbors.

A merged cluster writes its distances to its row only: others read that column when they next look for a neighbor, since
writing columns costs more than all else.
"""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.cluster.agglomerative.chain_kernels import pushed
from pellucid.numerics.compiling_kernels import lean, lean_and_kept

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
