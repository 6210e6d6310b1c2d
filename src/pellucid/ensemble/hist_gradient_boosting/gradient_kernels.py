"""Losses of raw predictions with their first two derivatives, a block of rows at a time.

Where weights allow it, the logarithms of logistic losses are taken of products of many rows.
"""

# mypy: allow-untyped-defs

import math

import numpy as np

from pellucid.solvers.compiling_kernels import kept

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
