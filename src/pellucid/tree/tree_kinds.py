"""What packed trees and the parameters of trees may be: structure is checked before anybody walks along it."""

# ruff: noqa: D102  (the four methods of a kind are described once, in Kind)

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.kinds.arrays import WHOLES, Numbers, Texts
from pellucid.core.kinds.collections import Items, Lookup
from pellucid.core.kinds.pages import Json, ReadPage, SchemaError, WritePage
from pellucid.core.kinds.plain import (
    FLOAT_TYPES,
    Flag,
    Kind,
    Nothing,
    Number,
    OneOf,
    Optional,
    Real,
    Text,
    Whole,
    read_as,
    tagged,
)
from pellucid.core.kinds.usual import A_LIST, CLASS_WEIGHT, LABEL_DTYPES, LABELS, NONNEGATIVE, NUMBER, RANDOM_STATE
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


@dataclass(frozen=True)
class Part(Real):
    """A float above 0 that is at most 1, or below it: a part of the rows or columns."""

    below_one: bool = False

    @property
    def says(self) -> str:
        return f"a part above 0 and {'below 1' if self.below_one else 'of at most 1.0'}"

    def fits(self, value: Any) -> bool:
        return type(value) in FLOAT_TYPES.values() and (0.0 < value < 1.0 or (value == 1.0 and not self.below_one))


DIRECTIONS = Nothing() | Items(NUMBER) | Numbers((None,), ("int8", *WHOLES)) | A_LIST
CATEGORIES = (
    Nothing()
    | OneOf(("from_dtype",))
    | Items(Whole(low=0) | Text() | Flag())
    | Numbers((None,), ("bool", *WHOLES))
    | Texts()
    | A_LIST
)
SEVERAL_CLASS_WEIGHTS = CLASS_WEIGHT | Items(Lookup(NUMBER))

GROWTH: dict[str, Kind] = {
    "max_depth": Nothing() | Whole(low=1),
    "min_samples_split": Whole(low=2) | Part(),
    "min_samples_leaf": Whole(low=1) | Part(below_one=True),
    "min_weight_fraction_leaf": Number(low=0, high=0.5),
    "max_features": Nothing() | Whole(low=1) | Part() | OneOf(("sqrt", "log2")),
    "max_leaf_nodes": Nothing() | Whole(low=2),
    "min_impurity_decrease": NONNEGATIVE,
    "random_state": RANDOM_STATE,
    "ccp_alpha": NONNEGATIVE,
    "monotonic_cst": DIRECTIONS,
    "categorical_features": CATEGORIES,
}
"""Parameters that all estimators made of trees have."""

GROWN: dict[str, Kind | Optional] = {
    "n_outputs_": Whole(low=1),
    "categories_": Items(Nothing() | Numbers((None,), LABEL_DTYPES) | Texts()),
    "trees_": Trees(),
}
SEVERAL_LABELS = Items(Numbers((None,), LABEL_DTYPES) | Texts())
LABELED: dict[str, Kind | Optional] = {
    "classes_": LABELS | SEVERAL_LABELS,
    "n_classes_": Whole(low=1) | Numbers((None,), WHOLES),
}
"""What all of them, and all classifiers among them, store."""
