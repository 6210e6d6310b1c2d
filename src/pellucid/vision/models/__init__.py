"""Networks by their published configuration: each is a value that builds its module."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder, names_without

__all__ = [
    "FCN",
    "VGG",
    "AlexNet",
    "CifarDenseNet",
    "CifarResNet",
    "ContextModule",
    "DenseNet",
    "DilatedNetwork",
    "EfficientNetLite0",
    "EfficientUNet",
    "LeNet5",
    "ResNet",
    "ResNetFCN",
    "UNet",
    "WideResNet",
    "fully_convolutional",
    "imagenet_weights",
    "layer_table",
    "stages",
]

if TYPE_CHECKING:
    from pellucid.vision.models.alexnet import AlexNet
    from pellucid.vision.models.context_module import ContextModule
    from pellucid.vision.models.counted_layers import layer_table
    from pellucid.vision.models.dense_as_convolution import fully_convolutional
    from pellucid.vision.models.densenet import CifarDenseNet, DenseNet
    from pellucid.vision.models.dilated import DilatedNetwork
    from pellucid.vision.models.efficient_unet import EfficientUNet
    from pellucid.vision.models.efficientnet import EfficientNetLite0, imagenet_weights
    from pellucid.vision.models.fcn import FCN
    from pellucid.vision.models.image_network import stages
    from pellucid.vision.models.lenet import LeNet5
    from pellucid.vision.models.resnet import CifarResNet, ResNet
    from pellucid.vision.models.resnet_fcn import ResNetFCN
    from pellucid.vision.models.unet import UNet
    from pellucid.vision.models.vgg import VGG
    from pellucid.vision.models.wide_resnet import WideResNet

__getattr__ = name_finder(__name__)
__all__ = names_without("torch", __all__, __all__)
