"""DeviceRows: a training set that lies on the device, from which batches are cut without a loop over rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from pellucid.core.scale.table_in_blocks import TableInBlocks, as_floats
from pellucid.core.types import Array, SparseOrDense


class Batch(NamedTuple):
    """Examples, what they should give, and how much each counts (None: once)."""

    inputs: Tensor
    targets: Tensor
    weight: Tensor | None


@dataclass(frozen=True)
class DeviceRows:
    """Rows as tensors; ``inputs`` may be a table (n, d) or images (n, c, h, w), of bytes or floats."""

    inputs: Tensor
    targets: Tensor
    weight: Tensor | None = None

    @classmethod
    def from_arrays(
        cls,
        X: SparseOrDense,
        y: Array,
        weight: Array | None,
        device: torch.device,
        dtype: torch.dtype,
        layout: torch.memory_format = torch.preserve_format,
    ) -> DeviceRows:
        """Return arrays on a device, the inputs in a dtype and a memory layout."""
        inputs = tensor_of(X).to(device, dtype, memory_format=layout)
        return cls(inputs, *targets_and_weight(y, weight, device, dtype))

    def __len__(self) -> int:
        return len(self.inputs)

    def take(self, places: Tensor) -> Batch:
        """Return some rows, copied."""
        weight = None if self.weight is None else self.weight[places]
        return Batch(self.inputs[places], self.targets[places], weight)


def targets_and_weight(
    y: Array, weight: Array | None, device: torch.device, dtype: torch.dtype
) -> tuple[Tensor, Tensor | None]:
    """Return them on a device; whole numbers among the targets stay whole, numbers get the dtype."""
    targets = tensor_of(y).to(device, None if y.dtype.kind in "iu" else dtype)
    return targets, None if weight is None else tensor_of(weight).to(device, dtype)


def tensor_of(array: Any) -> Tensor:
    """Return an array as a tensor, in the same memory where torch may write to it; a sparse one becomes dense."""
    array = np.ascontiguousarray(array.toarray() if sparse.issparse(array) else array)
    return torch.from_numpy(array if array.flags.writeable else array.copy())


@dataclass(frozen=True)
class SparseDeviceRows:
    """Rows in compressed form, which stay in this machine's memory; a graphics card waits for each batch."""

    X: SparseOrDense
    targets: Tensor
    weight: Tensor | None
    device: torch.device
    dtype: torch.dtype

    @classmethod
    def from_arrays(
        cls, X: SparseOrDense, y: Array, weight: Array | None, device: torch.device, dtype: torch.dtype
    ) -> SparseDeviceRows:
        """Return a matrix of SciPy in rows, with targets and weights on the device."""
        return cls(X, *targets_and_weight(y, weight, device, dtype), device, dtype)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def take(self, places: Tensor) -> Batch:
        """Return some rows, dense, on the device."""
        inputs = tensor_of(self.X[places.cpu().numpy()]).to(self.device, self.dtype)
        return Batch(inputs, self.targets[places], None if self.weight is None else self.weight[places])


class BlockDeviceRows:
    """Rows that stay in blocks: the one that batches are cut from lies on the device."""

    def __init__(
        self, table: TableInBlocks, y: Array, weight: Array | None, device: torch.device, dtype: torch.dtype
    ) -> None:
        self.table, self.device, self.dtype = table, device, dtype
        self.targets, self.weight = targets_and_weight(y, weight, device, dtype)
        self.places = [torch.from_numpy(table.in_block(k)) for k in range(len(table.heights))]
        self.block_of = torch.empty(len(table), dtype=torch.int64)
        self.number_in_block = torch.empty(len(table), dtype=torch.int64)
        for k, own in enumerate(self.places):
            self.block_of[own], self.number_in_block[own] = k, torch.arange(len(own))
        self.loaded, self.inputs = -1, torch.empty(0)

    def __len__(self) -> int:
        return len(self.table)

    def batches(self, batch_size: int) -> list[Tensor]:
        """Return the places of each batch: block by block and row by row in an order that is drawn."""
        blocks = torch.randperm(len(self.places)).tolist() if len(self.places) > 1 else [0]
        orders = [self.places[k][torch.randperm(len(self.places[k]))] for k in blocks if len(self.places[k])]
        return [batch.to(self.device) for order in orders for batch in order.split(batch_size)]

    def take(self, places: Tensor) -> Batch:
        """Return some rows of one block, which is read if it is not the last one that was."""
        here = places.cpu()
        number = int(self.block_of[here[0]])
        if bool((self.block_of[here] != number).any()):
            raise ValueError("X must be in memory for batches of any rows, got rows in blocks. Take X.compute().")
        if number != self.loaded:
            ((_, rows),) = self.table.each(as_floats, order=[number])
            self.loaded, self.inputs = number, tensor_of(rows).to(self.device, self.dtype)
        inputs = self.inputs[self.number_in_block[here].to(self.device)]
        return Batch(inputs, self.targets[places], None if self.weight is None else self.weight[places])
