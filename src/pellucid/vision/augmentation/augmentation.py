"""Augmentation: other images for the same labels, as a value; several in a row are a tuple of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Generator, Tensor

from pellucid.kinds.configured import Configured


class Augmentation(Configured, ABC):
    """Base of all steps: each is a frozen dataclass, and a function of a batch and a generator."""

    softens: ClassVar[bool] = False
    """Whether targets come out as shares of classes, (B, K), though codes of classes, (B,), went in."""

    def __call__(self, images: Tensor, targets: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
        """Return changed images (B, C, H, W) and the targets that they have; what was given stays as it is."""
        _check_batch(images, targets)
        return self.changed(images, targets, generator)

    @abstractmethod
    def changed(self, images: Tensor, targets: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
        """Do what the step is for, to a batch of the right shape."""


def augment(
    steps: Sequence[Augmentation], images: Tensor, targets: Tensor, generator: Generator
) -> tuple[Tensor, Tensor]:
    """Return images and targets after all steps, one after the other.

    Parameters
    ----------
    steps : sequence of augmentations
        Such as ``(Flip(), Crop(padding=4))``.
    images : tensor of shape (B, C, H, W)
        A batch, on any device.
    targets : tensor of shape (B,) or (B, K)
        Codes of classes, or a share of each class.
    generator : torch.Generator
        The same state gives the same images. Best on the device of the images; else draws are copied there.

    Examples
    --------
    >>> from pellucid.vision.augmentation import Crop, Flip
    >>> images, codes = torch.rand(8, 3, 32, 32), torch.arange(8)
    >>> changed, labels = augment((Flip(), Crop(padding=4)), images, codes, Generator().manual_seed(0))
    >>> changed.shape, bool((labels == codes).all())
    (torch.Size([8, 3, 32, 32]), True)
    """
    if isinstance(steps, Augmentation):
        raise TypeError(f"steps must be several in a row, got {steps}. Write ({steps},).")
    for step in steps:
        images, targets = step(images, targets, generator)
    return images, targets


def _check_batch(images: Tensor, targets: Tensor) -> None:
    if not isinstance(images, Tensor) or not isinstance(targets, Tensor):
        got = f"{type(images).__name__} and {type(targets).__name__}"
        raise TypeError(f"images and targets must be tensors, got {got}. Use torch.as_tensor.")
    if images.ndim != 4:
        raise ValueError(f"images must have the shape (B, C, H, W), got {tuple(images.shape)}. Reshape them.")
    if len(targets) != len(images):
        raise ValueError(f"targets must be one for each of {len(images)} images, got {len(targets)}.")


def draw_shares(images: Tensor, generator: Generator) -> Tensor:
    """Return a number from 0 to 1 for each image, on its device: (B,)."""
    return torch.rand(len(images), generator=generator, device=generator.device).to(images.device)


def draw_wholes(images: Tensor, below: int, generator: Generator) -> Tensor:
    """Return a whole number from 0 to ``below`` - 1 for each image, on its device: (B,)."""
    drawn = torch.randint(below, (len(images),), generator=generator, device=generator.device)
    return drawn.to(images.device)
