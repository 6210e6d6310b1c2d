"""Why penalties shrink and select: balls that the contours of the error touch, and thresholds of one coefficient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize_scalar

from pellucid.core.checks import check_positive
from pellucid.core.types import Array, Data
from pellucid.plots.drawing.style import (
    INK,
    LABEL_SIZE,
    LINE_WIDTH,
    QUIET,
    color,
    legend_beside,
    panels,
    tidy_axes,
    write_legend,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ANGLES = 2880
"""Directions in which the edge of a ball is first searched: every eighth of a degree, so corners are among them."""
CONTOURS = (0.15, 0.4, 1.0, 1.8, 2.9)
"""Errors drawn, in parts of the error that is touched."""


def plot_penalty_balls(
    X: Data, y: Data, *, radius: float | None = None, norms: Sequence[float] = (1, 2), figure: Figure | None = None
) -> Figure:
    r"""Draw where the contours of the squared error first touch a ball of coefficients, for one ball after another.

    .. math:: \min_w \|y - Xw\|^2\ \text{ with }\ \|w\|_q \le t

    Lasso is q = 1: its ball has corners, where a coefficient is 0. Ridge is q = 2. Columns and target are centered.

    Parameters
    ----------
    X, y : array-like of shape (n_samples, 2), (n_samples,)
        Two columns.
    radius : float, default=None
        t; None takes half of the norm that the least-squares coefficients have.
    norms : sequence of float, default=(1, 2)
        q of each ball, above 0.
    figure : Figure, default=None
        Where to draw; None makes a new one, with one picture for each ball.
    """
    rows, target = np.asarray(X, dtype=float), np.ravel(np.asarray(y, dtype=float))
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise ValueError(f"X must have two columns to be drawn in a plane, got shape {rows.shape}.")
    for q in norms:
        check_positive(norms=q)
    if radius is not None:
        check_positive(radius=radius)
    names = [f"coefficient of {name}" for name in X.columns] if hasattr(X, "columns") else ["$w_1$", "$w_2$"]
    rows, target = rows - rows.mean(axis=0), target - target.mean()
    curvature = rows.T @ rows
    if np.linalg.matrix_rank(curvature) < 2:
        raise ValueError("X must have columns that are not proportional to each other, or the contours never close.")
    free = np.linalg.solve(curvature, rows.T @ target)
    if figure is None:
        figure, axes = panels(1, len(norms), (5.2, 5.0))
    else:
        axes = [tidy_axes(figure.add_subplot(1, len(norms), k + 1)) for k in range(len(norms))]
    for ax, q in zip(axes, norms, strict=True):
        reach = radius if radius is not None else 0.5 * _norm(free, q)
        _draw_ball(ax, curvature, free, float(reach), float(q), names)
    return figure


def touching_point(curvature: Array, free: Array, radius: float, q: float) -> Array:
    """Return the point of a ball at which ``(w - free)' curvature (w - free)`` is least."""
    if _norm(free, q) <= radius:
        return free

    def at(angle: float) -> Array:
        return _on_edge(np.array([angle]), radius, q)[0]

    def above(angle: float) -> float:
        gap = at(angle) - free
        return float(gap @ curvature @ gap)

    angles = np.linspace(0.0, 2.0 * np.pi, ANGLES, endpoint=False)
    best = angles[int(np.argmin([above(angle) for angle in angles]))]
    step = 2.0 * np.pi / ANGLES
    finer = minimize_scalar(above, bounds=(best - step, best + step), method="bounded", options={"xatol": 1e-12})
    found = at(finer.x if finer.fun < above(best) - 1e-9 * abs(above(best)) else best)
    return np.where(np.abs(found) < 1e-9 * radius, 0.0, found)


def _norm(w: Array, q: float) -> float:
    return float((np.abs(w) ** q).sum() ** (1.0 / q))


def _on_edge(angles: Array, radius: float, q: float) -> Array:
    """Return the points of the edge of a ball in some directions."""
    way = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    way[np.abs(way) < 1e-15] = 0.0
    return radius * way / ((np.abs(way) ** q).sum(axis=1) ** (1.0 / q))[:, None]


