"""The closed registry: the only classes a model file can name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from pellucid.core.card_index import names_word
from pellucid.core.cards import MethodCard, all_cards, card_of, find_card
from pellucid.files.schema import Schema
from pellucid.kinds.errors import NotSaveableError, SchemaError
from pellucid.kinds.plain import storable
from pellucid.kinds.usual import EVIDENCE, INPUTS

ADAPTERS = (
    "pellucid.files.schemas.tables",
    "pellucid.files.schemas.text",
    "pellucid.files.schemas.transformers",
    "pellucid.neural_network.network_kinds",
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
