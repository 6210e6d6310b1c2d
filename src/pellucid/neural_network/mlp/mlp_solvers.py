"""How an MLP learns: epochs of batches with early stopping, or L-BFGS on all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.utils import shuffle

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch
from pellucid.neural_network.mlp.dense_trainer import DenseTrainer, TrainingRows
from pellucid.neural_network.mlp.updates import Update
from pellucid.neural_network.training.recipe import Patience

MOST_BATCH = 200
"""TrainingRows of a batch whose size is ``auto``."""


@dataclass
class Course:
    """Where the training of one network stands; a later part of the data goes on from here."""

    trainer: DenseTrainer
    update: Update | None
    patience: Patience
    rows_seen: int = 0
    loss_curve: list[float] = field(default_factory=list)
    validation_scores: list[float] = field(default_factory=list)
    trace: Trace = field(default_factory=Trace)
    target: TargetUnits = field(default_factory=lambda: TargetUnits())

    def layers(self) -> tuple[list[Array], list[Array]]:
        """Return the layers, those of the best epoch if one was chosen, in the units of the target."""
        coefs, intercepts = self.trainer.layers() if self.patience.kept is None else self.patience.kept
        return self.target.built_into(coefs, intercepts)


@dataclass(frozen=True)
class TargetUnits:
    """Where the target lies, and how far it spreads: a network learns it at mean 0 and spread 1."""

    mean: Any = 0.0
    spread: Any = 1.0

    @classmethod
    def of(cls, Y: Array) -> TargetUnits:
        """Return those of training targets; a constant one has no spread to divide by."""
        spread = Y.std(axis=0)
        return cls(Y.mean(axis=0), np.where(spread > 0, spread, 1.0).astype(Y.dtype))

    def of_network(self, Y: Array) -> Array:
        """Return targets at mean 0 and spread 1."""
        return np.asarray((Y - self.mean) / self.spread)

    def built_into(self, coefs: list[Array], intercepts: list[Array]) -> tuple[list[Array], list[Array]]:
        """Return layers whose last one answers in the units of the target."""
        return [*coefs[:-1], coefs[-1] * self.spread], [*intercepts[:-1], intercepts[-1] * self.spread + self.mean]

    def taken_out(self, coefs: list[Array], intercepts: list[Array]) -> tuple[list[Array], list[Array]]:
        """Return layers that answer at mean 0 and spread 1 again."""
        return [*coefs[:-1], coefs[-1] / self.spread], [*intercepts[:-1], (intercepts[-1] - self.mean) / self.spread]


@dataclass(frozen=True)
class EpochPlan:
    """How many epochs, of which batches, and when to stop before."""

    most: int
    batch_size: int
    shuffles: bool
    random_state: np.random.RandomState
    score: Callable[[], float] | None = None
    """The score of the network as it is now, on rows held out; None: the training loss decides."""


def printing(watch: Watch) -> Watch:
    """Return a watch that also prints a line, in scikit-learn's words, for each epoch or iteration."""

    def printed(course: Course) -> bool:
        line = f"Iteration {len(course.loss_curve)}, loss = {course.loss_curve[-1]:.8f}"
        if course.validation_scores:
            line += f"\nValidation score: {course.validation_scores[-1]:.6f}"
        print(line)
        return watch(course)

    return printed


class DivergedError(ValueError):
    """The weights are no numbers any more."""


def learn_in_epochs(course: Course, rows: TrainingRows, epochs: EpochPlan, watch: Watch) -> str:
    """Train until patience runs out or the epochs are done; return why it stopped."""
    assert course.update is not None
    turns = Turns(rows, epochs)
    for _ in range(epochs.most):
        try:
            loss = _one_epoch(course, turns, epochs.batch_size)
        except DivergedError as error:
            if course.patience.kept is None:
                raise
            course.validation_scores.append(np.nan)
            return f"{error} The layers of epoch {course.patience.best_epoch} are kept."
        course.rows_seen += len(rows)
        _note(course, loss, epochs.score)
        course.update.end_epoch(course.rows_seen)
        if watch(course):
            return "a callback"
        if course.patience.is_out:
            if not course.update.slow_down():
                return "patience"
            course.patience.waited = 0
    return "max_iter"


