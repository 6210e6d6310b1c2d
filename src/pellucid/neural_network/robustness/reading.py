"""Reads a torch module, layer by layer, into the steps whose bounds we know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from pellucid.neural_network.modules.maxout import Maxout
from pellucid.neural_network.robustness.steps import (
    Convolution,
    Dense,
    Maximum,
    Network,
    Rectifier,
    Reshape,
    Scale,
    Shape,
    Step,
)

DOUBLE = torch.float64
READABLE = "Linear, Conv1d, Conv2d, ReLU, LeakyReLU, Maxout, BatchNorm, AvgPool, MaxPool2d, Flatten, Dropout, Identity"


def read_network(module: nn.Module, input_shape: Shape) -> Network:
    """Return the module's steps in float64, as it computes when it does not train.

    A module with one output tells two classes apart by its sign; its scores become 0 and the output.
    """
    steps: list[Step] = []
    shape = input_shape
    for name, layer in _layers(module, type(module).__name__):
        step = _read(layer, name, shape)
        if step is None:
            continue
        before = steps[-1] if steps else None
        if isinstance(step, Scale) and isinstance(before, (Dense, Convolution)):
            step = before.followed_by(step)
            steps.pop()
        steps.append(step)
        shape = step.output_shape
    if shape == (1,):
        steps.append(_dense(torch.tensor([[0.0], [1.0]], dtype=DOUBLE), torch.zeros(2, dtype=DOUBLE)))
        shape = (2,)
    if len(shape) != 1:
        raise ValueError(f"module must give one score per class, got an output of shape {shape}. Flatten it.")
    dtypes = {parameter.dtype for parameter in module.parameters()}
    return Network(tuple(steps), input_shape, shape[0], dtypes.pop() if len(dtypes) == 1 else torch.float32)


def _layers(module: nn.Module, name: str) -> Iterator[tuple[str, nn.Module]]:
    """Yield the layers inside nested sequences, each with its name for error messages."""
    if isinstance(module, nn.Sequential) and type(module).forward is nn.Sequential.forward:
        for key, child in module.named_children():
            yield from _layers(child, f"{type(child).__name__} ({key})")
    else:
        yield name, module


def _read(layer: nn.Module, name: str, shape: Shape) -> Step | None:
    """Return a layer's step, or nothing for one that changes nothing."""
    reader = READERS.get(type(layer))  # not its subclasses, which may compute something else
    if reader is None:
        raise TypeError(f"module must be made of layers whose bounds are known, got {name}. Known are {READABLE}.")
    try:
        return reader(layer, shape)
    except (ValueError, RuntimeError) as error:
        raise ValueError(f"layer {name} cannot be read for inputs of shape {shape}: {error}") from error


def _dense(weight: Tensor, bias: Tensor) -> Dense:
    return Dense((weight.shape[1],), (weight.shape[0],), weight, bias, bias.abs())


def _read_linear(layer: nn.Linear, shape: Shape) -> Step:
    if shape != (layer.in_features,):
        raise ValueError(f"it takes {layer.in_features} numbers.")
    return _dense(_double(layer.weight), _bias(layer, layer.out_features))


def _read_convolution(layer: Any, shape: Shape) -> Step:
    if layer.padding_mode != "zeros":
        raise ValueError(f"its padding is {layer.padding_mode!r}, and only zeros are known.")
    stride, dilation = layer.stride, layer.dilation
    padding = _numbers_of_padding(layer)
    bias = _bias(layer, layer.out_channels).view(-1, *[1] * len(stride))
    output_shape = _output_shape(layer, shape)
    return Convolution(
        shape, output_shape, _double(layer.weight), bias, bias.abs(), stride, padding, dilation, layer.groups
    )


