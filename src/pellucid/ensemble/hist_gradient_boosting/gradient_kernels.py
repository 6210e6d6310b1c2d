"""Loops over rows: losses of raw predictions with two derivatives, the way of rows down trees.

Where weights allow it, the logarithms of logistic losses are taken of products of many rows.
"""

# mypy: allow-untyped-defs

import math

import numpy as np

from pellucid.solvers.compiling_kernels import PLAIN, kept, loop

SQUARED, ABSOLUTE, QUANTILE, POISSON, GAMMA, BINOMIAL, MULTINOMIAL = range(7)

LARGEST_PRODUCT = 1e280
"""Where a product of factors of at most 1e8 is turned into a logarithm."""


@kept
def differentiate(loss, quantile, y, raw, weight, k, normalizer, gradients, hessians, start, stop):
    """Write the derivatives of rows ``start`` to ``stop``; return the sum of losses and the largest derivatives.

    ``raw`` is (n_outputs, n_rows); ``weight`` and ``hessians`` have a single entry where it is the same for all rows.
    Of several classes it writes those of output ``k``, with the ``normalizer`` of each row, and sums no losses.
    """
    total, product, largest_gradient, largest_hessian = 0.0, 1.0, 0.0, 0.0
    has_weights, has_hessians = weight.shape[0] > 1, hessians.shape[0] > 1
    for i in range(start, stop):
        score, target = raw[k, i], y[i]
        w = weight[i] if has_weights else 1.0
        gradient, hessian = score - target, 1.0
        if loss == BINOMIAL:
            small = math.exp(-abs(score))
            share = (1.0 if score >= 0.0 else small) / (1.0 + small)
            cost = max(score, 0.0) - target * score
            if has_weights:
                cost += math.log1p(small)
            else:
                product *= 1.0 + small
                if product > LARGEST_PRODUCT:
                    total += math.log(product)
                    product = 1.0
            gradient = share - target
            hessian = small / ((1.0 + small) * (1.0 + small))
        elif loss == SQUARED:
            cost = 0.5 * gradient * gradient
        elif loss == MULTINOMIAL:
            share = math.exp(score - normalizer[i])
            gradient, hessian, cost = share - (1.0 if target == k else 0.0), share * (1.0 - share), 0.0
        elif loss == ABSOLUTE:
            cost = abs(gradient)
            gradient = 1.0 if gradient > 0.0 else -1.0
        elif loss == QUANTILE:
            gradient = -quantile if target >= score else 1.0 - quantile
            cost = gradient * (score - target)
        elif loss == POISSON:
            hessian = math.exp(score)
            gradient, cost = hessian - target, hessian - target * score
        else:
            hessian = target * math.exp(-score)
            gradient, cost = 1.0 - hessian, score + hessian
        total += w * cost
        gradients[i] = w * gradient
        largest_gradient = max(largest_gradient, abs(w * gradient))
        if has_hessians:
            hessians[i] = w * hessian
            largest_hessian = max(largest_hessian, w * hessian)
    return total + math.log(product), largest_gradient, largest_hessian if has_hessians else 1.0


@kept
def normalize(y, raw, weight, normalizer, start, stop):
    """Write the logarithm of the sum of exponentials of each row of scores; return the sum of logistic losses."""
    total = 0.0
    for i in range(start, stop):
        largest = raw[0, i]
        for k in range(1, raw.shape[0]):
            largest = max(largest, raw[k, i])
        mass = 0.0
        for k in range(raw.shape[0]):
            mass += math.exp(raw[k, i] - largest)
        normalizer[i] = largest + math.log(mass)
        total += (weight[i] if weight.shape[0] > 1 else 1.0) * (normalizer[i] - raw[np.int64(y[i]), i])
    return total


# Rows on their way down boosted trees, whose two children stand side by side: a step is a sum, without a branch.
#
# A leaf leads to itself, so that four rows can take as many steps together as the tree is deep, while each waits for
# its memory. Places are unsigned: signed ones would be looked at for counting from the end.


AT_ONCE = 4


@loop(**PLAIN)
def step(X, row, here, feature, left, threshold, missing_right):
    """Return the node after ``here`` of the row that begins at place ``row`` of ``X``."""
    x = X[row + np.uint64(feature[here])]
    return np.uint64(left[here]) + np.uint64((x > threshold[here]) | ((x != x) & missing_right[here]))


@loop(**PLAIN)
def step_by_set(X, row, here, feature, left, missing_right, categories):
    """Return the same for a node that sends a set of categories to the left."""
    x = X[row + np.uint64(feature[here])]
    if not 0.0 <= x < 32 * categories.shape[0]:  # no place in the set: as if missing
        return np.uint64(left[here]) + np.uint64(missing_right[here])
    code = np.uint64(x)
    bit = (categories[code >> np.uint64(5)] >> np.uint32(code & np.uint64(31))) & np.uint32(1)
    return np.uint64(left[here]) + np.uint64(bit == 0)


@kept
def walk_trees(X, p, starts, depths, has_sets, feature, left, threshold, missing_right, sets, categories, value, out):
    """Add to ``out`` (n_rows, n_outputs) the values at the leaves of all trees, which belong to the outputs in turn.

    ``X`` holds rows of ``p`` values; ``left`` is the left child, of a leaf itself; ``sets`` the row of ``categories``.
    """
    n, width = out.shape[0], np.uint64(p)
    for t in range(depths.shape[0]):
        root, k = np.uint64(starts[t]), t % out.shape[1]
        for i in range(0, n, 1 if has_sets[t] else AT_ONCE):
            a = b = c = d = root
            first = np.uint64(i) * width
            if has_sets[t]:
                while np.uint64(left[a]) != a:
                    if sets[a] >= 0:
                        a = step_by_set(X, first, a, feature, left, missing_right, categories[sets[a]])
                    else:
                        a = step(X, first, a, feature, left, threshold, missing_right)
                out[i, k] += value[a]
                continue
            second = np.uint64(min(i + 1, n - 1)) * width
            third = np.uint64(min(i + 2, n - 1)) * width
            fourth = np.uint64(min(i + 3, n - 1)) * width
            for _ in range(depths[t]):
                a = step(X, first, a, feature, left, threshold, missing_right)
                b = step(X, second, b, feature, left, threshold, missing_right)
                c = step(X, third, c, feature, left, threshold, missing_right)
                d = step(X, fourth, d, feature, left, threshold, missing_right)
            out[i, k] += value[a]
            if i + 1 < n:
                out[i + 1, k] += value[b]
            if i + 2 < n:
                out[i + 2, k] += value[c]
            if i + 3 < n:
                out[i + 3, k] += value[d]
