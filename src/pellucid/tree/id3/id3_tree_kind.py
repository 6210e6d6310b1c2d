"""The kind of a multiway tree: its arrays in the file, and nothing but a tree comes back."""

# ruff: noqa: D102  (the four methods of a kind are described once, in Kind)

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pellucid.core.kinds.arrays import Numbers
from pellucid.core.kinds.pages import Json, ReadPage, SchemaError, WritePage
from pellucid.core.kinds.plain import Kind, read_as, tagged
from pellucid.tree.id3.id3_tree import MultiwayTree, tree_fault

PER_NODE = ("n_nodes",)
PARTS: dict[str, Kind] = {
    "feature": Numbers(PER_NODE, ("int32",), low=-2),
    "threshold": Numbers(PER_NODE, ("float64",)),
    "first_child": Numbers(PER_NODE, ("int32",), low=-1),
    "n_children": Numbers(PER_NODE, ("int32",), low=0),
    "value": Numbers(("n_nodes", "n_classes"), ("float64",), low=0.0),
    "weight": Numbers(PER_NODE, ("float64",), low=0.0),
}


class MultiwayTreeRecord(Kind):
    """A tree whose indices are in range, whose nodes are reached once each, in the only order that there is."""

    says = "a multiway tree"

    def fits(self, value: Any) -> bool:
        if type(value) is not MultiwayTree or not all(
            PARTS[part.name].fits(getattr(value, part.name)) for part in fields(value)
        ):
            return False
        return not tree_fault(value, int(value.feature.max()) + 1, value.value.shape[-1])

    def write(self, value: MultiwayTree, page: WritePage, path: str) -> Json:
        parts = {name: kind.write(getattr(value, name), page, f"{path}.{name}") for name, kind in PARTS.items()}
        return {"multiway tree": parts}

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        content = tagged(node, "multiway tree")
        return isinstance(content, dict) and set(content) == set(PARTS)

    def read(self, node: Json, page: ReadPage, path: str) -> MultiwayTree:
        parts = {
            name: read_as(kind, node["multiway tree"][name], page, f"{path}.{name}") for name, kind in PARTS.items()
        }
        tree = MultiwayTree(**parts)
        fault = tree_fault(tree, page.sizes["n_features"], tree.value.shape[1])
        if fault:
            raise SchemaError(f"{path} must be {self.says}: {fault}.")
        return tree
