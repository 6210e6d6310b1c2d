"""The trainer: epochs of batches for any module, objective and rows; one readable loop."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from pellucid.core.trace import Trace
from pellucid.core.watching import Watch, ignore
from pellucid.neural_network.training.checkpoints import Checkpoint, find_checkpoint, write_checkpoint
from pellucid.neural_network.training.devices import (
    Processes,
    device_named,
    repeatable,
    say_what_would_fit,
    threads_of_torch,
)
from pellucid.neural_network.training.movers import Loss, Mover, mover_for
from pellucid.neural_network.training.recipe import Patience, TrainingRecipe
from pellucid.neural_network.training.recorded_steps import RecordedSteps, can_be_recorded

EPOCH_SEED = 1_000_003
"""Seeds of epochs are the run's seed times this number plus the epoch: no two runs of near seeds share one."""


DIVERGED = "loss must stay finite"
"""How the reason begins for which a run stopped that has gone wrong."""


class Rows(Protocol):
    """What is learned from. Anything that knows its length and can cut out some rows will do."""

    @property
    def weight(self) -> Tensor | None:
        """How much each row counts; None: once. Several processes share a batch by it."""
        ...

    def __len__(self) -> int:
        """Return how many rows there are."""
        ...

    def take(self, places: Tensor) -> Any:
        """Return a batch; the loss knows what is in it. Augmentation wants a NamedTuple with inputs and targets."""
        ...


BatchLoss = Callable[[nn.Module, Any], Tensor]
"""From the module and a batch to a number; its gradient is what the network learns by."""


@dataclass
class Training:
    """A run: the network, where it stands, and what happened."""

    module: nn.Module
    trace: Trace = field(default_factory=Trace)
    epochs: int = 0
    patience: Patience = field(default_factory=lambda: Patience(0.0, float("inf")))
    stopped: str = ""
    mover: dict[str, Any] = field(default_factory=dict)
    """What the mover remembers at the end, in this machine's memory, to go on from."""
    losses: Tensor = field(default_factory=lambda: torch.empty(0))
    """Of each batch of the last epoch, before its step."""

    def snapshot(self) -> dict[str, Tensor]:
        """Return copies of the weights."""
        return {name: weight.detach().clone() for name, weight in self.module.state_dict().items()}

    def keep_best(self) -> None:
        """Go back to the weights of the best epoch, if one was scored."""
        if self.patience.kept is not None:
            self.module.load_state_dict(self.patience.kept)


def train(
    module: nn.Module,
    rows: Rows,
    loss: BatchLoss,
    recipe: TrainingRecipe,
    *,
    score: Callable[[nn.Module], float] | None = None,
    patience: Patience | None = None,
    watch: Watch = ignore,
    tick: Callable[[float], Any] = ignore,
    start: Checkpoint | None = None,
) -> Training:
    """Train a module, which lies on the recipe's device, and return the run; the module is changed.

    ``score`` measures the module after each epoch, on rows held out; with it, the weights of the best epoch are kept.
    ``watch`` is called after each epoch and may stop the run; ``tick`` after each batch, with the time in epochs.
    ``start`` is where an earlier run ended, to go on from there to ``recipe.epochs``; the file of the recipe's
    checkpoint, if there is one, comes first.

    Examples
    --------
    >>> from pellucid.neural_network.training.device_rows import DeviceRows
    >>> X = torch.linspace(-1.0, 1.0, 64)[:, None]
    >>> line = nn.Linear(1, 1)
    >>> def error(module, batch): return (module(batch.inputs) - batch.targets).square().mean()
    >>> run = train(line, DeviceRows(X, 3 * X), error, TrainingRecipe(epochs=60, batch_size=8, learning_rate=0.05))
    >>> round(line.weight.item(), 2)
    3.0
    """
    device = device_named(recipe.device)
    processes = Processes.here(device)
    run = Training(module, patience=patience or Patience(0.0, float("inf")))
    if recipe.checkpoint is not None:
        start = find_checkpoint(recipe.checkpoint, recipe) or start
    mover = _mover_at(run, start, recipe)
    step_loss = _step_loss(processes.shared(module), loss, recipe, device)
    is_alone = processes.count == 1 and not recipe.compiled and len(rows) >= recipe.batch_size
    recorded = is_alone and can_be_recorded(module, rows, loss, mover, recipe)
    draws = torch.Generator(next(module.parameters()).device) if recipe.augmentation else None
    loop = _EpochParts(rows, step_loss, mover, recipe, processes, tick, draws)
    with threads_of_torch():
        _run_epochs(run, loop, score, watch, _recorded(module, loop) if recorded else None)
    run.keep_best()
    run.mover = {name: value.cpu() if isinstance(value, Tensor) else value for name, value in mover.state().items()}
    run.stopped = run.stopped or ("patience" if run.patience.is_out else "epochs")
    return run


