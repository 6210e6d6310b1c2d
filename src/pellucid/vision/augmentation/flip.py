"""Flip: some of the images, left to right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Generator, Tensor

from pellucid.kinds.plain import Number
from pellucid.vision.augmentation.augmentation import Augmentation, draw_shares


@dataclass(frozen=True)
class Flip(Augmentation):
    """Mirror images left to right: not for digits or letters.

    Parameters
    ----------
    probability : float, default=0.5
        How likely each image is mirrored.

    Examples
    --------
    >>> row = torch.arange(4.0).reshape(1, 1, 1, 4)
    >>> Flip(probability=1.0)(row, torch.tensor([0]), Generator())[0].flatten()
    tensor([3., 2., 1., 0.])
    """

    probability: float = 0.5

    settings: ClassVar = {"probability": Number(low=0, high=1)}

    def changed(self, images: Tensor, targets: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
        """Return the images, some of them mirrored, and the same targets."""
        mirrored = draw_shares(images, generator) < self.probability
        return torch.where(mirrored[:, None, None, None], images.flip(-1), images), targets
