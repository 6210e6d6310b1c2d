"""Where one estimator is written to or read from: its arrays, its symbolic sizes, its depth."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self, TypeAlias

import numpy as np

from pellucid.core.types import Array

# What can be wrong with a model file.
#
# ValueError
# └── ModelFileError          anything below; catch this one
# ├── NotSaveableError    the model holds something a file that cannot run code has no place for
# ├── NotAModelFileError  the file was not written by ``pellucid.save``
# ├── DamagedFileError    the file was, but has been cut short or altered since
# ├── NewerFormatError    the file was written by a later pellucid
# └── SchemaError         the file is whole, but what it describes is not a model of the registry


class ModelFileError(ValueError):
    """A model file cannot be written or read."""


class NotSaveableError(ModelFileError):
    """The model holds something that a model file has no place for."""


class NotAModelFileError(ModelFileError):
    """The file is not a safetensors file with a pellucid document."""


class DamagedFileError(ModelFileError):
    """The file was cut short or altered after it was written."""


class NewerFormatError(ModelFileError):
    """The file uses a format that this version does not know."""


class SchemaError(ModelFileError):
    """The document or an array is not what the registry allows."""


MAX_DIMENSIONS = 8
"""Of an array in a file."""


MAX_DEPTH = 8
"""Estimators inside estimators: a pipeline in a column transformer in a pipeline is 3."""


class ArrayHeader(Protocol):
    """What a file says about one of its arrays before it is read."""

    @property
    def dtype(self) -> np.dtype:
        """Kind of its numbers."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes."""


class OpenedFile(Protocol):
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

    container: OpenedFile
    read: set[str] = field(default_factory=set)
    error = SchemaError

    def entry(self, path: str) -> ArrayHeader | None:
        """Return what the table says about the array at this path."""
        found: ArrayHeader | None = self.container.entries.get(path)
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


Json: TypeAlias = Any
"""None, bool, int, float, str, or lists and dicts of them."""

_HALF_CHARACTER = re.compile(r"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]")
"""An escaped surrogate: half of a character, which no file of ours contains and no UTF-8 text can."""


def dump_json(value: Json) -> str:
    """Return the value as compact JSON; a value that JSON cannot hold is a ValueError."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def parse_json(text: str, what: str) -> Json:
    """Return the value that the text describes; ``what`` names it in the error."""
    if _HALF_CHARACTER.search(text):
        raise NotAModelFileError(f"{what} must be plain JSON, but it escapes half a character.")
    try:
        return json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        cause = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise NotAModelFileError(f"{what} must be plain JSON, but {cause}.") from None


def describe(value: Json) -> str:
    """Return a short text for messages; it never walks into the value, which may be huge or deep."""
    if isinstance(value, (list, dict)):
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)} items"
    return repr(value if not isinstance(value, str) else value[:80])


def _unique_keys(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has the same key twice")
    return found


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")