@dataclass(frozen=True)
class _EpochParts:
    """What an epoch needs."""

    rows: Rows
    step_loss: Callable[[Any], Tensor]
    mover: Mover
    recipe: TrainingRecipe
    processes: Processes
    tick: Callable[[float], Any]
    draws: torch.Generator | None
    """What the changes of images are drawn from."""

    def loss_of_batch(self, places: Tensor) -> Loss:
        """Return the loss of this process's share of a batch, cut out and changed once, as a function."""
        batch = self.rows.take(self.processes.share(places))
        for change in self.recipe.augmentation:
            images, targets = change(batch.inputs, batch.targets, self.draws)
            batch = batch._replace(inputs=images, targets=targets)
        if self.processes.count == 1:
            return partial(self.step_loss, batch)
        importance = self.processes.importance(self.rows, places)
        return lambda: importance * self.step_loss(batch)

    def move(self, places: Tensor) -> Tensor:
        """Make the step of a batch; return its loss before that."""
        return self.mover.move(self.loss_of_batch(places))

    def try_rows(self, places: Tensor, n: int) -> None:
        """Take the memory that a batch of so many of these rows takes."""
        self.step_loss(self.rows.take(places[:n])).backward()


def _recorded(module: nn.Module, loop: _EpochParts) -> RecordedSteps:
    """Return the steps of full batches, which are recorded."""
    loop.mover.make_recordable()
    there, draws = next(module.parameters()).device, [loop.draws] if loop.draws else []
    return RecordedSteps(loop.move, loop.recipe.batch_size, there, draws)


def _run_epochs(
    run: Training,
    loop: _EpochParts,
    score: Callable[[nn.Module], float] | None,
    watch: Watch,
    recorded: RecordedSteps | None,
) -> None:
    """Run the epochs that are left, until something stops them."""
    recipe, device = loop.recipe, next(run.module.parameters()).device
    while run.epochs < recipe.epochs and not run.patience.is_out:
        good = run.snapshot()
        with repeatable(recipe.seed * EPOCH_SEED + run.epochs, device, deterministic=recipe.deterministic):
            started = time.perf_counter()
            run.losses = losses = _one_epoch(run, loop, recorded)
        if not bool(torch.isfinite(losses).all()):
            run.module.load_state_dict(good)
            run.stopped = _where_it_diverged(losses, run.epochs + 1)
            return
        loop.processes.follow_first(run.module)
        _note(run, float(losses.double().mean()), len(loop.rows), time.perf_counter() - started, score)
        if recipe.checkpoint is not None and loop.processes.is_first:
            state = Checkpoint(run.epochs, run.snapshot(), loop.mover.state(), run.trace, run.patience)
            write_checkpoint(recipe.checkpoint, state, recipe)
        if loop.processes.of_first(watch(run)):
            run.stopped = "a callback"
            return


def _step_loss(
    module: nn.Module, loss: BatchLoss, recipe: TrainingRecipe, device: torch.device
) -> Callable[[Any], Tensor]:
    """Return the loss of a batch as a function that may be compiled, multiplied in the precision of the recipe."""
    lower = recipe.precision == "bfloat16"

    def loss_of(batch: Any) -> Tensor:
        with torch.autocast(device.type, torch.bfloat16) if lower else nullcontext():
            return loss(module, batch)

    return torch.compile(loss_of) if recipe.compiled else loss_of


