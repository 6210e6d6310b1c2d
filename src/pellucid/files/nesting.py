"""Estimators inside estimators: the steps of a pipeline, the branches of a column transformer."""

# ruff: noqa: D102  (the four methods of a kind are described once, in Kind)

from __future__ import annotations

from typing import Any

from pellucid.files.registry import schema_named, schema_of
from pellucid.files.schema import PARTS, class_name_of
from pellucid.kinds.pages import ReadPage, WritePage
from pellucid.kinds.plain import Kind
from pellucid.kinds.strict_json import Json


def write_model(model: Any, page: WritePage, path: str = "") -> Json:
    """Return an estimator of the registry as JSON."""
    return schema_of(model).write(model, page, path)


def read_model(node: Json, page: ReadPage, path: str = "") -> Any:
    """Return the estimator of the registry that the JSON describes."""
    return schema_named(class_name_of(node, page, path)).read(node, page, path)


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
