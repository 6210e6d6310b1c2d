"""DenseTrainer: a network of dense layers that learns batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from pellucid.core.scale.table_in_blocks import TableInBlocks, as_floats
from pellucid.core.threads import run_blocks, split_evenly
from pellucid.core.types import Array, SparseOrDense
from pellucid.neural_network.mlp.activations import Activation, OutputLayer
from pellucid.neural_network.mlp.backpropagation import Backpropagation, NonzeroRows, without_zeros
from pellucid.neural_network.mlp.dense_layers import BatchMoments, DenseShape, Layers
from pellucid.neural_network.mlp.updates import BatchGradient, Update

WORTH_SPLITTING = 2_000_000
"""Weights times rows from which a batch is cut into parts, one for a thread; with fewer, threads mostly wait."""

MOST_ROWS = 4_096
"""TrainingRows that pass through the network together when there is no batch: their values must fit into memory."""


@dataclass(frozen=True)
class TrainingRows:
    """Training rows in the dtype of the network: ``X`` dense or sparse, ``Y`` of shape (rows, outputs)."""

    X: SparseOrDense
    Y: Array
    weight: Array | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def take(self, places: Array | slice) -> TrainingRows:
        """Return some of them, copied."""
        return TrainingRows(self.X[places], self.Y[places], None if self.weight is None else self.weight[places])

    def batch(self, places: Array) -> TrainingRows:
        """Return some of them to be learned; of sparse rows nothing is copied."""
        if not sparse.issparse(self.X):
            return self.take(places)
        weight = None if self.weight is None else self.weight[places]
        return TrainingRows(NonzeroRows(self.X, places), self.Y[places], weight)

    def total_weight(self) -> float:
        """Return what the sum of losses is divided by."""
        return float(len(self)) if self.weight is None else float(self.weight.sum())

    @property
    def n_blocks(self) -> int:
        """How many parts the rows come in: one, unless they are in blocks."""
        return len(self.X.heights) if isinstance(self.X, TableInBlocks) else 1

    def loaded(self, order: Sequence[int] | None = None) -> Iterator[tuple[int, TrainingRows]]:
        """Yield the place of the first row of each part, in this order, and its rows in memory, if it has any."""
        if not isinstance(self.X, TableInBlocks):
            yield 0, self
            return
        for places, X in self.X.each(as_floats, order=order):
            weight = None if self.weight is None else self.weight[places]
            first = places.start if isinstance(places, slice) else int(places[0])
            yield first, as_rows(X, self.Y[places], weight, self.Y.dtype)


class DenseTrainer:
    """Weights of dense layers, and the buffers to move them.

    ``weights`` is one vector; ``shape.views`` shows its layers. A batch may be cut into parts, by its size alone: the
    same bits come out on any number of threads.
    """

    def __init__(
        self,
        shape: DenseShape,
        weights: Array,
        activation: Activation,
        output: OutputLayer,
        *,
        alpha: float = 0.0,
        dropout: float = 0.0,
        seed: int = 0,
    ) -> None:
        self.shape, self.weights, self.alpha = shape, weights, alpha
        self.activation, self.output, self.dropout, self.seed = activation, output, dropout, seed
        self._batch: tuple[TrainingRows, Array | slice] | None = None
        self.moments = BatchMoments(shape, weights.dtype) if shape.is_normalized else None
        self._engines = [
            Backpropagation(
                activation,
                output,
                dropout=dropout,
                moments=self.moments,
                generator=np.random.default_rng((seed, part)) if dropout else None,
            )
            for part in range(8)
        ]
        self._parts: list[Array] = []
        self._parts_layers: list[Layers] = []
        self._layers = shape.views(weights)

    def learn_batches(
        self, rows: TrainingRows, order: Array | None, batch_size: int, update: Update
    ) -> Iterator[tuple[float, int]]:
        """Make a step for each batch of rows in an order; yield its objective before, and how many rows it has."""
        for batch in gen_batches(len(rows), min(batch_size, len(rows))):
            yield self.learn(rows, batch if order is None else order[batch], update), batch.stop - batch.start

    def learn(self, rows: TrainingRows, places: Array | slice, update: Update) -> float:
        """Make one step for a batch; return the batch's objective before it."""
        self._batch = rows, places
        loss, gradient = self.gradient(self.weights, rows, places)
        with np.errstate(all="ignore"):  # a network that diverges is seen by its loss
            squared_norm = update.move(self.weights, gradient)
        return (loss + 0.5 * self.alpha * squared_norm) * gradient.scale

    def gradient(self, weights: Array, rows: TrainingRows, places: Array | slice) -> tuple[float, BatchGradient]:
        """Return the summed loss of some rows and its gradient, which is overwritten by the next call."""
        places = np.arange(places.start, places.stop) if isinstance(places, slice) else places
        cuts = split_evenly(len(places), self._part_count(len(places)))
        while len(self._parts) < len(cuts):
            self._parts.append(np.empty_like(self.weights))
            self._parts_layers.append(self.shape.views(self._parts[-1]))
        layers = self._layers if weights is self.weights else self.shape.views(weights)

        def of_part(k: int) -> tuple[float, float]:
            start, stop = cuts[k].start, cuts[k].stop
            some = rows.batch(places[start:stop])
            with np.errstate(all="ignore"):  # also here, since other threads have a state of their own
                loss = self._engines[k].gradient(layers, some.X, some.Y, some.weight, self._parts_layers[k])
            return loss, some.total_weight()

        found = run_blocks(of_part, range(len(cuts)))
        loss, total = sum(one for one, _ in found), sum(weight for _, weight in found)
        return loss, BatchGradient(self._parts[: len(cuts)], 1.0 / total, self.alpha, self.shape.n_coefs)

    def last_batch_gradient(self, weights: Array) -> BatchGradient:
        """Return the gradient of the batch that is being learned, at other weights."""
        assert self._batch is not None
        return self.gradient(weights, *self._batch)[1]

    def objective_and_gradient(self, weights: Array, rows: TrainingRows) -> tuple[float, Array]:
        """Return the objective of all rows at some weights, and its gradient, in float64."""
        loss, total = 0.0, np.zeros(len(weights))
        for _, part in rows.loaded():
            for start in range(0, len(part), MOST_ROWS):
                one, gradient = self.gradient(weights, part, slice(start, min(start + MOST_ROWS, len(part))))
                loss, total = loss + one, total + gradient.summed(slice(None))
        coefs, n_coefs = weights[: self.shape.n_coefs].astype(np.float64), self.shape.n_coefs
        total[:n_coefs] += self.alpha * coefs
        scale = 1.0 / rows.total_weight()
        return (loss + 0.5 * self.alpha * float(coefs @ coefs)) * scale, total * scale

    def scores(self, X: SparseOrDense) -> Array:
        """Return the scores of rows by the layers as they are now."""
        return scores_of(*self.layers(), self.activation, X)

    def layers(self) -> tuple[list[Array], list[Array]]:
        """Return matrices and intercepts as a network without normalization has them, copied."""
        layers = self.shape.views(self.weights)
        if self.moments is not None:
            return self.moments.fused(layers)
        return [*map(np.copy, layers.coefs)], [*map(np.copy, layers.intercepts)]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out views, which would be copied as arrays of their own, buffers, and the rows learned last."""
        left_out: dict[str, Any] = {"_parts": [], "_parts_layers": [], "_layers": None, "_batch": None}
        return {**vars(self), **left_out, "_engines": [engine.without_buffers() for engine in self._engines]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._layers = self.shape.views(self.weights)

    def _part_count(self, rows: int) -> int:
        if self.moments is not None or rows * self.shape.n_coefs < WORTH_SPLITTING:
            return 1
        return 1 if rows < 128 else 2 if rows < 512 else 4 if rows < 2048 else 8


def scores_of(coefs: list[Array], intercepts: list[Array], activation: Activation, X: SparseOrDense) -> Array:
    """Return the scores of the last layer for rows, in blocks on all threads."""

    def of_block(block: slice) -> Array:
        H, last = X[block], len(coefs) - 1
        for k, (W, b) in enumerate(zip(coefs, intercepts, strict=True)):
            Z = np.asarray(H @ W)
            Z += b
            if k == last:
                return Z
            needs_own = activation.needs_inputs
            H = np.empty((len(Z), Z.shape[1] // activation.pieces), Z.dtype) if needs_own else Z
            activation.forward(Z, H)
        raise AssertionError("a network has at least one layer")

    n = X.shape[0]
    blocks = split_evenly(n, max(1, -(-n // 1024)))
    found = run_blocks(of_block, blocks)
    return found[0] if len(found) == 1 else np.concatenate(found)


def as_rows(X: SparseOrDense, Y: Array, weight: Array | None, dtype: np.dtype) -> TrainingRows:
    """Return training rows in one dtype; sparse rows as CSR, whose rows can be taken."""
    if sparse.issparse(X):
        X = X.tocsr().astype(dtype, copy=False)
    elif not isinstance(X, TableInBlocks):
        X = without_zeros(np.asarray(X, dtype=dtype, order="C"))
    return TrainingRows(X, np.ascontiguousarray(Y, dtype=dtype), weight)
