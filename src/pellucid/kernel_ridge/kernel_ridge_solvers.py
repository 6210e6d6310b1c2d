r"""Dual coefficients of kernel ridge regression: :math:`(K + \alpha S^{-1})\,a = y` with the weights of the rows in S.

With :math:`a = S^{1/2} d` the matrix is symmetric: :math:`(S^{1/2} K S^{1/2} + \alpha I)\,d = S^{1/2} y`.
"""

from __future__ import annotations

import numpy as np

from pellucid.core.fit import Fit
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.kernels.functions import check_products
from pellucid.kernels.kernel import Kernel
from pellucid.numerics.penalized_system import solve_penalized
from pellucid.proofs.training_data import TrainingData


def solve_kernel_ridge(kernel: Kernel, data: TrainingData, alpha: Array) -> Fit:
    """Return the dual coefficients for each target, and the penalized sum of squared errors as the objective."""
    y = np.asarray(data.y, dtype=np.float64)
    targets = y.reshape(len(y), -1)
    root = None if data.weight is None else np.sqrt(data.weight)
    K = weighted_products(kernel, data, root)
    b = targets if root is None else root[:, None] * targets
    penalties = np.broadcast_to(alpha, targets.shape[1])
    dual = np.empty_like(b)
    distinct = np.unique(penalties)
    for penalty in distinct:
        chosen = penalties == penalty
        dual[:, chosen] = solve_penalized(K, float(penalty), b[:, chosen], overwrite=bool(penalty == distinct[-1]))
    dual = dual if root is None else root[:, None] * dual
    trace = Trace()
    trace.add(iteration=1, objective=float(np.sum(penalties * np.sum(dual * targets, axis=0))))
    return Fit({"dual_coef_": data.spread(dual.T).T.reshape((data.n_given, *y.shape[1:]))}, trace)


def weighted_products(kernel: Kernel, data: TrainingData, root: Array | None) -> Array:
    """Return the lower half of the products of the rows that count, each times the roots of the two weights."""
    n = data.X.shape[0]
    if kernel.is_given:
        columns = np.arange(data.X.shape[1]) if data.kept is None else data.kept
        K = kernel(data.X, columns)
    else:
        K = kernel.lower(data.X, np.empty((n, n)))
    check_products(np.diagonal(K) if kernel.positive else np.tril(K))
    if root is not None:
        K *= root[:, None]
        K *= root
    return K
