"""A run with its bar, and with a sentence where it goes wrong: what every estimator around a network calls."""

from __future__ import annotations

from collections.abc import Callable

import torch
from sklearn.exceptions import ConvergenceWarning
from torch import nn

from pellucid.core.user_warnings import warn_user
from pellucid.core.watching import Watch, ignore
from pellucid.neural_network.architecture import Architecture
from pellucid.neural_network.training.checkpoints import Checkpoint
from pellucid.neural_network.training.epoch_bar import EpochBar
from pellucid.neural_network.training.recipe import Patience, TrainingRecipe
from pellucid.neural_network.training.trainer import DIVERGED, BatchLoss, Rows, Training, train


def new_module(architecture: Architecture, seed: int) -> nn.Module:
    """Return a new module whose first weights a seed fixes."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return architecture.build()


def run_shown(
    module: nn.Module,
    rows: Rows,
    loss: BatchLoss,
    recipe: TrainingRecipe,
    *,
    advice: Callable[[], str],
    score: Callable[[nn.Module], float] | None = None,
    patience: Patience | None = None,
    watch: Watch = ignore,
    start: Checkpoint | None = None,
    verbose: bool = False,
) -> Training:
    """Train and return the run, its module in test mode.

    A loss that is no number in the first epoch is an error; later, the weights of the last good epoch are kept.
    """
    with EpochBar(recipe.epochs, show=verbose) as bar:
        run = train(
            module,
            rows,
            loss,
            recipe,
            score=score,
            patience=patience,
            watch=bar.watching(watch),
            tick=bar.tick,
            start=start,
        )
    if run.stopped.startswith(DIVERGED):
        if run.epochs == (start.epochs if start else 0):
            raise ValueError(f"{run.stopped} {advice()}")
        warn_user(f"{run.stopped} The weights of the last good epoch are kept. {advice()}", ConvergenceWarning)
    run.module.eval()
    return run
