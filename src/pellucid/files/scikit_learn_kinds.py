"""Kinds that only scikit-learn's transformers need: dtypes by name, slices."""

# ruff: noqa: D102  (the four methods of a kind are described once, in Kind)

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.kinds.pages import ReadPage, WritePage
from pellucid.kinds.plain import Kind
from pellucid.kinds.strict_json import Json

DTYPE_NAMES = ("float64", "float32", "int64", "int32", "bool", "object")
MAX_WIDTH = 2**31


class Dtype(Kind):
    """A NumPy dtype of a short list, by name."""

    says = f"one of the dtypes {DTYPE_NAMES}"

    def fits(self, value: Any) -> bool:
        return isinstance(value, np.dtype) and value.isnative and value.name in DTYPE_NAMES

    def write(self, value: Any, page: WritePage, path: str) -> Json:
        return value.name

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        return isinstance(node, str) and node in DTYPE_NAMES

    def read(self, node: Json, page: ReadPage, path: str) -> Any:
        return np.dtype(node)


class ScalarType(Dtype):
    """A NumPy scalar type such as ``numpy.float64``, by name."""

    says = "numpy.float64 or numpy.float32"

    def fits(self, value: Any) -> bool:
        return value in (np.float64, np.float32) and isinstance(value, type)

    def write(self, value: Any, page: WritePage, path: str) -> Json:
        return value.__name__

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        return node in ("float64", "float32")

    def read(self, node: Json, page: ReadPage, path: str) -> Any:
        return {"float64": np.float64, "float32": np.float32}[node]


class Span(Kind):
    """A slice of columns, ``slice(start, stop)``."""

    says = "a slice with a start and a stop"

    def fits(self, value: Any) -> bool:
        return isinstance(value, slice) and value.step is None and self.matches([value.start, value.stop])

    def write(self, value: Any, page: WritePage, path: str) -> Json:
        return [int(value.start), int(value.stop)]

    def matches(self, node: Json, page: ReadPage | None = None, path: str = "") -> bool:
        sizes = isinstance(node, list) and len(node) == 2 and all(isinstance(n, int | np.integer) for n in node)
        return sizes and 0 <= node[0] <= node[1] <= MAX_WIDTH

    def read(self, node: Json, page: ReadPage, path: str) -> slice:
        return slice(*node)
