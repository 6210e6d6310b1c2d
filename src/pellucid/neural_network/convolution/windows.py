"""Windows that slide over the last axes of an array: what convolution and pooling have in common."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from pellucid.core.checks import check_whole
from pellucid.core.types import Array

PerAxis: TypeAlias = int | tuple[int, ...]
"""A number for every axis, or one for each."""


def as_numbers(x: Any, name: str) -> Array:
    """Return an array of numbers; whole ones in 64 bits, as sums of bytes need more room than a byte."""
    try:
        array = np.asarray(x)
    except ValueError as error:
        raise ValueError(f"{name} must be an array whose rows are as long as each other, got {x!r}.") from error
    are_real = array.dtype.kind != "O" or all(isinstance(entry, Real) for entry in array.flat)
    if array.dtype.kind not in "biufO" or array.size == 0 or not are_real:
        raise ValueError(f"{name} must be an array of real numbers, not empty, got {x!r}.")
    return array.astype(np.int64) if array.dtype.kind in "bui" else array


def per_axis(value: PerAxis, axes: int, name: str, low: int = 1) -> tuple[int, ...]:
    """Return a setting for each axis, or refuse what is too small or of another number of axes."""
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,) * axes
    if len(values) != axes:
        raise ValueError(f"{name} must be one number or {axes}, one for each axis, got {value!r}.")
    for entry in values:
        check_whole(low, "", **{name: entry})
    return tuple(map(int, values))


def padded(x: Array, padding: tuple[int, ...], fill: Any = 0) -> Array:
    """Return the array with a margin of ``fill`` around its last axes."""
    before = [(0, 0)] * (x.ndim - len(padding))
    return np.pad(x, [*before, *((p, p) for p in padding)], constant_values=fill)


def on_last_axes(places: Iterable[Any]) -> tuple[Any, ...]:
    """Return an index that takes these places of the last axes and leaves the others whole."""
    return (..., *places)


def windows(x: Array, size: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]) -> Array:
    r"""Return every window of the last axes, as a view.

    Along an axis, window :math:`i` holds the entries :math:`x[s\,i + d\,k]` for :math:`k = 0, 1, \dots`, with stride
    :math:`s` and dilation :math:`d`. The result has the axes of the positions first, then those of the window.

    Examples
    --------
    >>> windows(np.arange(6), (2,), stride=(2,), dilation=(1,))
    array([[0, 1],
           [2, 3],
           [4, 5]])
    """
    axes = range(x.ndim - len(size), x.ndim)
    reach = tuple(d * (k - 1) + 1 for d, k in zip(dilation, size, strict=True))
    for axis, wanted in zip(axes, reach, strict=True):
        if wanted > x.shape[axis]:
            raise ValueError(
                f"kernel must fit into the padded input, got a reach of {wanted} against {x.shape[axis]} along axis "
                f"{axis}. Raise padding, or lower dilation or the kernel's size."
            )
    view = np.lib.stride_tricks.sliding_window_view(x, reach, axis=tuple(axes))
    steps = [slice(None, None, s) for s in stride]
    inside = [slice(None, None, d) for d in dilation]
    return view[on_last_axes([*steps, *inside])]
