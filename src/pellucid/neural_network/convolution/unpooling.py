"""Unpooling: small maps made large again, by copies, by nails on a bed of zeros, or back to where a maximum stood."""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.neural_network.convolution.pooling import pooled_axes
from pellucid.neural_network.convolution.windows import PerAxis, as_numbers, on_last_axes


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
    """Return each entry in the first corner of a block of zeros; arguments as for :func:`unpool_nearest`.

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
