"""Networks as methods of restoration: denoising, enlarging and deblurring by weights that ship with the package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from torch import nn

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.neural_network.training.devices import device_named
from pellucid.vision.restoration.method import RestorationMethod, RestoredPlane
from pellucid.vision.restoration.networks.deconvolution_network import DeconvolutionArchitecture
from pellucid.vision.restoration.networks.dncnn_network import DnCNNNetwork
from pellucid.vision.restoration.networks.network_runs import deblur, denoise, enlarge
from pellucid.vision.restoration.networks.shipped import evidence_of, network_named
from pellucid.vision.restoration.networks.srcnn_network import SRCNNNetwork
from pellucid.vision.restoration.operators import Blur, Downscale, Operator

SAME_KERNEL = 1e-6
"""How far apart two kernels may be, entry by entry, to be the same: one stored in float32 is as near as that."""


class NetworkMethod(RestorationMethod):
    """A method whose answer is that of a network, in units of the peak and in float32 within."""

    color: ClassVar[str] = "each"
    files: ClassVar[Mapping[str, str]]
    """Names of the weights that ship with the package, each with its file."""
    kind: ClassVar[type]
    weights: Any
    device: str

    def __post_init__(self) -> None:
        device_named(self.device)

    def module(self, name: str | None = None) -> nn.Module:
        """Return the network, in test mode."""
        return network_named(self.weights if name is None else name, self.files, self.kind, self.device)

    def _answer(self, image: Array, module: nn.Module) -> RestoredPlane:
        trace = Trace()
        trace.add(iteration=1)
        return RestoredPlane(image, {}, trace, evidence_of(module))


@dataclass(frozen=True)
class DnCNN(NetworkMethod):
    """Denoising by a network that predicts the noise (Zhang et al. 2017), whatever its level: it is not told sigma.

    Parameters
    ----------
    weights : str, path or module, default="0-55"
        ``"0-55"``: trained on noise of sigma 0 to 55 of 255, the one to take; ``"0-10"``: on 0 to 10, to be compared
        with :class:`BiasFreeDnCNN`. Or a file of ``pellucid.save``, or a module of a ``DnCNNNetwork``.
    device : str, default="cpu"
        Where it runs; "cuda" is a graphics card.

    Examples
    --------
    >>> from pellucid.vision.restoration import Identity
    >>> flat = np.full((8, 8), 100.0)
    >>> DnCNN().solve(flat, Identity(), 0.0, 255.0).image[0, 0]  # without noise there is nothing to remove
    np.float64(100.0)
    """

    kind: ClassVar[type] = DnCNNNetwork
    files: ClassVar[Mapping[str, str]] = MappingProxyType({"0-55": "dncnn_0_55", "0-10": "dncnn_0_10"})
    weights: Any = "0-55"
    device: str = "cpu"

    def solve(self, y: Array, operator: Operator, sigma: float, peak: float) -> RestoredPlane:
        """Return the denoised plane; without noise, the plane itself."""
        module = self.module()
        return self._answer(y.copy() if sigma == 0.0 else denoise(module, y, peak), module)


@dataclass(frozen=True)
class BiasFreeDnCNN(DnCNN):
    r"""Denoising by a network that adds nothing anywhere, so that :math:`f(a y) = a f(y)` (Mohan et al. 2020).

    Trained on weak noise, it removes strong noise, too. Around each image it is a linear map: the filter behind a pixel
    is :func:`filter_behind`.

    Parameters
    ----------
    weights : str, path or module, default="0-10"
        ``"0-10"``: trained on noise of sigma 0 to 10 of 255. Or a file of ``pellucid.save``, or a module.
    device : str, default="cpu"
        Where it runs; "cuda" is a graphics card.
    """

    files: ClassVar[Mapping[str, str]] = MappingProxyType({"0-10": "bias_free_0_10"})
    weights: Any = "0-10"

    def module(self, name: str | None = None) -> nn.Module:
        """Return the network, in test mode; refuse one with biases."""
        found = super().module(name)
        architecture: Any = found.architecture
        if architecture.bias or architecture.normalized:
            raise ValueError(
                f"weights must be those of a DnCNNNetwork without biases, got {architecture}. Take DnCNN(weights)."
            )
        return found


@dataclass(frozen=True)
class SRCNN(NetworkMethod):
    """Enlargement by a network that sharpens the bicubic one (Dong et al. 2015).

    Parameters
    ----------
    weights : str, path or module, default="auto"
        ``"auto"`` takes the network of the scale, 2, 3 or 4. Or a file of ``pellucid.save``, or a module of an
        ``SRCNNNetwork``.
    device : str, default="cpu"
        Where it runs; "cuda" is a graphics card.
    """

    takes: ClassVar[tuple[str, ...]] = ("Downscale",)
    kind: ClassVar[type] = SRCNNNetwork
    files: ClassVar[Mapping[str, str]] = MappingProxyType({f"x{scale}": f"srcnn_x{scale}" for scale in (2, 3, 4)})
    weights: Any = "auto"
    device: str = "cpu"

    def solve(self, y: Array, operator: Operator, sigma: float, peak: float) -> RestoredPlane:
        """Return the enlarged plane."""
        assert isinstance(operator, Downscale)  # of what it takes there is no other
        is_auto = isinstance(self.weights, str) and self.weights == "auto"
        if is_auto and f"x{operator.scale}" not in self.files:
            raise ValueError(f"scale must be 2, 3 or 4 for SRCNN(), got {operator.scale}. Take Bicubic().")
        module = self.module(f"x{operator.scale}" if is_auto else None)
        trained: Any = module.architecture
        if trained.scale != operator.scale:
            raise ValueError(
                f"weights must be trained for the scale {operator.scale}, got those for {trained.scale}. "
                "Take weights='auto'."
            )
        return self._answer(enlarge(module, y, peak), module)


@dataclass(frozen=True)
class DeconvolutionNetwork(NetworkMethod):
    """Deblurring by two networks in a row, trained for one kernel (Xu et al. 2014).

    Parameters
    ----------
    weights : str, path or module, default="disk"
        ``"disk"``: for the blur of a lens out of focus by 5 pixels, ``DeconvolutionNetwork().kernel``, and noise of
        sigma 0 to 5 of 255. Or a file of ``pellucid.save``, or a module of a ``DeconvolutionArchitecture``.
    device : str, default="cpu"
        Where it runs; "cuda" is a graphics card.

    Examples
    --------
    >>> DeconvolutionNetwork().kernel.shape
    (11, 11)
    """

    takes: ClassVar[tuple[str, ...]] = ("Blur",)
    kind: ClassVar[type] = DeconvolutionArchitecture
    files: ClassVar[Mapping[str, str]] = MappingProxyType({"disk": "deconvolution_disk"})
    weights: Any = "disk"
    device: str = "cpu"

    @property
    def kernel(self) -> Array:
        """The blur that it undoes."""
        kernel = evidence_of(self.module())["kernel"].astype(np.float64)
        return kernel / kernel.sum()

    def solve(self, y: Array, operator: Operator, sigma: float, peak: float) -> RestoredPlane:
        """Return the deblurred plane."""
        assert isinstance(operator, Blur)  # of what it takes there is no other
        own = self.kernel
        if own.shape != operator.kernel.shape or np.abs(own - operator.kernel).max() > SAME_KERNEL:
            raise ValueError(
                f"kernel must be the one that the network was trained for, of shape {own.shape}, got another of shape "
                f"{operator.kernel.shape}. Take TotalVariation() or PlugAndPlay(DnCNN())."
            )
        module = self.module()
        return self._answer(deblur(module, y, operator, peak), module)
