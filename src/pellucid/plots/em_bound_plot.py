"""Why EM climbs: each round maximizes a lower bound that touches the log-likelihood where the round began."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from pellucid.core.checks import check_positive, check_whole
from pellucid.core.types import Array, Data
from pellucid.plots.drawing.style import INK, LINE_WIDTH, color, tidy_axes, write_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID = 400


def plot_em_bound(
    x: Data,
    means: Sequence[float],
    ax: Axes | None = None,
    *,
    weights: Sequence[float] | None = None,
    deviation: float = 1.0,
    steps: int = 2,
) -> Axes:
    r"""Draw the log-likelihood of a mixture against the mean of its first component, and the bounds that EM climbs.

    .. math:: \ell(\mu) \ge B_t(\mu) = \sum_i \sum_k r_{ik} \log \frac{w_k N(x_i; \mu_k, \sigma^2)}{r_{ik}},\qquad
       r_{ik} = P(k \mid x_i; \mu^{(t)})

    with equality at :math:`\mu^{(t)}`. The largest value of :math:`B_t` is at :math:`\mu^{(t+1)}`. Everything but the
    first mean is held.

    Parameters
    ----------
    x : array-like of shape (n_samples,)
        One number in each row.
    means : sequence of float
        Of the components; the first is where EM starts.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    weights : sequence of float, default=None
        Of the components, with sum 1; None takes equal ones.
    deviation : float, default=1.0
        Standard deviation of all components.
    steps : int, default=2
        Bounds drawn, at least 1.
    """
    check_whole(1, steps=steps)
    check_positive(deviation=deviation)
    rows, centers = np.ravel(np.asarray(x, dtype=float)), np.asarray(means, dtype=float)
    shares = np.full(len(centers), 1.0 / len(centers)) if weights is None else np.asarray(weights, dtype=float)
    if len(centers) < 2 or shares.shape != centers.shape or (shares <= 0).any() or abs(shares.sum() - 1.0) > 1e-9:
        raise ValueError(
            f"weights must be above 0 with sum 1, one for each of the {len(centers)} means, got {weights}."
        )

    def joint(mean: float) -> Array:  # (n, K): log w_k N(x_i; mu_k, sigma^2)
        gaps = (rows[:, None] - np.concatenate([[mean], centers[1:]])) / deviation
        return np.asarray(np.log(shares) - 0.5 * gaps**2 - np.log(deviation * np.sqrt(2.0 * np.pi)))

    def likelihood(mean: float) -> float:
        return float(logsumexp(joint(mean), axis=1).sum())

    rounds = [float(centers[0])]
    memberships = []
    for _ in range(steps):
        scores = joint(rounds[-1])
        memberships.append(np.exp(scores - logsumexp(scores, axis=1, keepdims=True)))
        rounds.append(float(memberships[-1][:, 0] @ rows / memberships[-1][:, 0].sum()))
    low, high = min(rounds), max(rounds)
    room = 0.6 * (high - low) if high > low else deviation
    grid = np.linspace(low - room, high + room, GRID)
    ax = tidy_axes(ax)
    curve = np.array([likelihood(mean) for mean in grid])
    ax.plot(grid, curve, color=INK, linewidth=LINE_WIDTH * 1.3, label="log-likelihood $\\ell(\\mu)$", zorder=3)
    for t, shares_of_rows in enumerate(memberships):
        entropy = -float(np.sum(shares_of_rows * np.log(np.where(shares_of_rows > 0, shares_of_rows, 1.0))))
        bound = np.array([float(np.sum(shares_of_rows * joint(mean))) + entropy for mean in grid])
        ax.plot(grid, bound, color=color(t), linewidth=LINE_WIDTH, label=f"bound $B_{t}$", zorder=2)
        touches = likelihood(rounds[t])
        ax.plot(rounds[t], touches, "o", color=color(t), markersize=9, zorder=5)
        top = float(np.sum(shares_of_rows * joint(rounds[t + 1]))) + entropy
        ax.plot(rounds[t + 1], top, "^", color=color(t), markersize=9, zorder=5)
        ax.plot([rounds[t + 1]] * 2, [top, likelihood(rounds[t + 1])], color=color(t), linewidth=1.0, linestyle=":")
    ax.plot([], [], "o", color=INK, fillstyle="none", label="touches")
    ax.plot([], [], "^", color=INK, fillstyle="none", label="largest value of a bound")
    least = min(float(curve.min()), likelihood(rounds[0]))
    span = float(curve.max()) - least
    ax.set_ylim(least - 0.25 * span, float(curve.max()) + 0.08 * span)
    ax.set_xticks(rounds, [f"$\\mu^{{({t})}}$" for t in range(len(rounds))])
    ax.set(xlabel="mean of the first component", ylabel="log-likelihood", xlim=(grid[0], grid[-1]))
    write_legend(ax, loc="lower right" if rounds[0] < rounds[-1] else "lower left")
    return ax
