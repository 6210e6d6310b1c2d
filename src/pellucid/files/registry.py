"""The closed registry: the only classes a model file can name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from pellucid.files.errors import NotSaveableError, SchemaError
from pellucid.files.schema import Schema

FAMILIES = (
    "discriminant_analysis",
    "linear_model",
    "naive_bayes",
    "neighbors",
    "ranking",
    "row_by_row",
    "svm",
    "tables",
    "text",
    "transformers",
)
"""The modules of ``pellucid.files.schemas``."""


@cache
def registry() -> dict[str, Schema]:
    """Return every schema by its registry name."""
    families = [import_module(f"pellucid.files.schemas.{name}") for name in FAMILIES]
    return {schema.name: schema for family in families for schema in family.SCHEMAS}


def schema_of(model: Any) -> Schema:
    """Return the schema of a model's class; a subclass is another class."""
    schema = registry().get(type(model).__name__)
    if schema is None or schema.find_class() is not type(model):
        kind = type(model)
        raise NotSaveableError(
            f"model must be of a class in the registry {sorted(registry())}, got {kind.__module__}.{kind.__qualname__}."
        )
    return schema


def schema_named(name: str) -> Schema:
    """Return the schema that a file asks for."""
    if name not in registry():
        raise SchemaError(f"class must be one of {sorted(registry())}, got {name[:80]!r}.")
    return registry()[name]
