"""Where one estimator is written to or read from: its arrays, its symbolic sizes, its depth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

import numpy as np

from pellucid.core.types import Array
from pellucid.kinds.errors import ModelFileError, NotSaveableError, SchemaError

MAX_DIMENSIONS = 8
"""Of an array in a file."""


MAX_DEPTH = 8
"""Estimators inside estimators: a pipeline in a column transformer in a pipeline is 3."""


class Entry(Protocol):
    """What a file says about one of its arrays before it is read."""

    @property
    def dtype(self) -> np.dtype:
        """Kind of its numbers."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes."""


class Container(Protocol):
    """An opened file: its table of arrays, and the arrays."""

    @property
    def entries(self) -> Mapping[str, Any]:
        """What the table says, by path."""

    def read_array(self, name: str) -> Array:
        """Return the array at this path."""


@dataclass(frozen=True)
class Page:
    """What reading and writing share. Sizes such as ``n_features`` must agree within one estimator."""

    depth: int = 0
    sizes: dict[str, int] = field(default_factory=dict)
    error = ModelFileError

    def agree(self, path: str, dims: Sequence[str | int | None], shape: Sequence[int]) -> None:
        """Refuse a shape that contradicts the named sizes seen so far; None stands for any size."""
        for dim, size in zip(dims, shape, strict=True):
            expected = dim if isinstance(dim, int) else size if dim is None else self.sizes.setdefault(dim, size)
            if expected != size:
                name = f"{dim} = {expected}" if isinstance(dim, str) else str(expected)
                raise self.error(f"shape of {path} must have {name}, got {tuple(shape)}.")

    def inner(self) -> Self:
        """Return the page of an estimator inside this one, with sizes of its own."""
        if self.depth + 1 >= MAX_DEPTH:
            raise self.error(f"estimators must be nested at most {MAX_DEPTH} deep. Flatten the pipeline.")
        return replace(self, depth=self.depth + 1, sizes={})


@dataclass(frozen=True)
class WritePage(Page):
    """Collects the arrays of a model under their paths."""

    arrays: dict[str, Array] = field(default_factory=dict)
    error = NotSaveableError


@dataclass(frozen=True, kw_only=True)
class ReadPage(Page):
    """Hands out the arrays of a file, each once."""

    container: Container
    read: set[str] = field(default_factory=set)
    error = SchemaError

    def entry(self, path: str) -> Entry | None:
        """Return what the table says about the array at this path."""
        found: Entry | None = self.container.entries.get(path)
        return found

    def take(self, path: str) -> Array:
        """Return the array at this path."""
        self.read.add(path)
        return self.container.read_array(path)

    def refuse_leftovers(self) -> None:
        """Refuse a file with arrays that the document does not mention."""
        leftovers = sorted(set(self.container.entries) - self.read)
        if leftovers:
            raise SchemaError(f"arrays must all be part of the model, got {leftovers[0][:80]!r}, which is not.")
