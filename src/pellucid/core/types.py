"""Names for the kinds of data that pass through the library."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray
"""A NumPy array that has been checked."""

Data: TypeAlias = Any
"""Whatever scikit-learn accepts: lists, arrays, data frames, sparse matrices."""
