"""A network asked for scores, or for its objective in float64."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.core.types import Array, SparseOrDense
from pellucid.neural_network.architecture import Architecture
from pellucid.neural_network.network.given_module import GivenModule

if TYPE_CHECKING:
    from torch import nn

ROWS_AT_ONCE = 1024


def stored_module(architecture: Architecture, weights: Mapping[str, Array]) -> nn.Module:
    """Return the module with its stored weights, in test mode; the arrays are copied."""
    import torch

    from pellucid.neural_network.modules.network_weights import module_from

    copied = {name: np.array(weight) for name, weight in weights.items()}
    if not isinstance(architecture, GivenModule):
        return module_from(architecture, copied)
    module = architecture.build()
    module.load_state_dict({name: torch.from_numpy(weight) for name, weight in copied.items()})
    return module.eval()


def scores_of(module: nn.Module, X: SparseOrDense) -> Array:
    """Return the scores of examples, in the dtype of the module, a thousand at a time, which become dense."""
    import torch

    from pellucid.neural_network.training.device_rows import tensor_of

    first = next(module.parameters())
    with torch.inference_mode():
        found = [
            module(tensor_of(X[start : start + ROWS_AT_ONCE]).to(first.device, first.dtype))
            for start in range(0, X.shape[0], ROWS_AT_ONCE)
        ]
        return np.asarray(torch.cat(found).cpu().numpy())


def objective_and_gradient(
    module: nn.Module, objective: Any, X: SparseOrDense, targets: Array, weight: Array | None
) -> tuple[float, float]:
    """Return the objective of examples and the norm of its gradient, both in float64, on the CPU."""
    import copy

    import torch

    from pellucid.neural_network.training.device_rows import DeviceRows

    exact = copy.deepcopy(module).to("cpu", torch.float64).eval()
    rows = DeviceRows.from_arrays(X, targets, weight, torch.device("cpu"), torch.float64)
    learning = [one.requires_grad_() for one in exact.parameters()]
    value = objective(exact(rows.inputs), rows.targets, rows.weight)
    gradients = torch.autograd.grad(value, learning, allow_unused=True)
    squares = sum(float(one.square().sum()) for one in gradients if one is not None)
    return float(value.detach()), float(np.sqrt(squares))
