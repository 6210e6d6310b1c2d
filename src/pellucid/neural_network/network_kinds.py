"""How networks stand in a file: architecture and augmentation by name and settings, weights as arrays by name.

This file loads without torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pellucid.core.files.schema import Schema
from pellucid.core.kinds.arrays import FLOATS, Numbers
from pellucid.core.kinds.collections import Lookup
from pellucid.core.kinds.pages import NotSaveableError, SchemaError
from pellucid.core.kinds.plain import Text
from pellucid.core.kinds.records import ConfiguredByName
from pellucid.core.public_names import needs_extra
from pellucid.neural_network.architecture import Architecture

ARCHITECTURES = {
    "AlexNet": "pellucid.vision.models.alexnet",
    "CifarDenseNet": "pellucid.vision.models.densenet",
    "CifarResNet": "pellucid.vision.models.resnet",
    "ContextModule": "pellucid.vision.models.context_module",
    "DeconvolutionArchitecture": "pellucid.vision.restoration.networks.deconvolution_network",
    "DenseNet": "pellucid.vision.models.densenet",
    "DenseNetwork": "pellucid.neural_network.dense_network",
    "DilatedNetwork": "pellucid.vision.models.dilated",
    "DnCNNNetwork": "pellucid.vision.restoration.networks.dncnn_network",
    "EfficientNetLite0": "pellucid.vision.models.efficientnet",
    "EfficientUNet": "pellucid.vision.models.efficient_unet",
    "FCN": "pellucid.vision.models.fcn",
    "FastRCNN": "pellucid.vision.detection.networks.region_detectors",
    "FasterRCNN": "pellucid.vision.detection.networks.region_detectors",
    "LeNet5": "pellucid.vision.models.lenet",
    "Localizer": "pellucid.vision.detection.networks.localizer",
    "MaskRCNN": "pellucid.vision.detection.networks.region_detectors",
    "RCNN": "pellucid.vision.detection.networks.region_detectors",
    "ResNet": "pellucid.vision.models.resnet",
    "ResNetFCN": "pellucid.vision.models.resnet_fcn",
    "RetinaNet": "pellucid.vision.detection.networks.retinanet",
    "SRCNNNetwork": "pellucid.vision.restoration.networks.srcnn_network",
    "SSD": "pellucid.vision.detection.networks.ssd",
    "UNet": "pellucid.vision.models.unet",
    "VGG": "pellucid.vision.models.vgg",
    "WideResNet": "pellucid.vision.models.wide_resnet",
    "YOLO": "pellucid.vision.detection.networks.yolo",
}
AUGMENTATIONS = {
    "Crop": "pellucid.vision.augmentation.augmentations",
    "CutOut": "pellucid.vision.augmentation.augmentations",
    "Flip": "pellucid.vision.augmentation.augmentations",
    "MixUp": "pellucid.vision.augmentation.augmentations",
    "Shift": "pellucid.vision.augmentation.augmentations",
}

ARCHITECTURE = ConfiguredByName("architecture", ARCHITECTURES)
AUGMENTATION = ConfiguredByName("augmentation", AUGMENTATIONS)
"""One step; several are done one after the other."""

WEIGHTS = Lookup(Numbers(None, (*FLOATS, "int64")), key=Text())
"""A state dict as arrays: batch normalization counts its batches in whole numbers."""


@dataclass(frozen=True)
class NetworkSchema(Schema):
    """Takes a module that knows its ``architecture``, or a pair ``(architecture, module)``; returns the module."""

    def describes(self, model: Any) -> bool:
        """Return whether the model is a network, whatever the class of its module."""
        architecture, module = _architecture_and_module(model)
        return isinstance(architecture, Architecture) and hasattr(module, "state_dict")

    def check_fitted(self, model: Any) -> None:
        """Take every network: one with random weights can be saved too."""

    def take_apart(self, model: Any) -> tuple[Mapping[str, Any], Mapping[str, Any], Any]:
        """Return architecture and weights; refuse weights that this architecture cannot have."""
        from pellucid.neural_network.modules.network_weights import check_weights, empty_module, weights_of

        architecture, module = _architecture_and_module(model)
        weights = weights_of(module)
        try:
            check_weights(empty_module(architecture), weights)
        except ValueError as error:
            raise NotSaveableError(f"a network must have the weights of {architecture!r}: {error}") from error
        return {"architecture": architecture}, {"weights": weights}, None

    def assemble(self, parameters: Mapping[str, Any], attributes: Mapping[str, Any] | None, output: Any) -> Any:
        """Return the module, in test mode."""
        if attributes is None or output is not None:
            raise SchemaError("a network must have weights, and nothing to say about frames.")
        with needs_extra("a network"):
            from pellucid.neural_network.modules.network_weights import module_from
        try:
            return module_from(parameters["architecture"], attributes["weights"])
        except ValueError as error:
            raise SchemaError(f"a network must have the weights of its architecture: {error}") from error


def _architecture_and_module(model: Any) -> tuple[Any, Any]:
    if isinstance(model, tuple):
        return model if len(model) == 2 else (None, None)
    return getattr(model, "architecture", None), model


SCHEMAS = (
    NetworkSchema("Network", __name__, parameters={"architecture": ARCHITECTURE}, attributes={"weights": WEIGHTS}),
)
