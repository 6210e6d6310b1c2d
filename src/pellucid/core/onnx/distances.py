"""Distances of rows to points, as ONNX operators: from differences, which keep every digit."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce

import numpy as np

from pellucid.core.onnx.graph import Value
from pellucid.core.types import Array

FEW_DIFFERENCES = 4096
"""Up to so many for a row, they are held at once; more are summed column by column."""


def summed_differences(X: Value, points: Array, of: Callable[[Value], Value]) -> Value:
    """Return for each row and point the sum over the columns of a function of the difference, (rows, points)."""
    n, d = points.shape
    if n * d <= FEW_DIFFERENCES:
        return of(X.reshape(-1, 1, d) - points[None]).sum(axis=2, keep=False)
    parts = (of(X.column(j) - np.ascontiguousarray(points[:, j])[None]) for j in range(d))
    return reduce(Value.__add__, parts)


def squared_distances(X: Value, points: Array) -> Value:
    """Return squared Euclidean distances."""
    return summed_differences(X, points, lambda away: away * away)


def power_distances(X: Value, points: Array, power: float) -> Value:
    """Return the distances of Minkowski's metric of this power, the largest difference for an infinite one."""
    if power == 2.0:
        return squared_distances(X, points).sqrt()
    if power == 1.0:
        return summed_differences(X, points, Value.abs)
    if not math.isinf(power):
        return summed_differences(X, points, lambda away: away.abs() ** power) ** (1.0 / power)
    columns = [(X.column(j) - np.ascontiguousarray(points[:, j])[None]).abs() for j in range(points.shape[1])]
    return reduce(lambda one, other: one.apply("Max", other), columns)
