"""Maxout: the largest of a few linear functions."""

from __future__ import annotations

import torch
from torch import nn


def maxout(values: torch.Tensor, pieces: int) -> torch.Tensor:
    """Return the largest of each ``pieces`` neighbors along the last axis.

    Examples
    --------
    >>> maxout(torch.tensor([[1.0, 5.0, 3.0, 2.0]]), pieces=2)
    tensor([[5., 3.]])
    """
    return values.unflatten(-1, (-1, pieces)).amax(-1)  # (..., units * pieces) -> (..., units)


class Maxout(nn.Module):
    """:func:`maxout` as a layer: it follows a linear layer that has ``pieces`` outputs for each unit."""

    def __init__(self, pieces: int = 2) -> None:
        super().__init__()
        self.pieces = pieces

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Return the units' values."""
        return maxout(values, self.pieces)

    def extra_repr(self) -> str:
        """Return the setting that a printed network shows."""
        return f"pieces={self.pieces}"
