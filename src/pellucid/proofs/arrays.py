"""The name of what proofs compute with, and weights as an array."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

Array: TypeAlias = np.ndarray


def dense(values: Any) -> Array:
    """Return a matrix as an array, whether it is sparse or not."""
    return np.asarray(values.toarray() if sparse.issparse(values) else values)
