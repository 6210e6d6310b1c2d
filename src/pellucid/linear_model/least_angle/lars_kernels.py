"""The search for the next column of a LARS path. Arguments are float64 arrays and scalars the caller has checked."""

# mypy: allow-untyped-defs

import math

import numpy as np

from pellucid.solvers.compiling_kernels import kept


@kept
def next_arrival(correlations, speeds, idle, level, positive, slowest):
    """Return how far it is until an idle column is as correlated as the active ones, and which; of equals the first.

    Correlations fall at their speed while the level falls at speed 1; a gap that closes no faster than ``slowest``
    never closes. The answer is ``(inf, -1)`` if no column arrives. O(p).
    """
    nearest, column = math.inf, -1
    for j in range(correlations.shape[0]):
        if not idle[j]:
            continue
        closing = 1.0 - speeds[j]
        if closing > slowest:
            length = max(level - correlations[j], 0.0) / closing
            if length < nearest:
                nearest, column = length, j
        closing = 1.0 + speeds[j]
        if not positive and closing > slowest:
            length = max(level + correlations[j], 0.0) / closing
            if length < nearest:
                nearest, column = length, j
    return nearest, column


@kept
def arrivals_within(correlations, speeds, idle, level, positive, slowest, reach):
    """Return the idle columns that arrive within ``reach``, in order. O(p)."""
    found = np.empty(correlations.shape[0], dtype=np.int64)
    count = 0
    for j in range(correlations.shape[0]):
        if not idle[j]:
            continue
        above, below = 1.0 - speeds[j], 1.0 + speeds[j]
        arrives = above > slowest and max(level - correlations[j], 0.0) <= reach * above
        if not arrives and not positive:
            arrives = below > slowest and max(level + correlations[j], 0.0) <= reach * below
        if arrives:
            found[count] = j
            count += 1
    return found[:count]
