"""TrainingRecipe: how a network is trained, as a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.optimize.schedules import Schedule

if TYPE_CHECKING:
    from torch import nn


ParameterGroups = Callable[["nn.Module"], list[dict[str, Any]]]
"""From a module to groups of its weights, each a dict with ``params`` and its own ``lr``, as torch takes them."""

PRECISIONS = ("auto", "float32", "bfloat16")


@dataclass(frozen=True)
class TrainingRecipe:
    """What a trainer needs to know beside the network, the rows and the objective.

    Parameters
    ----------
    epochs, batch_size : int, default=10, 64
        Passes over the rows, and rows of one step.
    method : str, method of ``pellucid.optimize``, or function, default="adam"
        "adam", "adamw", "sgd" (with Nesterov's momentum 0.9), any method that takes batches, or a function from
        groups of parameters to an optimizer of torch.
    learning_rate : float or schedule, default=0.001
        A number, or a function of the time in epochs such as ``CosineDecay(0.1, length=20)``.
    weight_decay : float, default=0.0
        Of the optimizers of torch.
    clip_norm : float or None, default=None
        A longer gradient of all weights is shortened to this length before an optimizer of torch takes its step.
    parameter_groups : function or None, default=None
        From the module to groups with their own rates; None: all weights that learn.
    augmentation : tuple, default=()
        Changes of a batch that keep its labels, such as ``(Flip(), Crop(padding=4))``.
    device : str, default="auto"
        "auto" is the graphics card if there is one.
    precision : {"auto", "float32", "bfloat16"}, default="auto"
        "auto" is the dtype of the rows; "bfloat16" multiplies in it and keeps weights in float32.
    channels_last, compiled, deterministic : bool, default=False, False, True
        Memory layout of images; whether to compile the network; whether the same seed must give the same bits on a
        graphics card, too, where that costs time.
    checkpoint : Path or None, default=None
        File that holds the state after each epoch: a run that finds its own file goes on from there.
    seed : int, default=0
        Fixes orders, dropout and augmentation of each epoch.
    """

    epochs: int = 10
    batch_size: int = 64
    method: Any = "adam"
    learning_rate: float | Schedule = 0.001
    weight_decay: float = 0.0
    clip_norm: float | None = None
    parameter_groups: ParameterGroups | None = None
    augmentation: tuple[Any, ...] = ()
    device: str = "auto"
    precision: str = "auto"
    channels_last: bool = False
    compiled: bool = False
    deterministic: bool = True
    checkpoint: Path | None = None
    seed: int = 0


def recipe_of(estimator: Any, seed: int) -> TrainingRecipe:
    """Return what the parameters of an estimator say, as far as it has them."""
    names = {name for name in TrainingRecipe.__dataclass_fields__ if hasattr(estimator, name)} - {"checkpoint"}
    checkpoint = None if estimator.checkpoint is None else Path(estimator.checkpoint)
    return TrainingRecipe(**{name: getattr(estimator, name) for name in names}, seed=seed, checkpoint=checkpoint)


class Patience:
    """Watches a number that should rise: a score, or minus a loss.

    It runs out when the number has not risen by ``tol`` above its best for more than ``most`` epochs in a row.
    """

    def __init__(self, tol: float, most: float) -> None:
        self.tol, self.most = tol, most
        self.best = -np.inf
        self.best_epoch = 0
        self.waited = 0
        self.kept: Any = None
        """What belonged to the best epoch."""

    def see(self, value: float, epoch: int, keep: Any = None) -> None:
        """Take in one epoch; ``keep`` is called for what to keep of it, if it is the best so far."""
        self.waited = self.waited + 1 if value < self.best + self.tol else 0
        if value > self.best:
            self.best, self.best_epoch = value, epoch
            self.kept = keep() if keep else None

    @property
    def is_out(self) -> bool:
        """Whether it is time to stop."""
        return self.waited > self.most
