"""Products of rows when the mean of the training rows is taken away in the space of the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.types import Array
from pellucid.kernels.choice import kernel_from
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


def centered_times(kernel: Kernel, X: Any, others: Any, coef: Array, means: Array) -> Array:
    """Return the centered products of new rows with the training rows, times ``coef``.

    The product of x and row i becomes k - (mean over i of k) - means_i + mean of the means.
    """
    total = coef.sum(axis=0)
    with_mean = np.column_stack([coef, np.full(len(coef), 1.0 / len(coef))])
    found = kernel.times(X, others, with_mean)
    own_mean = found[:, -1:]
    return np.asarray(found[:, :-1] - own_mean * total - means @ coef + means.mean() * total)
