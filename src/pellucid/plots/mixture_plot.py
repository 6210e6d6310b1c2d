"""The components of a Gaussian mixture: ellipses over the rows, or curves over one column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.types import Array, Data
from pellucid.plots.drawing.style import INK, LINE_WIDTH, QUIET, color, legend_beside, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DEVIATIONS = (1.0, 2.0)
"""Ellipses hold the places within so many deviations of the mean."""
GRID = 400
MARGIN = 0.05


def plot_mixture(model: Any, X: Data, features: Sequence[int] = (0, 1), ax: Axes | None = None) -> Axes:
    """Draw the components of a fitted GaussianMixture and the rows, in the color of the most probable one.

    Each component has its mean and the ellipses of one and two deviations, the wider the line the larger its weight.
    Rows that several components share are paler. A mixture of one column is drawn as its density and the parts of it.

    Parameters
    ----------
    model : fitted mixture
        With ``weights_``, ``means_``, ``covariances_``, ``covariance_type`` and ``predict_proba``.
    X : array-like of shape (n_samples, n_features)
        Rows to draw.
    features : two numbers of columns, default=(0, 1)
        Which columns span the plane; the ellipses are those of these two alone.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    check_is_fitted(model)
    if not hasattr(model, "covariances_"):
        raise ValueError(f"model must have Gaussian components, as GaussianMixture, got {type(model).__name__}.")
    d = model.means_.shape[1]
    rows = np.asarray(X, dtype=float)
    shares = np.asarray(model.predict_proba(X))
    names = [str(name) for name in getattr(X, "columns", [f"x{j}" for j in range(d)])]
    if d == 1:
        return _draw_curves(model, rows[:, 0], shares, names[0], tidy_axes(ax))
    if len(features) != 2 or not all(0 <= j < d for j in features):
        raise ValueError(f"features must be two columns of the {d}, got {tuple(features)}.")
    ax = tidy_axes(ax)
    pair = list(features)
    _draw_rows(ax, rows[:, pair], shares)
    for k, weight in enumerate(model.weights_):
        _draw_ellipses(ax, model.means_[k, pair], component_covariance(model, k)[np.ix_(pair, pair)], float(weight), k)
    ax.set(xlabel=names[pair[0]], ylabel=names[pair[1]])
    legend_beside(ax)
    return ax


def component_covariance(model: Any, k: int) -> Array:
    """Return the covariance of a component as a matrix, whatever its kind."""
    d = model.means_.shape[1]
    kind = model.covariance_type
    if kind == "spherical":
        return np.eye(d) * model.covariances_[k]
    if kind == "diag":
        return np.diag(model.covariances_[k])
    return np.asarray(model.covariances_ if kind == "tied" else model.covariances_[k])


def _draw_rows(ax: Axes, rows: Array, shares: Array) -> None:
    size = float(np.clip(6000.0 / max(len(rows), 1), 4.0, 22.0))
    best = shares.argmax(axis=1)
    for k in range(shares.shape[1]):
        own = best == k
        if own.any():
            clear = np.clip(0.15 + 0.65 * shares[own, k], 0.0, 0.8)
            style: dict[str, Any] = {"color": color(k), "alpha": clear, "label": f"component {k}"}
            ax.scatter(rows[own, 0], rows[own, 1], s=size, linewidths=0, zorder=2, **style)


def _draw_ellipses(ax: Axes, mean: Array, covariance: Array, weight: float, k: int) -> None:
    from matplotlib.patches import Ellipse

    values, vectors = np.linalg.eigh(covariance)
    angle = float(np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])))
    axes = 2.0 * np.sqrt(np.maximum(values[::-1], 0.0))  # the longer first
    width = LINE_WIDTH * (0.4 + 0.8 * weight)
    for number, deviations in enumerate(DEVIATIONS):
        told = f"within {deviations:g} deviation{'' if deviations == 1 else 's'}" if k == 0 else None
        style = {"linewidth": width, "linestyle": "-" if number == 0 else "--", "zorder": 3, "label": told}
        ax.add_patch(
            Ellipse(tuple(mean), *(deviations * axes), angle=angle, fill=False, edgecolor=color(k), **style)  # type: ignore[arg-type]
        )
    ax.plot(*mean, marker="+", markersize=9, markeredgewidth=1.6, color=INK, zorder=4)
    paper = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
    ax.annotate(
        f"{weight:.0%}", tuple(mean), textcoords="offset points", xytext=(7, 6), color=INK, bbox=paper, zorder=5
    )
    ax.autoscale_view()


def _draw_curves(model: Any, x: Array, shares: Array, name: str, ax: Axes) -> Axes:
    means, weights = model.means_[:, 0], model.weights_
    variances = np.array([component_covariance(model, k)[0, 0] for k in range(len(weights))])
    margin = MARGIN * float(np.ptp(x)) + float(np.sqrt(variances.max()))
    grid = np.linspace(x.min() - margin, x.max() + margin, GRID)
    parts = weights / np.sqrt(2 * np.pi * variances) * np.exp(-((grid[:, None] - means) ** 2) / (2 * variances))
    for k, part in enumerate(parts.T):
        ax.fill_between(grid, part, color=color(k), alpha=0.18, linewidth=0, zorder=1)
        ax.plot(grid, part, color=color(k), linewidth=LINE_WIDTH / 2, zorder=2, label=f"component {k}")
        ax.annotate(f"{weights[k]:.0%}", (means[k], part.max()), textcoords="offset points", xytext=(0, 4),
                    ha="center", color=color(k))  # fmt: skip
    ax.plot(grid, parts.sum(axis=1), color=INK, linewidth=LINE_WIDTH, zorder=3, label="mixture")
    for k in range(len(weights)):
        own = x[shares.argmax(axis=1) == k]
        ax.plot(own, np.zeros(len(own)), "|", color=color(k) if len(own) else QUIET, markersize=9, zorder=4)
    ax.set(xlabel=name, ylabel="density", ylim=(0.0, None))
    legend_beside(ax)
    return ax
