"""AdaBoost, round by round: weak classifiers, the weights of the rows before each, and what all decide together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.types import Array, Data
from pellucid.plots.decision_regions_plot import GRID, MARKERS, draw_borders, draw_shades, reach
from pellucid.plots.drawing.style import INK, LABEL_SIZE, class_color, legend_beside, panels, tidy_axes
from pellucid.plots.feature_slice import feature_slice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALLEST, LARGEST = 10.0, 420.0
"""Areas of dots: of a row without weight, and of the heaviest."""


def plot_boosting_rounds(
    model: Any, X: Data, y: Data, *, rounds: Sequence[int] = (1, 2, 3), figure: Figure | None = None
) -> Figure:
    """Draw classifiers of some rounds of AdaBoost, rows as large as their weight before the round, and all together.

    Parameters
    ----------
    model : fitted AdaBoostClassifier
        Of two columns.
    X, y : array-like of shape (n_samples, 2), (n_samples,)
        The rows of the fit and their classes.
    rounds : sequence of int, default=(1, 2, 3)
        Which rounds, counted from 1.
    figure : Figure, default=None
        Where to draw; None makes a new one, with a picture for each round and one for the whole.
    """
    check_is_fitted(model, "estimator_weights_")
    plane, labels = feature_slice(X, (0, 1), None), np.asarray(y)
    if plane.held:
        raise ValueError(f"X must have two columns to be drawn in a plane, got {len(plane.names)}.")
    votes, shares = np.asarray(model.member_votes(X)), np.asarray(model.estimator_weights_, dtype=float)
    for number in rounds:
        if not 1 <= number <= len(votes):
            raise ValueError(f"rounds must be of the {len(votes)} that were made, got {number}.")
    across, up = (reach(plane.values(k)) for k in (0, 1))
    grid = plane.rows(*(side.ravel() for side in np.meshgrid(across, up)))
    members = np.asarray(model.member_votes(grid))
    classes = np.asarray(model.classes_)
    weights = _weights_before(votes != np.searchsorted(classes, labels), shares)
    together = np.searchsorted(classes, np.asarray(model.predict(grid)))
    if figure is None:
        figure, axes = panels(1, len(rounds) + 1, (3.7, 3.7))
    else:
        axes = [tidy_axes(figure.add_subplot(1, len(rounds) + 1, k + 1)) for k in range(len(rounds) + 1)]
    shown = [(members[t - 1], weights[t - 1], f"round {t}: vote {shares[t - 1]:.3g}") for t in rounds]
    shown.append((together, np.full(len(labels), 1.0 / len(labels)), f"all {len(votes)} rounds"))
    for ax, (codes, weight, title) in zip(axes, shown, strict=True):
        draw_shades(ax, across, up, codes.reshape(GRID, GRID), len(classes))
        draw_borders(ax, across, up, codes.reshape(GRID, GRID), len(classes))
        _draw_rows(ax, np.column_stack([plane.values(0), plane.values(1)]), labels, classes, weight / weights.max())
        ax.set_title(title, fontsize=LABEL_SIZE, color=INK)
        ax.set(xlabel=plane.label(0), ylabel=plane.label(1) if ax is axes[0] else "")
    legend_beside(axes[-1])
    return figure


def _weights_before(is_wrong: Array, votes: Array) -> Array:
    """Return the weights of the rows before each round, (rounds, rows): times exp(vote) where a round was wrong."""
    found = np.full(is_wrong.shape, 1.0 / is_wrong.shape[1])
    for t in range(1, len(is_wrong)):
        grown = found[t - 1] * np.exp(votes[t - 1] * is_wrong[t - 1])
        found[t] = grown / grown.sum()
    return found


def _draw_rows(ax: Axes, rows: Array, labels: Array, classes: Array, sizes: Array) -> None:
    areas = SMALLEST + (LARGEST - SMALLEST) * sizes
    for k, label in enumerate(classes):
        own = labels == label
        ax.scatter(
            rows[own, 0], rows[own, 1], s=areas[own], color=class_color(k, len(classes)),
            marker=MARKERS[k % len(MARKERS)], edgecolors="white", linewidths=0.6, label=str(label), zorder=3,
        )  # fmt: skip
