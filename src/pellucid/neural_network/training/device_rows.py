"""DeviceRows: a training set that lies on the device, from which batches are cut without a loop over rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

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
