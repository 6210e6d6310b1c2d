"""Names for the kinds of data that pass through the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray
"""A NumPy array that has been checked."""

Data: TypeAlias = Any
"""Whatever scikit-learn accepts: lists, arrays, data frames, sparse matrices."""

SparseOrDense: TypeAlias = Any
"""Rows that have been checked: a NumPy array or a sparse one of SciPy, which has no types that mypy could read."""

RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None
"""What draws: a seed, a generator, or nothing, which asks the operating system."""

MetricLike: TypeAlias = str | Callable[..., float]
"""A distance of two rows: a name that scikit-learn knows, or a function of both."""

ClassWeight: TypeAlias = Mapping[Any, float] | str | None
"""What the rows of each class weigh: a number for each, 'balanced', or one for all."""
