"""Which center is nearest: bounds that spare most rows the question, and exact answers for the others.

Distances are kept in units in which the data are near 1. ``upper[i]`` is at least the distance of row i to its center
less the way that center had gone by then; ``lower[g, i]`` is at most the distance to any other center of group g, plus
the way the farthest-moving center of the group had gone. So nothing is written while centers move: a row is asked for
only if ``upper[i] + paths[label] < lower[g, i] - drifts[g]`` fails for some g. Centers of a group stand together.
"""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import lean, lean_and_kept, lean_in_any_order

OUTWARD = 2.0**-20
"""Share by which a bound is moved to the safe side: eight times what three roundings in float32 can take."""
LARGEST_SQUARE = 1e30
"""Rows whose squared norm is larger might overflow float32: squared differences decide about them."""
UNDERFLOW = 1e-30
"""What underflowing products can add up to in float32, and more."""


@lean_in_any_order
def squared_distance(X, i, centers, k):
    """Return the sum of squared differences, summed in float64."""
    total = 0.0
    for j in range(X.shape[1]):
        difference = X[i, j] - centers[k, j]
        total += difference * difference
    return total


@lean_in_any_order
def least(values, i, start, stop):
    """Return the least of a part of a row."""
    found = values[i, start]
    for k in range(start + 1, stop):
        found = values[i, k] if values[i, k] < found else found
    return found


@lean
def group_of(ends, k):
    """Return the group that a center is in."""
    group = 0
    while ends[group + 1] <= k:
        group += 1
    return group


@lean
def stored_upper(distance, path):
    """Return what is kept of an upper bound."""
    kept_value = distance - path
    return np.float32(kept_value + OUTWARD * abs(kept_value))


@lean
def stored_lower(distance, drift):
    """Return what is kept of a lower bound."""
    return np.float32((distance + drift) * (1.0 - OUTWARD))


@lean
def least_reach(value, own, error):
    """Return a lower bound of a distance from a rough squared one, less the row's own square; infinite stays so."""
    return np.inf if value == np.inf else np.sqrt(max(value + own - error, 0.0))


@lean_in_any_order
def least_bounds(first, stop, lower, drifts, bounds):
    """Write the least lower bound of each row of a strip."""
    for r in range(stop - first):
        bounds[r] = lower[0, first + r] - drifts[0]
    for g in range(1, lower.shape[0]):
        for r in range(stop - first):
            bound = lower[g, first + r] - drifts[g]
            bounds[r] = bound if bound < bounds[r] else bounds[r]


@lean_and_kept
def find_doubtful(first, stop, labels, upper, lower, paths, drifts, sizes, bounds, doubtful):
    """Write which rows of a part may have another nearest center now; return how many, and how many centers that are.

    ``sizes`` are those of the groups, ``bounds`` is for the bounds of a strip of rows. O(n g).
    """
    count, pairs = 0, 0
    for start in range(first, stop, bounds.size):
        end = min(start + bounds.size, stop)
        least_bounds(start, end, lower, drifts, bounds)
        before = count
        for i in range(start, end):
            doubtful[count] = i
            count += 0 if upper[i] + paths[labels[i]] < bounds[i - start] else 1
        for r in range(before, count):
            i = doubtful[r]
            for g in range(sizes.size):
                pairs += 0 if upper[i] + paths[labels[i]] < lower[g, i] - drifts[g] else sizes[g]
    return count, pairs


@lean_and_kept
def take_rows(X, rows, middle, unit, block, squares):
    """Write the rows, moved by ``middle`` and in ``unit``, to a block with a column of ones, and their squares."""
    d = X.shape[1]
    for r in range(rows.size):
        i, total = rows[r], 0.0
        for j in range(d):
            value = (X[i, j] - middle[j]) * unit
            total += value * value
            block[r, j] = value
        block[r, d] = 1.0
        squares[r] = total


@lean
def second_of_group(products, r, start, stop, nearest):
    """Return the least rough value of a group, that of one center left out; infinite where there is no other."""
    found = np.inf
    for k in range(start, stop):
        if k != nearest and products[r, k] < found:
            found = products[r, k]
    return found


@lean_and_kept
def judge_rows(products, squares, share, largest, rows, ends, labels, upper, lower, paths, drifts, before, unsure):
    """Find the nearest center of each row from rough squared distances, less the row's own square. O(n k).

    A rough value errs by at most ``share * (squares[r] + largest)``. Writes labels and bounds, and to ``before`` the
    former labels. Returns how many rows have a second center within the error; which, stands in ``unsure``.
    """
    count = 0
    for r in range(rows.size):
        i, own = rows[r], squares[r]
        error = share * (own + largest) + UNDERFLOW
        if not own < LARGEST_SQUARE:  # its products may have overflowed
            for k in range(products.shape[1]):
                products[r, k] = 0.0
            error = np.inf
        best, runner_up, group = np.inf, np.inf, 0
        for g in range(ends.size - 1):
            low = least(products, r, ends[g], ends[g + 1])
            lower[g, i] = stored_lower(least_reach(low, own, error), drifts[g])
            if low < best:
                best, runner_up, group = low, best, g
            elif low < runner_up:
                runner_up = low
        nearest = ends[group]
        while products[r, nearest] > best:
            nearest += 1
        second = second_of_group(products, r, ends[group], ends[group + 1], nearest)
        lower[group, i] = stored_lower(least_reach(second, own, error), drifts[group])
        before[r] = labels[i]
        labels[i] = nearest
        upper[i] = stored_upper(np.sqrt(max(best + own + error, 0.0)), paths[nearest])
        unsure[count] = r
        count += 0 if min(second, runner_up) > best + 2.0 * error else 1
    return count


