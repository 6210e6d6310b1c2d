"""The kind of small dataclasses: each field with a kind of its own."""

# ruff: noqa: D102  (the four methods of a kind are described once, in Kind)

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pellucid.kinds.errors import SchemaError
from pellucid.kinds.pages import ReadPage, WritePage
from pellucid.kinds.plain import Kind, read_as, tagged
from pellucid.kinds.strict_json import Json


def _no_fault(value: Any) -> str:  # noqa: ARG001  (the signature of every check)
    return ""


@dataclass(frozen=True)
class Record(Kind):
    """An object of one dataclass, which the program names, never the file."""

    holds_many = True
    made_by: type
    fields: Mapping[str, Kind]
    fault: Callable[[Any], str] = _no_fault
    """What is wrong with an object whose fields all fit, in a sentence that goes on from "but"; empty if nothing is."""

    @property
    def says(self) -> str:
        return f"a {self.made_by.__name__}"

    def fits(self, value: Any) -> bool:
        if type(value) is not self.made_by or not all(k.fits(getattr(value, name)) for name, k in self.fields.items()):
            return False
        return not self.fault(value)

    def write(self, value: Any, page: WritePage, path: str) -> Json:
        return {"record": {k: kind.write(getattr(value, k), page, f"{path}.{k}") for k, kind in self.fields.items()}}

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        fields = tagged(node, "record")
        return isinstance(fields, dict) and set(fields) == set(self.fields)

    def read(self, node: Json, page: ReadPage, path: str) -> Any:
        found = self.made_by(
            **{k: read_as(kind, node["record"][k], page, f"{path}.{k}") for k, kind in self.fields.items()}
        )
        fault = self.fault(found)
        if fault:
            raise SchemaError(f"{path} must be {self.says}, but {fault}.")
        return found
