"""How networks stand in a file: architecture and augmentation by name and settings, weights as arrays by name.

This file loads without torch.
"""

from __future__ import annotations

from pellucid.kinds.arrays import FLOATS, Numbers
from pellucid.kinds.collections import Lookup
from pellucid.kinds.configured import ConfiguredByName
from pellucid.kinds.plain import Text

ARCHITECTURES = {
    "AlexNet": "pellucid.vision.models.alexnet",
    "CifarDenseNet": "pellucid.vision.models.densenet",
    "CifarResNet": "pellucid.vision.models.cifar_resnet",
    "ContextModule": "pellucid.vision.models.context_module",
    "DenseNet": "pellucid.vision.models.densenet",
    "DenseNetwork": "pellucid.neural_network.dense_network",
    "FCN": "pellucid.vision.models.fcn",
    "LeNet5": "pellucid.vision.models.lenet",
    "ResNet": "pellucid.vision.models.resnet",
    "UNet": "pellucid.vision.models.unet",
    "VGG": "pellucid.vision.models.vgg",
    "WideResNet": "pellucid.vision.models.wide_resnet",
}
AUGMENTATIONS = {
    "Crop": "pellucid.vision.augmentation.windows",
    "CutOut": "pellucid.vision.augmentation.cut_out",
    "Flip": "pellucid.vision.augmentation.flip",
    "MixUp": "pellucid.vision.augmentation.mix_up",
    "Shift": "pellucid.vision.augmentation.windows",
}

ARCHITECTURE = ConfiguredByName("architecture", ARCHITECTURES)
AUGMENTATION = ConfiguredByName("augmentation", AUGMENTATIONS)
"""One step; several are done one after the other."""

WEIGHTS = Lookup(Numbers(None, (*FLOATS, "int64")), key=Text())
"""A state dict as arrays: batch normalization counts its batches in whole numbers."""
