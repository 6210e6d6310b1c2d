"""One pass of dual descent for one machine of all classes: row by row, all shares of a row at once.

``order`` has the rows to visit, and the shares of row ``i`` that may move are those of the classes
``listed[starts[i]:starts[i + 1]]``; the others are 0 and stay so. With the other rows as they are, the best shares of a
row are the nearest to ``shares + excess / (cost |a|^2)``. The weights are ``sum_i cost_i ([k = y_i] - share_ik) a_i``,
before and after.
"""

# mypy: allow-untyped-defs

import math

from pellucid.numerics.compiling_kernels import kept
from pellucid.svm.crammer_singer.crammer_singer_kernels import shares_level


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
