"""Whether the kernel of a machine is an inner product: known, shown for the training rows, or in doubt."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from pellucid.core.random_state import some_rows
from pellucid.kernels.kernel import Kernel
from pellucid.kernels.mercer import check_mercer
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.training_data import TrainingData

MOST_ROWS = 1000
"""Training rows up to which a kernel is shown to be an inner product on them, which takes as long as a small fit."""

TRIED = 60
"""Rows among which a witness is looked for."""


def doubt_about(kernel: Kernel, data: TrainingData) -> str:
    """Return why the kernel is not known to be an inner product, with a witness if one is found; empty if it is known.

    On few rows a Cholesky factor of the products shows that no combination of them has negative energy, up to a shift
    of the diagonal that is rounding.
    """
    n = data.X.shape[0]
    if kernel.positive or (n <= MOST_ROWS and _is_positive(_products(kernel, data.X, np.arange(n)))):
        return ""
    tried = some_rows(n, TRIED)
    part = data.X[np.ix_(tried, tried)] if kernel.is_given else data.X[tried]
    found = check_mercer(kernel, part)
    if found.holds:
        return f"The kernel is not known to be an inner product on these {n} rows, so there may be better machines."
    rows = data.given_rows(tried[found.rows]).tolist()
    numbers = ", ".join(f"{value:g}" for value in found.vector)
    return (
        f"The kernel is no inner product, so there may be better machines: the rows {rows} times ({numbers}) have the "
        f"squared length {found.energy:.3g}."
    )


def _products(kernel: Kernel, X: Any, rows: Any) -> Any:
    return kernel(X, rows) if kernel.is_given else kernel(X)


def _is_positive(products: Any) -> bool:
    n = len(products)
    shift = n * sum_error(n) * float(np.abs(np.diagonal(products)).max(initial=0.0))
    try:
        cholesky(products + shift * np.eye(n), lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return False
    return True
