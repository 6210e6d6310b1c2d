"""Augmentation: other images for the same labels, as a value; several in a row are a tuple of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Generator, Tensor
from torch.nn.functional import one_hot, pad

from pellucid.core.kinds.plain import Nothing, Number, Whole
from pellucid.core.kinds.records import Configured


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
        SparseCodes of classes, or a share of each class.
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


@dataclass(frozen=True)
class MixUp(Augmentation):
    r"""Mix pairs of images and their targets, :math:`\lambda x_i + (1 - \lambda) x_j`, with shares of a beta law.

    Parameters
    ----------
    alpha : float, default=0.2
        Both parameters of the beta law from which each :math:`\lambda` is drawn; near 0, nothing is mixed: an image is
        the one or the other of its pair.
    classes : int or None, default=None
        How many classes there are, if targets are codes; shares of classes say it themselves.

    Examples
    --------
    >>> images, codes = torch.eye(2).reshape(2, 1, 1, 2), torch.tensor([0, 1])
    >>> mixed, shares = MixUp(alpha=1.0, classes=2)(images, codes, Generator().manual_seed(0))
    >>> bool((mixed.reshape(2, 2) == shares).all())
    True
    """

    softens = True
    alpha: float = 0.2
    classes: int | None = None

    settings: ClassVar = {"alpha": Number(above=0), "classes": Nothing() | Whole(2, 2**17)}

    def changed(self, images: Tensor, targets: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
        """Return mixed images and shares of classes, (B, K)."""
        if not images.is_floating_point():
            raise TypeError(f"images must be floats to be mixed, got {images.dtype}. Convert them: images.float().")
        shares = self._as_shares(targets, images.dtype)
        weight = draw_beta(self.alpha, images, generator).to(images.dtype)
        partner = torch.randperm(len(images), generator=generator, device=generator.device).to(images.device)
        return _mixed(images, partner, weight[:, None, None, None]), _mixed(shares, partner, weight[:, None])

    def _as_shares(self, targets: Tensor, dtype: torch.dtype) -> Tensor:
        if targets.ndim == 2:
            return targets
        if self.classes is None:
            raise ValueError("classes must be a number to mix codes of classes. Set MixUp(classes=...).")
        try:
            return one_hot(targets.long(), self.classes).to(dtype)
        except RuntimeError as error:
            got = f"{targets.min()} to {targets.max()}"
            raise ValueError(
                f"targets must be codes from 0 to {self.classes - 1}, got {got}. Raise classes."
            ) from error


def draw_beta(alpha: float, images: Tensor, generator: Generator) -> Tensor:
    r"""Return a number of the law Beta(alpha, alpha) for each image, on its device: (B,).

    For uniform U and V, :math:`T = \sqrt{2 \alpha (U^{-1/\alpha} - 1)} \cos 2 \pi V` follows Student's law with
    :math:`2 \alpha` degrees of freedom (Bailey, 1994), and :math:`(1 + T / \sqrt{2 \alpha + T^2}) / 2` the law wanted.
    """
    radius = torch.expm1(-draw_shares(images, generator).log() / alpha)
    direction = torch.cos(2.0 * math.pi * draw_shares(images, generator))
    return 0.5 * (1.0 + direction.sign() * torch.rsqrt(1.0 + 1.0 / (radius * direction.square())))


def _mixed(values: Tensor, partner: Tensor, weight: Tensor) -> Tensor:
    return torch.lerp(values[partner], values, weight)


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
