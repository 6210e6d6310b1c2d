"""The closed registry: the only classes a model file can name."""

# ruff: noqa: D102  (the four methods of a kind are described once, in Kind)

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from pellucid.core.card_index import names_word
from pellucid.core.cards import MethodCard, all_cards, card_of, find_card
from pellucid.core.files.schema import PARTS, Schema, class_name_of
from pellucid.core.kinds.pages import Json, NotSaveableError, ReadPage, SchemaError, WritePage
from pellucid.core.kinds.plain import Kind, storable
from pellucid.core.kinds.usual import EVIDENCE, INPUTS

ADAPTERS = (
    "pellucid.app.table_model.table_schemas",
    "pellucid.core.files.schemas.text",
    "pellucid.core.files.schemas.transformers",
    "pellucid.neural_network.network_kinds",
    "pellucid.vision.detection.detector",
    "pellucid.vision.segmentation.segmenter",
)
"""Modules with schemas of what has no method card: transformers that our own pipelines use, and networks."""


@cache
def adapters() -> dict[str, Schema]:
    """Return the schemas of classes that have no method card."""
    return {schema.name: schema for name in ADAPTERS for schema in import_module(name).SCHEMAS}


def registry() -> dict[str, Schema]:
    """Return every schema by its registry name."""
    return adapters() | {card.name: schema_from(card) for card in all_cards()}


def schema_from(card: MethodCard) -> Schema:
    """Return what a file may say about the estimator of a card."""
    return Schema(
        card.name,
        card.estimator.__module__,
        parameters={name: storable(kind) for name, kind in card.parameters.items()},  # type: ignore[arg-type]  # kinds
        attributes={**INPUTS, **card.attributes, **EVIDENCE},
        rebuilt=card.rebuilt,
        rebuild=card.rebuild,
    )


def schema_of(model: Any) -> Schema:
    """Return the schema that describes a model."""
    kind = type(model)
    schema = next((schema for schema in adapters().values() if schema.describes(model)), None)
    if schema is None and kind.__module__.startswith("pellucid."):
        schema = schema_from(card_of(kind))
    if schema is None or not schema.describes(model):
        raise NotSaveableError(
            f"model must be of a class in the registry, got {kind.__module__}.{kind.__qualname__}. "
            "Estimators of pellucid, its networks and the transformers of its pipelines are."
        )
    return schema


def schema_named(name: str) -> Schema:
    """Return the schema that a file asks for."""
    for module in ADAPTERS:
        if names_word(module, name):
            for schema in import_module(module).SCHEMAS:
                if schema.name == name:
                    return schema
    card = find_card(name)
    if card is None:
        raise SchemaError(f"class must be one of the {len(registry())} in the registry, got {name[:80]!r}.")
    return schema_from(card)


def write_model(model: Any, page: WritePage, path: str = "") -> Json:
    """Return an estimator of the registry as JSON."""
    return schema_of(model).write(model, page, path)


def read_model(node: Json, page: ReadPage, path: str = "") -> Any:
    """Return the estimator of the registry that the JSON describes."""
    return schema_named(class_name_of(node, page, path)).read(node, page, path)


def read_fitted(node: Json, page: ReadPage) -> Any:
    """Return the model that is all a file holds; refuse one that is not fitted, and arrays that nobody asked for."""
    model = read_model(node, page)
    page.refuse_leftovers()
    if node["attributes"] is None:
        raise SchemaError("model must be fitted, but the file holds no fitted attributes.")
    return model


class Model(Kind):
    """An estimator of the registry, fitted or not, with sizes of its own."""

    says = "an estimator of the registry"

    def fits(self, value: Any) -> bool:
        return hasattr(value, "get_params") and not isinstance(value, type)

    def write(self, value: Any, page: WritePage, path: str) -> Json:
        return write_model(value, page.inner(), path)

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        return isinstance(node, dict) and set(node) == PARTS

    def read(self, node: Json, page: ReadPage, path: str) -> Any:
        return read_model(node, page.inner(), path)
