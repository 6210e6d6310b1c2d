"""DeviceTrainer: a network of dense layers that learns batch by batch where its rows are.

What is learned, from which start, in which order and by which rule is that of ``DenseTrainer``; sums are rounded
otherwise. A step is recorded once on a card: rows, orders, rates and losses lie there, and the host asks once an epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from pellucid.core.arrays import on_host
from pellucid.core.device.replaying import Replayed
from pellucid.core.types import Array
from pellucid.neural_network.mlp import activations
from pellucid.neural_network.mlp.activations import LEAK, Activation, OutputLayer
from pellucid.neural_network.mlp.dense_layers import VARIANCE_FLOOR, DenseShape, Layers
from pellucid.neural_network.mlp.dense_trainer import DenseTrainer, TrainingRows
from pellucid.neural_network.mlp.updates import AdamUpdate, MomentumUpdate, Update

ROWS_AT_ONCE = 1 << 16
"""Rows that pass through the network together when there is no batch."""

ROWS_NORMALIZED_AT_ONCE = 4_096
"""The same where the rows are normalized together: as many as in memory."""

VALUES: dict[type[Activation], Callable[[Tensor], Tensor]] = {
    activations.IdentityActivation: lambda Z: Z,
    activations.SigmoidActivation: torch.sigmoid,
    activations.Tanh: torch.tanh,
    activations.Relu: torch.relu,
    activations.LeakyRelu: lambda Z: functional.leaky_relu(Z, LEAK),
    activations.Elu: functional.elu,
    activations.Gelu: functional.gelu,
}
LOSSES: dict[type[OutputLayer], Callable[[Tensor, Tensor], Tensor]] = {
    activations.SoftmaxOutput: lambda Z, Y: torch.logsumexp(Z, 1) - (Y * Z).sum(1),
    activations.SigmoidOutput: lambda Z, Y: -(functional.logsigmoid(-Z) + Y * Z).sum(1),
    activations.LinearOutput: lambda Z, Y: 0.5 * (Z - Y).square().sum(1),
    activations.ExponentialOutput: lambda Z, Y: (torch.xlogy(Y, Y) - Y * Z - Y + torch.exp(Z)).sum(1),
}
"""Of each row, summed over the outputs; what is differentiated stands here, as in ``OutputLayer``."""


def values_of(activation: Activation, Z: Tensor) -> Tensor:
    """Return the values of a hidden layer's inputs (rows, units * pieces)."""
    if isinstance(activation, activations.LargestPiece):
        return Z.reshape(len(Z), -1, activation.pieces).max(2).values
    return VALUES[type(activation)](Z)


def scores_there(coefs: list[Tensor], intercepts: list[Tensor], activation: Activation, X: Tensor) -> Tensor:
    """Return the scores of rows by layers without normalization, in blocks."""
    found = []
    for H in X.to(coefs[0].dtype).split(ROWS_AT_ONCE):
        for k, (W, b) in enumerate(zip(coefs, intercepts, strict=True)):
            H = torch.addmm(b, values_of(activation, H) if k else H, W)
        found.append(H)
    return found[0] if len(found) == 1 else torch.cat(found)


