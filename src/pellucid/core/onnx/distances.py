"""Distances of rows to points, as ONNX operators: from differences, which keep every digit."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce

import numpy as np

from pellucid.core.onnx.graph import Value
from pellucid.core.types import Array


def summed_differences(X: Value, points: Array, of: Callable[[Value], Value]) -> Value:
    """Return for each row and point the sum over the columns of a function of the difference, (rows, points).

    Columns are added one after the other, as models do: another order makes one of two equally near points nearer.
    """
    parts = (of(X.column(j) - np.ascontiguousarray(points[:, j])[None]) for j in range(points.shape[1]))
    return reduce(Value.__add__, parts)


def squared_distances(X: Value, points: Array) -> Value:
    """Return squared Euclidean distances."""
    return summed_differences(X, points, lambda away: away * away)


def power_sums(X: Value, points: Array, power: float) -> Value:
    """Return the sums of powers of the differences in Minkowski's metric, the largest difference for an infinite power.

    They tell points apart whose roots are the same double.
    """
    if power == 2.0:
        return squared_distances(X, points)
    if power == 1.0:
        return summed_differences(X, points, Value.abs)
    if not math.isinf(power):
        each = np.full((1, len(points)), power)  # of one number that is 3, onnxruntime 1.31 makes two products
        return summed_differences(X, points, lambda away: away.abs() ** each)
    columns = [(X.column(j) - np.ascontiguousarray(points[:, j])[None]).abs() for j in range(points.shape[1])]
    return reduce(lambda one, other: one.apply("Max", other), columns)


def rooted(sums: Value, power: float) -> Value:
    """Return the distances whose powers are given."""
    if power == 1.0 or math.isinf(power):
        return sums
    return sums.sqrt() if power == 2.0 else sums ** (1.0 / power)


def power_distances(X: Value, points: Array, power: float) -> Value:
    """Return the distances of Minkowski's metric of this power."""
    return rooted(power_sums(X, points, power), power)
