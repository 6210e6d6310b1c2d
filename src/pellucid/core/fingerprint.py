"""A short name for a training set, cheap enough to take at every fit."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.types import Array

SAMPLED = 4096
"""Numbers looked at per array: the fingerprint must not cost as much as the fit."""


def fingerprint(*arrays: Any) -> str:
    """Return a hash of the shapes and of evenly spaced entries of the arrays (None is allowed).

    It tells training sets apart that differ in size, order or scale; it is not a proof that two are equal.
    """
    digest = hashlib.sha256()
    for array in arrays:
        if array is None:  # no weights and weights left out are the same data
            continue
        values = array.data if sparse.issparse(array) else np.asarray(array)
        digest.update(repr((tuple(array.shape), values.size)).encode())
        flat = values.reshape(-1) if values.flags.c_contiguous else values.flat  # the same order; the first is quicker
        digest.update(_bytes(flat[:: _step(values)]))
    return digest.hexdigest()[:32]


def digest(arrays: Iterable[Array], text: str = "") -> str:
    """Return a hash of a text and of every bit of arrays, their shapes and dtypes: it changes when one of them does."""
    found = hashlib.sha256(text.encode())
    for array in map(np.asarray, arrays):
        found.update(repr((array.shape, array.dtype.str)).encode())
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()[:32]


def _step(values: Array) -> int:
    """Return a stride that takes about ``SAMPLED`` entries and, sharing no factor with the row length, every column."""
    step = max(1, values.size // SAMPLED)
    while values.ndim > 1 and math.gcd(step, values.shape[-1]) > 1:
        step += 1
    return step


def _bytes(sample: np.ndarray) -> Any:
    """Return numbers as float64, so that a float32 copy of whole numbers is the same data, and labels as they print."""
    if sample.dtype.kind in "OSU":
        return "\0".join(map(str, sample)).encode()
    return np.ascontiguousarray(sample, dtype=np.float64).data
