"""Pooling: the largest or the mean entry of each window."""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.neural_network.convolution.windows import PerAxis, as_numbers, on_last_axes, padded, per_axis, windows


def max_pool(
    x: Data, size: PerAxis, *, stride: PerAxis | None = None, padding: PerAxis = 0, dilation: PerAxis = 1
) -> Array:
    """Return the largest entry of each window; a window with a missing number (NaN) has none larger.

    Parameters
    ----------
    x : array-like
        Pooled along its last axes: as many as ``size`` has numbers, or two (of one axis, one) if it is a number.
    size : int or tuple of int
        Of the window.
    stride : int or tuple of int, default=None
        Steps between windows; None takes ``size``, so that they do not overlap.
    padding : int or tuple of int, default=0
        Margin around the input that is never the largest; at most half of ``size``.
    dilation : int or tuple of int, default=1
        Steps inside a window.

    Examples
    --------
    >>> max_pool([[1, 5, 2, 0], [3, 4, 8, 7]], 2)
    array([[5, 8]])
    """
    return max_pool_with_places(x, size, stride=stride, padding=padding, dilation=dilation)[0]


def max_pool_with_places(
    x: Data, size: PerAxis, *, stride: PerAxis | None = None, padding: PerAxis = 0, dilation: PerAxis = 1
) -> tuple[Array, Array]:
    """Return the largest entries as :func:`max_pool` does, and where they stood.

    A place counts the entries of the pooled axes in reading order; of equal entries the first counts.

    Parameters
    ----------
    x : array-like
        Pooled along its last axes: as many as ``size`` has numbers, or two (of one axis, one) if it is a number.
    size : int or tuple of int
        Of the window.
    stride : int or tuple of int, default=None
        Steps between windows; None takes ``size``, so that they do not overlap.
    padding : int or tuple of int, default=0
        Margin around the input that is never the largest, and has no place; at most half of ``size``.
    dilation : int or tuple of int, default=1
        Steps inside a window.

    Examples
    --------
    >>> max_pool_with_places([[1, 5, 2, 0], [3, 4, 8, 7]], 2)
    (array([[5, 8]]), array([[1, 6]]))
    """
    x = as_numbers(x, "x")
    k, s, p = _window(x, size, stride, padding)
    d = per_axis(dilation, len(k), "dilation")
    plane = x.shape[x.ndim - len(k) :]
    lowest = x.min() if x.dtype.kind != "f" else -np.inf
    view = windows(padded(x, p, lowest), k, s, d)
    numbered = np.arange(np.prod(plane)).reshape(plane)
    numbers = windows(padded(numbered, p, -1), k, s, d)  # -1 in the margin
    flat, where = (part.reshape(*part.shape[: part.ndim - len(k)], -1) for part in (view, numbers))
    where = np.broadcast_to(where, flat.shape)
    largest = flat.max(axis=-1, keepdims=True)
    is_largest = (flat == largest) | (flat != flat)  # NaN is equal to nothing, and counts as the largest
    first = np.argmax(is_largest & (where >= 0), axis=-1, keepdims=True)  # never in the margin
    values, places = (np.take_along_axis(part, first, -1)[..., 0] for part in (flat, where))
    if places.min() < 0:
        raise ValueError("padding and dilation must leave every window an entry of x, got one that has none.")
    return values, places


def average_pool(
    x: Data, size: PerAxis, *, stride: PerAxis | None = None, padding: PerAxis = 0, count_padding: bool = True
) -> Array:
    """Return the mean entry of each window.

    Parameters
    ----------
    x : array-like
        Pooled along its last axes: as many as ``size`` has numbers, or two (of one axis, one) if it is a number.
    size : int or tuple of int
        Of the window.
    stride : int or tuple of int, default=None
        Steps between windows; None takes ``size``, so that they do not overlap.
    padding : int or tuple of int, default=0
        Margin of zeros around the input; at most half of ``size``.
    count_padding : bool, default=True
        Whether zeros of the margin count when a sum is divided.

    Examples
    --------
    >>> average_pool([[1, 5, 2, 0], [3, 7, 8, 6]], 2)
    array([[4., 4.]])
    """
    x = as_numbers(x, "x")
    k, s, p = _window(x, size, stride, padding)
    axes, once = tuple(range(-len(k), 0)), (1,) * len(k)
    sums = windows(padded(x, p), k, s, once).sum(axis=axes)
    inside = np.ones(x.shape[x.ndim - len(k) :], dtype=np.int64)
    counted = padded(inside, p, 1 if count_padding else 0)
    return sums / windows(counted, k, s, once).sum(axis=axes)


