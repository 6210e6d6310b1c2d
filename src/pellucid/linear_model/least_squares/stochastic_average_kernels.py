"""One epoch of stochastic average gradients. Arguments are float64 arrays that the caller has checked."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import kept


@kept
def average_gradient_epoch(X, mean, root_weight, b, order, w, errors, gradient, seen, penalty, step, unbiased):
    """Visit the rows in ``order``, updating ``w``, ``errors``, ``gradient`` and ``seen`` in place. O(len(order) p).

    ``errors[i]`` is the last error of row i, and ``gradient`` stays ``sum_i errors[i] a_i`` with
    ``a_i = root_weight[i] (X[i] - mean)``. ``unbiased`` chooses SAGA's step, otherwise SAG's.
    """
    n, p = X.shape
    count = 0.0
    for i in range(n):
        count += seen[i]
    row = np.empty(p)
    for i in order:
        error = -b[i]
        for j in range(p):
            row[j] = root_weight[i] * (X[i, j] - mean[j])
            error += row[j] * w[j]
        change = error - errors[i]
        errors[i] = error
        if not seen[i]:
            seen[i] = True
            count += 1.0
        for j in range(p):
            average = gradient[j] / count
            gradient[j] += change * row[j]
            if unbiased:
                average += change * row[j]
            else:
                average = gradient[j] / count
            w[j] -= step * (average + penalty * w[j])