class DeviceTrainer(DenseTrainer):
    """Weights of dense layers on a device; those of the host follow after each epoch."""

    def __init__(
        self,
        shape: DenseShape,
        weights: Array,
        activation: Activation,
        output: OutputLayer,
        *,
        there: Any,
        **given: Any,
    ) -> None:
        super().__init__(shape, weights, activation, output, **given)
        self.there = there
        self.vector = torch.as_tensor(weights.copy(), device=there)
        views: Any = shape.views(self.vector)  # type: ignore[arg-type]  # a tensor is cut as an array is
        self._leaves: Any = Layers(*([part.detach().requires_grad_() for part in parts] for parts in views))
        """The layers as torch derives by them, in the memory of the vector."""
        self._generator = torch.Generator(there).manual_seed(self.seed)
        moments = [] if self.moments is None else [self.moments.means, self.moments.variances]
        self._moments = [[torch.as_tensor(part.copy(), device=there) for part in parts] for parts in moments]
        self._epochs: EpochsThere | None = None
        self._known: tuple[TrainingRows, RowsThere] | None = None

    def learn_batches(
        self, rows: TrainingRows, order: Array | None, batch_size: int, update: Update
    ) -> Iterator[tuple[float, int]]:
        """Make a step for each batch; yield, when all are done, their objectives and how many rows they have."""
        if self._epochs is None:
            self._epochs = EpochsThere(self, self._rows(rows), min(batch_size, len(rows)), update)
        losses = self._epochs.learn(order)
        self.weights[:] = on_host(self.vector)
        if self.moments is not None:
            self.moments.means, self.moments.variances = ([*map(on_host, parts)] for parts in self._moments)
        size = self._epochs.size
        yield from ((loss, min(size, len(rows) - k * size)) for k, loss in enumerate(losses))

    def loss_and_gradient(self, rows: RowsThere) -> tuple[Tensor, Tensor]:
        """Return the summed loss of rows, in double precision, and its gradient as one vector."""
        losses = LOSSES[type(self.output)](self._up(rows), rows.Y)
        loss = losses.sum(dtype=torch.float64) if rows.weight is None else rows.weight @ losses.double()
        gradient = torch.autograd.grad(loss, [part for parts in self._leaves for part in parts])
        return loss.detach(), torch.cat([part.flatten() for part in gradient])

    def objective_and_gradient(self, weights: Array, rows: TrainingRows) -> tuple[float, Array]:
        """Return the objective of all rows at some weights, and its gradient, in float64."""
        self.vector.copy_(torch.as_tensor(weights))
        there, most = self._rows(rows), ROWS_AT_ONCE if self.moments is None else ROWS_NORMALIZED_AT_ONCE
        loss, total = 0.0, torch.zeros_like(self.vector, dtype=torch.float64)
        for start in range(0, len(rows), most):
            one, gradient = self.loss_and_gradient(there.take(slice(start, start + most)))
            loss, total = loss + float(one), total + gradient
        coefs, n_coefs = self.vector[: self.shape.n_coefs].double(), self.shape.n_coefs
        total[:n_coefs] += self.alpha * coefs
        scale = 1.0 / rows.total_weight()
        return (loss + 0.5 * self.alpha * float(coefs @ coefs)) * scale, on_host(total * scale)

    def scores(self, X: Any) -> Array:
        """Return the scores of rows by the layers as they are now, on the host."""
        coefs, intercepts = ([torch.as_tensor(part, device=self.there) for part in parts] for parts in self.layers())
        return on_host(scores_there(coefs, intercepts, self.activation, X))

    def _rows(self, rows: TrainingRows) -> RowsThere:
        """Return training rows with targets and weights where they are."""
        if self._known is None or self._known[0] is not rows:
            Y = torch.as_tensor(rows.Y, dtype=self.vector.dtype, device=self.there)
            weight = None if rows.weight is None else torch.as_tensor(rows.weight, device=self.there)
            self._known = rows, RowsThere(rows.X, Y, weight)
        return self._known[1]

    def _up(self, rows: RowsThere) -> Tensor:
        """Return the scores of the last layer."""
        H, layers = rows.X, self._leaves
        for k, (W, b) in enumerate(zip(layers.coefs, layers.intercepts, strict=True)):
            Z = torch.addmm(b, H, W)
            if k == len(layers.coefs) - 1:
                return Z
            H = values_of(self.activation, self._normalized(Z, k, rows.weight) if self._moments else Z)
            if self.dropout:
                drawn = torch.rand(H.shape, generator=self._generator, device=self.there)
                H = H * ((drawn >= self.dropout) / (1 - self.dropout)).to(H.dtype)
        raise AssertionError("a network has at least one layer")

    def _normalized(self, Z: Tensor, k: int, weight: Tensor | None) -> Tensor:
        """Return inputs at mean 0 and variance 1 over the batch, then at the layer's own scale and shift."""
        shares = None if weight is None else (weight / weight.sum()).to(Z.dtype)
        mean = Z.mean(0) if shares is None else shares @ Z
        apart = Z - mean
        variance = apart.square().mean(0) if shares is None else shares @ apart.square()
        for known, found in zip(self._moments, (mean, variance), strict=True):
            known[k] += 0.1 * (found.detach() - known[k])
        return apart * torch.rsqrt(variance + VARIANCE_FLOOR) * self._leaves.scales[k] + self._leaves.shifts[k]


