"""Errors of all trees of depth one and two over binned columns, by counting bins and pairs of bins.

Rows come as ``codes`` (n_rows, n_columns), the bin of each value, with the class and the weight of each row. A split of
an ordered column parts the bins up to t from the others; a split of a column of categories parts bin t from all others.
"""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import kept


@kept
def least_pair_error(table, whole, n_bins, is_category, below):
    """Return the least error of two leaves over the splits of one column, with its ``table`` (n_bins, n_classes).

    ``whole`` are the sums over the bins; ``below`` is scratch. The split, or -1 if there is none, comes second.
    """
    n_classes = whole.shape[0]
    best, best_split = np.inf, -1
    for c in range(n_classes):
        below[c] = 0.0
    for t in range(n_bins if is_category else n_bins - 1):
        error, most_left, most_right = 0.0, 0.0, 0.0
        for c in range(n_classes):
            below[c] = table[t, c] if is_category else below[c] + table[t, c]
            error += whole[c]
            most_left = max(most_left, below[c])
            most_right = max(most_right, whole[c] - below[c])
        error -= most_left + most_right
        if error < best:
            best, best_split = error, t
    return best, best_split


@kept
def best_split(codes, rows, y, weight, n_bins, is_category, n_classes, most_bins):
    """Return the least error of two leaves, the column and the split; the first of equals. O(n_rows n_columns)."""
    table, whole, below = np.empty((most_bins, n_classes)), np.zeros(n_classes), np.empty(n_classes)
    for i in rows:
        whole[y[i]] += weight[i]
    best, best_column, split = np.inf, -1, -1
    for j in range(codes.shape[1]):
        for t in range(n_bins[j]):
            for c in range(n_classes):
                table[t, c] = 0.0
        for i in rows:
            table[codes[i, j], y[i]] += weight[i]
        error, t = least_pair_error(table, whole, n_bins[j], is_category[j], below)
        if error < best:
            best, best_column, split = error, j, t
    return best, best_column, split


@kept
def errors_below_splits(
    codes, rows, y, weight, n_bins, is_category, n_classes, most_bins, starts, penalty, left, right
):
    """Write for every split the least cost of one more split, or a leaf, on each of its sides.

    Split t of column j has the place ``starts[j] + t`` in ``left`` and ``right``.
    O(n_columns^2 (n_rows + n_bins^2 n_classes)).
    """
    pairs = np.empty((most_bins, most_bins, n_classes))
    inside, outside = np.empty((most_bins, n_classes)), np.empty((most_bins, n_classes))
    n_in, n_out, below = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    for j in range(codes.shape[1]):
        for k in range(codes.shape[1]):
            for s in range(n_bins[k]):
                for c in range(n_classes):
                    inside[s, c] = outside[s, c] = 0.0
                    for t in range(n_bins[j]):
                        pairs[t, s, c] = 0.0
            for i in rows:
                pairs[codes[i, j], codes[i, k], y[i]] += weight[i]
                outside[codes[i, k], y[i]] += weight[i]
            for t in range(n_bins[j] if is_category[j] else n_bins[j] - 1):
                for c in range(n_classes):
                    n_in[c] = n_out[c] = 0.0
                    for s in range(n_bins[k]):
                        if is_category[j] and t > 0:
                            outside[s, c] += inside[s, c]
                            inside[s, c] = 0.0
                        inside[s, c] += pairs[t, s, c]
                        outside[s, c] -= pairs[t, s, c]
                        n_in[c] += inside[s, c]
                        n_out[c] += outside[s, c]
                place = starts[j] + t
                if k == 0:
                    left[place], right[place] = leaf_cost(n_in, penalty), leaf_cost(n_out, penalty)
                error, _ = least_pair_error(inside, n_in, n_bins[k], is_category[k], below)
                left[place] = min(left[place], error + 2 * penalty)
                error, _ = least_pair_error(outside, n_out, n_bins[k], is_category[k], below)
                right[place] = min(right[place], error + 2 * penalty)


@kept
def leaf_cost(counts, penalty):
    """Return the weight that is not of the largest class, plus the penalty."""
    total, largest = 0.0, 0.0
    for c in range(counts.shape[0]):
        total += counts[c]
        largest = max(largest, counts[c])
    return total - largest + penalty


@kept
def count_inside(codes, rows, is_category, starts, counts):
    """Write to ``counts`` how many of the rows lie inside each split; its place as above. O(n_rows n_columns)."""
    for place in range(len(counts)):
        counts[place] = 0
    for j in range(codes.shape[1]):
        for i in rows:
            place = starts[j] + codes[i, j]
            if place < starts[j + 1]:  # the last bin of an ordered column is inside none
                counts[place] += 1
        for place in range(starts[j] + 1, starts[j] if is_category[j] else starts[j + 1]):
            counts[place] += counts[place - 1]


