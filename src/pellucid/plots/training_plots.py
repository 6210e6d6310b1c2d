"""Training as it went: several runs on one axis, and the epoch at which early stopping keeps the weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.core.types import Data
from pellucid.plots.drawing.style import INK, LINE_WIDTH, QUIET, color, tidy_axes, write_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HIGHEST = 3.0
"""What rises above the value at the start by more than this factor leaves the picture."""
WIDE = 100.0
"""Positive values that span more than this factor are drawn on a logarithmic scale."""


def plot_early_stopping(train: Data, validation: Data = None, ax: Axes | None = None, *, name: str = "error") -> Axes:
    """Draw the error on training and on validation rows by epoch, and the epoch whose weights are kept.

    Parameters
    ----------
    train : array-like of shape (n_epochs,), or a fitted network
        Errors on the training rows; or a model fitted with ``early_stopping=True``, whose loss and 1 - validation score
        are taken from its trace, each on an axis of its own.
    validation : array-like of shape (n_epochs,), default=None
        Errors on the validation rows.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    name : str, default="error"
        What the numbers are.
    """
    own_axis = hasattr(train, "trace_")
    if own_axis:
        trace = train.trace_
        if "validation_score" not in trace.columns:
            raise ValueError("train must have validation scores in its trace. Fit with early_stopping=True.")
        train, validation, name = trace["objective"], 1.0 - trace["validation_score"], "training loss"
    seen, held = np.ravel(np.asarray(train, dtype=float)), np.ravel(np.asarray(validation, dtype=float))
    if len(seen) != len(held) or not np.isfinite(held).any():
        raise ValueError(f"validation must have an error for each of the {len(seen)} epochs, got {len(held)}.")
    epochs, best = np.arange(1, len(seen) + 1), int(np.nanargmin(held))
    ax = tidy_axes(ax)
    right = ax
    if own_axis:
        right = ax.twinx()
        right.spines[["top", "left", "bottom"]].set_visible(False)
        right.tick_params(labelcolor=color(1), color=color(1))
        right.set_ylabel("validation error, 1 − score", color=color(1), fontsize=ax.yaxis.label.get_fontsize())
    lines = ax.plot(epochs, seen, color=color(0), linewidth=LINE_WIDTH, label="training")
    lines += right.plot(epochs, held, color=color(1), linewidth=LINE_WIDTH, label="validation")
    told = f"kept: epoch {best + 1}"
    lines += right.plot(epochs[best], held[best], "o", color=INK, markersize=10, label=told, zorder=5)
    ax.axvline(epochs[best], color=INK, linewidth=1.0, linestyle=(0, (4, 3)), zorder=0)
    if best + 1 < len(seen):
        shade = ax.axvspan(epochs[best], epochs[-1], color=QUIET, alpha=0.13, linewidth=0, zorder=0)
        shade.set_label("trained in vain")
        lines.append(shade)  # type: ignore[arg-type]  # a legend takes patches beside lines
    ax.set(xlabel="epoch", ylabel=name, xlim=(epochs[0], epochs[-1] if len(epochs) > 1 else epochs[0] + 1))
    write_legend(right, handles=lines, loc="upper right")
    return ax


def plot_traces(traces: Mapping[str, Any], ax: Axes | None = None, *, column: str = "objective") -> Axes:
    """Draw one column of several traces on one axis, such as the loss under several learning rates.

    Parameters
    ----------
    traces : dict from names to Trace, fitted model or array-like
        Names stand in the legend.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    column : str, default="objective"
        Which column of traces.
    """
    if not traces:
        raise ValueError("traces must have at least one trace, got none.")
    found = {name: _values(trace, column) for name, trace in traces.items()}
    ax = tidy_axes(ax)
    for k, (name, (steps, values)) in enumerate(found.items()):
        ax.plot(steps, values, color=color(k), linewidth=LINE_WIDTH, label=str(name))
    known = np.concatenate([values for _, values in found.values()])
    known = known[np.isfinite(known)]
    start = max(float(values[0]) for _, values in found.values())
    is_wide = known.min() > 0 and min(known.max(), HIGHEST * abs(start)) > WIDE * known.min()
    ax.set_yscale("log" if is_wide else "linear")
    if start > 0 and known.max() > HIGHEST * start:
        ax.set_ylim(known.min() / 1.5 if is_wide else min(0.0, float(known.min())), HIGHEST * start)
    ax.set(xlabel="iteration", ylabel=column.replace("_", " "))
    write_legend(ax)
    return ax


def _values(trace: Any, column: str) -> tuple[np.ndarray, np.ndarray]:
    trace = getattr(trace, "trace_", trace)
    if hasattr(trace, "columns") and not hasattr(trace, "iloc"):
        return np.asarray(trace["iteration"], dtype=float), np.asarray(trace[column], dtype=float)
    values = np.ravel(np.asarray(trace, dtype=float))
    return np.arange(1, len(values) + 1, dtype=float), values
