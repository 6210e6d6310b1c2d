"""The tube of a support vector regression: rows inside cost nothing, those outside or on its edge hold the line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from pellucid.core.types import Array, Data
from pellucid.plots.drawing.style import INK, LINE_WIDTH, PALETTE, QUIET, legend_beside, tidy_axes
from pellucid.plots.feature_slice import feature_slice

if TYPE_CHECKING:
    from matplotlib.axes import Axes


GRID = 300
MARGIN = 0.03
"""The line reaches this share of the range beyond the outermost points."""


def plot_tube(model: Any, X: Data, y: Data, feature: Any = 0, *, at: Any = None, ax: Axes | None = None) -> Axes:
    """Draw the prediction of a fitted SVR or LinearSVR along one feature, its tube, and the data.

    Points outside of the tube have another color, and support vectors rings if ``X`` are the rows of the fit.

    Parameters
    ----------
    model : fitted regressor with an ``epsilon``
        Also a pipeline that ends in one.
    X, y : array-like of shape (n_samples, n_features), (n_samples,)
        Data to draw.
    feature : number or name of a column, default=0
        Which feature runs along the axis.
    at : mapping or array-like, default=None
        Values of the other features; those not given are held at their median. The points are then drawn where they
        keep their own residual from the line, so that inside stays inside.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    check_is_fitted(model)
    epsilon = getattr(last_step(model), "epsilon", None)
    if epsilon is None:
        raise ValueError(f"model must have a tube, as SVR and LinearSVR, got {type(model).__name__}.")
    line, target = feature_slice(X, [feature], at), np.ravel(np.asarray(y, dtype=float))
    x = line.values(0)
    if len(target) != len(x):
        raise ValueError(f"y must have a number for each of the {len(x)} rows of X, got {len(target)}.")
    margin = MARGIN * float(np.ptp(x)) or 1.0
    grid = np.linspace(float(x.min()) - margin, float(x.max()) + margin, GRID)
    center = np.ravel(model.predict(line.rows(grid)))
    residual = target - np.ravel(model.predict(X))
    drawn = target if not line.held else np.ravel(model.predict(line.rows(x))) + residual
    ax = tidy_axes(ax)
    ax.fill_between(grid, center - epsilon, center + epsilon, color=PALETTE[0], alpha=0.13, linewidth=0, zorder=1)
    for side in (-epsilon, epsilon):
        ax.plot(grid, center + side, color=PALETTE[0], linewidth=LINE_WIDTH / 3, linestyle="--", zorder=2)
    ax.plot(grid, center, color=PALETTE[0], linewidth=LINE_WIDTH, label="prediction", zorder=4)
    is_out = np.abs(residual) > epsilon
    size = float(np.clip(6000.0 / max(len(x), 1), 6.0, 26.0))
    for chosen, ink, name in ((~is_out, QUIET, "inside the tube"), (is_out, PALETTE[1], "outside")):
        ax.scatter(
            x[chosen], drawn[chosen], s=size, color=ink, edgecolors="white", linewidths=0.4, label=name, zorder=3
        )
    support = support_rows(model, len(x))
    if len(support):
        ax.scatter(
            x[support], drawn[support], s=3.2 * size, facecolors="none", edgecolors=INK, linewidths=0.8,
            label="support vector", zorder=2,
        )  # fmt: skip
    held = f", {line.note()}" if line.held else ""
    ax.set(xlabel=line.label(0), ylabel=str(getattr(y, "name", None) or "y"), xlim=(grid[0], grid[-1]))
    ax.set_title(f"tube ± {epsilon:.3g}{held}", fontsize="medium", color=INK, loc="left")
    legend_beside(ax)
    return ax


def last_step(model: Any) -> Any:
    """Return the estimator at the end of a pipeline, or the model itself."""
    return model.steps[-1][1] if isinstance(model, Pipeline) else model


def support_rows(model: Any, n: int) -> Array:
    """Return the positions of the support vectors among the ``n`` training rows; none if the model has none."""
    final = last_step(model)
    support, shape = getattr(final, "support_", None), getattr(final, "shape_fit_", None)
    if support is not None and shape is not None:
        return np.asarray(support) if shape[0] == n else np.empty(0, dtype=int)
    dual = getattr(final, "dual_coef_", None)
    if support is None and isinstance(dual, np.ndarray) and dual.shape[-1] == n:
        return np.flatnonzero(np.any(np.atleast_2d(dual) != 0.0, axis=0))
    return np.empty(0, dtype=int)
