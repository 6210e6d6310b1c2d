"""The trace of a fit: how the objective and the measures of error fell."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.plots.drawing.style import LINE_WIDTH, PALETTE, QUIET, color, label_line_ends, tidy_axes, write_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes


DECAY = 10.0
"""A column that ends this many times below its start measures an error, and is drawn by default."""
WIDE = 100.0
"""Positive values that span more than this factor are drawn on a logarithmic scale."""
SCORE = "validation_score"
"""What chooses the best iteration: it rises, in units of its own."""
FEW = 40
"""Up to so many iterations are marked one by one."""


def plot_trace(trace: Any, ax: Axes | None = None, columns: Sequence[str] | None = None) -> Axes:
    """Draw columns of a trace against the iteration.

    Parameters
    ----------
    trace : Trace
        The ``trace_`` of a fitted estimator.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    columns : sequence of str, default=None
        Columns to draw. None draws the objective, if there is one, and every column that fell to a tenth or less: the
        measures of error; a score on rows held out stands on the right, its best iteration marked.

    Returns
    -------
    Axes
        The vertical axis is logarithmic if the values are positive and span more than two orders of magnitude.
    """
    from matplotlib.ticker import MaxNLocator

    if len(trace) == 0:
        raise ValueError("trace must have at least one row, got 0. Fit the estimator first.")
    names = _default_columns(trace) if columns is None else list(columns)
    ax = tidy_axes(ax)
    iteration = trace["iteration"]
    curves = {name: trace[name] for name in names}
    log = _is_wide(np.concatenate(list(curves.values())))
    marker = "o" if len(trace) <= FEW else None
    for i, values in enumerate(curves.values()):
        shown = np.where(values > 0, values, np.nan) if log else values
        ax.plot(iteration, shown, color=color(i), linewidth=LINE_WIDTH, marker=marker, markersize=3.5, clip_on=False)
    ax.set_yscale("log" if log else "linear")
    ax.set_xlabel("iteration")
    ax.margins(x=0.0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if columns is None and SCORE in trace.columns:
        _add_scores(ax, iteration, trace[SCORE], marker)
    if len(names) == 1:
        ax.set_ylabel(names[0])
    else:
        ends = [(_last_shown(values, log), name, color(i)) for i, (name, values) in enumerate(curves.items())]
        label_line_ends(ax, [end for end in ends if np.isfinite(end[0])])
    return ax


def _add_scores(ax: Axes, iteration: np.ndarray, scores: np.ndarray, marker: str | None) -> None:
    """Draw scores on an axis of their own, and a ring around the best."""
    right, ink = ax.twinx(), color(1)
    right.spines[["top", "left", "bottom"]].set_visible(False)
    right.spines["right"].set_color(ink)
    right.plot(iteration, scores, color=ink, linewidth=LINE_WIDTH, marker=marker, markersize=3.5, clip_on=False)
    best = int(np.nanargmax(scores)) if np.isfinite(scores).any() else 0
    right.plot(iteration[best], scores[best], "o", color=ink, fillstyle="none", markersize=10, clip_on=False)
    right.set_ylabel(SCORE.replace("_", " "), color=ink)
    right.tick_params(width=0.6, color=ink, labelcolor=ink)
    ax.yaxis.label.set_color(color(0))


def _default_columns(trace: Any) -> list[str]:
    others = [name for name in trace.columns if name != "iteration"]
    shown = [name for name in others if name == "objective" or _decays(trace[name])]
    return shown or others[:1] or ["iteration"]


def _decays(values: np.ndarray) -> bool:
    known = values[np.isfinite(values)]
    return known.size > 1 and bool((known >= 0).all()) and bool(known[0] >= DECAY * known[-1] and known[0] > 0)


def _is_wide(values: np.ndarray) -> bool:
    known = values[np.isfinite(values)]
    positive = known[known > 0]
    return bool((known >= 0).all()) and positive.size > 1 and bool(positive.max() > WIDE * positive.min())


def _last_shown(values: np.ndarray, log: bool) -> float:
    shown = values[np.isfinite(values) & ((values > 0) | (not log))]
    return float(shown[-1]) if shown.size else np.nan


CURVES_WIDE = 50.0
"""Values whose largest is this many times the smallest stand on a logarithmic axis."""


def plot_error_curve(curve: Any, ax: Axes | None = None) -> Axes:
    """Draw an error curve: validation error with one standard error to each side, training error, baseline.

    Parameters
    ----------
    curve : ErrorCurve
        From ``error_against_size`` or ``error_against_capacity``.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    numeric = all(isinstance(value, Real) for value in curve.values)
    x = np.array(curve.values, dtype=float) if numeric else np.arange(len(curve.values), dtype=float)
    ax = tidy_axes(ax)
    ax.axhline(curve.baseline, color=QUIET, linewidth=0.8, label="baseline")
    low, high = curve.validation - curve.standard_error, curve.validation + curve.standard_error
    ax.fill_between(x, low, high, color=PALETTE[1], alpha=0.18, linewidth=0)
    ax.plot(x, curve.validation, "o-", color=PALETTE[1], linewidth=LINE_WIDTH, markersize=4, label="validation")
    ax.plot(x, curve.train, "o-", color=PALETTE[0], linewidth=LINE_WIDTH, markersize=4, label="training")
    if numeric and x.min() > 0 and x.max() / x.min() >= CURVES_WIDE:
        ax.set_xscale("log")
    if not numeric:
        ax.set_xticks(x, [str(value) for value in curve.values])
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel(curve.name)
    ax.set_ylabel("error")
    write_legend(ax)
    return ax
