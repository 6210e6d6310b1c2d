"""TrainingData: what ``fit`` has after checking, and what a proof gets to see; with a short name for it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array, SparseOrDense

SAMPLED = 4096
"""Numbers looked at per array: the fingerprint must not cost as much as the fit."""


@dataclass(frozen=True)
class TrainingData:
    """Checked rows. Rows of weight 0 are gone: a weight of k means that the row stands there k times."""

    X: SparseOrDense
    y: Any = None
    """Numbers; or, where there are ``classes``, the code of each row's label; None without a target."""
    weight: Array | None = None
    """Float64, above 0; None where all rows count once."""
    classes: Array = field(default_factory=lambda: np.empty(0))
    """The labels, sorted; none where the target is not one of labels."""
    kept: Array | None = None
    """Which of the given rows these are; None for all of them."""
    given: tuple[Any, ...] = ()
    """Rows, target and weights as they came, for the fingerprint and for callbacks."""
    name: str = ""
    """The fingerprint, where these rows stand for more of them, which are in blocks."""
    folds: Array | None = None
    """The fold of cross-validation that each row belongs to, where they stand for more."""

    known: tuple[Array, Array] | None = None
    """Mean and scatter of the columns, targets of numbers last, where rows that stand for others were made of them."""

    stored_in: Any = None
    """The kind of float that answers are stored in, where it is not that of these rows, which stand for others."""

    @property
    def dtype(self) -> np.dtype:
        """The kind of float that answers are stored in."""
        return self.X.dtype if self.stored_in is None else np.dtype(self.stored_in)

    @cached_property
    def fingerprint(self) -> str:
        """A short name of the data as they were given."""
        return self.name or fingerprint_of_sample(self.sample)

    @cached_property
    def sample(self) -> bytes:
        """What the fingerprint is made of: to copy it takes a twentieth of the time."""
        return sample_of(*self.given)

    @property
    def weights(self) -> Array:
        """The weights, also where all are 1."""
        return np.ones(self.X.shape[0]) if self.weight is None else self.weight

    @property
    def n_given(self) -> int:
        """Rows that were given, those of weight 0 included."""
        return int(self.given[0].shape[0])

    def without_absent_classes(self) -> TrainingData:
        """Return the same rows with only those labels that a row has: one of weight 0 does not count."""
        is_present = np.bincount(self.y, minlength=len(self.classes)) > 0
        if is_present.all():
            return self
        return replace(self, classes=self.classes[is_present], y=(np.cumsum(is_present) - 1)[self.y])

    def spread(self, values: Array, fill: float = 0.0) -> Array:
        """Return values of the kept rows (last axis) as values of all given rows."""
        if self.kept is None:
            return values
        full = np.full((*values.shape[:-1], self.n_given), fill, dtype=values.dtype)
        full[..., self.kept] = values
        return full

    def given_rows(self, rows: Array) -> Array:
        """Return which of the given rows some of the kept ones are."""
        return rows if self.kept is None else self.kept[rows]

    def places(self, rows: Array) -> Array:
        """Return where some of the given rows stand among the kept ones; those of weight 0 stand nowhere."""
        if self.kept is None:
            return rows
        place = np.full(self.n_given, -1)
        place[self.kept] = np.arange(len(self.kept))
        return place[rows][place[rows] >= 0]


def fingerprint(*arrays: Any) -> str:
    """Return a hash of the shapes and of evenly spaced entries of the arrays (None is allowed).

    It tells training sets apart that differ in size, order or scale; it is not a proof that two are equal.
    """
    return fingerprint_of_sample(sample_of(*arrays))


def fingerprint_of_sample(sample: bytes) -> str:
    """Return the fingerprint of the arrays that ``sample_of`` was given."""
    return hashlib.sha256(sample).hexdigest()[:32]


def sample_of(*arrays: Any) -> bytes:
    """Return the shapes and evenly spaced entries of the arrays (None is allowed)."""
    parts: list[Any] = []
    for array in arrays:
        if array is None:  # no weights and weights left out are the same data
            continue
        values: Any = array.data if sparse.issparse(array) else array if hasattr(array, "cpu") else np.asarray(array)
        size = math.prod(values.shape)
        parts.append(repr((tuple(array.shape), size)).encode())
        step = _step(values.shape, size)
        if hasattr(values, "cpu"):  # a tensor, perhaps on a device: only what is looked at comes here
            if size and not values.is_contiguous():
                sample = values[np.unravel_index(np.arange(0, size, step), values.shape)]
            else:  # without a list of places, which would have to be sent there
                sample = values.reshape(-1)[::step]
            parts.append(_bytes(sample.detach().cpu().numpy()))
            continue
        flat = values.reshape(-1) if values.flags.c_contiguous else values.flat  # the same order; the first is quicker
        parts.append(_bytes(flat[::step]))
    return b"".join(parts)


def fingerprint_of_blocks(prints: Iterable[str]) -> str:
    """Return the fingerprint of rows in blocks, from those of each block in order."""
    return hashlib.sha256(" ".join(prints).encode()).hexdigest()[:32]


def digest(arrays: Iterable[Array], text: str = "") -> str:
    """Return a hash of a text and of every bit of arrays, their shapes and dtypes: it changes when one of them does."""
    found = hashlib.sha256(text.encode())
    for array in map(np.asarray, arrays):
        found.update(repr((array.shape, array.dtype.str)).encode())
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()[:32]


def _step(shape: tuple[int, ...], size: int) -> int:
    """Return a stride that takes about ``SAMPLED`` entries and, sharing no factor with the row length, every column."""
    step = max(1, size // SAMPLED)
    while len(shape) > 1 and math.gcd(step, shape[-1]) > 1:
        step += 1
    return step


def _bytes(sample: np.ndarray) -> Any:
    """Return numbers as float64, so that a float32 copy of whole numbers is the same data, and labels as they print."""
    if sample.dtype.kind in "OSU":
        return "\0".join(map(str, sample)).encode()
    return np.ascontiguousarray(sample, dtype=np.float64).data
