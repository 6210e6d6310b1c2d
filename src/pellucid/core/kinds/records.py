"""The kind of small dataclasses: each field with a kind of its own."""

# ruff: noqa: D102  (the four methods of a kind are described once, in Kind)
# ruff: noqa: D102  (the methods of a kind are described once, in Kind)

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from importlib import import_module
from types import MappingProxyType
from typing import Any, ClassVar

from pellucid.core.kinds.pages import Json, ReadPage, SchemaError, WritePage, describe
from pellucid.core.kinds.plain import Kind, read_as, tagged
from pellucid.core.public_names import needs_extra


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


class Configured:
    """Base of frozen dataclasses whose fields have a kind each, which refuses wrong values and stores right ones."""

    settings: ClassVar[Mapping[str, Kind]] = MappingProxyType({})

    def __post_init__(self) -> None:
        for name, kind in self.settings.items():
            value = getattr(self, name)
            if not kind.fits(value):
                raise kind.complaint(name, value)


@dataclass(frozen=True)
class ConfiguredByName(Kind):
    """A value of one of some classes: ``{"name": "ResNet", "record": {"depth": 50, ...}}``."""

    holds_many = True
    what: str
    """What the classes are, in one word."""
    homes: Mapping[str, str]
    """Every class that a file may name, with its module, which is imported when one is met: it may bring much."""

    @property
    def says(self) -> str:
        return f"one of the {self.what}s {tuple(self.homes)}"

    def fits(self, value: Any) -> bool:
        name = type(value).__name__
        if not isinstance(value, Configured) or name not in self.homes or type(value) is not self.find_class(name):
            return False
        return _record_of(type(value)).fits(value)

    def write(self, value: Any, page: WritePage, path: str) -> Json:
        return {"name": type(value).__name__, **_record_of(type(value)).write(value, page, path)}

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        return isinstance(node, dict) and set(node) == {"name", "record"} and isinstance(node["name"], str)

    def read(self, node: Json, page: ReadPage, path: str) -> Any:
        if node["name"] not in self.homes:
            raise SchemaError(f"{path} must be {self.says}, got {describe(node['name'])}.")
        kind = _record_of(self.find_class(node["name"]))
        try:
            return read_as(kind, {"record": node["record"]}, page, path)
        except SchemaError:
            raise
        except (TypeError, ValueError) as error:  # settings that are right one by one, but not together
            raise SchemaError(f"{path} must be {node['name']} with possible settings: {error}") from error

    def find_class(self, name: str) -> type[Configured]:
        """Return a class of the closed list."""
        with needs_extra(name):
            found: type[Configured] = getattr(import_module(self.homes[name]), name)
        return found


def _record_of(kind: type[Configured]) -> Record:
    return Record(kind, {field.name: kind.settings[field.name] for field in fields(kind)})  # type: ignore[arg-type]  # a dataclass