def pooled_axes(x: Array, size: PerAxis, name: str) -> tuple[int, ...]:
    """Return the size along each pooled axis; a number counts for the last two."""
    axes = len(size) if isinstance(size, (tuple, list)) else min(2, x.ndim)
    if not 1 <= axes <= x.ndim:
        raise ValueError(f"{name} must have from 1 to as many numbers as x has axes ({x.ndim}), got {size!r}.")
    return per_axis(size, axes, name)


def _window(
    x: Array, size: PerAxis, stride: PerAxis | None, padding: PerAxis
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    k = pooled_axes(x, size, "size")
    s = k if stride is None else per_axis(stride, len(k), "stride")
    p = per_axis(padding, len(k), "padding", low=0)
    if any(2 * margin > width for margin, width in zip(p, k, strict=True)):
        raise ValueError(
            f"padding must be at most half of size {k}, got {padding!r}: a window could hold nothing else."
        )
    return k, s, p


def unpool_nearest(x: Data, factor: PerAxis) -> Array:
    """Return each entry repeated to a block.

    Parameters
    ----------
    x : array-like
        Enlarged along its last axes: as many as ``factor`` has numbers, or two (of one axis, one) if it is a number.
    factor : int or tuple of int
        Size of a block.

    Examples
    --------
    >>> unpool_nearest([[1, 2]], 2)
    array([[1, 1, 2, 2],
           [1, 1, 2, 2]])
    """
    x = as_numbers(x, "x")
    sizes = pooled_axes(x, factor, "factor")
    for axis, size in enumerate(sizes, start=x.ndim - len(sizes)):
        x = np.repeat(x, size, axis=axis)
    return x


def unpool_bed_of_nails(x: Data, factor: PerAxis) -> Array:
    """Return each entry in the first corner of a block of zeros.

    Parameters
    ----------
    x : array-like
        Enlarged along its last axes: as many as ``factor`` has numbers, or two (of one axis, one) if it is a number.
    factor : int or tuple of int
        Size of a block.

    Examples
    --------
    >>> unpool_bed_of_nails([[1, 2]], 2)
    array([[1, 0, 2, 0],
           [0, 0, 0, 0]])
    """
    x = as_numbers(x, "x")
    sizes = pooled_axes(x, factor, "factor")
    before = x.ndim - len(sizes)
    large = [n * size for n, size in zip(x.shape[before:], sizes, strict=True)]
    bed = np.zeros((*x.shape[:before], *large), dtype=x.dtype)
    bed[on_last_axes(slice(None, None, size) for size in sizes)] = x
    return bed


def unpool_max(x: Data, places: Data, shape: PerAxis) -> Array:
    """Return each entry where the maximum of its window stood, zeros elsewhere.

    Parameters
    ----------
    x, places : array-like of the same shape
        Entries, and places as :func:`max_pool_with_places` gives them.
    shape : int or tuple of int
        Sizes of the pooled axes before pooling.

    Examples
    --------
    >>> unpool_max([[7, 9]], [[1, 6]], shape=(2, 4))
    array([[0, 7, 0, 0],
           [0, 0, 9, 0]])
    """
    x, where = as_numbers(x, "x"), np.asarray(places)
    if where.shape != x.shape or where.dtype.kind not in "iu":
        raise ValueError(f"places must be whole numbers of the shape {x.shape} of x, got shape {where.shape}.")
    sizes = pooled_axes(x, shape, "shape")
    count = int(np.prod(sizes))
    if where.min() < 0 or where.max() >= count:
        wrong = where.min() if where.min() < 0 else where.max()
        raise ValueError(f"places must be from 0 to {count - 1}, in reading order of the shape {sizes}, got {wrong}.")
    before = x.shape[: x.ndim - len(sizes)]
    bed = np.zeros((*before, count), dtype=x.dtype)
    np.put_along_axis(bed, where.reshape(*before, -1), x.reshape(*before, -1), axis=-1)
    return bed.reshape(*before, *sizes)