@lean_and_kept
def decide_rows(
    unsure, X, products, squares, share, largest, rows, unit, centers, names, ends, labels, upper, lower, paths, drifts
):
    """Decide about rows for which rough values are too rough: by squared differences, and the least of ``names``.

    Row r of the block is row s of ``X`` where ``unsure[s] == r``. Corrects labels and bounds.
    """
    for s in range(unsure.size):
        r = unsure[s]
        i, own = rows[r], squares[r]
        error = share * (own + largest) + UNDERFLOW if own < LARGEST_SQUARE else np.inf
        rough = products[r, labels[i]]
        best, nearest = np.inf, -1
        for k in range(centers.shape[0]):
            if not products[r, k] > rough + 2.0 * error:
                value = squared_distance(X, s, centers, k)
                if value < best or nearest < 0 or (value == best and names[k] < names[nearest]):
                    best, nearest = value, k
        if nearest != labels[i]:
            group = group_of(ends, labels[i])
            bound = stored_lower(least_reach(rough, own, error), drifts[group])
            lower[group, i] = min(lower[group, i], bound)
            group = group_of(ends, nearest)
            second = second_of_group(products, r, ends[group], ends[group + 1], nearest)
            lower[group, i] = stored_lower(least_reach(second, own, error), drifts[group])
        labels[i] = nearest
        upper[i] = stored_upper(np.sqrt(best) * unit, paths[nearest])


@lean_and_kept
def revisit_rows(X, rows, unit, centers, names, ends, labels, upper, lower, paths, drifts, before):
    """Find the nearest center of each row from squared differences, but for the groups that a bound excludes.

    Writes labels and bounds, and to ``before`` the former labels.
    """
    for r in range(rows.size):
        i = rows[r]
        own = labels[i]
        best, nearest, group, second = squared_distance(X, i, centers, own), own, -1, np.inf
        own_reach = reach = np.sqrt(best) * unit
        for g in range(ends.size - 1):
            if reach < lower[g, i] - drifts[g]:
                continue
            low, place, next_low = np.inf, ends[g], np.inf
            for k in range(ends[g], ends[g + 1]):
                value = squared_distance(X, i, centers, k)
                if value < low or (value == low and names[k] < names[place]):
                    low, place, next_low = value, k, low
                elif value < next_low:
                    next_low = value
            lower[g, i] = stored_lower(np.sqrt(low) * unit, drifts[g])
            if low < best or place == nearest or (low == best and names[place] < names[nearest]):
                best, nearest, group, second = low, place, g, next_low
                reach = np.sqrt(best) * unit
        if nearest != own:  # the center it leaves is one of the others now
            g = group_of(ends, own)
            lower[g, i] = min(lower[g, i], stored_lower(own_reach, drifts[g]))
        if group >= 0:
            lower[group, i] = stored_lower(np.sqrt(second) * unit, drifts[group])
        before[r] = own
        labels[i] = nearest
        upper[i] = stored_upper(reach, paths[nearest])


@lean_and_kept
def move_sums(X, middle, weight, rows, before, labels, first, stop, sums, totals, counts):
    """Take rows out of the clusters they leave (-1: none) and add them to their new ones, of those in a range. O(n p).

    ``weight`` is empty where all rows count once.
    """
    for r in range(rows.size):
        i = rows[r]
        w = weight[i] if weight.size > 0 else 1.0
        for k, sign in ((before[r], -1), (labels[i], 1)):
            if first <= k < stop:
                totals[k] += sign * w
                counts[k] += sign
                for j in range(X.shape[1]):
                    sums[k, j] += sign * w * (X[i, j] - middle[j])


@lean_and_kept
def own_distances(X, first, stop, weight, centers, labels, distances):
    """Return the weighted sum of the squared distances of rows to their centers; write them where there is room."""
    total = 0.0
    for i in range(first, stop):
        value = squared_distance(X, i, centers, np.int64(labels[i]))
        total += value * (weight[i] if weight.size > 0 else 1.0)
        if distances.size > 0:
            distances[i] = value
    return total


@lean
def mean_variance(scatter, sums, totals):
    """Return the mean over the features of their variance, from the scatter and sums of clusters that hold all rows."""
    total = 0.0
    for k in range(totals.size):
        total += totals[k]
    for j in range(sums.shape[1]):
        column = 0.0
        for k in range(sums.shape[0]):
            column += sums[k, j]
        scatter -= column * column / total
    return max(scatter / total, 0.0) / sums.shape[1]


