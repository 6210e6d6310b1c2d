"""Products of rows when the mean of the training rows is taken away in the space of the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.types import Array
from pellucid.kernels.choice import kernel_from
from pellucid.kernels.formulas import Linear
from pellucid.kernels.kernel import Kernel


def components_kernel(parameters: Any, gamma: float) -> Kernel:
    """Return the kernel that the parameters mean."""
    return kernel_from(
        parameters.kernel,
        gamma=gamma,
        degree=parameters.degree,
        coef0=parameters.coef0,
        params=parameters.kernel_params,
    )


def centered_rows(kernel: Kernel, X: Any) -> Array | None:
    """Return the rows about their mean where their products are the centered ones: dense rows of a linear kernel.

    So an offset of the rows costs no digits. None for other kernels, whose mean is no row, and for sparse rows.
    """
    if not isinstance(kernel, Linear) or sparse.issparse(X):
        return None
    return np.asarray(X - X.mean(axis=0, dtype=np.float64), dtype=np.float64)


def linear_means(kernel: Kernel, X: Array) -> Array:
    """Return the mean product of each row with all of them: that with the mean row."""
    return kernel(X, X.mean(axis=0, dtype=np.float64)[None])[:, 0]


def centered_times(kernel: Kernel, X: Any, others: Any, coef: Array, means: Array) -> Array:
    """Return the centered products of new rows with the training rows, times ``coef``.

    The product of x and row i becomes k - (mean over i of k) - means_i + mean of the means.
    """
    if centered_rows(kernel, others) is not None and not sparse.issparse(X):
        mean = others.mean(axis=0, dtype=np.float64)
        return kernel.times(X - mean, others - mean, coef)
    total = coef.sum(axis=0)
    with_mean = np.column_stack([coef, np.full(len(coef), 1.0 / len(coef))])
    found = kernel.times(X, others, with_mean)
    own_mean = found[:, -1:]
    return np.asarray(found[:, :-1] - own_mean * total - means @ coef + means.mean() * total)
