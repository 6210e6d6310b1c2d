"""What each basic operation of torch (*aten*) that we know is as a step: its readers, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from pellucid.core.types import Array
from pellucid.proofs.neural_network.network_steps import (
    ConvolutionStep,
    DenseStep,
    MaximumStep,
    NetworkStep,
    RearrangementStep,
    RectifierStep,
    ScalingStep,
    Shape,
    SumStep,
)

READABLE = "linear maps, convolutions, ReLU, leaky ReLU, maxima, averages, batch normalization, sums, new shapes"


@dataclass(frozen=True)
class Operation:
    """A basic operation of torch with its arguments: from earlier steps, the first of ``shape``, to ``output``."""

    func: Any
    args: Any
    kwargs: dict[str, Any]
    sources: tuple[int, ...]
    places: tuple[int, ...]  # of the arguments that come from the input
    n_examples: int
    shape: Shape
    output: Shape

    @property
    def name(self) -> str:
        """What torch calls it."""
        return str(self.func.overloadpacket.__name__)


def _read_product(operation: Operation) -> NetworkStep:
    """Read ``addmm(bias, rows, matrix)`` and ``mm(rows, matrix)``."""
    *bias, _, matrix = operation.args
    if len(operation.shape) != 1 or operation.kwargs or (bias and bias[0].dim() != 1):
        raise ValueError("only a product with constant weights is known.")
    weight = _double(matrix).T
    return DenseStep(
        operation.sources, operation.output, weight, _double(bias[0]) if bias else np.zeros(operation.output)
    )


def _read_convolution(operation: Operation) -> NetworkStep:
    _, weight, bias, stride, padding, dilation, transposed, _, groups = operation.args
    if transposed or len(operation.shape) not in (2, 3):
        raise ValueError("only convolutions over one or two axes with constant weights are known.")
    weights = _double(weight)
    return ConvolutionStep(
        operation.sources,
        operation.output,
        weights[:, :, None] if len(operation.shape) == 2 else weights,
        np.zeros(operation.output[0]) if bias is None else _double(bias),
        _image(operation.shape),
        _image(operation.output),
        (1, *stride)[-2:],
        (0, *padding)[-2:],
        (1, *dilation)[-2:],
        groups,
    )


def _image(shape: Shape) -> Shape:
    return (shape[0], 1, shape[1]) if len(shape) == 2 else shape


def _read_average(operation: Operation) -> NetworkStep:
    settings = dict(
        zip(("input", "kernel", "stride", "padding", "ceil", "padded", "size"), operation.args, strict=False)
    )
    kernel, padding = tuple(settings["kernel"]), tuple(settings.get("padding", (0, 0)))
    if settings.get("ceil") or (any(padding) and not settings.get("padded", True)):
        raise ValueError("windows that reach over the edge are known only if they count the padding.")
    size = settings.get("size") or prod(kernel)
    return _averages(
        operation.sources,
        operation.shape,
        operation.output,
        kernel,
        tuple(settings.get("stride") or kernel),
        _pair(padding),
        size,
    )


def _read_equal_averages(operation: Operation) -> NetworkStep:
    """Read averages that divide an image into equal parts, whose number is known from the output."""
    kernel = tuple(whole // part for whole, part in zip(operation.shape[1:], operation.output[1:], strict=True))
    if any(whole % part for whole, part in zip(operation.shape[1:], operation.output[1:], strict=True)):
        raise ValueError(f"{operation.output[1:]} equal windows do not fill it.")
    return _averages(operation.sources, operation.shape, operation.output, kernel, kernel, (0, 0), prod(kernel))


def _read_mean(operation: Operation) -> NetworkStep:
    axes = sorted(axis % (len(operation.shape) + 1) for axis in operation.args[1])
    if len(operation.shape) != 3 or axes != [2, 3]:
        raise ValueError("only the mean of whole images is known.")
    return _averages(
        operation.sources,
        operation.shape,
        operation.output,
        operation.shape[1:],
        operation.shape[1:],
        (0, 0),
        prod(operation.shape[1:]),
    )


def _averages(
    sources: Any, shape: Shape, output: Shape, kernel: Shape, stride: Shape, padding: Shape, size: int
) -> NetworkStep:
    """Return averages of windows as a convolution of each channel with equal weights."""
    weight = np.full((shape[0], 1, *kernel), 1.0 / size)
    image = (
        shape[0],
        *((n + 2 * p - k) // s + 1 for n, p, k, s in zip(shape[1:], padding, kernel, stride, strict=True)),
    )
    return ConvolutionStep(sources, output, weight, np.zeros(shape[0]), shape, image, stride, padding, (1, 1), shape[0])


def _read_normalization(operation: Operation) -> NetworkStep:
    _, weight, bias, mean, variance, is_training, _, eps = operation.args
    if is_training or mean is None:
        raise ValueError("it must normalize by the statistics of its training.")
    scale = (1.0 if weight is None else _double(weight)) / np.sqrt(_double(variance) + eps)
    moved = _double(mean) * scale
    bias = np.zeros_like(moved) if bias is None else _double(bias)
    return _scaling(
        operation.sources,
        operation.shape,
        *(_per_channel(v, operation.shape) for v in (scale, bias - moved, abs(bias) + abs(moved))),
    )


def _per_channel(values: Array, shape: Shape) -> Array:
    return np.broadcast_to(values.reshape(-1, *(1 for _ in shape[1:])), shape)


def _scaling(sources: Any, shape: Shape, weight: Array, shift: Array, shift_size: Array) -> NetworkStep:
    return ScalingStep(sources, shape, *(np.broadcast_to(v, shape).reshape(-1) for v in (weight, shift, shift_size)))


def _read_constant(operation: Operation) -> NetworkStep:
    """Read the product with a constant, which must be the same for all rows."""
    constant = operation.args[1 - operation.places[0]]
    if operation.output != operation.shape or (torch.is_tensor(constant) and constant.dim() > len(operation.shape)):
        raise ValueError("only the product with a constant that is the same for all rows is known.")
    weight = _double(torch.as_tensor(constant))
    return _scaling(operation.sources, operation.shape, weight, np.zeros(()), np.zeros(()))


def _read_sum(operation: Operation) -> NetworkStep:
    if (
        len(operation.sources) != 2
        or operation.args[0].shape != operation.args[1].shape
        or operation.kwargs.get("alpha", 1) != 1
    ):
        raise ValueError("only the sum of two values of one shape is known.")
    return SumStep(operation.sources, operation.output)


def _read_max_pool(operation: Operation) -> NetworkStep:
    settings = dict(zip(("input", "kernel", "stride", "padding", "dilation", "ceil"), operation.args, strict=False))
    if settings.get("ceil"):
        raise ValueError("windows that reach over the edge (ceil_mode) are not known.")
    kernel, padding = _pair(settings["kernel"]), _pair(settings.get("padding", 0))
    stride, dilation = _pair(settings.get("stride") or kernel), _pair(settings.get("dilation", 1))
    places = torch.arange(prod(operation.shape), dtype=torch.float64).view(1, *operation.shape)
    edged = functional.pad(places, (padding[1], padding[1], padding[0], padding[0]), value=-1.0)
    windows = functional.unfold(edged, kernel, dilation=dilation, stride=stride)  # (1, C * entries, windows)
    windows = windows.view(operation.shape[0], prod(kernel), -1).transpose(1, 2).reshape(-1, prod(kernel)).long()
    return MaximumStep(operation.sources, operation.output, windows.numpy())


def _pair(number: Any) -> Shape:
    numbers = (number,) if isinstance(number, int) else tuple(number)
    return numbers * 2 if len(numbers) == 1 else numbers


def _read_maximum(operation: Operation) -> NetworkStep:
    """Read the maximum over the last axis."""
    if len(operation.args[1]) != 1 or operation.args[1][0] % (len(operation.shape) + 1) != len(operation.shape):
        raise ValueError("only the maximum over the last axis is known.")
    return MaximumStep(
        operation.sources, operation.output, np.arange(prod(operation.shape)).reshape(-1, operation.shape[-1])
    )


def _read_rectifier(operation: Operation) -> NetworkStep:
    return RectifierStep(operation.sources, operation.output, 0.0)


def _read_leaky(operation: Operation) -> NetworkStep:
    slope = float(operation.args[1]) if len(operation.args) > 1 else 0.01
    if not 0 <= slope <= 1:
        raise ValueError(f"its slope is {slope}, and slopes between 0 and 1 are known.")
    return RectifierStep(operation.sources, operation.output, slope)


def _read_rearrangement(operation: Operation) -> NetworkStep:
    """Apply the operation itself to the numbers of the places, from 1; padding is then 0."""
    if operation.name == "constant_pad_nd" and [*operation.args, 0][2] != 0:
        raise ValueError("only padding with zeros is known.")
    n = prod(operation.shape)
    numbered = torch.arange(1.0, operation.n_examples * n + 1, dtype=torch.float64)
    moved = operation.func(
        numbered.view(operation.n_examples, *operation.shape), *operation.args[1:], **operation.kwargs
    ).reshape(operation.n_examples, -1)
    first = n * torch.arange(operation.n_examples)[:, None]  # the number before the first of each row
    places = torch.where(moved > 0, moved - first, 0.0)
    kept = places[0][places[0] > 0]
    if not torch.equal(places, places[:1].expand_as(places)) or len(kept.unique()) < len(kept) or (kept > n).any():
        raise ValueError("it mixes rows, or takes a value twice.")
    return RearrangementStep(operation.sources, operation.output, places[0].long().numpy() - 1)


def _double(values: Tensor) -> Array:
    return values.detach().cpu().double().numpy()


IN_PLACE = ("relu_", "leaky_relu_", "add_", "mul_")
"""Steps that may put their result in the place of their first argument."""
FROM_INPUT: dict[str, tuple[tuple[int, ...], ...]] = {
    "addmm": ((1,),),
    "mul": ((0,), (1,)),
    "add": ((0,), (1,), (0, 1)),
}
"""Which arguments of an operation may come from the input, if not the first alone."""
REARRANGING = (
    "view _unsafe_view reshape unsqueeze squeeze slice constant_pad_nd permute transpose alias clone detach select"
)
READERS: dict[str, Callable[..., NetworkStep]] = {
    "addmm": _read_product,
    "mm": _read_product,
    "convolution": _read_convolution,
    "avg_pool2d": _read_average,
    "_adaptive_avg_pool2d": _read_equal_averages,
    "mean": _read_mean,
    "native_batch_norm": _read_normalization,
    "mul": _read_constant,
    "add": _read_sum,
    "max_pool2d_with_indices": _read_max_pool,
    "amax": _read_maximum,
    "relu": _read_rectifier,
    "leaky_relu": _read_leaky,
    **dict.fromkeys(REARRANGING.split(), _read_rearrangement),
}