@kept(fastmath={"nnan", "nsz"})
def widen_extremes(pairs, along, across, last_j, last_k, of_j, of_k):
    """Widen the extremes of both columns of a pair by ``pairs`` (n_bins_j, n_bins_k), signed weights inside two splits.

    ``of_j`` (4, last_j): largest and smallest weight that a split of k leaves inside a split of j, then outside of it;
    ``of_k`` the same for the other way around. ``along`` and ``across`` are the sums over j and over k.
    """
    for t in range(last_j):
        most_in, least_in, most_out, least_out = of_j[0, t], of_j[1, t], of_j[2, t], of_j[3, t]
        for s in range(last_k):
            value = pairs[t, s]
            beside, above = along[s] - value, across[t] - value
            most_in, least_in = max(most_in, value), min(least_in, value)
            most_out, least_out = max(most_out, beside), min(least_out, beside)
            of_k[0, s], of_k[1, s] = max(of_k[0, s], value), min(of_k[1, s], value)
            of_k[2, s], of_k[3, s] = max(of_k[2, s], above), min(of_k[3, s], above)
        of_j[0, t], of_j[1, t], of_j[2, t], of_j[3, t] = most_in, least_in, most_out, least_out


@kept
def signed_pairs(own, signed, n_bins, is_category, j, k, pairs):
    """Write the signed weight inside each split of column j and inside each split of column k, to ``pairs``."""
    for t in range(n_bins[j]):
        for s in range(n_bins[k]):
            pairs[t, s] = 0.0
    for r in range(len(signed)):
        pairs[own[j, r], own[k, r]] += signed[r]
    for t in range(1, 1 if is_category[j] else n_bins[j]):
        for s in range(n_bins[k]):
            pairs[t, s] += pairs[t - 1, s]
    for t in range(0 if is_category[k] else n_bins[j]):
        total = 0.0
        for s in range(n_bins[k]):
            total += pairs[t, s]
            pairs[t, s] = total


@kept
def two_class_errors_below_splits(
    codes,
    rows,
    y,
    weight,
    n_bins,
    is_category,
    n_classes,  # noqa: ARG001  (called as the kernel for any number of classes)
    most_bins,
    starts,
    penalty,
    left,
    right,
):
    """Write the same as ``errors_below_splits`` for two classes, from signed weights: class 1 counts +, class 0 -.

    A leaf of weight n and signed weight d has the error (n - |d|) / 2. Two leaves x and d - x have together
    (n - max(|d|, 2 max x - d, d - 2 min x)) / 2, so only the extremes of x over the splits matter.
    """
    n_columns, n_rows = codes.shape[1], len(rows)
    own, signed, count, whole = np.empty((n_columns, n_rows), np.int32), np.empty(n_rows), 0.0, 0.0
    inside, n_inside = np.zeros((n_columns, most_bins)), np.zeros((n_columns, most_bins))
    for r in range(n_rows):
        i = rows[r]
        signed[r] = weight[i] if y[i] == 1 else -weight[i]
        count += weight[i]
        whole += signed[r]
        for j in range(n_columns):
            own[j, r] = codes[i, j]
            inside[j, codes[i, j]] += signed[r]
            n_inside[j, codes[i, j]] += weight[i]
    for j in range(n_columns):
        for t in range(1, 1 if is_category[j] else n_bins[j]):
            inside[j, t] += inside[j, t - 1]
            n_inside[j, t] += n_inside[j, t - 1]
    extremes, pairs = np.zeros((n_columns, 4, most_bins)), np.empty((most_bins, most_bins))
    for j in range(n_columns):
        for k in range(j, n_columns):
            signed_pairs(own, signed, n_bins, is_category, j, k, pairs)
            last_j, last_k = starts[j + 1] - starts[j], starts[k + 1] - starts[k]
            widen_extremes(pairs, inside[k], inside[j], last_j, last_k, extremes[j], extremes[k])
        for t in range(starts[j + 1] - starts[j]):
            place, most = starts[j] + t, extremes[j]
            n_in, d_in = n_inside[j, t], inside[j, t]
            n_out, d_out = count - n_in, whole - d_in
            two = max(2 * most[0, t] - d_in, d_in - 2 * most[1, t])
            left[place] = min((n_in - abs(d_in)) / 2 + penalty, (n_in - two) / 2 + 2 * penalty)
            two = max(2 * most[2, t] - d_out, d_out - 2 * most[3, t])
            right[place] = min((n_out - abs(d_out)) / 2 + penalty, (n_out - two) / 2 + 2 * penalty)
