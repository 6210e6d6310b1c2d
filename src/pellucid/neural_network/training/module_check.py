"""Whether a module takes the examples at hand, and gives as many scores as they need."""

from __future__ import annotations

import torch
from torch import nn

from pellucid.core.types import SparseOrDense
from pellucid.neural_network.training.device_rows import tensor_of


def check_module(module: nn.Module, X: SparseOrDense, outputs: int) -> None:
    """Refuse a network that does not take an example, or gives another number of scores; it is in test mode then."""
    module.eval()
    first = next(module.parameters(), None)
    if first is None:
        raise ValueError("module must have weights to learn, got none. Give it a layer that has some.")
    try:
        with torch.no_grad():
            scores = module(tensor_of(X).to(first.device, first.dtype))
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        raise ValueError(
            f"module must take examples of shape {tuple(X.shape[1:])}, but it does not: "
            f"{str(error).splitlines()[0].rstrip('.')}. Reshape X, or change its first layer."
        ) from error
    if not isinstance(scores, torch.Tensor) or scores.ndim < 2 or scores.shape[1] != outputs:
        got = f"an answer of shape {tuple(scores.shape[1:])}" if hasattr(scores, "shape") else type(scores).__name__
        raise ValueError(f"module must give {outputs} scores for each example, got {got}. Change its last layer.")
