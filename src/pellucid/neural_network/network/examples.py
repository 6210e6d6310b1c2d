"""Examples: arrays that a network learns from, or is scored on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scipy import sparse

from pellucid.core.types import Array

if TYPE_CHECKING:
    import torch

    from pellucid.neural_network.training.trainer import Rows


@dataclass(frozen=True)
class Examples:
    """Inputs, dense or sparse, what they should give, and how much each counts (None: once)."""

    X: Any
    targets: Array
    weight: Array | None

    def take(self, places: Array) -> Examples:
        """Return some of them."""
        return Examples(self.X[places], self.targets[places], None if self.weight is None else self.weight[places])

    def on(self, device: torch.device, dtype: torch.dtype, layout: torch.memory_format) -> Rows:
        """Return them on a device; a sparse table stays sparse, and the rows of each batch become dense."""
        from pellucid.neural_network.training.device_rows import DeviceRows
        from pellucid.neural_network.training.sparse_rows import SparseRows

        if sparse.issparse(self.X):
            return SparseRows.from_arrays(self.X, self.targets, self.weight, device, dtype)
        return DeviceRows.from_arrays(self.X, self.targets, self.weight, device, dtype, layout)
