"""Training and validation error along an axis."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.drawing.style import LINE_WIDTH, PALETTE, QUIET, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE = 50.0
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
    if numeric and x.min() > 0 and x.max() / x.min() >= WIDE:
        ax.set_xscale("log")
    if not numeric:
        ax.set_xticks(x, [str(value) for value in curve.values])
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel(curve.name)
    ax.set_ylabel("error")
    ax.legend(frameon=False)
    return ax
