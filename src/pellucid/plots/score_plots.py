"""The confusion matrix as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import confusion_matrix, roc_curve

from pellucid.core.types import Data
from pellucid.plots.drawing.style import INK, LINE_WIDTH, PALETTE, QUIET, label_line_ends, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_confusion(y_true: Data, y_pred: Data, ax: Axes | None = None) -> Axes:
    """Draw how often each true class was predicted as each class; shades are shares of the true class.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    from matplotlib.colors import LinearSegmentedColormap

    labels = np.unique(np.concatenate([np.asarray(y_true), np.asarray(y_pred)]))
    counts = confusion_matrix(y_true, y_pred, labels=labels)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ax = tidy_axes(ax)
    ax.imshow(shares, cmap=LinearSegmentedColormap.from_list("house", ["white", PALETTE[0]]), vmin=0.0, vmax=1.0)
    for i, j in np.ndindex(counts.shape):
        text = f"{counts[i, j]:,}\n{shares[i, j]:.0%}" if counts[i, j] else "0"
        ax.text(j, i, text, ha="center", va="center", color="white" if shares[i, j] > 0.6 else INK)
    ax.set_xticks(range(len(labels)), [str(label) for label in labels])
    ax.set_yticks(range(len(labels)), [str(label) for label in labels])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_xlabel("predicted")
    ax.set_ylabel("true")
    return ax


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


def plot_score_intervals(intervals: Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """Draw intervals of one score, such as of several models on the same test rows.

    Parameters
    ----------
    intervals : dict of str to ScoreInterval
        Names and intervals, from top to bottom.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    kinds = {interval.name for interval in intervals.values()}
    if len(kinds) != 1:
        raise ValueError(f"intervals must be of one score, got {sorted(kinds)}. Draw one picture per score.")
    ax = tidy_axes(ax)
    for place, interval in enumerate(intervals.values()):
        ax.plot([interval.low, interval.high], [place, place], color=PALETTE[0], linewidth=2.2, solid_capstyle="round")
        ax.plot([interval.score], [place], "o", color=PALETTE[0], markersize=7)
    ax.set_yticks(range(len(intervals)), list(intervals))
    ax.set_ylim(len(intervals) - 0.5, -0.5)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(f"{kinds.pop()}, with its {next(iter(intervals.values())).level:.0%} interval")
    return ax


def plot_certified_accuracy(
    epsilons: Data, certified: Data, attacked: Data = None, *, norm: float = np.inf, ax: Axes | None = None
) -> Axes:
    """Draw the share of rows that stay right, by proof and under attack; the truth lies in the band between.

    Parameters
    ----------
    epsilons : array of shape (m,)
        Sizes of changes.
    certified : array of shape (m,)
        From ``CertifiedRadii.certified_accuracy``.
    attacked : array of shape (m,), default=None
        From :func:`pellucid.neural_network.attacked_accuracy`.
    norm : float, default=inf
        The norm in which changes are measured, for the label.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    order = np.argsort(epsilons, kind="stable")
    x, low = (np.asarray(numbers, dtype=float)[order] for numbers in (epsilons, certified))
    ax = tidy_axes(ax)
    lines = {"proved to stay right": (low, PALETTE[0])}
    if attacked is not None:
        high = np.asarray(attacked, dtype=float)[order]
        if (high < low).any():
            place = int(np.argmax(low - high))
            raise ValueError(
                f"attacked must be at least certified, got {high[place]:g} below {low[place]:g} at epsilon "
                f"{x[place]:g}. Take both for the same rows, norm and model."
            )
        ax.fill_between(x, low, high, color=QUIET, alpha=0.15, linewidth=0)
        lines["right under attack"] = (high, PALETTE[1])
    for name, (heights, ink) in lines.items():
        ax.plot(x, heights, color=ink, linewidth=LINE_WIDTH, label=name)
    ax.set_xlim(x[0], x[-1])
    ax.set_ylim(0, 1)
    ax.set_xlabel(f"size of the change (norm {'∞' if np.isinf(norm) else f'{norm:g}'})")
    ax.set_ylabel("share of rows")
    label_line_ends(ax, [(float(heights[-1]), name, ink) for name, (heights, ink) in lines.items()])
    return ax
