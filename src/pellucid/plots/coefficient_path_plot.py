"""Coefficient paths: every coefficient as the penalty is lifted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.plots.drawing.style import LINE_WIDTH, QUIET, class_color, label_line_ends, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PIECES = 12
"""Straight pieces drawn between two penalties."""
MOST_LABELS = 10
"""More names than this at the right edge cannot be read; the largest coefficients get them."""


def plot_coefficient_path(
    alphas: Data,
    coefs: Data,
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
    *,
    chosen: float | None = None,
) -> Axes:
    """Draw coefficients against the penalty, which falls from left to right.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,)
        Penalties, as returned by ``lasso_path``, ``enet_path`` and ``lars_path``; all at least 0.
    coefs : array-like of shape (n_features, n_alphas)
        Coefficients, as returned by the same functions, or ``coef_path_``.
    names : sequence of str, default=None
        Names of the features; None counts them from 0.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    chosen : float, default=None
        A penalty to mark by a vertical line, such as the ``alpha_`` of LassoCV.
    """
    alphas, coefs = np.asarray(alphas, dtype=float), np.asarray(coefs, dtype=float)
    if coefs.ndim != 2 or coefs.shape[1] != alphas.size:
        raise ValueError(
            f"coefs must have one column for each of the {alphas.size} alphas, got shape {coefs.shape}. Transpose it?"
        )
    if not (alphas >= 0).all():
        raise ValueError(f"alphas must be at least 0, got {alphas.min():.3g}.")
    labels = [f"feature {j}" for j in range(len(coefs))] if names is None else [str(name) for name in names]
    if len(labels) != len(coefs):
        raise ValueError(f"names must have one entry for each of the {len(coefs)} features, got {len(labels)}.")
    ax = tidy_axes(ax)
    order = np.argsort(alphas)[::-1]
    ax.axhline(0.0, color=QUIET, linewidth=0.6, zorder=1)
    ends = _draw_lines(ax, *_densely(alphas[order], coefs[:, order]), labels)
    _scale_penalty(ax, alphas)
    if chosen is not None:
        ax.axvline(chosen, color=QUIET, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
        top = ("data", "axes fraction")  # left of the line: the right side is for names
        ax.annotate(f"{chosen:.3g} ", xy=(chosen, 1.0), xycoords=top, va="top", ha="right", color=QUIET)
    ax.set_xlabel("alpha, falling")
    ax.set_ylabel("coefficient")
    label_line_ends(ax, ends)
    return ax


def _scale_penalty(ax: Axes, alphas: Array) -> None:
    """Use a logarithmic axis; if the path ends at 0, which has no logarithm, only the last stretch is linear."""
    positive = alphas[alphas > 0]
    if alphas.max() == alphas.min() or positive.size < 2:
        return
    if positive.size < alphas.size:
        ax.set_xscale("symlog", linthresh=positive.min(), linscale=0.3)
        powers = np.arange(np.ceil(np.log10(positive.min())), np.floor(np.log10(positive.max())) + 1)
        ticks = 10.0 ** powers[powers > np.log10(positive.min()) + 0.4]  # nearer ones would be written over the 0
        ax.set_xticks([*ticks, 0.0], [f"$10^{{{np.log10(tick):.0f}}}$" for tick in ticks] + ["0"])
    else:
        ax.set_xscale("log")
    ax.set_xlim(alphas.max(), alphas.min())


def _densely(alphas: Array, coefs: Array) -> tuple[Array, Array]:
    """Return points between those given: lasso paths are straight in alpha, so they bend on a logarithmic axis."""
    between = np.linspace(alphas[:-1], alphas[1:], PIECES, endpoint=False).T.ravel()
    points = np.append(between, alphas[-1])
    return points, np.array([np.interp(-points, -alphas, row) for row in coefs]).reshape(len(coefs), points.size)


def _draw_lines(ax: Axes, alphas: Array, coefs: Array, labels: list[str]) -> list[tuple[float, str, str]]:
    """Draw all lines; color and name those that reach furthest, and return the names' places."""
    reach = np.abs(coefs).max(axis=1)
    named = [int(j) for j in np.argsort(-reach, kind="stable")[:MOST_LABELS] if reach[j] > 0]
    for j in range(len(coefs)):
        if j not in named:
            ax.plot(alphas, coefs[j], color=QUIET, linewidth=LINE_WIDTH / 3, zorder=2)
    ends = []
    for rank, j in enumerate(named):
        ink = class_color(rank, len(named))
        ax.plot(alphas, coefs[j], color=ink, linewidth=LINE_WIDTH, zorder=3)
        ends.append((float(coefs[j, -1]), labels[j], ink))
    return ends
