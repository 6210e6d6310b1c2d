"""Kinds of arrays: numbers, which live in the file's table, and texts, which live in the document."""

# ruff: noqa: D102  (the four methods of a kind are described once, in Kind)

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.kinds.pages import MAX_DIMENSIONS, Json, NotSaveableError, Page, ReadPage, SchemaError, WritePage
from pellucid.core.kinds.plain import Kind, Whole, read_as, tagged
from pellucid.core.types import Array

FLOATS = ("float64", "float32")
WHOLES = ("int64", "int32")
MAX_PADDED_CHARACTERS = 2**24
"""NumPy pads texts to the longest: one long text among many short ones must not fill the memory."""


@dataclass(frozen=True)
class Numbers(Kind):
    """A NumPy array with some dtypes and named sizes.

    Its JSON is ``{"array": "C"}`` or ``{"array": "F"}``: the array stands in the table under its path, and is laid
    out again as it was, since sums over rows and over columns round differently.
    """

    holds_many = True
    dims: tuple[str | int | None, ...] | None
    """None: any shape. A name must have the same value throughout the estimator; None in the tuple: any size."""
    dtypes: tuple[str, ...] = FLOATS
    finite: bool = True
    low: float | None = None

    @property
    def says(self) -> str:
        shape = ", ".join("any" if dim is None else str(dim) for dim in self.dims or ("...",))
        return f"{'a finite' if self.finite else 'an'} array of {' or '.join(self.dtypes)} of shape ({shape})"

    def fits(self, value: Any) -> bool:
        return (
            type(value) is np.ndarray
            and self._has_allowed_rank(value.ndim)
            and value.dtype.isnative
            and value.dtype.name in self.dtypes
            and self._has_allowed_values(value)
        )

    def write(self, value: Array, page: WritePage, path: str) -> Json:
        self._agree(page, path, value.shape)
        page.arrays[path] = np.ascontiguousarray(value) if value.ndim else value
        return {"array": "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"}

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        if tagged(node, "array") not in ("C", "F"):
            return False
        entry = page.entry(path)
        return entry is not None and self._has_allowed_rank(len(entry.shape)) and entry.dtype.name in self.dtypes

    def read(self, node: Json, page: ReadPage, path: str) -> Array:
        entry = page.entry(path)
        assert entry is not None  # matches has looked
        self._agree(page, path, entry.shape)
        array = page.take(path)
        if not self._has_allowed_values(array):
            raise SchemaError(f"{path} must be {self.says}, but an entry is out of range.")
        return np.asfortranarray(array) if node["array"] == "F" else array

    def _agree(self, page: Page, path: str, shape: tuple[int, ...]) -> None:
        if self.dims is not None:
            page.agree(path, self.dims, shape)

    def _has_allowed_rank(self, n_dims: int) -> bool:
        return n_dims <= MAX_DIMENSIONS if self.dims is None else n_dims == len(self.dims)

    def _has_allowed_values(self, array: Array) -> bool:
        if self.finite and array.dtype.kind == "f" and not np.isfinite(array).all():
            return False
        return self.low is None or array.size == 0 or bool(array.min() >= self.low)


@dataclass(frozen=True)
class Texts(Kind):
    """A one-dimensional array of strings, of dtype object or str."""

    holds_many = True
    dim: str | int | None = None
    says = "an array of texts"

    def fits(self, value: Any) -> bool:
        if type(value) is not np.ndarray or value.ndim != 1:
            return False
        return value.dtype.kind == "U" or (value.dtype == object and all(type(item) is str for item in value))

    def write(self, value: Array, page: WritePage, path: str) -> Json:
        page.agree(path, (self.dim,), value.shape)
        texts = [str(item) for item in value]
        if value.dtype.kind == "U" and _padded_size(texts) > MAX_PADDED_CHARACTERS:
            raise NotSaveableError(f"{path} must have shorter texts to be saved. Use an array of dtype object.")
        return {"object" if value.dtype == object else "str": texts}

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        return isinstance(tagged(node, "object", "str"), list)

    def read(self, node: Json, page: ReadPage, path: str) -> Array:
        ((dtype, texts),) = node.items()
        if not all(isinstance(text, str) for text in texts):
            raise SchemaError(f"{path} must be {self.says}, but an item is not a text.")
        if dtype == "str" and _padded_size(texts) > MAX_PADDED_CHARACTERS:
            raise SchemaError(f"{path} must take at most {MAX_PADDED_CHARACTERS} padded characters.")
        page.agree(path, (self.dim,), (len(texts),))
        return np.array(texts, dtype=object if dtype == "object" else str).reshape(len(texts))


def _padded_size(texts: list[str]) -> int:
    return len(texts) * max(map(len, texts), default=0)


SPARSE_CLASSES = {"csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}
SPARSE_PARTS: dict[str, Kind] = {
    "data": Numbers((None,)),
    "indices": Numbers((None,), WHOLES, low=0),
    "indptr": Numbers((None,), WHOLES, low=0),
}
COLUMNS = Whole(low=1)


@dataclass(frozen=True)
class SparseRows(Kind):
    """A CSR matrix of finite numbers, no entry twice and the columns of each row in order, of named sizes."""

    holds_many = True
    dims: tuple[str, str]

    @property
    def says(self) -> str:
        return f"a CSR matrix of shape ({', '.join(self.dims)})"

    def fits(self, value: Any) -> bool:
        if type(value) not in SPARSE_CLASSES.values() or not value.has_canonical_format:
            return False
        return all(kind.fits(getattr(value, name)) for name, kind in SPARSE_PARTS.items())

    def write(self, value: Any, page: WritePage, path: str) -> Json:
        page.agree(path, self.dims, value.shape)
        arrays = {name: kind.write(getattr(value, name), page, f"{path}.{name}") for name, kind in SPARSE_PARTS.items()}
        return {type(value).__name__: {**arrays, "columns": int(value.shape[1])}}

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        parts = tagged(node, *SPARSE_CLASSES)
        return isinstance(parts, dict) and set(parts) == {*SPARSE_PARTS, "columns"}

    def read(self, node: Json, page: ReadPage, path: str) -> Any:
        ((name, parts),) = node.items()
        arrays = {part: read_as(kind, parts[part], page, f"{path}.{part}") for part, kind in SPARSE_PARTS.items()}
        columns = read_as(COLUMNS, parts["columns"], page, f"{path}.columns")
        data, indices, ends = arrays["data"], arrays["indices"], arrays["indptr"]
        rows = len(ends) - 1
        if rows < 0 or ends[0] != 0 or ends[-1] != len(data) or len(indices) != len(data) or (np.diff(ends) < 0).any():
            raise SchemaError(f"{path} must be {self.says}, but its rows do not cover its entries.")
        ascending = np.diff(indices) > 0
        starts = ends[1:-1][(ends[1:-1] > 0) & (ends[1:-1] < len(indices))]
        ascending[starts - 1] = True  # from one row to the next the columns may fall
        if (indices >= columns).any() or not ascending.all():
            raise SchemaError(f"{path} must be {self.says}, but its columns are out of range or out of order.")
        page.agree(path, self.dims, (rows, columns))
        return SPARSE_CLASSES[name]((data, indices, ends), shape=(rows, columns))
