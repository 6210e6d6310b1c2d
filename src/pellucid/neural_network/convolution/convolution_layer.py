"""The convolution layer: every output channel is a sum of cross-correlations of input channels, plus its bias."""

from __future__ import annotations

import numpy as np

from pellucid.core.checks import check_whole
from pellucid.core.types import Array, Data
from pellucid.neural_network.convolution.windows import PerAxis, as_numbers, on_last_axes, padded, per_axis, windows


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


def transposed_convolution(
    x: Data,
    kernels: Data,
    bias: Data = None,
    *,
    stride: PerAxis = 1,
    padding: PerAxis = 0,
    output_padding: PerAxis = 0,
    dilation: PerAxis = 1,
    groups: int = 1,
) -> Array:
    r"""Return the outputs of a transposed convolution layer, which makes small maps large.

    It is the transpose of the matrix of a convolution layer with the same settings, not its inverse:

    .. math:: y[b, o, s\,i + d\,k - p] \mathrel{+}= x[b, c, i]\; w[c, o, k]

    Parameters
    ----------
    x : array-like of shape (B, C, ...)
        A batch of inputs.
    kernels : array-like of shape (C, O / groups, ...)
        A kernel for each input channel and each output channel of its group.
    bias : array-like of shape (O,), default=None
        Added to each output channel.
    stride, padding, dilation : int or tuple of int, default=1, 0, 1
        Of the convolution that this one transposes: ``padding`` is cut off the output.
    output_padding : int or tuple of int, default=0
        Entries added at the end of each axis, fewer than stride or dilation: several lengths convolve to one.
    groups : int, default=1
        The channels are split into as many groups, which do not see each other.

    Returns
    -------
    ndarray of shape (B, O, ...)
        Along each axis, :math:`(n - 1) s - 2p + d(k - 1) + 1` long, plus ``output_padding``.

    Examples
    --------
    >>> transposed_convolution([[[1, 2]]], [[[1, 10, 100]]], stride=2)
    array([[[  1,  10, 102,  20, 200]]])
    """
    x, kernels = as_numbers(x, "x"), as_numbers(kernels, "kernels")
    axes = check_layer(x, kernels, groups, shared_axis=0)
    s, d = per_axis(stride, axes, "stride"), per_axis(dilation, axes, "dilation")
    p, more = (per_axis(padding, axes, "padding", low=0), per_axis(output_padding, axes, "output_padding", low=0))
    sizes = _full_sizes(x.shape[2:], kernels.shape[2:], s, d, more)
    pairs = zip(np.split(x, groups, axis=1), np.split(kernels, groups, axis=0), strict=True)
    full = np.concatenate([_stamped(part, weights, s, d, sizes) for part, weights in pairs], axis=1)  # (B, O, ...)
    kept = (slice(cut, size - cut) for cut, size in zip(p, sizes, strict=True))
    if any(size <= 2 * cut for cut, size in zip(p, sizes, strict=True)):
        raise ValueError(f"padding must leave some of the output of sizes {sizes}, got {padding!r}. Lower it.")
    return with_bias(full[on_last_axes(kept)], bias)


def _full_sizes(
    lengths: tuple[int, ...], kernel: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...],
    more: tuple[int, ...],
) -> tuple[int, ...]:  # fmt: skip
    """Return the sizes of the output before the padding is cut off."""
    if any(extra >= max(s, d) for extra, s, d in zip(more, stride, dilation, strict=True)):
        raise ValueError(f"output_padding must be below stride {stride} or dilation {dilation}, got {more}.")
    each = zip(lengths, kernel, stride, dilation, more, strict=True)
    return tuple((n - 1) * s + d * (k - 1) + 1 + extra for n, k, s, d, extra in each)


def _stamped(
    x: Array, kernels: Array, stride: tuple[int, ...], dilation: tuple[int, ...], sizes: tuple[int, ...]
) -> Array:
    """Return the sum of all stamps: one kernel entry at a time, for all inputs at once."""
    y = np.zeros((x.shape[0], kernels.shape[1], *sizes), dtype=np.result_type(x, kernels))  # (B, O, ...)
    for place in np.ndindex(kernels.shape[2:]):
        each = zip(place, dilation, stride, x.shape[2:], strict=True)
        spots = tuple(slice(k * d, k * d + s * (n - 1) + 1, s) for k, d, s, n in each)
        scaled = np.tensordot(x, kernels[on_last_axes(place)], axes=(1, 0))  # (B, ..., O)
        y[on_last_axes(spots)] += np.moveaxis(scaled, -1, 1)
    return y
