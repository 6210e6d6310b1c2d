"""Products with sparse rows, and passes of coordinate descent. Arguments are parts of checked matrices, and float64."""

# mypy: allow-untyped-defs

import math

import numpy as np

from pellucid.solvers.compiling_kernels import kept


@kept
def csr_scores_pass(data, indices, indptr, u, offset, scores):
    """Write ``X u + offset``. O(entries)."""
    for i in range(len(indptr) - 1):
        score = offset
        for a in range(indptr[i], indptr[i + 1]):
            score += data[a] * u[indices[a]]
        scores[i] = score


@kept
def csr_pull_pass(data, indices, indptr, r, pulled):
    """Add ``X' r`` to ``pulled``; rows with ``r`` of 0 are not read. O(entries)."""
    for i in range(len(indptr) - 1):
        if r[i] != 0.0:
            for a in range(indptr[i], indptr[i + 1]):
                pulled[indices[a]] += r[i] * data[a]


@kept
def csr_curve_pass(data, indices, indptr, constant, h, d, curved):
    """Add ``A' diag(h) A d`` to ``curved``, reading each row once and rows of weight 0 not at all. O(entries)."""
    p = len(d) - (constant > 0.0)
    for i in range(len(indptr) - 1):
        if h[i] == 0.0:
            continue
        score = constant * d[p] if constant > 0.0 else 0.0
        for a in range(indptr[i], indptr[i + 1]):
            score += data[a] * d[indices[a]]
        score *= h[i]
        for a in range(indptr[i], indptr[i + 1]):
            curved[indices[a]] += score * data[a]
        if constant > 0.0:
            curved[p] += score * constant


@kept
def csr_gram_pass(data, indices, indptr, start, stop, h, G, border):
    """Add the lower triangle of ``X' diag(h) X`` to ``G`` and ``X' h`` to ``border``, for some of the rows.

    The indices of each row rise. O(sum of squared row lengths).
    """
    for i in range(start, stop):
        if h[i] == 0.0:
            continue
        for a in range(indptr[i], indptr[i + 1]):
            weighted, j = h[i] * data[a], indices[a]
            border[j] += weighted
            for b in range(indptr[i], a + 1):
                G[j, indices[b]] += weighted * data[b]


@kept
def dual_descent_pass(
    data, indices, indptr, constant, signs, wanted, tube, ridge, least, most, squares, alpha, u, order, draws, n_active,
    highest, lowest
):  # fmt: skip
    """Set each active ``alpha[i]`` to its best value in [least[i], most[i]], in an order drawn anew. O(entries).

    What is least is ``|u|^2 / 2 + sum ridge_i alpha_i^2 / 2 - sum wanted_i alpha_i + tube sum |alpha_i|``; ``squares``
    are ``|a_i|^2 + ridge_i``, and ``u = sum alpha_i t_i a_i`` is kept.

    Returns the number of rows still active (they come first in ``order``) and the largest and smallest projected
    gradient; a variable that stays at a bound, or at the kink in 0, and whose slopes lie beyond those of the last pass
    is put to the end of ``order``. ``draws`` holds 64 random bits, and others afterwards.
    """
    steepest, flattest = -math.inf, math.inf
    limit_high = highest if highest > 0.0 else math.inf
    limit_low = lowest if lowest < 0.0 else -math.inf
    last = len(u) - 1
    k, bits = 0, draws[0]
    while k < n_active:
        bits ^= bits << np.uint64(13)  # Marsaglia's xorshift: to shuffle before the pass took longer than the pass
        bits ^= bits >> np.uint64(7)
        bits ^= bits << np.uint64(17)
        place = k + np.int64(((bits >> np.uint64(33)) * np.uint64(n_active - k)) >> np.uint64(31))
        order[k], order[place] = order[place], order[k]
        i = order[k]
        score = constant * u[last] if constant > 0.0 else 0.0
        for a in range(indptr[i], indptr[i + 1]):
            score += data[a] * u[indices[a]]
        slope, old = signs[i] * score - wanted[i] + ridge[i] * alpha[i], alpha[i]
        above = slope + tube if old >= 0.0 else slope - tube
        below = slope - tube if old <= 0.0 else slope + tube
        if (old == most[i] or above > limit_high) and (old == least[i] or below < limit_low):
            n_active -= 1
            order[k], order[n_active] = order[n_active], i
            continue
        k += 1
        projected = 0.0
        if above < 0.0 and old != most[i]:
            projected = above
        elif below > 0.0 and old != least[i]:
            projected = below
        steepest, flattest = max(steepest, projected), min(flattest, projected)
        if projected == 0.0:
            continue
        if squares[i] > 0.0:
            best, kink = old - slope / squares[i], tube / squares[i]
            best = best - kink if best > kink else best + kink if best < -kink else 0.0
            alpha[i] = min(max(best, least[i]), most[i])
        else:
            alpha[i] = most[i] if projected < 0.0 else least[i]
        change = (alpha[i] - old) * signs[i]
        for a in range(indptr[i], indptr[i + 1]):
            u[indices[a]] += change * data[a]
        if constant > 0.0:
            u[last] += change * constant
    draws[0] = bits
    return n_active, steepest, flattest


@kept
def column_pass(data, indices, indptr, signs, cost, curvature, u, margins, order):
    """Move each ``u[j]`` of the order once, in place, and keep the margins. O(entries).

    ``curvature[j]`` is at least the second derivative of the loss by ``u[j]``, and above 0.
    """
    for j in order:
        slope = 0.0
        for a in range(indptr[j], indptr[j + 1]):
            i = indices[a]
            if margins[i] < 1.0:
                slope -= 2.0 * cost[i] * (1.0 - margins[i]) * signs[i] * data[a]
        target = curvature[j] * u[j] - slope
        best = np.sign(target) * max(abs(target) - 1.0, 0.0) / curvature[j]
        change = best - u[j]
        if change != 0.0:
            u[j] = best
            for a in range(indptr[j], indptr[j + 1]):
                margins[indices[a]] += change * signs[indices[a]] * data[a]


@kept
def lasso_model_descent(H, g, old, new, aim, max_passes):
    """Minimize ``g'd + d'Hd/2 + |new|_1`` for ``d = new - old``, in place, until no coordinate's slope is off by more.

    ``H`` has a positive diagonal. Returns the passes done. O(passes p^2).
    """
    p = len(g)
    slope = g.copy()
    for j in range(p):
        d = new[j] - old[j]
        if d != 0.0:
            slope += d * H[j]
    for n_passes in range(1, max_passes + 1):
        worst = 0.0
        for j in range(p):
            h, w = H[j, j], new[j]
            target = h * w - slope[j]
            best = np.sign(target) * max(abs(target) - 1.0, 0.0) / h
            if best != w:
                worst = max(worst, h * abs(best - w))
                slope += (best - w) * H[j]
                new[j] = best
        if worst <= aim:
            return n_passes
    return max_passes


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
def best_row_step(row, classes, y, stiffness, scores):
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
        best_row_step(shares[i], classes, labels[i], cost[i] * squares[i], room)
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
        best_row_step(shares[i], classes, labels[i], cost[i] * squares[i], room)
        for a in range(len(classes)):
            if room[a] != 0.0:
                k, lost = classes[a], cost[i] * room[a]
                for e in range(indptr[i], indptr[i + 1]):
                    W[indices[e], k] += lost * data[e]
                if constant > 0.0:
                    W[last, k] += lost * constant
