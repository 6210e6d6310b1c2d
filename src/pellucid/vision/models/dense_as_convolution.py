"""A classifier of windows as a network of whole images: dense layers become convolutions with the same weights."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

LOCAL = (nn.Conv2d, nn.MaxPool2d, nn.AvgPool2d)
"""Layers that see a square of their input, and move over it."""

POINTWISE = (
    *(nn.ReLU, nn.ReLU6, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Sigmoid, nn.Tanh, nn.Softplus, nn.Identity),
    *(nn.BatchNorm2d, nn.Dropout, nn.Dropout2d, nn.Softmax, nn.LogSoftmax),
)
"""Layers that do the same at every pixel."""


def fully_convolutional(module: nn.Module, window: int | tuple[int, int]) -> nn.Sequential:
    """Return a network that gives images of any size the scores of all their windows, in one pass.

    A dense layer behind a flattening sees all of its maps at once, which is a convolution as large as they are; those
    behind it see one pixel. Position (i, j) of the scores is the window whose corner is at (i s, j s), where s is
    ``total_stride`` of the result. In test mode the scores are those that the module gives each window, to rounding. If
    strides leave the last rows of a window unseen, there are scores of windows that reach beyond the image by those.

    Parameters
    ----------
    module : torch module
        A ``nn.Sequential`` (of others, if you like), or a network with ``features``, ``avgpool`` and ``classifier``. It
        must not pad: at its border a window would see zeros where the image has pixels.
    window : int or (height, width)
        What the module takes.

    Examples
    --------
    >>> patches = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(4 * 3 * 3, 2))
    >>> whole = fully_convolutional(patches, 8)
    >>> whole[-1], whole(torch.zeros(1, 1, 20, 12)).shape
    (Conv2d(4, 2, kernel_size=(3, 3), stride=(1, 1)), torch.Size([1, 2, 7, 3]))
    """
    height, width = (window, window) if isinstance(window, int) else window
    layers: list[nn.Module] = []
    maps = torch.zeros(1, _channels(module, height * width), height, width, device="meta")
    for layer in _layers(module):
        if isinstance(layer, nn.Flatten):
            continue
        moved = _moved(layer, (maps.shape[-2], maps.shape[-1]))
        for one in moved:
            maps = copy.deepcopy(one).to("meta", torch.float32).eval()(maps)  # shapes alone
        layers += moved
    return nn.Sequential(*layers).train(module.training)


def _layers(module: nn.Module) -> Iterator[nn.Module]:
    """Yield the layers of a module in the order in which they act."""
    parts = ("features", "avgpool", "classifier")
    if isinstance(module, nn.Sequential):
        for child in module:
            yield from _layers(child)
    elif all(hasattr(module, part) for part in parts):
        yield from _layers(module.get_submodule("features"))
        yield from (module.get_submodule("avgpool"), nn.Flatten())
        yield from _layers(module.get_submodule("classifier"))
    else:
        yield module


def _channels(module: nn.Module, pixels: int) -> int:
    """Return how many channels a module takes, by its first layer with weights."""
    for layer in _layers(module):
        if isinstance(layer, nn.Conv2d):
            return layer.in_channels
        if isinstance(layer, nn.Linear):
            return layer.in_features // pixels
    raise ValueError("module must have a layer with weights, got none.")


def _moved(layer: nn.Module, maps: tuple[int, int]) -> list[nn.Module]:
    """Return what does at every place of an image what the layer does in a window whose maps are so large."""
    if isinstance(layer, nn.Linear):
        return [as_convolution(layer, maps)]
    if isinstance(layer, nn.BatchNorm1d):
        normalization = nn.BatchNorm2d(layer.num_features, layer.eps, layer.momentum, layer.affine)
        return [_with_state_of(layer, normalization)]
    if isinstance(layer, nn.AdaptiveAvgPool2d) and _keeps(layer, maps):
        return []  # every pixel is its own mean
    if isinstance(layer, LOCAL):
        _refuse_padding(layer)
        return [copy.deepcopy(layer)]
    if isinstance(layer, POINTWISE):
        return [copy.deepcopy(layer)]
    raise ValueError(
        "a layer must be a convolution, a pooling, dense or pointwise to move over an image, "
        f"got {type(layer).__name__}. Write the classifier as nn.Sequential of such layers."
    )


def _with_state_of(layer: nn.Module, other: nn.Module) -> nn.Module:
    first = next(iter(layer.state_dict().values()))
    other.to(first.device, first.dtype).load_state_dict(layer.state_dict())
    return other


def _keeps(layer: nn.AdaptiveAvgPool2d, maps: tuple[int, int]) -> bool:
    size = layer.output_size
    return (tuple(size) if isinstance(size, Sequence) else (size, size)) == maps


def _refuse_padding(layer: nn.Module) -> None:
    padding = layer.padding if isinstance(layer.padding, tuple) else (layer.padding,)
    if any(padding) and padding != ("valid",):
        raise ValueError(
            f"a layer must not pad to give windows the same scores, got {layer}: at the border of a window it sees "
            "zeros, and in the image the pixels beside it. Use padding=0."
        )
    if getattr(layer, "ceil_mode", False):
        raise ValueError(f"a layer must not look beyond its maps, got {layer}. Use ceil_mode=False.")


def as_convolution(layer: nn.Linear, size: tuple[int, int]) -> nn.Conv2d:
    """Return the convolution of a size that is a dense layer behind flattened maps of that size, with its weights.

    Examples
    --------
    >>> as_convolution(nn.Linear(18, 5), (3, 3))
    Conv2d(2, 5, kernel_size=(3, 3), stride=(1, 1))
    """
    found = nn.Conv2d(layer.in_features // (size[0] * size[1]), layer.out_features, size, bias=layer.bias is not None)
    state = {"weight": convolution_weight(layer.weight, size)}
    found.load_state_dict(state if layer.bias is None else {**state, "bias": layer.bias})
    return found.to(layer.weight.device, layer.weight.dtype)


def convolution_weight(weight: Tensor, size: tuple[int, int]) -> Tensor:
    """Return the weights of a dense layer behind flattened maps as those of a convolution: (out, maps, *size)."""
    outputs, inputs = weight.shape
    if inputs % (size[0] * size[1]):
        raise ValueError(f"a dense layer must take maps of {size[0]} x {size[1]}, got {inputs} inputs.")
    return weight.reshape(outputs, -1, *size)


def total_stride(module: nn.Module) -> tuple[int, int]:
    """Return by how many pixels of the image neighboring scores are apart, down and across.

    Examples
    --------
    >>> total_stride(nn.Sequential(nn.Conv2d(1, 4, 3, stride=2), nn.MaxPool2d(2)))
    (4, 4)
    """
    down = across = 1
    for layer in _layers(module):
        if isinstance(layer, LOCAL):
            stride = layer.stride if isinstance(layer.stride, tuple) else (layer.stride, layer.stride)
            down, across = down * stride[0], across * stride[1]
    return down, across
