"""Backpropagation through dense layers: the loss of a batch and its gradient, in buffers that are used again."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.random_state import some_rows
from pellucid.core.threads import run_blocks, split_evenly
from pellucid.core.types import Array, SparseOrDense
from pellucid.neural_network.mlp.activations import Activation, OutputLayer, Relu
from pellucid.neural_network.mlp.dense_kernels import (
    add_and_rectify,
    columns_times,
    count_nonzeros,
    rows_times,
    turn,
    write_nonzeros,
)
from pellucid.neural_network.mlp.dense_layers import VARIANCE_FLOOR, BatchMoments, Layers


@dataclass
class Normalized:
    """What batch normalization of one layer keeps for the way back: inputs at mean 0, variance 1; 1 / deviation."""

    standard: Array
    slope: Array


@dataclass
class Pass:
    """Values of one batch on its way up, for the way back."""

    X: SparseOrDense
    weight: Array | None
    inputs: list[Array] = field(default_factory=list)
    values: list[Array] = field(default_factory=list)
    sent: list[Array] = field(default_factory=list)
    """The values that the next layer sees: without the units that dropout left out."""
    normalized: list[Normalized] = field(default_factory=list)
    masks: list[Array] = field(default_factory=list)

    def keep(self, Z: Array, H: Array) -> Array:
        """Keep inputs and values of a hidden layer; return the values."""
        self.inputs.append(Z)
        self.values.append(H)
        return H


class Backpropagation:
    """Loss and gradient of a network of dense layers.

    Gradients are sums over the rows of a batch, each times its weight; the caller divides and adds the penalty.
    """

    def __init__(
        self,
        activation: Activation,
        output: OutputLayer,
        *,
        dropout: float = 0.0,
        moments: BatchMoments | None = None,
        generator: np.random.Generator | None = None,
    ) -> None:
        self.activation = activation
        self.output = output
        self.dropout = dropout
        self.moments = moments
        self.generator = generator
        self._buffers: dict[tuple[int, int, str], Array] = {}

    def gradient(self, layers: Layers, X: SparseOrDense, Y: Array, weight: Array | None, found: Layers) -> float:
        """Write the gradient of the summed loss into ``found``; return that loss."""
        batch = Pass(X, weight)
        delta = self._up(layers, batch)
        losses = self.output.answer_and_losses(delta, Y)
        loss = float(losses.sum(dtype=np.float64) if weight is None else weight @ losses)
        delta -= Y
        if weight is not None:
            delta *= weight[:, None].astype(delta.dtype)
        self._down(layers, batch, delta, found)
        return loss

    def _up(self, layers: Layers, batch: Pass) -> Array:
        """Return the scores of the last layer; keep what the way back needs."""
        H, last = batch.X, len(layers.coefs) - 1
        for k, (W, b) in enumerate(zip(layers.coefs, layers.intercepts, strict=True)):
            Z = self._buffer(H.shape[0], W.shape[1], f"inputs {k}", W.dtype)
            if isinstance(H, NonzeroRows):
                H.times(W, Z)
            else:
                np.dot(H, W, out=Z)
            if k == last:
                Z += b
                return Z
            H = self._dropped(self._activate(Z, b, k, layers, batch), batch)
            batch.sent.append(H)
        raise AssertionError("a network has at least one layer")

    def _activate(self, Z: Array, b: Array, k: int, layers: Layers, batch: Pass) -> Array:
        """Return the values of a hidden layer."""
        if type(self.activation) is Relu and self.moments is None:
            add_and_rectify(Z, b, Z.dtype.type(0))
            return batch.keep(Z, Z)
        Z += b
        if self.moments is not None:
            self._normalize(Z, k, layers, batch)
        H = Z
        if self.activation.needs_inputs:
            H = self._buffer(len(Z), Z.shape[1] // self.activation.pieces, f"values {k}", Z.dtype)
        self.activation.forward(Z, H)
        return batch.keep(Z, H)

    def _dropped(self, H: Array, batch: Pass) -> Array:
        """Return the values with some units left out, the others larger in turn."""
        if not self.dropout:
            return H
        assert self.generator is not None
        mask = (self.generator.random(H.shape, dtype=np.float32) >= self.dropout).astype(H.dtype)
        mask /= H.dtype.type(1 - self.dropout)
        batch.masks.append(mask)
        return H * mask

    def _normalize(self, Z: Array, k: int, layers: Layers, batch: Pass) -> None:
        """Bring each column to mean 0 and variance 1 over the batch, in place, then to its own scale and shift."""
        assert self.moments is not None
        mean = np.average(Z, axis=0, weights=batch.weight).astype(Z.dtype)
        Z -= mean
        variance = np.average(Z * Z, axis=0, weights=batch.weight).astype(Z.dtype)
        slope = 1 / np.sqrt(variance + Z.dtype.type(VARIANCE_FLOOR))
        Z *= slope
        batch.normalized.append(Normalized(Z.copy(), slope))
        Z *= layers.scales[k]
        Z += layers.shifts[k]
        self.moments.move(k, mean, variance)

    def _down(self, layers: Layers, batch: Pass, delta: Array, found: Layers) -> None:
        """Write the gradient of each layer, from the last to the first."""
        for k in range(len(layers.coefs) - 1, -1, -1):
            below = batch.sent[k - 1] if k else batch.X
            if isinstance(below, NonzeroRows):
                below.turned_times(delta, found.coefs[k])
            else:
                np.dot(below.T, delta, out=found.coefs[k])
            np.sum(delta, axis=0, out=found.intercepts[k])
            if k:
                to_values = self._buffer(len(delta), len(layers.coefs[k]), f"below {k}", delta.dtype)
                np.dot(delta, layers.coefs[k].T, out=to_values)
                delta = self._through_unit(to_values, k - 1, layers, batch, found)

    def _through_unit(self, from_above: Array, k: int, layers: Layers, batch: Pass, found: Layers) -> Array:
        """Return the gradient with respect to what came out of the matrix of hidden layer ``k``."""
        if batch.masks:
            from_above *= batch.masks[k]
        delta = self.activation.backward(batch.inputs[k], batch.values[k], from_above)
        if self.moments is None:
            return delta
        one = batch.normalized[k]
        np.sum(delta * one.standard, axis=0, out=found.scales[k])
        np.sum(delta, axis=0, out=found.shifts[k])
        delta *= layers.scales[k]
        share = 1 / len(delta) if batch.weight is None else (batch.weight / batch.weight.sum())[:, None]
        by_mean = delta.sum(axis=0)
        by_variance = one.standard * (delta * one.standard).sum(axis=0)
        delta -= (share * (by_mean + by_variance)).astype(delta.dtype)
        delta *= one.slope
        return delta

    def without_buffers(self) -> Backpropagation:
        """Return one like this that holds no memory for batches."""
        other = copy(self)
        other._buffers = {}
        return other

    def _buffer(self, rows: int, columns: int, name: str, dtype: np.dtype) -> Array:
        key = (rows, columns, name)
        if key not in self._buffers:
            self._buffers[key] = np.empty((rows, columns), dtype)
        return self._buffers[key]


WORTH_SKIPPING = 0.7
"""Share of zeros from which products that skip them are faster than dense ones."""

LARGE = 1_000_000
"""Entries from which it is worth to look for zeros."""


@dataclass(frozen=True)
class NonzeroRows:
    """The rows ``places`` of a matrix in CSR form."""

    matrix: Any
    places: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.places), self.matrix.shape[1]

    def times(self, W: Array, out: Array) -> None:
        """Write the product with ``W``."""
        rows_times(self.matrix.data, self.matrix.indices, self.matrix.indptr, self.places, W, out)

    def turned_times(self, D: Array, out: Array) -> None:
        """Write the product of these rows, transposed, with ``D``."""
        matrix = self.matrix
        count = int((matrix.indptr[self.places + 1] - matrix.indptr[self.places]).sum())
        starts = np.zeros(matrix.shape[1] + 1, np.int64)
        values, rows = np.empty(count, matrix.data.dtype), np.empty(count, np.int64)
        turn(matrix.data, matrix.indices, matrix.indptr, self.places, starts, values, rows)
        columns_times(values, rows, starts, D, out)


def without_zeros(X: Array) -> Any:
    """Return a dense matrix in CSR form if it is large and mostly zeros, like images of ink on paper; else itself."""
    if X.size < LARGE or (X[some_rows(len(X), 200)] == 0).mean() < WORTH_SKIPPING:
        return X
    blocks = split_evenly(len(X), -(-X.size // LARGE))
    counts = np.empty(len(X), np.int64)
    run_blocks(lambda block: count_nonzeros(X[block], counts[block]), blocks)
    starts = np.concatenate([[0], np.cumsum(counts)])
    starts = starts.astype(sparse.get_index_dtype(maxval=max(starts[-1], X.shape[1])))
    values, columns = np.empty(starts[-1], X.dtype), np.empty(starts[-1], starts.dtype)
    run_blocks(lambda block: write_nonzeros(X[block], starts[block], values, columns), blocks)
    return sparse.csr_array((values, columns, starts), shape=X.shape)
