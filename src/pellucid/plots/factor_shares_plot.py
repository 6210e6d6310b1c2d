"""Factor analysis against principal components: the variance that each explains, column by column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.types import Array, Data
from pellucid.drawing.style import INK, QUIET, color, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 0.38
"""Of a bar; two stand side by side for each column."""


def plot_factor_shares(model: Any, X: Data, ax: Axes | None = None) -> Axes:
    """Draw the part of each column's variance that the factors explain, and as many principal components.

    Components follow large variance, whatever it comes from; factors explain what columns have in common and leave the
    rest to each column's own noise. A column that is mostly noise has a tall bar from components, a short one from
    factors. The number above each pair is the variance of the column.

    Parameters
    ----------
    model : fitted FactorAnalysis
        With ``components_`` and ``noise_variance_``.
    X : array-like of shape (n_samples, n_features)
        The training rows.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    check_is_fitted(model)
    if not hasattr(model, "noise_variance_") or np.ndim(model.noise_variance_) != 1:
        raise ValueError(f"model must be a FactorAnalysis, got {type(model).__name__}.")
    rows = np.asarray(X, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != model.components_.shape[1]:
        raise ValueError(f"X must have the {model.components_.shape[1]} columns of the fit, got shape {rows.shape}.")
    names = [str(name) for name in getattr(X, "columns", [f"x{j}" for j in range(rows.shape[1])])]
    variance = rows.var(axis=0)
    k = len(model.components_)
    plural = "" if k == 1 else "s"
    parts = {
        f"{k} factor{plural}": np.sum(model.components_**2, axis=0),
        f"{k} principal component{plural}": _explained_by_components(rows, k),
    }
    ax = tidy_axes(ax)
    places = np.arange(len(variance))
    for number, (label, explained) in enumerate(parts.items()):
        share = explained / np.where(variance > 0.0, variance, 1.0)
        ax.bar(places + (number - 0.5) * WIDTH, share, WIDTH, color=color(number), label=label)
    for place, value in zip(places, variance, strict=True):
        ax.annotate(f"{value:.3g}", (float(place), 1.02), ha="center", va="bottom", fontsize="small", color=QUIET)
    ax.annotate(
        "variance", (-0.01, 1.045), xycoords=("axes fraction", "data"), ha="right", fontsize="small", color=QUIET
    )
    ax.axhline(1.0, color=QUIET, linewidth=0.6)
    ax.set_xticks(places, names, rotation=45 if max(map(len, names)) > 4 else 0, ha="center", rotation_mode="default")
    ax.set(ylim=(0.0, 1.12), ylabel="explained part of the variance")
    ax.legend(frameon=False, labelcolor=INK, loc="upper center", bbox_to_anchor=(0.5, 1.16), ncols=2)
    return ax


def _explained_by_components(rows: Array, k: int) -> Array:
    """Return the variance of each column along the first k principal components."""
    _, singular, right = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    return np.asarray((singular[:k, None] * right[:k]) ** 2).sum(axis=0) / len(rows)
