"""The super-resolution network of Dong et al. (2015) as a value: patches, a map of them, and the image again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Whole
from pellucid.neural_network.architecture import Architecture


@dataclass(frozen=True)
class SRCNNNetwork(Architecture):
    r"""Three convolutions that sharpen an image already enlarged by bicubic interpolation.

    .. math:: f(y) = W_3 * \mathrm{relu}(W_2 * \mathrm{relu}(W_1 * y + b_1) + b_2) + b_3

    No layer goes on beyond its input: what comes out is smaller by ``2 * reach`` pixels, so that whoever calls it
    decides what stands beyond the borders.

    Parameters
    ----------
    sizes : tuple of int, default=(9, 5, 5)
        Sides of the kernels, odd.
    widths : tuple of int, default=(64, 32)
        Maps between the convolutions.
    scale : int, default=2
        The enlargement it was trained for.

    Examples
    --------
    >>> network = SRCNNNetwork()
    >>> sum(weight.numel() for weight in network.build().parameters() if weight.ndim == 4), network.reach
    (57184, 8)
    """

    sizes: tuple[int, ...] = (9, 5, 5)
    widths: tuple[int, ...] = (64, 32)
    scale: int = 2

    settings: ClassVar = {
        "sizes": Items(Whole(1, 99), most=99),
        "widths": Items(Whole(1, 4096), most=99),
        "scale": Whole(1, 16),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.sizes) != len(self.widths) + 1 or not all(size % 2 for size in self.sizes):
            raise ValueError(
                f"sizes must be odd and one more than widths, got {self.sizes} and {self.widths}. "
                "Take (9, 5, 5) and (64, 32)."
            )

    @property
    def reach(self) -> int:
        """How many pixels away an input may be that an output depends on."""
        return sum(size // 2 for size in self.sizes)

    def build(self) -> nn.Module:
        """Return the network with random weights."""
        return SuperResolver(self)


class SuperResolver(nn.Module):
    """Convolutions with ReLU between them."""

    def __init__(self, architecture: SRCNNNetwork) -> None:
        super().__init__()
        self.architecture = architecture
        maps = (1, *architecture.widths, 1)
        self.convolutions = nn.ModuleList(
            nn.Conv2d(before, after, size)
            for before, after, size in zip(maps[:-1], maps[1:], architecture.sizes, strict=True)
        )
        with torch.no_grad():
            for layer in self.convolutions:
                nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")  # type: ignore[arg-type]
                nn.init.zeros_(layer.bias)  # type: ignore[arg-type]

    def forward(self, images: Tensor) -> Tensor:
        """Return the sharpened middle of the images: (B, 1, H, W) -> (B, 1, H - 2 reach, W - 2 reach)."""
        maps = images
        for layer in self.convolutions[:-1]:
            maps = relu(layer(maps))
        return self.convolutions[-1](maps)
