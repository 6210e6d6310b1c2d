"""The kind of sparse matrices in compressed rows."""

# ruff: noqa: D102  (the four methods of a kind are described once, in Kind)

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.kinds.arrays import WHOLES, Numbers
from pellucid.kinds.errors import SchemaError
from pellucid.kinds.pages import ReadPage, WritePage
from pellucid.kinds.plain import Kind, Whole, read_as, tagged
from pellucid.kinds.strict_json import Json

CLASSES = {"csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}
PARTS: dict[str, Kind] = {
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
        if type(value) not in CLASSES.values() or not value.has_canonical_format:
            return False
        return all(kind.fits(getattr(value, name)) for name, kind in PARTS.items())

    def write(self, value: Any, page: WritePage, path: str) -> Json:
        page.agree(path, self.dims, value.shape)
        arrays = {name: kind.write(getattr(value, name), page, f"{path}.{name}") for name, kind in PARTS.items()}
        return {type(value).__name__: {**arrays, "columns": int(value.shape[1])}}

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        parts = tagged(node, *CLASSES)
        return isinstance(parts, dict) and set(parts) == {*PARTS, "columns"}

    def read(self, node: Json, page: ReadPage, path: str) -> Any:
        ((name, parts),) = node.items()
        arrays = {part: read_as(kind, parts[part], page, f"{path}.{part}") for part, kind in PARTS.items()}
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
        return CLASSES[name]((data, indices, ends), shape=(rows, columns))
