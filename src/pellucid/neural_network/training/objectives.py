"""What a network minimizes: weighted means over the rows of a batch."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

Objective = Callable[[Tensor, Tensor, Tensor | None], Tensor]
"""From scores, targets and weights to a number."""


def cross_entropy(scores: Tensor, targets: Tensor, weight: Tensor | None) -> Tensor:
    """Return the mean negative log likelihood of class codes (B,), or of soft targets (B, K)."""
    if weight is None:  # each image of a batch has as many pixels: one mean, in one kernel
        return functional.cross_entropy(scores, targets)
    return _mean(functional.cross_entropy(scores, targets, reduction="none"), weight)


def label_entropy(scores: Tensor, targets: Tensor, weight: Tensor | None) -> Tensor:
    """Return the mean negative log likelihood of labels that each may be there, summed over the labels (B, K)."""
    losses = functional.binary_cross_entropy_with_logits(scores, targets.to(scores.dtype), reduction="none")
    return _mean(losses.flatten(1).sum(dim=1), weight)


def half_squared_error(scores: Tensor, targets: Tensor, weight: Tensor | None) -> Tensor:
    """Return the mean of half the squared error, summed over the outputs."""
    return _mean(0.5 * (scores - targets.to(scores.dtype)).square().flatten(1).sum(dim=1), weight)


def _mean(losses: Tensor, weight: Tensor | None) -> Tensor:
    losses = losses if losses.dim() == 1 else losses.flatten(1).mean(dim=1)  # one loss a pixel: an image is their mean
    if weight is None:
        return losses.mean()
    total = weight.sum().clamp(min=torch.finfo(weight.dtype).tiny)  # a batch of rows that count nothing has loss 0
    return torch.dot(weight.to(losses.dtype), losses) / total
