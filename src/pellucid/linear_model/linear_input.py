"""What every linear model does first: check the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from pellucid.core.finite import check_finite
from pellucid.core.types import Array, Data
from pellucid.core.weights import check_sample_weight

FLOATS = (np.float64, np.float32)
SPARSE_FORMATS = ("csr", "csc", "coo")


def check_linear_input(
    estimator: Any,
    X: Data,
    y: Data,
    sample_weight: Data | None = None,
    *,
    accept_sparse: bool = True,
    multi_output: bool = True,
    reset: bool = True,
) -> tuple[Array, Array, Array | None]:
    """Return checked ``X``, numeric ``y`` (of two dimensions only if ``multi_output``) and the weights or None."""
    X, y = validate_data(
        estimator,
        X,
        y,
        reset=reset,
        accept_sparse=SPARSE_FORMATS if accept_sparse else False,
        dtype=FLOATS,
        ensure_all_finite=False,  # done below, on all threads
        multi_output=multi_output,
        y_numeric=True,
    )
    check_finite(X, estimator)
    check_finite(y, estimator, "y")
    return X, y, check_sample_weight(sample_weight, X)
