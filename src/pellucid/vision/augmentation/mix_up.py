"""MixUp (Zhang, Cisse, Dauphin and Lopez-Paz, 2018): each image is mixed with another, and so are their labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Generator, Tensor
from torch.nn.functional import one_hot

from pellucid.kinds.plain import Nothing, Number, Whole
from pellucid.vision.augmentation.augmentation import Augmentation, draw_shares


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
