"""The check that a matrix holds distances of all rows to each other."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from pellucid.core.types import Array

TILE = 256
"""Rows and columns of a matrix that are compared with their mirror image in one go."""
ASYMMETRY = 1e-10
"""Relative difference between the two sides of a distance matrix that counts as rounding."""


def check_distance_matrix(D: Array) -> None:
    """Refuse what is not a matrix of distances."""
    if D.shape[0] != D.shape[1]:
        raise ValueError(f"Distance matrix should be square, got matrix of shape {D.shape}. Pass rows with a metric.")
    size = max(float(D.max()), -float(D.min()))
    diagonal = np.abs(np.diagonal(D))
    if diagonal.max() > ASYMMETRY * size:
        i = int(diagonal.argmax())
        raise ValueError(f"X must have zeros on its diagonal as a distance matrix, got {D[i, i]:g} at row {i}.")
    gap, row, other = _largest_asymmetry(D)
    if gap > ASYMMETRY * size:
        raise ValueError(
            f"X must be symmetric as a distance matrix, got {D[row, other]:g} at ({row}, {other}) and "
            f"{D[other, row]:g} at ({other}, {row}). Take the mean of both sides."
        )
    if D.min() < 0.0:
        raise ValueError(f"X must have no negative numbers as a distance matrix, got {D.min():g}.")


def _largest_asymmetry(D: Array) -> tuple[float, int, int]:
    """Return the largest difference of the two sides of a matrix and where it is, tile by tile."""
    worst = (0.0, 0, 0)
    for top, left in combinations_with_replacement(range(0, len(D), TILE), 2):
        gaps = np.abs(D[top : top + TILE, left : left + TILE] - D[left : left + TILE, top : top + TILE].T)
        place = int(gaps.argmax())
        if gaps.flat[place] > worst[0]:
            worst = (float(gaps.flat[place]), top + place // gaps.shape[1], left + place % gaps.shape[1])
    return worst
