"""Means and scatter of each class, from blocks of rows that fit in cache."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.core.threads import run_blocks, split_evenly, thread_count
from pellucid.core.types import Array

BLOCK = 1 << 16
"""Numbers of a block of rows."""


@dataclass(frozen=True)
class Classes:
    """The labels in order, and the rows of each."""

    labels: Array
    rows: tuple[Array, ...]

    @property
    def counts(self) -> Array:
        """Number of rows of each class."""
        return np.array([len(rows) for rows in self.rows])


def split_classes(y: Array) -> Classes:
    """Return which rows belong to which class."""
    labels, codes = np.unique(y, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(labels)))
    return Classes(labels, tuple(np.split(order, ends[:-1])))


def class_means(X: Array, classes: Classes) -> Array:
    """Return the mean of each class, of shape (n_classes, n_features), in float64."""
    return np.stack([_mean(X, rows) for rows in classes.rows])


def class_scatter(X: Array, rows: Array, mean: Array) -> Array:
    r"""Return :math:`\sum (x - \bar x)(x - \bar x)'` over some rows, without a centered copy of all of them."""
    height = max(1, BLOCK // X.shape[1])

    def work(part: slice) -> Array:
        scatter = np.zeros((X.shape[1], X.shape[1]))
        for start in range(part.start, part.stop, height):
            block = X[rows[start : min(start + height, part.stop)]].astype(np.float64, copy=False)
            block -= mean  # X[rows] is a copy already
            scatter += block.T @ block
        return scatter

    parts = run_blocks(work, split_evenly(len(rows), thread_count()))
    total = parts[0]
    for part in parts[1:]:
        total += part
    return total


def centered_triangle(X: Array, classes: Classes, means: Array) -> Array:
    """Return the triangular factor R with ``R'R`` the pooled scatter, by QR of blocks: no digit is lost to squares."""
    height = max(X.shape[1], BLOCK // X.shape[1])
    triangle: Array = np.zeros((0, X.shape[1]))
    for rows, mean in zip(classes.rows, means, strict=True):
        for start in range(0, len(rows), height):
            block = X[rows[start : start + height]].astype(np.float64, copy=False) - mean
            triangle = np.asarray(np.linalg.qr(np.vstack([triangle, block]), mode="r"))
    return triangle


def _mean(X: Array, rows: Array) -> Array:
    height = max(1, BLOCK // X.shape[1])

    def work(part: slice) -> Array:
        total = np.zeros(X.shape[1])
        for start in range(part.start, part.stop, height):
            total += X[rows[start : min(start + height, part.stop)]].sum(axis=0, dtype=np.float64)
        return total

    parts = run_blocks(work, split_evenly(len(rows), thread_count()))
    return np.asarray(np.sum(parts, axis=0) / len(rows))