@lean_and_kept
def plain_rounds(X, middle, weight, tol, scatter, centers, means, labels, sums, totals, history):
    """Do rounds of the plain method, for small data; return how many, and whether every cluster kept a row.

    ``scatter`` is that of all rows about ``middle``. Each round is a row of ``history``: objective, rows that changed,
    how far the centers moved. The last centers stand in ``centers``, and in ``means`` where one more round would bring
    them. O(n k p) for a round.
    """
    before, goal = np.inf, 0.0
    for r in range(history.shape[0]):
        objective, changed = 0.0, 0
        for k in range(centers.shape[0]):
            totals[k] = 0.0
            for j in range(X.shape[1]):
                sums[k, j] = 0.0
        for i in range(X.shape[0]):
            best, nearest = squared_distance(X, i, centers, np.int64(0)), 0
            for k in range(1, centers.shape[0]):
                distance = squared_distance(X, i, centers, k)
                if distance < best:
                    best, nearest = distance, k
            changed += labels[i] != nearest
            labels[i] = nearest
            w = weight[i] if weight.size > 0 else 1.0
            objective += w * best
            totals[nearest] += w
            for j in range(X.shape[1]):
                sums[nearest, j] += w * (X[i, j] - middle[j])
        moved = 0.0
        for k in range(centers.shape[0]):
            if totals[k] == 0.0:
                return r, False
            for j in range(X.shape[1]):
                means[k, j] = middle[j] + sums[k, j] / totals[k]
                moved += (means[k, j] - centers[k, j]) ** 2
        if r == 0:
            goal = tol * mean_variance(scatter, sums, totals)
        history[r, 0], history[r, 1], history[r, 2] = objective, changed, moved
        if changed == 0 or moved == 0.0 or max(before, moved) <= goal:
            return r + 1, True
        before = moved
        for k in range(centers.shape[0]):
            for j in range(X.shape[1]):
                centers[k, j] = means[k, j]
    return history.shape[0], True


FEW_DIGITS_LOST = 0.1
"""Share of a center's square that a squared distance must have to be told from products."""


@lean_in_any_order
def four_products(values, columns, start, stop, unit, coded, k):
    """Return the products of a row with four columns in a row: they stay in registers."""
    a = b = c = d = np.float32(0.0)
    for e in range(start, stop):
        value, j = np.float32(values[e] * unit), columns[e]
        a += value * coded[j, k]
        b += value * coded[j, k + 1]
        c += value * coded[j, k + 2]
        d += value * coded[j, k + 3]
    return a, b, c, d


@lean_and_kept
def take_sparse_rows(values, columns, ends, rows, unit, coded, sizes, products, squares):
    """Write ``sizes[k] + x'coded[:, k]`` for each row, in ``unit``, and the square of the row. O(entries k).

    ``coded`` and ``products`` have a multiple of four columns.
    """
    for r in range(rows.size):
        start, stop, total = ends[rows[r]], ends[rows[r] + 1], 0.0
        for e in range(start, stop):
            total += (values[e] * unit) ** 2
        for k in range(0, coded.shape[1], 4):
            a, b, c, d = four_products(values, columns, start, stop, unit, coded, k)
            products[r, k], products[r, k + 1], products[r, k + 2], products[r, k + 3] = a, b, c, d
        for k in range(sizes.size):
            products[r, k] += np.float32(sizes[k])
        squares[r] = total


@lean_and_kept
def move_sparse_sums(values, columns, ends, weight, rows, before, labels, first, stop, sums, totals, counts):
    """Do what ``move_sums`` does for dense rows."""
    for r in range(rows.size):
        i = rows[r]
        w = weight[i] if weight.size > 0 else 1.0
        for k, sign in ((before[r], -1), (labels[i], 1)):
            if first <= k < stop:
                totals[k] += sign * w
                counts[k] += sign
                for e in range(ends[i], ends[i + 1]):
                    sums[k, columns[e]] += sign * w * values[e]


@lean
def sparse_squared_distance(values, columns, ends, i, centers, k, sizes):
    """Return the squared distance of a row to a center; ``sizes`` are the squared lengths of the centers.

    What the columns without an entry add is a difference; where that loses digits, it is summed.
    """
    inside, missing = 0.0, sizes[k]
    for e in range(ends[i], ends[i + 1]):
        center = centers[k, columns[e]]
        inside += (values[e] - center) * (values[e] - center)
        missing -= center * center
    if inside + missing < FEW_DIGITS_LOST * sizes[k]:
        missing, e = 0.0, ends[i]
        for j in range(centers.shape[1]):
            if e < ends[i + 1] and columns[e] == j:
                e += 1
            else:
                missing += centers[k, j] * centers[k, j]
    return inside + missing


@lean_and_kept
def own_sparse_distances(values, columns, ends, first, stop, weight, centers, sizes, labels, distances):
    """Do what ``own_distances`` does for dense rows."""
    total = 0.0
    for i in range(first, stop):
        value = sparse_squared_distance(values, columns, ends, i, centers, labels[i], sizes)
        total += value * (weight[i] if weight.size > 0 else 1.0)
        if distances.size > 0:
            distances[i] = value
    return total
