"""Loops of neighbor embedding: affinities of rows, forces of pairs, charges and potentials on a grid.

Forces of a place are sums in a fixed order over fixed blocks, so that the number of threads changes no bit.
"""

# mypy: allow-untyped-defs

import math

from pellucid.solvers.compiling_kernels import INNER, kept, lean, lean_and_kept, loop

REORDER = {"reassoc", "contract", "nsz"}

CLOSE = 1e-12
"""Distance of an entropy from the one that is wanted at which the search for a bandwidth ends."""

TIED = 1e-12
"""Squared distances that differ by less than this part of them are equal: no bandwidth is to rest on rounding."""

MOST_STEPS = 200


@lean
def entropy_of(squares, row, k, precision, affinities):
    """Write exp(-precision * square) of a row, its least square being 0, and return entropy and slope by log precision.

    The entropy is that of the affinities after they are divided by their sum, which is done here.
    """
    total = first = second = 0.0
    for j in range(k):
        weight = math.exp(-precision * squares[row, j])
        affinities[row, j] = weight
        total += weight
        first += weight * squares[row, j]
        second += weight * squares[row, j] * squares[row, j]
    first /= total
    second = max(second / total - first * first, 0.0)
    for j in range(k):
        affinities[row, j] /= total
    return math.log(total) + precision * first, -precision * precision * second


@lean_and_kept
def calibrate(distances, wanted, squares, affinities):
    """Write the affinities of each row (m, k) whose entropy is ``wanted``, from distances (m, k), nearest first.

    Newton's method on the logarithm of the precision, kept inside a bracket by bisection. Where so many rows are
    equally near that no precision is large enough, they share all; where there are too few, all count the same.
    """
    m, k = distances.shape
    for row in range(m):
        least, unit = distances[row, 0], distances[row, k - 1]
        n_nearest, mean = 0, 0.0
        for j in range(k):
            # in parts of the largest, so that squares neither overflow nor vanish
            near, far = (least / unit, distances[row, j] / unit) if unit > 0.0 else (0.0, 0.0)
            squares[row, j] = (far - near) * (far + near)
            if squares[row, j] <= TIED * far * far:
                squares[row, j] = 0.0
            n_nearest += squares[row, j] <= 0.0
            mean += squares[row, j] / k
        if mean == 0.0 or math.log(k) <= wanted:
            for j in range(k):
                affinities[row, j] = 1.0 / k
            continue
        if math.log(n_nearest) >= wanted:
            for j in range(k):
                affinities[row, j] = 1.0 / n_nearest if squares[row, j] <= 0.0 else 0.0
            continue
        low, high, exponent = -math.inf, math.inf, -math.log(mean)
        for _ in range(MOST_STEPS):
            entropy, slope = entropy_of(squares, row, k, math.exp(exponent), affinities)
            excess = entropy - wanted
            if abs(excess) <= CLOSE:
                break
            if excess > 0.0:
                low = exponent
            else:
                high = exponent
            following = exponent - excess / slope if slope < 0.0 else math.inf
            if abs(following - exponent) > 2.0:  # the entropy is flat on both sides
                following = exponent + (2.0 if excess > 0.0 else -2.0)
            if not low < following < high:
                following = 0.5 * (low + high)
            if following == exponent:
                break
            exponent = following


@kept(fastmath=REORDER, _nrt=False)
def attract(places, starts, neighbors, affinities, first, last, forces):
    """Write, for rows from ``first`` to ``last``, the sum of affinity times kernel times difference of places.

    ``places`` and ``forces`` are (n, p); the rest is a matrix by rows. Kernel 1 / (1 + d^2 / freedom), freedom
    max(p - 1, 1). O(entries p).
    """
    p = places.shape[1]
    freedom = max(p - 1, 1)
    if p == 2:  # the usual case, in registers
        for i in range(first, last):
            x, y = places[i, 0], places[i, 1]
            right = up = 0.0
            for e in range(starts[i], starts[i + 1]):
                j = neighbors[e]
                dx, dy = x - places[j, 0], y - places[j, 1]
                pull = affinities[e] / (1.0 + dx * dx + dy * dy)
                right += pull * dx
                up += pull * dy
            forces[i, 0], forces[i, 1] = right, up
        return
    for i in range(first, last):
        for c in range(p):
            forces[i, c] = 0.0
        for e in range(starts[i], starts[i + 1]):
            j, square = neighbors[e], 0.0
            for c in range(p):
                square += (places[i, c] - places[j, c]) * (places[i, c] - places[j, c])
            pull = affinities[e] / (1.0 + square / freedom)
            for c in range(p):
                forces[i, c] += pull * (places[i, c] - places[j, c])


@kept(fastmath=REORDER, _nrt=False)
def cross_entropy(places, starts, neighbors, affinities, first, last):
    """Return, for rows from ``first`` to ``last``, the sum of affinity times -log of the kernel's power."""
    p = places.shape[1]
    freedom = max(p - 1, 1)
    total = 0.0
    for i in range(first, last):
        for e in range(starts[i], starts[i + 1]):
            j, square = neighbors[e], 0.0
            for c in range(p):
                square += (places[i, c] - places[j, c]) * (places[i, c] - places[j, c])
            total += affinities[e] * math.log(1.0 + square / freedom)
    return 0.5 * (freedom + 1.0) * total


