"""DeviceRows: a training set that lies on the device, from which batches are cut without a loop over rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from pellucid.core.types import Array


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
        X: Array,
        y: Array,
        weight: Array | None,
        device: torch.device,
        dtype: torch.dtype,
        layout: torch.memory_format = torch.preserve_format,
    ) -> DeviceRows:
        """Return arrays on a device; whole numbers among the targets stay whole, numbers get the dtype."""
        inputs = tensor_of(X).to(device, dtype, memory_format=layout)
        targets = tensor_of(y).to(device, None if y.dtype.kind in "iu" else dtype)
        return cls(inputs, targets, None if weight is None else tensor_of(weight).to(device, dtype))

    def __len__(self) -> int:
        return len(self.inputs)

    def take(self, places: Tensor) -> Batch:
        """Return some rows, copied."""
        weight = None if self.weight is None else self.weight[places]
        return Batch(self.inputs[places], self.targets[places], weight)


def tensor_of(array: Array) -> Tensor:
    """Return an array as a tensor, in the same memory where torch may write to it."""
    array = np.ascontiguousarray(array)
    return torch.from_numpy(array if array.flags.writeable else array.copy())
