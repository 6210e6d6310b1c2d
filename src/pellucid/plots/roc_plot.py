"""The ROC curve with the interval of its area."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.metrics import roc_curve

from pellucid.core.types import Data
from pellucid.drawing.style import INK, LINE_WIDTH, PALETTE, QUIET, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_roc(y_true: Data, y_score: Data, ax: Axes | None = None, *, level: float = 0.95, **options: Any) -> Axes:
    """Draw the share of positives found against the share of false alarms, for every threshold.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_samples,)
        Labels of two classes, and scores that are larger for the second.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    level : float, default=0.95
        Level of the interval of the area.
    **options
        Further arguments of :func:`pellucid.model_selection.score_interval`.
    """
    from pellucid.model_selection import score_interval

    area = score_interval(y_true, y_score, "roc auc", level=level, **options)
    false_alarms, found, _ = roc_curve(y_true, y_score, pos_label=max(set(y_true)))
    ax = tidy_axes(ax)
    ax.plot([0, 1], [0, 1], color=QUIET, linewidth=0.8)
    ax.plot(false_alarms, found, color=PALETTE[0], linewidth=LINE_WIDTH, drawstyle="steps-post")
    text = f"area {area.score:.3f}\n{level:.0%}: {area.low:.3f} to {area.high:.3f}"
    ax.text(0.97, 0.06, text, ha="right", va="bottom", color=INK)
    ax.set_aspect("equal")
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), xlabel="false alarms", ylabel="positives found")
    return ax
