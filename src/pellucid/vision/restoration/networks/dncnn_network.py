"""The denoising network of Zhang et al. (2017), and without biases that of Mohan et al. (2020), as a value."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from pellucid.core.kinds.plain import Flag, Whole
from pellucid.neural_network.architecture import Architecture
from pellucid.neural_network.modules.fusing import fuse
from pellucid.vision.models.image_network import draw_he_weights

EPS = 1e-5
"""Added to a variance before its root is divided by, as in batch normalization."""


@dataclass(frozen=True)
class DnCNNNetwork(Architecture):
    r"""A chain of convolutions of 3 x 3 that predicts the noise, which is then taken away.

    .. math:: f(y) = y - W_d * \mathrm{relu}(W_{d-1} * \cdots \mathrm{relu}(W_1 * y + b_1) \cdots + b_{d-1}) - b_d

    Parameters
    ----------
    depth : int, default=20
        Convolutions in all. An output pixel depends on inputs up to ``depth`` pixels away.
    width : int, default=64
        Maps between them.
    channels : int, default=1
        Channels of the image.
    bias : bool, default=True
        Whether a number is added after each convolution. Without, :math:`f(a y) = a f(y)` for every :math:`a \ge 0`.
    normalized : bool, default=False
        Whether the inner convolutions are followed by batch normalization, as in training; :func:`fused` removes it.
        Without biases it divides by the standard deviation and subtracts nothing.

    Examples
    --------
    >>> sum(weight.numel() for weight in DnCNNNetwork(bias=False).build().parameters())  # 18 x 64 x 64 x 9 + 2 x 576
    664704
    """

    depth: int = 20
    width: int = 64
    channels: int = 1
    bias: bool = True
    normalized: bool = False

    settings: ClassVar = {
        "depth": Whole(2, 100),
        "width": Whole(1, 4096),
        "channels": Whole(1, 4096),
        "bias": Flag(),
        "normalized": Flag(),
    }

    @property
    def reach(self) -> int:
        """How many pixels away an input may be that an output depends on."""
        return self.depth

    def build(self) -> nn.Module:
        """Return the network with random weights."""
        return ResidualDenoiser(self)


class ResidualDenoiser(nn.Module):
    """The image less what the convolutions find in it. Beyond its borders every map is zero."""

    def __init__(self, architecture: DnCNNNetwork) -> None:
        super().__init__()
        self.architecture = architecture
        width, channels = architecture.width, architecture.channels
        sizes = [channels, *[width] * (architecture.depth - 1), channels]
        self.convolutions = nn.ModuleList()
        self.norms = nn.ModuleList()
        for number, (before, after) in enumerate(pairwise(sizes), start=1):
            is_inner = 1 < number < architecture.depth
            has_norm = is_inner and architecture.normalized
            self.convolutions.append(nn.Conv2d(before, after, 3, padding=1, bias=architecture.bias and not has_norm))
            norm = nn.BatchNorm2d(after) if architecture.bias else ScaleNormalization(after)
            self.norms.append(norm if has_norm else nn.Identity())
        draw_he_weights(self)
        with torch.no_grad():
            self.convolutions[-1].weight.mul_(0.01)  # type: ignore[operator]  # starts near the identity

    def forward(self, images: Tensor) -> Tensor:
        """Return the denoised images: (B, C, H, W) -> (B, C, H, W)."""
        maps = images
        for convolution, norm in zip(self.convolutions[:-1], self.norms[:-1], strict=True):
            maps = relu(norm(convolution(maps)))  # (B, width, H, W)
        return images - self.convolutions[-1](maps)


class ScaleNormalization(nn.Module):
    r"""Batch normalization that only scales: :math:`\gamma\, x / \sqrt{\mathrm{Var}[x] + \epsilon}`, map by map."""

    running_var: Tensor

    def __init__(self, width: int, momentum: float = 0.1) -> None:
        super().__init__()
        self.momentum = momentum
        self.weight = nn.Parameter(torch.ones(width))
        self.register_buffer("running_var", torch.ones(width))

    def forward(self, maps: Tensor) -> Tensor:
        """Return the scaled maps, by the variance of this batch in training and by the running one in use."""
        variance = self.running_var
        if self.training:
            variance = maps.float().var(dim=(0, 2, 3), correction=0)
            with torch.no_grad():
                self.running_var.lerp_(variance, self.momentum)
        return maps * (self.weight * torch.rsqrt(variance + EPS)).to(maps.dtype)[:, None, None]


def fused(module: nn.Module) -> nn.Module:
    """Return a network of the same answers, up to rounding, whose convolutions do the work of the normalizations.

    Parameters
    ----------
    module : torch module
        Built by a ``DnCNNNetwork``; it stays as it is.

    Examples
    --------
    >>> fused(DnCNNNetwork(depth=3, width=2, normalized=True).build()).architecture
    DnCNNNetwork(depth=3, width=2, channels=1, bias=True, normalized=False)
    """
    if not isinstance(module, ResidualDenoiser):
        raise TypeError(f"module must be built by a DnCNNNetwork, got {type(module).__name__}.")
    plain = replace(module.architecture, normalized=False).build()
    for target, source in zip(plain.convolutions, _absorbed(module).convolutions, strict=True):  # type: ignore[arg-type]  # lists of modules
        target.load_state_dict(source.state_dict())
    return plain.eval()


def _absorbed(module: ResidualDenoiser) -> ResidualDenoiser:
    """Return a copy whose normalizations are part of the convolutions before them."""
    if module.architecture.bias:
        return fuse(module)  # type: ignore[return-value]  # of the same class
    scaled = copy.deepcopy(module)
    for convolution, norm in zip(scaled.convolutions, scaled.norms, strict=True):
        if isinstance(norm, ScaleNormalization):
            factor = norm.weight.detach().double() * torch.rsqrt(norm.running_var.double() + EPS)
            weight = convolution.weight.detach().double() * factor[:, None, None, None]  # type: ignore[operator,union-attr]
            convolution.weight = nn.Parameter(weight.float())
    return scaled