class RowsThere:
    """Rows, targets and weights (None: all count once) as tensors in one place."""

    def __init__(self, X: Tensor, Y: Tensor, weight: Tensor | None) -> None:
        self.X, self.Y, self.weight = X, Y, weight

    def take(self, places: Any) -> RowsThere:
        """Return some of them."""
        return RowsThere(self.X[places], self.Y[places], None if self.weight is None else self.weight[places])


class EpochsThere:
    """Epochs of batches whose steps ask the host for nothing."""

    def __init__(self, trainer: DeviceTrainer, rows: RowsThere, size: int, update: Any) -> None:
        self.trainer, self.rows, self.size, self.update = trainer, rows, size, update
        self._mover = MOVERS[type(update)](update, trainer.vector)
        count, there = len(rows.X), trainer.there
        self.full = count // size
        self._order = torch.zeros((self.full, size), dtype=torch.int64, device=there)
        self._rates = torch.zeros(-(-count // size), dtype=torch.float64, device=there)
        self._losses = torch.zeros_like(self._rates)
        self._number = torch.zeros(1, dtype=torch.int64, device=there)
        self._again = Replayed(self._next, there, [trainer._generator])

    def learn(self, order: Array | None) -> list[float]:
        """Take every row once, in an order; return the objective of each batch before its step."""
        places = torch.as_tensor(np.arange(len(self.rows.X)) if order is None else order, device=self.trainer.there)
        whole = self.full * self.size
        self._order.copy_(places[:whole].reshape(self.full, self.size))
        self._rates.copy_(
            torch.as_tensor([self.update.next_rate() for _ in range(len(self._losses))], dtype=torch.float64)
        )
        self._number.zero_()
        for _ in range(self.full):
            self._again()
        if whole < len(places):
            self._step(places[whole:])
        return self._losses.tolist()  # type: ignore[no-any-return]

    def _next(self) -> None:
        self._step(self._order.index_select(0, self._number)[0])

    def _step(self, places: Tensor) -> None:
        """Make the step of a batch, by the rate of its number, and note its objective."""
        trainer, batch = self.trainer, self.rows.take(places)
        loss, gradient = trainer.loss_and_gradient(batch)
        weights, n_coefs = trainer.vector, trainer.shape.n_coefs
        coefs = weights[:n_coefs]
        squares = coefs.square().sum(dtype=torch.float64)
        total = len(places) if batch.weight is None else batch.weight.sum()
        gradient[:n_coefs].add_(coefs, alpha=trainer.alpha)
        self._mover.move(weights, gradient.div_(total), self._rates.index_select(0, self._number).to(weights.dtype))
        objective = (loss + 0.5 * trainer.alpha * squares) / total
        self._losses.index_copy_(0, self._number, objective.reshape(1))
        self._number += 1


class AdamThere:
    """The recursion of ``AdamUpdate``."""

    def __init__(self, update: AdamUpdate, weights: Tensor) -> None:
        self.update = update
        self.mean, self.squares = torch.zeros_like(weights), torch.zeros_like(weights)

    def move(self, weights: Tensor, slope: Tensor, rate: Tensor) -> None:
        """Make one step, in place."""
        update = self.update
        self.mean.mul_(update.beta_1).add_(slope, alpha=1 - update.beta_1)
        self.squares.mul_(update.beta_2).addcmul_(slope, slope, value=1 - update.beta_2)
        weights.sub_(rate * self.mean / (self.squares.sqrt() + update.epsilon))


class MomentumThere:
    """The recursion of ``MomentumUpdate``."""

    def __init__(self, update: MomentumUpdate, weights: Tensor) -> None:
        self.update, self.velocity = update, torch.zeros_like(weights)

    def move(self, weights: Tensor, slope: Tensor, rate: Tensor) -> None:
        """Make one step, in place."""
        change = -rate * slope
        self.velocity.mul_(self.update.momentum).add_(change)
        step = self.velocity * self.update.momentum + change if self.update.looks_ahead else self.velocity
        weights.add_(step)


MOVERS: dict[type, Any] = {AdamUpdate: AdamThere, MomentumUpdate: MomentumThere}
"""What makes the step of an update on a device; the rates are those of the update."""
