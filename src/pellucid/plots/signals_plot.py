"""Signals one below the other, such as mixed sounds and the sources behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.drawing.style import QUIET, color, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_POINTS = 2000
"""Longer signals are drawn as bands between the least and the largest of many values."""

LANE = 2.4
"""Distance between two signals, in parts of the largest value of each."""


def plot_signals(
    signals: Data, ax: Axes | None = None, *, names: Sequence[str] | None = None, rate: float | None = None
) -> Axes:
    """Draw the columns of a table against time, each in a lane of its own and at its own scale.

    Parameters
    ----------
    signals : array-like of shape (n_samples, n_signals)
        The signals, rows in the order of time.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    names : sequence of str, default=None
        What to call them; None numbers them.
    rate : float, default=None
        Samples in a second; None counts samples.
    """
    values = np.asarray(signals, dtype=np.float64)
    if values.ndim != 2 or not values.size:
        raise ValueError(f"signals must have rows and columns, got shape {values.shape}. Reshape one to (-1, 1).")
    n, count = values.shape
    if names is not None and len(names) != count:
        raise ValueError(f"names must be as many as signals ({count}), got {len(names)}.")
    centered = values - values.mean(axis=0)
    largest = np.abs(centered).max(axis=0)
    centered /= np.where(largest > 0.0, largest, 1.0)
    ax = tidy_axes(ax)
    for k in range(count):
        time, low, high = _band(centered[:, k] - LANE * k)
        seconds = time / rate if rate else time
        ax.axhline(-LANE * k, color=QUIET, linewidth=0.4)
        if n <= MOST_POINTS:
            ax.plot(seconds, low, color=color(k), linewidth=0.9)
        else:
            ax.fill_between(seconds, low, high, color=color(k), linewidth=0.3)
    shown = [str(k + 1) for k in range(count)] if names is None else list(names)
    ax.set_yticks([-LANE * k for k in range(count)], shown)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlim(0.0, (n - 1) / rate if rate else n - 1)
    ax.set_xlabel("seconds" if rate else "sample")
    return ax


def _band(signal: Array) -> tuple[Array, Array, Array]:
    """Return times, and the least and the largest value around each."""
    n = len(signal)
    if n <= MOST_POINTS:
        return np.arange(n, dtype=np.float64), signal, signal
    edges = np.linspace(0, n, MOST_POINTS + 1).astype(int)[:-1]
    return edges.astype(np.float64), np.minimum.reduceat(signal, edges), np.maximum.reduceat(signal, edges)