def _one_epoch(run: Training, loop: _EpochParts, recorded: RecordedSteps | None) -> Tensor:
    """Take every row once, in an order of this epoch's own; return the loss of each batch, on the device.

    Nothing waits for the device before the epoch is over.
    """
    run.module.train()
    device = next(run.module.parameters()).device
    if loop.draws is not None:
        loop.draws.manual_seed(torch.initial_seed())
    batches = _batches(loop.rows, loop.recipe.batch_size, device)
    losses = []
    for number, places in enumerate(batches):
        loop.mover.follow(run.epochs + number / len(batches))
        try:
            is_full = recorded is not None and len(places) == recorded.size
            losses.append(recorded(places) if is_full else loop.move(places))  # type: ignore[misc]  # is_full says so
        except torch.OutOfMemoryError as error:
            say_what_would_fit(error, loop.recipe.batch_size, partial(loop.try_rows, places))
        loop.tick(run.epochs + (number + 1) / len(batches))
    return loop.processes.mean(torch.stack(losses))


def _batches(rows: Rows, batch_size: int, device: torch.device) -> Sequence[Tensor]:
    """Return the places of each batch: of all rows in any order, or as rows know that cannot be had so."""
    if hasattr(rows, "batches"):
        return rows.batches(batch_size)  # type: ignore[no-any-return]  # rows in blocks
    return torch.randperm(len(rows)).to(device).split(batch_size)


def _note(run: Training, loss: float, n_rows: int, seconds: float, score: Callable[[nn.Module], float] | None) -> None:
    """Write down how an epoch ended."""
    run.epochs += 1
    row = {"objective": loss}
    if score is not None:
        run.module.eval()
        row["validation_score"] = score(run.module)
        run.patience.see(row["validation_score"], run.epochs, keep=run.snapshot)
    else:
        run.patience.see(-loss, run.epochs)
    run.trace.add(iteration=run.epochs, **row, seconds=seconds, rows_per_second=n_rows / max(seconds, 1e-9))


def _where_it_diverged(losses: Tensor, epoch: int) -> str:
    """Return a sentence about the first loss that is no number."""
    batch = int(torch.nonzero(~torch.isfinite(losses))[0]) + 1
    return f"{DIVERGED}, got {float(losses[batch - 1])} at batch {batch} of epoch {epoch}."


def _mover_at(run: Training, start: Checkpoint | None, recipe: TrainingRecipe) -> Mover:
    """Put a run where another one ended, if it goes on from there; return what moves its weights."""
    if start is None:
        return mover_for(run.module, recipe)
    run.module.load_state_dict(start.weights)
    run.epochs, run.trace, run.patience = start.epochs, Trace.joined([start.trace]), start.patience
    mover = mover_for(run.module, recipe)
    if start.mover:
        mover.load({name: value.clone() if isinstance(value, Tensor) else value for name, value in start.mover.items()})
    return mover


Objective = Callable[[Tensor, Tensor, Tensor | None], Tensor]
"""From scores, targets and weights to a number."""


def cross_entropy(scores: Tensor, targets: Tensor, weight: Tensor | None) -> Tensor:
    """Return the mean negative log likelihood of class codes (B,), or of soft targets (B, K)."""
    if weight is None:  # each image of a batch has as many pixels: one mean, in one kernel
        return functional.cross_entropy(scores, targets)
    return _mean(functional.cross_entropy(scores, targets, reduction="none"), weight)


def label_entropy(scores: Tensor, targets: Tensor, weight: Tensor | None) -> Tensor:
    """Return the mean negative log likelihood of labels that each may be there, summed over the labels (B, K)."""
    losses = functional.binary_cross_entropy_with_logits(scores, targets.to(scores.dtype), reduction="none")
    return _mean(losses.flatten(1).sum(dim=1), weight)


def half_squared_error(scores: Tensor, targets: Tensor, weight: Tensor | None) -> Tensor:
    """Return the mean of half the squared error, summed over the outputs."""
    return _mean(0.5 * (scores - targets.to(scores.dtype)).square().flatten(1).sum(dim=1), weight)


def _mean(losses: Tensor, weight: Tensor | None) -> Tensor:
    losses = losses if losses.dim() == 1 else losses.flatten(1).mean(dim=1)  # one loss a pixel: an image is their mean
    if weight is None:
        return losses.mean()
    total = weight.sum().clamp(min=torch.finfo(weight.dtype).tiny)  # a batch of rows that count nothing has loss 0
    return torch.dot(weight.to(losses.dtype), losses) / total
