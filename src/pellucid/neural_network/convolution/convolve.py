"""Convolution and cross-correlation of two arrays, and the system that convolution describes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pellucid.core.checks import check_whole
from pellucid.core.types import Array, Data
from pellucid.neural_network.convolution.windows import PerAxis, as_numbers, padded, per_axis, windows


def convolve(x: Data, h: Data) -> Array:
    r"""Return the discrete convolution of two arrays with the same number of axes.

    .. math:: y[n] = \sum_k x[k]\, h[n - k]

    It is the answer to :math:`x` of the linear, time-invariant system that answers the unit sample with :math:`h`.

    Parameters
    ----------
    x, h : array-like
        Zero outside of their entries. They may change places.

    Returns
    -------
    ndarray
        As long as both together less 1, along each axis.

    Examples
    --------
    >>> convolve([3, 1, 2], [3, 2, 1])
    array([ 9,  9, 11,  5,  2])
    """
    x, h = _two_arrays(x, h, "h")
    margin = tuple(size - 1 for size in h.shape)
    return correlate(x, np.flip(h), padding=margin)


def correlate(x: Data, kernel: Data, *, stride: PerAxis = 1, padding: PerAxis = 0, dilation: PerAxis = 1) -> Array:
    r"""Return the cross-correlation of an array with a kernel, which deep learning calls convolution.

    .. math:: y[i] = \sum_k x[s\,i + d\,k - p]\, w[k]

    The kernel is not flipped: it is laid on the array, multiplied entry by entry, and summed.

    Parameters
    ----------
    x, kernel : array-like
        With the same number of axes.
    stride, padding, dilation : int or tuple of int, default=1, 0, 1
        :math:`s`, :math:`p` zeros around ``x``, and :math:`d`; one for all axes, or one for each.

    Examples
    --------
    >>> correlate([[1, 2, 3], [4, 5, 6]], [[1, 0], [0, -1]])
    array([[-4, -4]])
    """
    x, kernel = _two_arrays(x, kernel, "kernel")
    axes = x.ndim
    s, d = per_axis(stride, axes, "stride"), per_axis(dilation, axes, "dilation")
    p = per_axis(padding, axes, "padding", low=0)
    return np.tensordot(windows(padded(x, p), kernel.shape, s, d), kernel, axes=axes)


def unit_sample_response(system: Callable[[Array], Data], length: int) -> Array:
    """Return what a system answers to 1 followed by zeros.

    If the system is linear and time-invariant this is all there is to know of it: its answer to any input is the
    convolution of the input with this response.

    Parameters
    ----------
    system : callable
        Takes a signal, an array of one axis, and returns one.
    length : int
        Length of the unit sample, at least 1.

    Examples
    --------
    >>> def echo(x):
    ...     return x + 0.5 * np.concatenate([[0.0], x[:-1]])
    >>> unit_sample_response(echo, 4)
    array([1. , 0.5, 0. , 0. ])
    >>> convolve([2.0, 1.0], [1.0, 0.5])
    array([2. , 2. , 0.5])
    """
    check_whole(length=length)
    sample = np.zeros(length)
    sample[0] = 1.0
    return as_numbers(system(sample), "the answer of the system")


def _two_arrays(x: Data, h: Data, name: str) -> tuple[Array, Array]:
    first, second = as_numbers(x, "x"), as_numbers(h, name)
    if first.ndim == 0 or first.ndim != second.ndim:
        raise ValueError(
            f"x and {name} must have as many axes as each other, got shapes {first.shape}, {second.shape}."
        )
    return first, second
