"""What every number of clusters is worth: a panel for each criterion, and who prefers which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.plots.drawing.style import INK, LINE_WIDTH, PALETTE, QUIET, TEXT_SIZE, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = (
    ("dispersion", None, "elbow", "squared distances"),
    ("silhouette", None, "silhouette", "mean silhouette"),
    ("gap", "gap_error", "gap", "gap statistic"),
    ("bic", None, "bic", "BIC"),
    ("stability", "stability_error", None, "comes back"),
)
"""Column, its standard error, the vote it casts and what it is called."""

TITLES = {"elbow": "elbow", "silhouette": "silhouette", "gap": "gap", "bic": "BIC"}


def plot_cluster_choice(choice: Any, figure: Figure | None = None) -> Figure:
    """Draw the criteria against the number of clusters, the preferred one of each filled, the recommended one marked.

    Parameters
    ----------
    choice : ClusterChoice
        From :func:`pellucid.cluster.choose_clusters`.
    figure : Figure, default=None
        Where to draw; None makes a new one.
    """
    if figure is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=(9.6, 5.2), layout="constrained")
    grid = figure.subplots(2, 3).ravel()
    for ax, (column, error, vote, title) in zip(grid, PANELS, strict=False):
        _draw_panel(tidy_axes(ax), choice, column, error, vote)
        ax.set_ylabel(title)
    _draw_votes(tidy_axes(grid[-1]), choice)
    for ax in grid:
        ax.set_xticks(choice.ks if len(choice.ks) <= 12 else choice.ks[:: len(choice.ks) // 8])
        ax.set_xlim(choice.ks[0] - 0.5, choice.ks[-1] + 0.5)
    for ax in grid[3:]:
        ax.set_xlabel("number of clusters")
    told = grid[-1].get_legend_handles_labels()
    figure.legend(*told, loc="outside lower center", ncols=2, frameon=False, fontsize=TEXT_SIZE)
    return figure


def _draw_panel(ax: Axes, choice: Any, column: str, error: str | None, vote: str | None) -> None:
    values = getattr(choice, column)
    known = np.isfinite(values)
    ax.axvline(choice.k, color=PALETTE[1], linewidth=6.0, alpha=0.16, zorder=0)
    if not known.any():
        ax.text(0.5, 0.5, "not computed", transform=ax.transAxes, ha="center", color=QUIET)
        ax.set_yticks([])
        return
    ks, values = choice.ks[known], values[known]
    if error is not None:
        errors = np.nan_to_num(getattr(choice, error)[known])
        ax.fill_between(ks, values - errors, values + errors, color=PALETTE[0], alpha=0.18, linewidth=0)
    ax.plot(ks, values, "o-", color=PALETTE[0], linewidth=LINE_WIDTH, markersize=4, markerfacecolor="white")
    preferred = choice.votes.get(vote) if vote else None
    if preferred is not None:
        ax.plot([preferred], values[ks == preferred], "o", color=PALETTE[0], markersize=7)


def _draw_votes(ax: Axes, choice: Any) -> None:
    names = list(TITLES)
    ax.axvline(choice.k, color=PALETTE[1], linewidth=6.0, alpha=0.16, zorder=0, label=f"recommended: {choice.k}")
    ax.plot([], [], "o", color=PALETTE[0], markersize=7, label="preferred by a criterion")
    for place, name in enumerate(names):
        ax.axhline(place, color=QUIET, linewidth=0.4, zorder=0)
        if choice.votes[name] is not None:
            ax.plot([choice.votes[name]], [place], "o", color=PALETTE[0], markersize=7)
    ax.set_yticks(range(len(names)), list(TITLES.values()))
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylabel("prefers", color=INK)
