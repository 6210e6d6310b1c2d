"""Activations of hidden units, or their slopes, on one axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pellucid.plots.drawing.style import LINE_WIDTH, QUIET, color, tidy_axes, write_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DRAWN = ("logistic", "tanh", "relu", "leaky_relu", "elu")
NAMES = {"logistic": "sigmoid", "relu": "ReLU", "leaky_relu": "leaky ReLU", "elu": "ELU", "gelu": "GELU"}
WIDEST = 6.0
"""Width of the first line; later ones are thinner, so that those which coincide above 0 are all seen."""
REACH = 4.0
"""Inputs are drawn from minus this to this."""


def plot_activations(
    names: Sequence[str] | None = None, ax: Axes | None = None, *, slopes: bool = False, reach: float = REACH
) -> Axes:
    """Draw activations of hidden units, as the networks of this library compute them, on one axis.

    Parameters
    ----------
    names : sequence of str, default=None
        As the parameter ``activation`` of MLPClassifier takes them; None draws sigmoid, tanh, ReLU, leaky ReLU and ELU.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    slopes : bool, default=False
        Whether to draw the derivatives instead: those of sigmoid and tanh vanish far from 0.
    reach : float, default=4.0
        Inputs are drawn from minus this to this.
    """
    from pellucid.neural_network.mlp.activations import ACTIVATIONS

    chosen = list(DRAWN if names is None else names)
    for name in chosen:
        if name not in ACTIVATIONS:
            raise ValueError(f"names must be of {sorted(ACTIVATIONS)}, got {name!r}.")
    ax = tidy_axes(ax)
    for line in (ax.axhline, ax.axvline):
        line(0.0, color=QUIET, linewidth=0.8, zorder=0)
    z = np.linspace(-reach, reach, 801)
    for k, name in enumerate(chosen):
        activation, values = ACTIVATIONS[name](), np.empty((len(z), 1))
        activation.forward(z[:, None].copy(), values)
        if slopes:
            values = activation.backward(z[:, None].copy(), values, np.ones_like(values))
        drawn = np.where(np.abs(np.diff(values[:, 0], prepend=values[0, 0])) > 0.5, np.nan, values[:, 0])
        width = WIDEST + (LINE_WIDTH - WIDEST) * k / max(len(chosen) - 1, 1)
        ax.plot(z, drawn, color=color(k), linewidth=width, label=NAMES.get(name, name))
    ax.set_xlim(-reach, reach)
    ax.set_ylim(*((-0.1, 1.2) if slopes else (-1.3, min(reach, 3.0))))
    ax.set(xlabel="input z", ylabel="slope h′(z)" if slopes else "activation h(z)")
    write_legend(ax, loc="center left" if slopes else "upper left")
    return ax
