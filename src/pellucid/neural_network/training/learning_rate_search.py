"""A learning rate from one short run in which it rises until the loss does, too."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from torch import nn

from pellucid.core.checks import check_positive, check_whole
from pellucid.core.types import Array
from pellucid.neural_network.training.recipe import TrainingRecipe
from pellucid.neural_network.training.trainer import DIVERGED, BatchLoss, Rows, Training, train
from pellucid.plots.drawing.style import LINE_WIDTH, color, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMOOTHING = 0.9
"""Share of the past in the moving mean of losses."""


@dataclass(frozen=True, repr=False)
class RateSearch:
    """Learning rates, and the smoothed loss at each."""

    rates: Array
    losses: Array

    @property
    def suggestion(self) -> float:
        """The rate at which the loss falls fastest, per decade, on its way to the smallest."""
        lowest = int(np.argmin(self.losses))
        slopes = np.gradient(self.losses[: lowest + 1], np.log(self.rates[: lowest + 1])) if lowest > 1 else [0.0]
        return float(self.rates[int(np.argmin(slopes))])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw loss against rate, as far as it says something, and mark the suggestion."""
        ax = tidy_axes(ax)
        ax.semilogx(self.rates, self.losses, color=color(0), linewidth=LINE_WIDTH)
        best = self.suggestion
        height = float(np.interp(best, self.rates, self.losses))
        ax.plot(best, height, "o", color=color(1))
        ax.annotate(f"suggested: {best:.2g}   ", (best, height), color=color(1), ha="right", va="top")
        low, high = self.losses.min(), self.losses[: int(np.argmin(self.losses)) + 1].max()
        ax.set_ylim(low - 0.1 * (high - low), high + 0.3 * (high - low) + 1e-12)  # what rises far above it has diverged
        ax.set_xlabel("learning rate")
        ax.set_ylabel("loss of a batch, smoothed")
        return ax

    def __repr__(self) -> str:
        rates = f"{len(self.rates)} rates from {self.rates[0]:.2g} to {self.rates[-1]:.2g}"
        return f"RateSearch({rates}; suggestion {self.suggestion:.2g})"


def search_learning_rate(
    module: nn.Module,
    rows: Rows,
    loss: BatchLoss,
    recipe: TrainingRecipe,
    *,
    low: float = 1e-6,
    high: float = 1.0,
    steps: int = 100,
) -> RateSearch:
    """Return the losses of so many batches, at rates from ``low`` to ``high``; the module is used up.

    The rate grows by the same factor from batch to batch.
    """
    check_positive(low=low, high=high)
    check_whole(low=2, steps=steps)
    if low >= high:
        raise ValueError(f"low must be below high, got {low!r} and {high!r}. Exchange them.")
    found: list[float] = []
    length = steps / -(-len(rows) // recipe.batch_size)  # in epochs
    rising = replace(
        recipe,
        epochs=math.ceil(length),
        learning_rate=lambda time: low * (high / low) ** min(time / length, 1.0),
        checkpoint=None,
    )

    def gather(run: Training) -> bool:
        found.extend(run.losses.tolist())
        return False

    run = train(module, rows, loss, rising, watch=gather)
    if run.stopped.startswith(DIVERGED):  # within an epoch, of which no watch was told
        gather(run)
    finite = np.isfinite(found[:steps])
    losses = np.array(found[: len(finite) if finite.all() else int(np.argmin(finite))])
    return RateSearch(low * (high / low) ** (np.arange(len(losses)) / steps), _smoothed(losses))


def _smoothed(losses: Array) -> Array:
    """Return moving means, corrected for having started at 0."""
    mean, found = 0.0, np.empty(len(losses))
    for k, value in enumerate(losses):
        mean = SMOOTHING * mean + (1 - SMOOTHING) * value
        found[k] = mean / (1 - SMOOTHING ** (k + 1))
    return found
