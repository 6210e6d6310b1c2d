"""Which column joins a LARS path next: single precision finds candidates, double precision decides.

Every step needs the speed at which each correlation falls, one product with all columns; it is what a path spends most
of its time on, and in single precision it takes half of it.
"""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array
from pellucid.linear_model.least_angle.lars_kernels import arrivals_within, next_arrival

SLOWEST = 1e-10
"""A correlation that nears the level no faster than this never arrives."""

CLOSE = 1e-3
"""Columns that single precision sees arrive within this part of the level after the first are looked at exactly."""


class Scout:
    """Knows the correlations of all columns about, and those of candidates exactly."""

    def __init__(self, A: Array) -> None:
        self.A = A
        self.norms = np.sqrt(np.einsum("ij,ij->j", A, A))
        self.units = np.asfortranarray(A / np.where(self.norms > 0, self.norms, 1.0), dtype=np.float32)

    def speeds(self, image: Array) -> Array:
        """Return ``A' image`` to about seven digits of ``|a_j| |image|``."""
        size = float(np.linalg.norm(image))
        if size == 0.0:
            return np.zeros(len(self.norms))
        return (size * self.norms) * (self.units.T @ (image / size).astype(np.float32))

    def next_arrival(
        self, about: Array, speeds: Array, idle: Array, level: float, positive: bool, residual: Array, image: Array
    ) -> tuple[float, int | None]:
        """Return how far it is until an idle column is as correlated as the active ones, and which."""
        first, _ = next_arrival(about, speeds, idle, level, positive, SLOWEST)
        if not np.isfinite(first):
            return np.inf, None
        reach = first + CLOSE * level
        near = arrivals_within(about, speeds, idle, level, positive, SLOWEST, reach)
        length, k = self._exactly(near, residual, image, level, positive)
        if length > reach:  # the candidates come later than seemed, or never: others may come before
            near = np.flatnonzero(idle)
            length, k = self._exactly(near, residual, image, level, positive)
        return length, int(near[k]) if k >= 0 else None

    def _exactly(self, which: Array, residual: Array, image: Array, level: float, positive: bool) -> tuple[float, int]:
        """Return how far it is until one of these columns arrives, and its place among them."""
        columns, everyone = self.A[:, which], np.ones(len(which), dtype=np.bool_)
        length, k = next_arrival(columns.T @ residual, columns.T @ image, everyone, level, positive, SLOWEST)
        return float(length), int(k)