class Turns:
    """In which order rows are learned: part by part where they are in blocks, and batch by batch within a part."""

    def __init__(self, rows: TrainingRows, epochs: EpochPlan) -> None:
        self.rows, self.epochs = rows, epochs
        self.orders: dict[int, Array] = {}

    def epoch(self) -> Iterator[tuple[TrainingRows, Array | None]]:
        """Yield rows in memory and the order in which to take them, None for theirs; both are drawn anew."""
        random, order = self.epochs.random_state, None
        if self.epochs.shuffles and self.rows.n_blocks > 1:
            order = random.permutation(self.rows.n_blocks).tolist()
        for first, part in self.rows.loaded(order):
            if self.epochs.shuffles:
                self.orders[first] = shuffle(self.orders.get(first, np.arange(len(part))), random_state=random)
            yield part, self.orders.get(first)


def _one_epoch(course: Course, turns: Turns, batch_size: int) -> float:
    """Take every row once; return the mean objective of the batches, each as it was before its step."""
    total, number = 0.0, 0
    for rows, order in turns.epoch():
        for loss, count in course.trainer.learn_batches(rows, order, batch_size, course.update):  # type: ignore[arg-type]
            number += 1
            if not np.isfinite(loss):
                epoch = len(course.loss_curve) + 1
                raise DivergedError(
                    f"loss must stay finite, got {loss} at batch {number} of epoch {epoch}. Solver "
                    "produced non-finite parameter weights. Scale the columns of X, or lower learning_rate_init."
                )
            total += loss * count
    return total / len(turns.rows)


def _note(course: Course, loss: float, score: Callable[[], float] | None) -> None:
    """Write down how an epoch ended."""
    epoch = len(course.loss_curve) + 1
    course.loss_curve.append(loss)
    if score is None:
        course.patience.see(-loss, epoch)
        course.trace.add(iteration=epoch, objective=loss)
    else:
        value = score()
        course.validation_scores.append(value)
        course.patience.see(value, epoch, keep=course.trainer.layers)
        course.trace.add(iteration=epoch, objective=loss, validation_score=value)
    course.trace.keep(weights=course.trainer.weights)


def learn_by_lbfgs(course: Course, rows: TrainingRows, *, tol: float, most: int, most_values: int, watch: Watch) -> str:
    """Minimize the objective of all rows; return why it stopped."""
    trainer = course.trainer

    def value(weights: Array) -> tuple[float, Array]:
        return trainer.objective_and_gradient(weights.astype(trainer.weights.dtype), rows)

    def step(intermediate_result: Any) -> None:  # SciPy goes by this name
        trainer.weights[:] = intermediate_result.x
        course.loss_curve.append(float(intermediate_result.fun))
        course.trace.add(iteration=len(course.loss_curve), objective=course.loss_curve[-1])
        course.trace.keep(weights=trainer.weights)
        if watch(course):
            raise StopIteration

    options = {"maxfun": most_values, "maxiter": most, "gtol": tol}
    found = minimize(
        value, trainer.weights.astype(np.float64), method="L-BFGS-B", jac=True, options=options, callback=step
    )
    if not np.isfinite(found.fun):
        raise DivergedError(
            f"loss must stay finite, got {found.fun}. Solver produced non-finite parameter weights. "
            "Scale the columns of X."
        )
    trainer.weights[:] = found.x
    if not course.loss_curve:
        course.loss_curve.append(float(found.fun))
        course.trace.add(iteration=0, objective=float(found.fun))
    return "tol" if found.success else "max_iter"
