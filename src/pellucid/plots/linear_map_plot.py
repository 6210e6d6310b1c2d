"""What a matrix does to the unit disc, one factor of its singular value decomposition after another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.plots.drawing.style import INK, LABEL_SIZE, LINE_WIDTH, QUIET, TEXT_SIZE, color, panels, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS = 361


def plot_unit_disc(matrix: Data, figure: Figure | None = None) -> Figure:
    r"""Draw the unit disc and what the factors of :math:`A = U \Sigma V^\top` make of it, from right to left.

    The disc becomes an ellipse: its half axes are the singular values, along the columns of :math:`U`.

    Parameters
    ----------
    matrix : array-like of shape (2, 2)
        :math:`A`.
    figure : Figure, default=None
        Where to draw; None makes a new one, with four pictures.
    """
    A = np.asarray(matrix, dtype=float)
    if A.shape != (2, 2) or not np.isfinite(A).all():
        raise ValueError(f"matrix must be two by two finite numbers, to be drawn in a plane, got shape {A.shape}.")
    U, sigma, Vt = np.linalg.svd(A)
    stages = {
        "unit disc": np.eye(2),
        "$V^T$ turns": Vt,
        f"$\\Sigma$ stretches by {sigma[0]:.3g} and {sigma[1]:.3g}": np.diag(sigma) @ Vt,
        "$U$ turns: $A = U \\Sigma V^T$": U @ np.diag(sigma) @ Vt,
    }
    if figure is None:
        figure, axes = panels(1, 4, (3.4, 3.7))
    else:
        axes = [tidy_axes(figure.add_subplot(1, 4, k + 1)) for k in range(4)]
    reach = 1.25 * max(1.0, float(sigma[0]))
    for ax, (title, so_far) in zip(axes, stages.items(), strict=True):
        _draw_stage(ax, so_far, Vt.T, reach)
        ax.set_title(title, fontsize=LABEL_SIZE, color=INK)
    return figure


def _draw_stage(ax: Axes, so_far: Array, right: Array, reach: float) -> None:
    """Draw the image of the disc, and where the right singular vectors went."""
    angles = np.linspace(0.0, 2.0 * np.pi, POINTS)
    edge = np.stack([np.cos(angles), np.sin(angles)]).T @ so_far.T
    for line in (ax.axhline, ax.axvline):
        line(0.0, color=QUIET, linewidth=0.6, zorder=0)
    ax.fill(*edge.T, color=color(5), alpha=0.25, linewidth=0, zorder=1)
    ax.plot(*edge.T, color=color(5), linewidth=LINE_WIDTH, zorder=2)
    for k, name in enumerate(("$v_1$", "$v_2$")):
        tip = so_far @ right[:, k]
        arrow = {"arrowstyle": "-|>", "color": color(k), "linewidth": LINE_WIDTH, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", tuple(tip), (0.0, 0.0), arrowprops=arrow, zorder=3)
        size = float(np.hypot(*tip))
        away = tip / size if size > 0 else right[:, k]
        x, y = tip + 0.12 * reach * away
        ax.text(x, y, name, color=color(k), fontsize=TEXT_SIZE, ha="center", va="center")
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach))
    ax.set_aspect("equal")
