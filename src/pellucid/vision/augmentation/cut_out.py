"""CutOut (DeVries and Taylor, 2017): a square of each image is covered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Generator, Tensor

from pellucid.kinds.plain import Whole
from pellucid.vision.augmentation.augmentation import Augmentation, draw_wholes


@dataclass(frozen=True)
class CutOut(Augmentation):
    """Set a square of each image to zero. Its middle may be any pixel, so that a part of it may lie outside.

    Parameters
    ----------
    size : int, default=16
        Height and width of the square.

    Examples
    --------
    >>> image = torch.ones(1, 1, 3, 3)
    >>> CutOut(size=1)(image, torch.tensor([0]), Generator().manual_seed(0))[0].sum()
    tensor(8.)
    """

    size: int = 16

    settings: ClassVar = {"size": Whole(1, 2**16)}

    def changed(self, images: Tensor, targets: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
        """Return the images with a square covered in each, and the same targets."""
        height, width = images.shape[-2:]
        rows = self._covered(images, height, generator)
        columns = self._covered(images, width, generator)
        covered = rows[:, None, :, None] & columns[:, None, None, :]  # (B, 1, H, W)
        return images.masked_fill(covered, 0), targets

    def _covered(self, images: Tensor, length: int, generator: Generator) -> Tensor:
        """Return which of the rows, or columns, of each image are covered: (B, length)."""
        first = draw_wholes(images, length, generator) - self.size // 2
        position = torch.arange(length, device=images.device) - first[:, None]
        return (position >= 0) & (position < self.size)
