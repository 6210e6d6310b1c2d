"""Arrays of other libraries: from and to NumPy, on whatever device they live."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, to_device

from pellucid.core.types import Array


def as_numpy(array: Any) -> Array:
    """Return the numbers as a NumPy array in double precision, without a copy if they are one already.

    Examples
    --------
    >>> as_numpy(np.array([1, 2], dtype="float32"))
    array([1., 2.])
    """
    if not isinstance(array, np.ndarray):
        array = to_device(array.detach() if hasattr(array, "detach") else array, "cpu")
    return np.asarray(array, dtype=np.float64)


def like(values: Array, other: Any) -> Any:
    """Return the numbers as an array of the kind, precision and device of another."""
    return array_namespace(other).asarray(values, dtype=other.dtype, device=device(other))


def length(vector: Any) -> float:
    """Return the Euclidean norm of a vector of any kind."""
    return math.sqrt(float(vector @ vector))


def precision_of(array: Any) -> float:
    """Return the distance from 1 to the next number of this kind.

    Examples
    --------
    >>> precision_of(np.ones(1)) == 2.0**-52
    True
    """
    return float(array_namespace(array).finfo(array.dtype).eps)
