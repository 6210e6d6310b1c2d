"""Networks by their published configuration: each is a value that builds its module."""

from typing import TYPE_CHECKING

from pellucid.core.extras import names_without
from pellucid.core.public_names import name_finder

__all__ = [
    "FCN",
    "VGG",
    "AlexNet",
    "CifarDenseNet",
    "CifarResNet",
    "ContextModule",
    "DenseNet",
    "LeNet5",
    "ResNet",
    "UNet",
    "WideResNet",
    "layer_table",
    "stages",
]

if TYPE_CHECKING:
    from pellucid.vision.models.alexnet import AlexNet
    from pellucid.vision.models.cifar_resnet import CifarResNet
    from pellucid.vision.models.context_module import ContextModule
    from pellucid.vision.models.densenet import CifarDenseNet, DenseNet
    from pellucid.vision.models.fcn import FCN
    from pellucid.vision.models.image_network import stages
    from pellucid.vision.models.layer_table import layer_table
    from pellucid.vision.models.lenet import LeNet5
    from pellucid.vision.models.resnet import ResNet
    from pellucid.vision.models.unet import UNet
    from pellucid.vision.models.vgg import VGG
    from pellucid.vision.models.wide_resnet import WideResNet

# every file of this room imports torch, so each is imported on first use
HOMES = {
    "FCN": "pellucid.vision.models.fcn",
    "VGG": "pellucid.vision.models.vgg",
    "AlexNet": "pellucid.vision.models.alexnet",
    "CifarDenseNet": "pellucid.vision.models.densenet",
    "CifarResNet": "pellucid.vision.models.cifar_resnet",
    "ContextModule": "pellucid.vision.models.context_module",
    "DenseNet": "pellucid.vision.models.densenet",
    "LeNet5": "pellucid.vision.models.lenet",
    "ResNet": "pellucid.vision.models.resnet",
    "UNet": "pellucid.vision.models.unet",
    "WideResNet": "pellucid.vision.models.wide_resnet",
    "layer_table": "pellucid.vision.models.layer_table",
    "stages": "pellucid.vision.models.image_network",
}
__getattr__ = name_finder(__name__, HOMES)
__all__ = names_without("torch", __all__, HOMES)
