"""Method card of ID3 trees."""

# ruff: noqa: D102  (the four methods of a kind are described once, in Kind)

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pellucid.core.cards import MethodCard
from pellucid.core.input_rules import CLASSES, InputRules
from pellucid.core.kinds.arrays import Numbers, Texts
from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.pages import Json, ReadPage, SchemaError, WritePage
from pellucid.core.kinds.plain import Kind, Nothing, Number, OneOf, Optional, Text, Whole, read_as, tagged
from pellucid.core.kinds.usual import LABELS, NONNEGATIVE
from pellucid.tree.id3.id3_classifier import ID3Classifier
from pellucid.tree.id3.id3_tree import AUTO, NEVER, MultiwayTree, tree_fault

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


def _check_pruning(model: ID3Classifier) -> None:
    """Refuse validation rows without pruning, and pruning without them."""
    if model.pruning is not None and model.validation is None:
        raise ValueError(
            f"validation must name rows, or be their share, with pruning={model.pruning!r}, got None. "
            "Set validation=0.25 to hold back the last quarter."
        )
    if model.pruning is None and model.validation is not None:
        raise ValueError(f"pruning must be 'pre' or 'post' with validation={model.validation!r}, got None.")


CARDS = (
    MethodCard(
        ID3Classifier,
        topics=("TRE-1", "TRE-3"),
        onnx="pellucid.tree.trees_in_onnx:id3",
        workings="pellucid.tree.id3.id3_workings:id3_workings",
        parameters={
            "criterion": OneOf(("gain", "gain_ratio", "gini", "error")),
            "numeric": OneOf((AUTO, NEVER)) | Items(Text() | Whole(low=0)),
            "max_depth": Nothing() | Whole(low=0),
            "min_samples_split": Number(above=0),
            "min_samples_leaf": Number(above=0),
            "min_gain": NONNEGATIVE,
            "pruning": Nothing() | OneOf(("pre", "post")),
            "validation": Nothing() | Number(above=0, below=1) | Items(Whole(low=0)),
        },
        attributes={
            "classes_": LABELS,
            "feature_names_in_": Optional(Texts("n_features")),  # columns may be asked for by name
            "categories_": Items(Numbers((None,), ("float64",)) | Texts(), "n_features"),
            "tree_": MultiwayTreeRecord(),
        },
        input=InputRules(CLASSES, dtypes=None),
        variants=(
            {"criterion": "gain_ratio", "max_depth": 2},
            {"criterion": "gini", "min_samples_split": 6, "min_samples_leaf": 3},
            {"criterion": "error", "numeric": [0, 2], "min_gain": 0.01},
            {"numeric": "never"},
            {"pruning": "pre", "validation": 0.3},
            {"pruning": "post", "validation": 0.3},
        ),
        check=_check_pruning,
        take_for="columns of words, and a tree as lectures draw it",
        references=("Quinlan, Induction of decision trees, Machine Learning 1 (1986)",),
    ),
)
