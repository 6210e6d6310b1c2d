"""Deblurring by two networks in a row (Xu et al. 2014) as a value: one inverts the blur, one removes what that left."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from pellucid.core.checks import check_positive
from pellucid.core.kinds.plain import Whole
from pellucid.core.types import Array
from pellucid.neural_network.architecture import Architecture
from pellucid.vision.models.image_network import draw_he_weights

NOISE_SHARE = 1e-3
"""Variance of the noise over that of the image for the inverse the network starts from: 30 dB."""


@dataclass(frozen=True)
class DeconvolutionArchitecture(Architecture):
    r"""A blur inverted by long convolutions along columns and rows, then a short denoising network.

    The inverse of a kernel is a sum of few products of a column and a row (its singular value decomposition), so a
    convolution of ``length`` x 1 and one of 1 x ``length`` hold it. The second network sees all maps of the first and
    takes away what rings.

    .. math:: h = V * (U * y), \qquad f(y) = \sum_m h_m - g(h)

    What comes out is smaller by ``2 * reach`` pixels, so that whoever calls it decides what stands beyond the borders.

    Parameters
    ----------
    kernel_size : int, default=11
        Side of the blur's kernel, odd. The kernel itself stands among the weights.
    maps : int, default=16
        Products of a column and a row.
    length : int, default=61
        Length of them, odd.
    depth : int, default=10
        Convolutions of 3 x 3 of the denoising network, at least 2.
    width : int, default=48
        Maps between them.

    Examples
    --------
    >>> DeconvolutionArchitecture().reach
    40
    """

    kernel_size: int = 11
    maps: int = 16
    length: int = 61
    depth: int = 10
    width: int = 48

    settings: ClassVar = {
        "kernel_size": Whole(1, 999),
        "maps": Whole(1, 4096),
        "length": Whole(1, 999),
        "depth": Whole(2, 100),
        "width": Whole(1, 4096),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.length % 2 or not self.kernel_size % 2:
            raise ValueError(f"length and kernel_size must be odd, got {self.length} and {self.kernel_size}. Add 1.")

    @property
    def reach(self) -> int:
        """How many pixels away an input may be that an output depends on."""
        return self.length // 2 + self.depth

    def build(self) -> nn.Module:
        """Return the network with random weights, for no blur at all: see ``start_from_inverse``."""
        return Deconvolver(self)


class Deconvolver(nn.Module):
    """The deconvolution network, linear, and the denoising network."""

    kernel: Tensor

    def __init__(self, architecture: DeconvolutionArchitecture) -> None:
        super().__init__()
        self.architecture = architecture
        maps, length, width = architecture.maps, architecture.length, architecture.width
        self.columns = nn.Conv2d(1, maps, (length, 1), bias=False)
        self.rows = nn.Conv2d(maps, maps, (1, length), bias=False)
        sizes = [maps, *[width] * (architecture.depth - 1), 1]
        self.convolutions = nn.ModuleList(nn.Conv2d(before, after, 3) for before, after in pairwise(sizes))
        draw_he_weights(self.convolutions)
        side = architecture.kernel_size
        identity = torch.zeros(side, side)
        identity[side // 2, side // 2] = 1.0
        self.register_buffer("kernel", identity)
        with torch.no_grad():
            self.convolutions[-1].weight.mul_(0.01)  # type: ignore[operator]  # starts as the plain inverse

    def forward(self, images: Tensor) -> Tensor:
        """Return the middle of the images, sharp: (B, 1, H, W) -> (B, 1, H - 2 reach, W - 2 reach)."""
        inverted = self.rows(self.columns(images))  # (B, maps, H - length + 1, W - length + 1)
        edge = self.architecture.depth
        found = inverted
        for layer in self.convolutions[:-1]:
            found = relu(layer(found))
        deconvolved = inverted[:, :, edge:-edge, edge:-edge].sum(dim=1, keepdim=True)
        return deconvolved - self.convolutions[-1](found)


def start_from_inverse(module: nn.Module, kernel: Array) -> None:
    """Set a network's kernel, and its long convolutions to the inverse of that blur, in place.

    Maps beyond the rank of the inverse get small random rows, so that training can use them.
    """
    if not isinstance(module, Deconvolver):
        raise TypeError(f"module must be built by a DeconvolutionArchitecture, got {type(module).__name__}.")
    maps, length = module.architecture.maps, module.architecture.length
    columns, strengths, rows = np.linalg.svd(inverse_kernel(kernel, length))
    roots = np.sqrt(strengths[:maps])
    with torch.no_grad():
        module.kernel.copy_(torch.from_numpy(kernel))
        # a layer of torch correlates: turned by 180 degrees it convolves
        column_weights = np.ascontiguousarray((columns[:, :maps] * roots).T[:, ::-1])  # (maps, length)
        row_weights = np.ascontiguousarray((rows[:maps] * roots[:, None])[:, ::-1])
        module.columns.weight.copy_(torch.from_numpy(column_weights)[:, None, :, None])
        module.rows.weight.zero_()
        own = torch.arange(maps)
        module.rows.weight[own, own, 0] = torch.from_numpy(row_weights).to(module.rows.weight)


def inverse_kernel(kernel: Array, length: int) -> Array:
    r"""Return the ``length`` x ``length`` middle of the regularized inverse of a blur, :math:`\bar k / (|k|^2 + r)`.

    The ratio :math:`r` of noise to image grows with the square of the frequency, as images have little there.

    Examples
    --------
    >>> abs(inverse_kernel(np.ones((1, 1)), 3)).round(2)
    array([[0., 0., 0.],
           [0., 1., 0.],
           [0., 0., 0.]])
    """
    n = 4 * length  # far enough that the ends do not meet
    placed = np.zeros((n, n))
    placed[: kernel.shape[0], : kernel.shape[1]] = kernel
    placed = np.roll(placed, (-(kernel.shape[0] // 2), -(kernel.shape[1] // 2)), (0, 1))
    transfer = np.fft.fft2(placed)
    frequency = np.fft.fftfreq(n) * n
    noise = NOISE_SHARE * (1.0 + (frequency[:, None] ** 2 + frequency**2) / 100.0)
    inverse = np.fft.ifft2(transfer.conj() / (np.abs(transfer) ** 2 + noise)).real
    half = length // 2
    window = np.sqrt(np.cos(0.5 * np.pi * (np.arange(length) - half) / (half + 1)))  # a cut edge would ring
    middle = np.roll(inverse, (half, half), (0, 1))[:length, :length] * np.outer(window, window)
    return middle / middle.sum()


def disk_kernel(radius: float) -> Array:
    """Return the blur of a lens out of focus: each pixel by the share of it that lies in the disk.

    Parameters
    ----------
    radius : float
        Of the disk in pixels, above 0.

    Examples
    --------
    >>> disk_kernel(1.0).round(2)  # the middle pixel lies inside: 1 / pi
    array([[0.03, 0.15, 0.03],
           [0.15, 0.32, 0.15],
           [0.03, 0.15, 0.03]])
    """
    check_positive(radius=radius)
    half, fine = int(np.ceil(radius - 0.5)), 32
    points = (np.arange((2 * half + 1) * fine) + 0.5) / fine - half - 0.5
    inside = points[:, None] ** 2 + points**2 <= radius**2
    shares = inside.reshape(2 * half + 1, fine, 2 * half + 1, fine).mean(axis=(1, 3))
    return shares / shares.sum()


def gaussian_kernel(sigma: float, size: int) -> Array:
    """Return the blur of a Gaussian bell.

    Parameters
    ----------
    sigma : float
        Standard deviation in pixels, above 0.
    size : int
        Pixels a side, odd, so that the bell stands in the middle.
    """
    check_positive(sigma=sigma)
    bell = np.exp(-0.5 * ((np.arange(size) - size // 2) / sigma) ** 2)
    kernel = np.outer(bell, bell)
    return kernel / kernel.sum()