def _draw_ball(ax: Axes, curvature: Array, free: Array, radius: float, q: float, names: list[str]) -> None:
    edge = _on_edge(np.linspace(0.0, 2.0 * np.pi, ANGLES + 1), radius, q)
    found = touching_point(curvature, free, radius, q)
    gap = found - free
    touched = float(gap @ curvature @ gap)
    # the ellipse (w - free)' C (w - free) = c reaches sqrt(c (C^-1)_jj) to both sides of free_j
    around = np.sqrt(CONTOURS[2] * touched * np.diag(np.linalg.inv(curvature)))
    corners = np.stack([edge.min(axis=0), edge.max(axis=0), free - around, free + around])
    low, high = corners.min(axis=0), corners.max(axis=0)
    middle, far = (low + high) / 2, 0.58 * float((high - low).max())
    across, up = (np.linspace(value - far, value + far, 301) for value in middle)
    plane = np.stack(np.meshgrid(across, up), axis=-1) - free
    error = np.einsum("abi,ij,abj->ab", plane, curvature, plane)
    ax.fill(*edge.T, color=color(0), alpha=0.2, linewidth=0, zorder=1)
    ax.plot(*edge.T, color=color(0), linewidth=LINE_WIDTH, zorder=2, label=f"$\\|w\\|_{{{q:g}}} = {radius:.3g}$")
    if touched > 0:
        widths = [LINE_WIDTH if share == 1.0 else 0.8 for share in CONTOURS]
        levels = [share * touched for share in CONTOURS]
        ax.contour(across, up, error, levels=levels, colors=color(1), linewidths=widths, zorder=3)
        ax.plot([], [], color=color(1), linewidth=LINE_WIDTH, label="same squared error")
    for value in (ax.axhline, ax.axvline):
        value(0.0, color=QUIET, linewidth=0.8, zorder=0)
    ax.plot(*free, "o", color=color(1), markersize=8, zorder=5, label=f"least squares ({free[0]:.3g}, {free[1]:.3g})")
    ax.plot(*found, "*", color=INK, markersize=17, zorder=6, label=f"touches at ({found[0]:.3g}, {found[1]:.3g})")
    ax.set(xlim=(across[0], across[-1]), ylim=(up[0], up[-1]), xlabel=names[0], ylabel=names[1])
    ax.set_aspect("equal")
    ax.set_title({1.0: "lasso, q = 1", 2.0: "ridge, q = 2"}.get(q, f"q = {q:g}"), fontsize=LABEL_SIZE, color=INK)
    write_legend(ax, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=1)


def plot_soft_threshold(threshold: float = 1.0, ax: Axes | None = None, *, reach: float | None = None) -> Axes:
    r"""Draw what penalties make of a least-squares coefficient when the columns are orthonormal.

    Lasso: :math:`\mathrm{sign}(w)(|w| - \lambda)_+`; ridge: :math:`w / (1 + \lambda)`; best subset: :math:`w` where
    :math:`|w| > \lambda`, else 0.

    Parameters
    ----------
    threshold : float, default=1.0
        :math:`\lambda`, above 0.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    reach : float, default=None
        Coefficients are drawn from minus this to this; None takes three thresholds.
    """
    check_positive(threshold=threshold)
    end = 3.0 * threshold if reach is None else reach
    w = np.union1d(np.linspace(-end, end, 601), [-threshold, 0.0, threshold])
    hard = np.where(np.abs(w) > threshold, w, 0.0)
    jumps = np.abs(np.diff(hard, prepend=hard[0])) > 0.5 * threshold
    curves: dict[str, tuple[Array, str, Any]] = {
        "least squares": (w, QUIET, "--"),
        "lasso: soft threshold": (np.sign(w) * np.maximum(np.abs(w) - threshold, 0.0), color(0), "-"),
        "ridge: shrinks in proportion": (w / (1.0 + threshold), color(1), "-"),
        "best subset: hard threshold": (np.where(jumps, np.nan, hard), color(2), (0, (5, 1.5))),
    }
    ax = tidy_axes(ax, (6.4, 5.0))
    for line in (ax.axhline, ax.axvline):
        line(0.0, color=QUIET, linewidth=0.8, zorder=0)
    for label, (values, ink, dashes) in curves.items():
        ax.plot(w, values, color=ink, linewidth=LINE_WIDTH, linestyle=dashes, label=label)
    ax.set_xticks([-threshold, 0.0, threshold], ["−λ", "0", "λ"])
    ax.set(
        xlim=(-end, end), ylim=(-end, end), xlabel="least-squares coefficient", ylabel=f"coefficient, λ = {threshold:g}"
    )
    write_legend(ax, loc="upper left")
    return ax


def plot_unit_balls(norms: Sequence[float] = (0.5, 1, 2, 4, np.inf), ax: Axes | None = None) -> Axes:
    r"""Draw the points of the plane at Minkowski distance 1 from the middle, :math:`\|x\|_p = 1`, for several p.

    Parameters
    ----------
    norms : sequence of float, default=(0.5, 1, 2, 4, inf)
        p, above 0; below 1 it is no distance, as its ball is not convex.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    ax = tidy_axes(ax, (6.4, 5.0))
    for line in (ax.axhline, ax.axvline):
        line(0.0, color=QUIET, linewidth=0.6, zorder=0)
    angles = np.linspace(0.0, 2.0 * np.pi, ANGLES + 1)
    for k, p in enumerate(norms):
        if np.isposinf(p):
            way = np.stack([np.cos(angles), np.sin(angles)], axis=1)
            edge = way / np.abs(way).max(axis=1, keepdims=True)
        else:
            check_positive(norms=p)
            edge = _on_edge(angles, 1.0, float(p))
        known = {1.0: " (Manhattan)", 2.0: " (Euclid)", np.inf: " (largest difference)"}.get(float(p), "")
        told = f"p = {'∞' if np.isinf(p) else f'{p:g}'}{known}"
        ax.plot(*edge.T, color=color(k), linewidth=LINE_WIDTH, label=told)
    ax.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), xlabel="$x_1$", ylabel="$x_2$")
    ax.set_aspect("equal")
    legend_beside(ax)
    return ax