def _numbers_of_padding(layer: Any) -> Shape:
    if not isinstance(layer.padding, str):
        return tuple(layer.padding)
    if layer.padding == "valid":
        return (0,) * len(layer.stride)
    around = [dilation * (size - 1) for dilation, size in zip(layer.dilation, layer.kernel_size, strict=True)]
    if any(width % 2 for width in around):
        raise ValueError("padding 'same' with an even kernel is not the same on both sides.")
    return tuple(width // 2 for width in around)


def _read_average(layer: Any, shape: Shape) -> Step:
    axes = len(shape) - 1
    kernel, stride, padding = (_tuple(number, axes) for number in (layer.kernel_size, layer.stride, layer.padding))
    if layer.ceil_mode or (any(padding) and not layer.count_include_pad):
        raise ValueError("windows that reach over the edge are known only if they count the padding.")
    size = getattr(layer, "divisor_override", None) or prod(kernel)
    return _averages(shape, _output_shape(layer, shape), kernel, stride, padding, size)


def _read_adaptive_average(layer: Any, shape: Shape) -> Step:
    axes = len(shape) - 1
    parts = tuple(whole if part is None else part for part, whole in zip(
        _tuple(layer.output_size, axes), shape[1:], strict=True
    ))  # fmt: skip
    if any(whole % part for whole, part in zip(shape[1:], parts, strict=True)):
        raise ValueError(f"{parts} equal windows do not fill it.")
    kernel = tuple(whole // part for whole, part in zip(shape[1:], parts, strict=True))
    return _averages(shape, (shape[0], *parts), kernel, kernel, (0,) * axes, prod(kernel))


def _averages(shape: Shape, output: Shape, kernel: Shape, stride: Shape, padding: Shape, size: int) -> Convolution:
    """Return averages of windows as a convolution of each channel with equal weights."""
    weight = torch.full((shape[0], 1, *kernel), 1.0 / size, dtype=DOUBLE)
    nothing = torch.zeros((1,) * len(shape), dtype=DOUBLE)
    return Convolution(shape, output, weight, nothing, nothing, stride, padding, (1,) * len(kernel), shape[0])


def _read_normalization(layer: Any, shape: Shape) -> Step:
    if layer.running_mean is None or shape[0] != layer.num_features:
        raise ValueError(f"it normalizes {layer.num_features} channels, by the statistics of its training.")
    ones = torch.ones(layer.num_features, dtype=DOUBLE)
    weight = ones if layer.weight is None else _double(layer.weight)
    bias = 0 * ones if layer.bias is None else _double(layer.bias)
    mean, variance = _double(layer.running_mean), _double(layer.running_var)
    scale = weight / torch.sqrt(variance + layer.eps)
    per_channel = (-1, *[1] * (len(shape) - 1))
    shift, shift_size = bias - mean * scale, bias.abs() + (mean * scale).abs()
    return Scale(shape, shape, *(numbers.view(per_channel) for numbers in (scale, shift, shift_size)))


def _read_max_pool(layer: nn.MaxPool2d, shape: Shape) -> Step:
    if layer.ceil_mode:
        raise ValueError("windows that reach over the edge (ceil_mode) are not known.")
    kernel, stride, padding, dilation = (
        _tuple(number, 2) for number in (layer.kernel_size, layer.stride, layer.padding, layer.dilation)
    )
    places = torch.arange(prod(shape), dtype=DOUBLE).view(1, *shape)
    edged = functional.pad(places, (padding[1], padding[1], padding[0], padding[0]), value=-1.0)
    windows = functional.unfold(edged, kernel, dilation=dilation, stride=stride)  # (1, C * entries, windows)
    windows = windows.view(shape[0], prod(kernel), -1).transpose(1, 2).reshape(-1, prod(kernel)).long()
    return Maximum(shape, _output_shape(layer, shape), windows)


def _read_maxout(layer: Maxout, shape: Shape) -> Step:
    output = (*shape[:-1], shape[-1] // layer.pieces)
    return Maximum(shape, output, torch.arange(prod(shape)).view(-1, layer.pieces))


def _read_flatten(layer: nn.Flatten, shape: Shape) -> Step:
    return Reshape(shape, _output_shape(layer, shape))


def _read_leaky(layer: nn.LeakyReLU, shape: Shape) -> Step:
    if not 0 <= layer.negative_slope <= 1:
        raise ValueError(f"its slope is {layer.negative_slope}, and slopes between 0 and 1 are known.")
    return Rectifier(shape, float(layer.negative_slope))


def _output_shape(layer: nn.Module, shape: Shape) -> Shape:
    """Return the shape that torch itself gives, computed without numbers."""
    example = torch.empty((1, *shape), device="meta")
    parameters = {name: torch.empty_like(value, device="meta") for name, value in layer.state_dict().items()}
    return tuple(torch.func.functional_call(layer, parameters, (example,)).shape[1:])


def _double(parameter: Tensor) -> Tensor:
    return parameter.detach().cpu().to(DOUBLE)


def _bias(layer: Any, size: int) -> Tensor:
    return torch.zeros(size, dtype=DOUBLE) if layer.bias is None else _double(layer.bias)


def _tuple(number: Any, axes: int) -> Shape:
    return (number,) * axes if isinstance(number, int) else tuple(number)


READERS: dict[type[nn.Module], Callable[[Any, Shape], Step | None]] = {
    nn.Linear: _read_linear,
    nn.Conv1d: _read_convolution,
    nn.Conv2d: _read_convolution,
    nn.ReLU: lambda _layer, shape: Rectifier(shape, 0.0),
    nn.LeakyReLU: _read_leaky,
    Maxout: _read_maxout,
    nn.BatchNorm1d: _read_normalization,
    nn.BatchNorm2d: _read_normalization,
    nn.AvgPool1d: _read_average,
    nn.AvgPool2d: _read_average,
    nn.AdaptiveAvgPool1d: _read_adaptive_average,
    nn.AdaptiveAvgPool2d: _read_adaptive_average,
    nn.MaxPool2d: _read_max_pool,
    nn.Flatten: _read_flatten,
    **dict.fromkeys((nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Identity), lambda _layer, _shape: None),
}
