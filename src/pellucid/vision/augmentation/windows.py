"""Crop and Shift: each image seen through a window at a random place of the image and a border around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Generator, Tensor
from torch.nn.functional import pad

from pellucid.kinds.plain import Nothing, Whole
from pellucid.vision.augmentation.augmentation import Augmentation, draw_wholes


@dataclass(frozen=True)
class Crop(Augmentation):
    """Cut a square window out of each image, with a border of zeros around it.

    Parameters
    ----------
    padding : int, default=4
        Zeros on each side.
    size : int or None, default=None
        Height and width of the window; None: those of the image.

    Examples
    --------
    >>> image = torch.ones(1, 1, 2, 2)
    >>> Crop(padding=1)(image, torch.tensor([0]), Generator().manual_seed(1))[0][0, 0]
    tensor([[1., 0.],
            [1., 0.]])
    """

    padding: int = 4
    size: int | None = None

    settings: ClassVar = {"padding": Whole(0, 4096), "size": Nothing() | Whole(1, 2**16)}

    def changed(self, images: Tensor, targets: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
        """Return the windows, (B, C, size, size), and the same targets."""
        height, width = images.shape[-2:] if self.size is None else (self.size, self.size)
        bordered = pad(images, (self.padding,) * 4)
        return random_windows(bordered, height, width, generator), targets


@dataclass(frozen=True)
class Shift(Augmentation):
    """Shift each image by some pixels up or down, left or right; the pixels at its edge are repeated.

    Parameters
    ----------
    most : int, default=2
        Largest shift in either direction.

    Examples
    --------
    >>> row = torch.arange(4.0).reshape(1, 1, 1, 4)
    >>> Shift(most=1)(row, torch.tensor([0]), Generator().manual_seed(1))[0].flatten()
    tensor([1., 2., 3., 3.])
    """

    most: int = 2

    settings: ClassVar = {"most": Whole(0, 4096)}

    def changed(self, images: Tensor, targets: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
        """Return the shifted images and the same targets."""
        height, width = images.shape[-2:]
        bordered = pad(images, (self.most,) * 4, mode="replicate")
        return random_windows(bordered, height, width, generator), targets


def random_windows(images: Tensor, height: int, width: int, generator: Generator) -> Tensor:
    """Return a window of each image, every place as likely: (B, C, H, W) -> (B, C, height, width)."""
    if height > images.shape[-2] or width > images.shape[-1]:
        raise ValueError(
            f"a window must fit into the image and its border, {images.shape[-2]} x {images.shape[-1]}, "
            f"got {height} x {width}. Choose a smaller size or a larger padding."
        )
    windows = images.unfold(2, height, 1).unfold(3, width, 1)  # (B, C, rows, columns, height, width), a view
    row = draw_wholes(images, windows.shape[2], generator)
    column = draw_wholes(images, windows.shape[3], generator)
    return windows[torch.arange(len(images), device=images.device), :, row, column]