@loop(**INNER, fastmath=REORDER)
def drive_apart(across, up, x, y, one):
    """Return the sum of the kernel of a place with others in two dimensions, and of its square times differences."""
    total = right = above = one - one
    for j in range(across.shape[0]):
        dx, dy = x - across[j], y - up[j]
        kernel = one / (one + dx * dx + dy * dy)
        total += kernel
        kernel *= kernel
        right += kernel * dx
        above += kernel * dy
    return total, right, above


@kept(fastmath=REORDER, _nrt=False)
def repel(columns, ones, first, last, room, forces):
    """Return the sum of the kernel over pairs of a row from ``first`` to ``last`` with any other, and write forces.

    ``columns`` (p, n) are places. ``forces`` (n, p) get the sums of kernel / (1 + d^2 / freedom) times the difference,
    where the kernel is (1 + d^2 / freedom)^(-(freedom + 1) / 2). ``ones`` (1) and ``room`` (n) are of the same float as
    the places: in single precision four pairs are divided at once. O((last - first) n p).
    """
    p, n = columns.shape
    one, total = ones[0], 0.0
    if p == 2:  # the usual case, in one pass
        for i in range(first, last):
            x, y = columns[0, i], columns[1, i]
            # those before and those after: a row and itself are no pair
            before, left, below = drive_apart(columns[0, :i], columns[1, :i], x, y, one)
            after, right, above = drive_apart(columns[0, i + 1 :], columns[1, i + 1 :], x, y, one)
            total += before + after
            forces[i, 0], forces[i, 1] = left + right, below + above
        return total
    freedom = max(p - 1, 1)
    share = one / freedom
    for i in range(first, last):
        for j in range(n):
            room[j] = one
        for c in range(p):
            x = columns[c, i]
            for j in range(n):
                room[j] += share * (x - columns[c, j]) * (x - columns[c, j])
        room[i] = math.inf  # a row and itself are no pair
        own = one - one
        for j in range(n):
            if freedom == 1:
                kernel = one / room[j]
            elif freedom == 2:
                kernel = one / (room[j] * math.sqrt(room[j]))
            else:
                kernel = room[j] ** (-0.5 * (freedom + 1.0))
            own += kernel
            room[j] = kernel / room[j]
        total += own
        for c in range(p):
            x, force = columns[c, i], one - one
            for j in range(n):
                force += room[j] * (x - columns[c, j])
            forces[i, c] = force
    return total


@lean
def spline_weights(t, weights, slopes):
    """Write the six values of the quintic B-spline at t + 2, ..., t - 3, and its slopes there, for 0 <= t < 1."""
    for k in range(6):
        # x is the distance from the middle of the spline; three pieces, by how far it is
        x = t + 2.0 - k
        sign = 1.0 if x >= 0.0 else -1.0
        x *= sign
        a, b, c = max(3.0 - x, 0.0), max(2.0 - x, 0.0), max(1.0 - x, 0.0)
        a4, b4, c4 = a * a * a * a, b * b * b * b, c * c * c * c
        weights[k] = (a4 * a - 6.0 * b4 * b + 15.0 * c4 * c) / 120.0
        slopes[k] = -sign * (a4 - 6.0 * b4 + 15.0 * c4) / 24.0


@lean_and_kept
def spread_charges(places, low, spacing, room, grid):
    """Add one charge for each place (n, 2) to the 36 nodes around it; ``room`` is (4, 6). O(36 n)."""
    for i in range(places.shape[0]):
        x, y = (places[i, 0] - low[0]) / spacing, (places[i, 1] - low[1]) / spacing
        a, b = int(x), int(y)
        spline_weights(x - a, room[0], room[2])
        spline_weights(y - b, room[1], room[3])
        for r in range(6):
            for c in range(6):
                grid[a + r, b + c] += room[0, r] * room[1, c]


@lean_and_kept
def gather_potential(places, low, spacing, room, potential, first, last, forces):
    """Return the sum of the potential at places from ``first`` to ``last``, and write minus half its slope there.

    The slope of 1 / (1 + d^2) is -2 / (1 + d^2)^2 times the difference: half of it is the force.
    """
    total = 0.0
    for i in range(first, last):
        x, y = (places[i, 0] - low[0]) / spacing, (places[i, 1] - low[1]) / spacing
        a, b = int(x), int(y)
        spline_weights(x - a, room[0], room[2])
        spline_weights(y - b, room[1], room[3])
        value = right = up = 0.0
        for r in range(6):
            across = along = 0.0
            for c in range(6):
                across += room[1, c] * potential[a + r, b + c]
                along += room[3, c] * potential[a + r, b + c]
            value += room[0, r] * across
            right += room[2, r] * across
            up += room[0, r] * along
        total += value
        forces[i, 0], forces[i, 1] = -0.5 * right / spacing, -0.5 * up / spacing
    return total


FARTHEST = 5.0
"""The most that a coordinate moves in one step: of few rows, a step with exaggeration may overshoot without end."""


@lean_and_kept
def momentum_step(places, gradient, update, gains, momentum, rate):
    """Move every coordinate by its momentum and by the gradient times its own gain (Jacobs, 1988), in place."""
    for i in range(places.shape[0]):
        for c in range(places.shape[1]):
            if update[i, c] * gradient[i, c] < 0.0:
                gains[i, c] += 0.2
            else:
                gains[i, c] = max(0.8 * gains[i, c], 0.01)
            moved = momentum * update[i, c] - rate * gains[i, c] * gradient[i, c]
            update[i, c] = min(max(moved, -FARTHEST), FARTHEST)
            places[i, c] += update[i, c]
