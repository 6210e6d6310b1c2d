"""Networks that restore images, their weights and the scripts that made them."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder, names_without

__all__ = [
    "DeconvolutionArchitecture",
    "DnCNNNetwork",
    "SRCNNNetwork",
    "disk_kernel",
    "fused",
    "gaussian_kernel",
]

if TYPE_CHECKING:
    from pellucid.vision.restoration.networks.deconvolution_network import (
        DeconvolutionArchitecture,
        disk_kernel,
        gaussian_kernel,
    )
    from pellucid.vision.restoration.networks.dncnn_network import DnCNNNetwork, fused
    from pellucid.vision.restoration.networks.srcnn_network import SRCNNNetwork

__getattr__ = name_finder(__name__)
__all__ = names_without("torch", __all__, __all__)
