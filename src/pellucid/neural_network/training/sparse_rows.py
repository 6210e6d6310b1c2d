"""SparseRows: a sparse training set, of which only the rows of a batch become dense."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from pellucid.core.types import Array
from pellucid.neural_network.training.device_rows import Batch, targets_and_weight, tensor_of


@dataclass(frozen=True)
class SparseRows:
    """Rows in compressed form, which stay in this machine's memory; a graphics card waits for each batch."""

    X: Any
    targets: Tensor
    weight: Tensor | None
    device: torch.device
    dtype: torch.dtype

    @classmethod
    def from_arrays(
        cls, X: Any, y: Array, weight: Array | None, device: torch.device, dtype: torch.dtype
    ) -> SparseRows:
        """Return a matrix of SciPy in rows, with targets and weights on the device."""
        return cls(X, *targets_and_weight(y, weight, device, dtype), device, dtype)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def take(self, places: Tensor) -> Batch:
        """Return some rows, dense, on the device."""
        inputs = tensor_of(self.X[places.cpu().numpy()]).to(self.device, self.dtype)
        return Batch(inputs, self.targets[places], None if self.weight is None else self.weight[places])
