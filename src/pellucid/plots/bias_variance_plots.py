"""Bias, variance and noise: how the parts of the error change with complexity, and the curves they come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.plots.drawing.style import INK, LINE_WIDTH, QUIET, color, tidy_axes, write_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE = 50.0
"""Complexities whose largest is this many times the smallest stand on a logarithmic axis."""
MOST_CURVES = 60
"""Of more curves the first are drawn; their mean is that of all."""


def plot_bias_variance(
    splits: Mapping[Any, Any], ax: Axes | None = None, *, name: str = "complexity", falls: bool = False
) -> Axes:
    """Draw the parts of the expected error against the complexity of the model, and mark the complexity of least error.

    Parameters
    ----------
    splits : dict from complexity to BiasVariance
        What ``bias_variance_simulation`` or ``bias_variance_bootstrap`` returned for each.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    name : str, default="complexity"
        What the complexity is, such as "degree" or "penalty".
    falls : bool, default=False
        Whether a larger value is a simpler model, as of a penalty: the axis is turned around then.
    """
    if len(splits) < 2:
        raise ValueError(f"splits must have at least two complexities, got {len(splits)}.")
    losses = {split.loss for split in splits.values()}
    if len(losses) > 1:
        raise ValueError(f"splits must be of one loss, got {sorted(losses)}.")
    numeric = all(isinstance(value, Real) for value in splits)
    x = np.array(list(splits), dtype=float) if numeric else np.arange(len(splits), dtype=float)
    order = np.argsort(x, kind="stable")
    x, found = x[order], [list(splits.values())[k] for k in order]
    knows_noise = not any(np.isnan(split.noise) for split in found)
    power = "²" if losses == {"squared"} else ""
    parts = {
        f"bias{power}" if knows_noise else f"bias{power} with noise": ([split.bias for split in found], color(0), "o"),
        "variance": ([split.variance for split in found], color(1), "s"),
    }
    if knows_noise:
        parts["noise"] = ([split.noise for split in found], QUIET, "")
    error = np.array([split.error for split in found])
    ax = tidy_axes(ax)
    for label, (values, ink, marker) in parts.items():
        ax.plot(x, values, color=ink, linewidth=LINE_WIDTH, marker=marker, markersize=5, label=label)
    ax.plot(x, error, color=INK, linewidth=LINE_WIDTH * 1.3, label="expected error")
    best = int(np.argmin(error))
    ax.axvline(x[best], color=INK, linewidth=1.0, linestyle=(0, (4, 3)), zorder=0)
    ax.plot(x[best], error[best], "o", color=INK, markersize=9, label=f"least error at {_told(splits, order[best])}")
    if numeric and x[0] > 0 and x[-1] / x[0] >= WIDE:
        ax.set_xscale("log")
    if not numeric:
        ax.set_xticks(x, [str(value) for value in splits])
    if falls:
        ax.invert_xaxis()
    ax.set_ylim(bottom=min(0.0, float(np.min([values for values, _, _ in parts.values()]))))
    ax.set(xlabel=name, ylabel="error")
    write_legend(ax)
    return ax


def _told(splits: Mapping[Any, Any], place: int) -> str:
    value = list(splits)[place]
    return f"{value:.4g}" if isinstance(value, Real) else str(value)


def plot_resampled_curves(
    grid: Data,
    curves: Data,
    ax: Axes | None = None,
    *,
    truth: Callable[[Array], Data] | Data = None,
    X: Data = None,
    y: Data = None,
) -> Axes:
    """Draw the curves that were fitted to many samples, their mean, and the truth where it is known.

    How far the mean is from the truth is the bias; how far the curves are from their mean, the variance.

    Parameters
    ----------
    grid : array-like of shape (n_points,) or (n_points, 1)
        Where the curves were evaluated.
    curves : array-like of shape (n_curves, n_points)
        ``CurveBand.resampled_curves`` of the bootstrap, or ``BiasVariance.predictions`` of a simulation.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    truth : callable or array-like of shape (n_points,), default=None
        The function without noise.
    X, y : array-like of shape (n_samples, 1), (n_samples,), default=None
        Data to draw.
    """
    x, values = np.ravel(np.asarray(grid, dtype=float)), np.asarray(curves, dtype=float)
    if values.ndim != 2 or values.shape[1] != len(x):
        raise ValueError(f"curves must have the shape (n_curves, {len(x)}), as grid has points, got {values.shape}.")
    order = np.argsort(x, kind="stable")
    ax = tidy_axes(ax)
    for number, curve in enumerate(values[:MOST_CURVES]):
        label = f"fits to {len(values)} samples" if number == 0 else None
        ax.plot(x[order], curve[order], color=color(5), linewidth=0.9, alpha=0.45, zorder=1, label=label)
    ax.plot(x[order], values.mean(axis=0)[order], color=color(1), linewidth=LINE_WIDTH, zorder=3, label="their mean")
    if truth is not None:
        right = np.ravel(np.asarray(truth(x[:, None]) if callable(truth) else truth, dtype=float))
        ax.plot(x[order], right[order], color=INK, linewidth=LINE_WIDTH, linestyle="--", zorder=4, label="truth")
    if X is not None and y is not None:
        points = np.ravel(np.asarray(X, dtype=float)), np.ravel(np.asarray(y, dtype=float))
        ax.scatter(*points, s=26, color=INK, linewidths=0, zorder=5, label="rows")
    ax.set(xlabel="x", ylabel="y")
    _show_most(ax, values, y)
    write_legend(ax)
    return ax


def _show_most(ax: Axes, values: Array, y: Data) -> None:
    """Let the few curves that run away leave the picture."""
    low, high = np.quantile(values, [0.01, 0.99])
    if y is not None:
        low, high = min(low, float(np.min(y))), max(high, float(np.max(y)))
    margin = 0.08 * (high - low) if high > low else 1.0
    ax.set_ylim(low - margin, high + margin)
