"""One machine for all classes: its loss, and dual descent. Arguments are checked arrays and scalars of float64."""

# mypy: allow-untyped-defs

import math

from pellucid.solvers.compiling_kernels import kept


@kept
def shares_level(v, k):
    """Return the level ``t`` at which ``max(v - t, 0)`` of the first ``k`` numbers adds up to 1. O(k), a few times."""
    top = -math.inf
    for a in range(k):
        top = max(top, v[a])
    level = top - 1.0
    while True:  # the numbers above the level decide the next, higher one
        above, count = 0.0, 0
        for a in range(k):
            if v[a] > level:
                above += v[a] - top
                count += 1
        higher = top + (above - 1.0) / count
        if higher <= level:
            return level
        level = higher


@kept
def largest_excess_pass(f, labels, cost, center, smoothing, shares):
    """Write the shares of the smoothed loss; return the loss, and by how much their excess falls short. O(n k).

    The excess of class ``k`` is ``r[k] = [k != y] + f[k] - f[y]``, and the shares are nearest to
    ``center + r / smoothing``.
    """
    value = missing = 0.0
    for i in range(f.shape[0]):
        y, row = labels[i], shares[i]
        largest = 0.0
        for k in range(f.shape[1]):
            row[k] = 1.0 + f[i, k] - f[i, y] if k != y else 0.0
            largest = max(largest, row[k])
        for k in range(f.shape[1]):  # less the largest, so that the shares keep their digits
            row[k] = center[i, k] + (row[k] - largest) / smoothing
        level = shares_level(row, f.shape[1])
        reached = 0.0
        for k in range(f.shape[1]):
            row[k] = max(row[k] - level, 0.0)
            if k != y and row[k] > 0.0:
                reached += row[k] * (1.0 + f[i, k] - f[i, y])
        value += cost[i] * largest
        missing += cost[i] * (largest - reached)
    return value, missing


@kept
def bend_pass(shares, curvature, slopes):
    """Return ``sum_i curvature_i |s_i - mean s_i|^2`` over the classes whose share is not 0. O(n k)."""
    total = 0.0
    for i in range(shares.shape[0]):
        count, mean, squares = 0, 0.0, 0.0
        for k in range(shares.shape[1]):
            if shares[i, k] > 0.0:
                count += 1
                mean += slopes[i, k]
        mean /= count
        for k in range(shares.shape[1]):
            if shares[i, k] > 0.0:
                squares += (slopes[i, k] - mean) ** 2
        total += curvature[i] * squares
    return total


# One pass of dual descent for one machine of all classes: row by row, all shares of a row at once.
#
# ``order`` has the rows to visit, and the shares of row ``i`` that may move are those of the classes
# ``listed[starts[i]:starts[i + 1]]``; the others are 0 and stay so. With the other rows as they are, the best shares
# of a row are the nearest to ``shares + excess / (cost |a|^2)``. The weights are ``sum_i cost_i ([k = y_i] - share_ik)
# a_i``, before and after.


@kept(fastmath={"reassoc"})  # the sum may be taken in lanes
def inner_product(x, u):
    """Return the inner product of a row and the first weights. O(p)."""
    total = 0.0
    for j in range(len(x)):
        total += x[j] * u[j]
    return total


@kept
def settle_row(row, classes, y, stiffness, scores):
    """Move the shares of one row to their best values, and write into ``scores`` what each class lost. O(classes)."""
    largest = -math.inf
    for a in range(len(classes)):
        if classes[a] != y:
            scores[a] += 1.0
        largest = max(largest, scores[a])
    for a in range(len(classes)):
        scores[a] = row[classes[a]] + (scores[a] - largest) / stiffness
    level = shares_level(scores, len(classes))
    for a in range(len(classes)):
        k = classes[a]
        best = max(scores[a] - level, 0.0)
        scores[a] = row[k] - best
        row[k] = best


@kept
def dense_descent_pass(X, constant, labels, cost, squares, order, starts, listed, shares, W, room):
    """Settle each row of ``order`` once, for weights of shape (n_classes, width). O(rows p classes)."""
    p = X.shape[1]
    for i in order:
        classes = listed[starts[i] : starts[i + 1]]
        for a in range(len(classes)):
            u = W[classes[a]]
            room[a] = inner_product(X[i], u) + (constant * u[p] if constant > 0.0 else 0.0)
        settle_row(shares[i], classes, labels[i], cost[i] * squares[i], room)
        for a in range(len(classes)):
            if room[a] != 0.0:
                u, lost = W[classes[a]], cost[i] * room[a]
                for j in range(p):
                    u[j] += lost * X[i, j]
                if constant > 0.0:
                    u[p] += lost * constant


@kept
def csr_descent_pass(data, indices, indptr, constant, labels, cost, squares, order, starts, listed, shares, W, room):
    """Settle each row of ``order`` once, for weights of shape (width, n_classes). O(entries classes)."""
    last = W.shape[0] - 1
    for i in order:
        classes = listed[starts[i] : starts[i + 1]]
        for a in range(len(classes)):
            k = classes[a]
            score = constant * W[last, k] if constant > 0.0 else 0.0
            for e in range(indptr[i], indptr[i + 1]):
                score += data[e] * W[indices[e], k]
            room[a] = score
        settle_row(shares[i], classes, labels[i], cost[i] * squares[i], room)
        for a in range(len(classes)):
            if room[a] != 0.0:
                k, lost = classes[a], cost[i] * room[a]
                for e in range(indptr[i], indptr[i + 1]):
                    W[indices[e], k] += lost * data[e]
                if constant > 0.0:
                    W[last, k] += lost * constant
