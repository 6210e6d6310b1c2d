"""Targets as trees take them: codes of classes, or numbers, one column for each output."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.core.types import Array


@dataclass(frozen=True)
class TreeTarget:
    """What a node's value is made of: class shares, or numbers."""

    codes: Array
    """int32 (n_rows, n_outputs): the class of each row; of shape (n_rows, 0) for numbers."""
    y: Array
    """float64 (n_rows, n_outputs); of shape (n_rows, 0) for classes."""
    n_classes: tuple[int, ...]
    """Classes of each output; none for numbers."""

    @property
    def n_outputs(self) -> int:
        """Columns of the target."""
        return int(self.codes.shape[1] or self.y.shape[1])

    @property
    def n_values(self) -> int:
        """Numbers that a node has for each output: shares of the classes of the output that has most, or one mean."""
        return max(self.n_classes, default=1)

    @property
    def places(self) -> Array:
        """uint32 (n_outputs, n_rows): the place of the class among all values of a node."""
        return np.ascontiguousarray((self.codes + np.arange(self.codes.shape[1]) * self.n_values).T, dtype=np.uint32)

    def taken(self, rows: Array) -> TreeTarget:
        """Return the target of some rows."""
        return TreeTarget(self.codes[rows], self.y[rows], self.n_classes)


def class_target(codes: Array, n_classes: tuple[int, ...]) -> TreeTarget:
    """Return the target of labels, given as codes, one column for each output."""
    return TreeTarget(codes.astype(np.int32).reshape(len(codes), -1), np.empty((len(codes), 0)), n_classes)


def number_target(y: Array) -> TreeTarget:
    """Return the target of numbers, one column or several."""
    columns = np.ascontiguousarray(y, dtype=np.float64).reshape(len(y), -1)
    return TreeTarget(np.empty((len(y), 0), np.int32), columns, ())
