"""The convolution layer: every output channel is a sum of cross-correlations of input channels, plus its bias."""

from __future__ import annotations

import numpy as np

from pellucid.core.checks import check_whole
from pellucid.core.types import Array, Data
from pellucid.neural_network.convolution.windows import PerAxis, as_numbers, padded, per_axis, windows


def convolution_layer(
    x: Data,
    kernels: Data,
    bias: Data = None,
    *,
    stride: PerAxis = 1,
    padding: PerAxis = 0,
    dilation: PerAxis = 1,
    groups: int = 1,
) -> Array:
    r"""Return the outputs of a convolution layer, for signals, images or volumes.

    .. math:: y[b, o, i] = \beta[o] + \sum_c \sum_k x[b, c, s\,i + d\,k - p]\; w[o, c, k]

    Parameters
    ----------
    x : array-like of shape (B, C, ...)
        A batch of inputs with channels and one, two or more axes of space.
    kernels : array-like of shape (O, C / groups, ...)
        A kernel for each output channel and each input channel of its group.
    bias : array-like of shape (O,), default=None
        Added to each output channel.
    stride, padding, dilation : int or tuple of int, default=1, 0, 1
        Steps between windows, zeros around the input, and steps inside a window.
    groups : int, default=1
        The channels are split into as many groups, which do not see each other.

    Returns
    -------
    ndarray of shape (B, O, ...)
        Along each axis, :math:`\lfloor (n + 2p - d(k - 1) - 1) / s \rfloor + 1` long.

    Examples
    --------
    >>> image = np.arange(9).reshape(1, 1, 3, 3)
    >>> convolution_layer(image, np.ones((1, 1, 2, 2), dtype=int), [100])
    array([[[[108, 112],
             [120, 124]]]])
    """
    x, kernels = as_numbers(x, "x"), as_numbers(kernels, "kernels")
    axes = check_layer(x, kernels, groups, shared_axis=1)
    s, d = per_axis(stride, axes, "stride"), per_axis(dilation, axes, "dilation")
    p = per_axis(padding, axes, "padding", low=0)
    view = windows(padded(x, p), kernels.shape[2:], s, d)  # (B, C, positions..., window...)
    summed = [1, *range(view.ndim - axes, view.ndim)], [1, *range(2, kernels.ndim)]
    pairs = zip(np.split(view, groups, axis=1), np.split(kernels, groups, axis=0), strict=True)
    outputs = [np.tensordot(part, weights, axes=summed) for part, weights in pairs]  # (B, positions..., O / groups)
    return with_bias(np.moveaxis(np.concatenate(outputs, axis=-1), -1, 1), bias)  # (B, O, positions...)


def check_layer(x: Array, kernels: Array, groups: int, shared_axis: int) -> int:
    """Refuse shapes that do not fit, and return the number of axes of space.

    ``shared_axis`` is where the kernels have the channels of the input: 1, or 0 for a transposed layer.
    """
    check_whole(groups=groups)
    if x.ndim < 3 or x.ndim != kernels.ndim:
        raise ValueError(
            f"x and kernels must both have batch or outputs, channels, and as many axes of space as each other, got "
            f"shapes {x.shape} and {kernels.shape}."
        )
    wanted = x.shape[1] // groups if shared_axis == 1 else x.shape[1]
    if x.shape[1] % groups or kernels.shape[0] % groups or kernels.shape[shared_axis] != wanted:
        raise ValueError(
            f"kernels must fit the {x.shape[1]} channels of x in {groups} groups, got kernels of shape {kernels.shape}."
        )
    return x.ndim - 2


def with_bias(y: Array, bias: Data) -> Array:
    """Return the outputs with the bias of their channel added."""
    if bias is None:
        return y
    added = as_numbers(bias, "bias")
    if added.shape != (y.shape[1],):
        raise ValueError(f"bias must have one number for each of {y.shape[1]} outputs, got shape {added.shape}.")
    return y + added.reshape(-1, *[1] * (y.ndim - 2))
