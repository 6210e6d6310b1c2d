"""The kind of packed trees: arrays in the file's table, their structure checked before anybody walks along it."""

# ruff: noqa: D102  (the four methods of a kind are described once, in Kind)

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.kinds.arrays import Numbers
from pellucid.core.kinds.pages import Json, ReadPage, SchemaError, WritePage
from pellucid.core.kinds.plain import Kind, read_as, tagged
from pellucid.tree.packed_trees import DIMENSIONS, DTYPES, PackedTrees

MOST_FEATURES = 2**31 - 1
PARTS: dict[str, Kind] = {
    name: Numbers((None,) * DIMENSIONS.get(name, 1), (dtype,), finite=name != "threshold")
    for name, dtype in DTYPES.items()
}
"""A threshold may be infinite: it parts missing values from the others."""


@dataclass(frozen=True)
class Trees(Kind):
    """Trees whose nodes are in range, without circles, each reachable from its root."""

    holds_many = True
    says = "trees"

    def fits(self, value: Any) -> bool:
        if type(value) is not PackedTrees or value.fault(MOST_FEATURES):
            return False
        return all(kind.fits(getattr(value, name)) for name, kind in PARTS.items())

    def write(self, value: PackedTrees, page: WritePage, path: str) -> Json:
        whole = {name: np.ascontiguousarray(getattr(value, name)) for name in PARTS}
        return {"trees": {name: kind.write(whole[name], page, f"{path}.{name}") for name, kind in PARTS.items()}}

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        parts = tagged(node, "trees")
        return isinstance(parts, dict) and set(parts) == set(PARTS)

    def read(self, node: Json, page: ReadPage, path: str) -> PackedTrees:
        parts = {name: read_as(kind, node["trees"][name], page, f"{path}.{name}") for name, kind in PARTS.items()}
        trees = PackedTrees(**parts)
        n_features = page.sizes.get("n_features", MOST_FEATURES)
        fault = trees.fault(n_features)
        if fault:
            raise SchemaError(f"{path} must be trees, but {fault}.")
        return trees
