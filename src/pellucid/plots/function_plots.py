"""Functions of one number: a chord above or below a curve, and step sizes that change with the iteration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from pellucid.core.checks import check_whole
from pellucid.plots.drawing.style import INK, LINE_WIDTH, color, tidy_axes, write_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID = 400


def plot_convexity(function: Callable[[float], float], a: float, b: float, ax: Axes | None = None) -> Axes:
    r"""Draw a function and its chord from a to b: a convex function lies nowhere above any of its chords.

    .. math:: f((1 - t) a + t b) \le (1 - t) f(a) + t f(b), \qquad 0 \le t \le 1

    Where the chord is violated the most, or where it is the furthest above, both sides are marked.

    Parameters
    ----------
    function : callable from number to number
        f.
    a, b : float
        Ends of the chord, a below b.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    if not a < b:
        raise ValueError(f"a must be below b, got {a:g} and {b:g}.")
    room = 0.35 * (b - a)
    x = np.linspace(a - room, b + room, GRID)
    inside = np.linspace(a, b, GRID)
    with np.errstate(all="ignore"):
        values, within = (np.array([float(function(float(place))) for place in places]) for places in (x, inside))
    t = (inside - a) / (b - a)
    chord = (1.0 - t) * within[0] + t * within[-1]
    above = within - chord
    slack = 1e-12 * float(np.abs(within).max(initial=1.0))
    is_violated = float(above.max()) > slack
    worst = int(np.argmax(above if is_violated else -above))
    ax = tidy_axes(ax)
    ax.plot(x, values, color=color(0), linewidth=LINE_WIDTH, label="f")
    ax.plot([a, b], [within[0], within[-1]], "o-", color=color(1), linewidth=LINE_WIDTH, markersize=8, label="chord")
    told = f"f is above the chord by {above[worst]:.3g}: not convex" if is_violated else "f is below this chord"
    ends = [within[worst], chord[worst]]
    ax.plot([inside[worst]] * 2, ends, "o:", color=INK, linewidth=1.4, markersize=6, label=told, zorder=4)
    ax.set_xticks([a, inside[worst], b], ["a", f"{1 - t[worst]:.2g} a + {t[worst]:.2g} b", "b"])
    ax.set_ylabel("f(x)")
    write_legend(ax)
    return ax


def plot_schedules(schedules: Mapping[str, Callable[[int], float]], n_steps: int = 100, ax: Axes | None = None) -> Axes:
    """Draw step sizes against the iteration.

    Parameters
    ----------
    schedules : dict from names to schedules
        Of :mod:`pellucid.optimize`, or any functions of the number of the iteration.
    n_steps : int, default=100
        Iterations drawn, at least 1.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    check_whole(1, n_steps=n_steps)
    ax = tidy_axes(ax)
    steps = np.arange(n_steps)
    for k, (name, schedule) in enumerate(schedules.items()):
        sizes = [schedule(int(t)) for t in steps]
        ax.plot(steps, sizes, color=color(k), linewidth=LINE_WIDTH, label=name)
    ax.set(xlabel="iteration", ylabel="step size", ylim=(0.0, None))
    write_legend(ax)
    return ax
