"""Shapley values of rows in packed trees, leaf by leaf.

On the way to a leaf, each of its d different columns j has a share z of the training rows that would go that way if the
column were unknown, and a row either fits all its conditions (o = 1) or not (o = 0). The leaf then adds, for column i,

    value (o_i - z_i)  sum over S of |S|! (d - 1 - |S|)! / d!  prod_{j in S} o_j  prod_{j not in S} z_j

with S a subset of the other columns. By sizes of S, the sum runs over the coefficients of the product of (z_j + o_j t).
"""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import kept
from pellucid.tree.packed_trees_kernels import is_in_left_set


@kept
def weighted_sum(coefficients, degree, weight):
    """Return the sum of coefficients times weights up to a degree."""
    total = 0.0
    for k in range(degree + 1):
        total += coefficients[k] * weight[k]
    return total


@kept
def add_leaf(share, fits, n_columns, column, weight, values, coefficients, quotient, out):
    """Add what one leaf says about one row to ``out`` (n_features, n_outputs). O(n_columns^2)."""
    outside, degree = 1.0, 0
    coefficients[0] = 1.0
    for j in range(n_columns):
        if not fits[j]:
            outside *= share[j]
            continue
        coefficients[degree + 1] = coefficients[degree]
        for k in range(degree, 0, -1):
            coefficients[k] = share[j] * coefficients[k] + coefficients[k - 1]
        coefficients[0] *= share[j]
        degree += 1
    if outside == 0.0:
        return
    whole = -outside * weighted_sum(coefficients, degree, weight) if degree < n_columns else 0.0
    for j in range(n_columns):
        factor = whole
        if fits[j]:  # divide its own factor out of the product, from the highest power down
            quotient[degree - 1] = coefficients[degree]
            for k in range(degree - 1, 0, -1):
                quotient[k - 1] = coefficients[k] - share[j] * quotient[k]
            factor = outside * (1.0 - share[j]) * weighted_sum(quotient, degree - 1, weight)
        for c in range(values.shape[0]):
            out[column[j], c] += factor * values[c]


@kept
def turns_left(x, direction, threshold, left_categories):
    """Return whether a value goes left at a node; ``direction`` as in packed_trees_kernels."""
    if direction > 1:
        return is_in_left_set(x, direction, left_categories)
    if np.isnan(x):
        return direction == 1
    return x <= threshold


@kept
def columns_on_path(path, turns, depth, first, steps, cover, slot, column, share):
    """Write the different columns on a path, the share of each, and which of them each node asks for.

    Returns how many there are. The share is the part of the training rows that goes the same way at all its nodes.
    """
    n_columns = 0
    for s in range(depth):
        at = first + path[s]
        child = steps[at, 1] if turns[s] else steps[at, 2]
        found = 0
        while found < n_columns and column[found] != steps[at, 0]:
            found += 1
        if found == n_columns:
            column[found], share[found] = steps[at, 0], 1.0
            n_columns += 1
        slot[s] = found
        share[found] *= cover[first + child] / cover[at]
    return n_columns


@kept
def add_shapley_values(X, starts, steps, threshold, left_categories, cover, value, groups, deepest, out):
    """Add the Shapley values of all rows in all trees to ``out`` (n_rows, n_features, n_outputs).

    ``steps`` as in packed_trees_kernels; ``value`` is (n_nodes, n_columns); the columns of tree t are added to those of
    ``out`` from ``groups[t]`` on. Walks to every leaf once, the left side first. O(n_rows n_leaves depth^2).
    """
    path, turns = np.empty(deepest + 1, np.int64), np.empty(deepest + 1, np.bool_)
    slot, column = np.empty(deepest + 1, np.int64), np.empty(deepest + 1, np.int64)
    share, fits, weight = np.empty(deepest + 1), np.empty(deepest + 1, np.bool_), np.empty(deepest + 1)
    coefficients, quotient = np.empty(deepest + 2), np.empty(deepest + 2)
    for t in range(len(starts) - 1):
        first, node, depth = starts[t], 0, 0
        while True:
            while steps[first + node, 0] >= 0:
                path[depth], turns[depth] = node, True
                node, depth = steps[first + node, 1], depth + 1
            n_columns = columns_on_path(path, turns, depth, first, steps, cover, slot, column, share)
            for k in range(n_columns):
                weight[k] = 1.0 / n_columns if k == 0 else weight[k - 1] * k / (n_columns - k)
            for i in range(X.shape[0] if n_columns > 0 else 0):
                for j in range(n_columns):
                    fits[j] = True
                for s in range(depth):
                    at = first + path[s]
                    is_left = turns_left(X[i, steps[at, 0]], steps[at, 3], threshold[at], left_categories)
                    fits[slot[s]] &= is_left == turns[s]
                inside = out[i, :, groups[t] : groups[t] + value.shape[1]]
                add_leaf(share, fits, n_columns, column, weight, value[first + node], coefficients, quotient, inside)
            while depth > 0 and not turns[depth - 1]:
                depth -= 1
            if depth == 0:
                break
            turns[depth - 1] = False
            node = steps[first + path[depth - 1], 2]
