"""Kinds of collections: lists and tuples of one kind, tuples of several, dicts."""

# ruff: noqa: D102  (the four methods of a kind are described once, in Kind)

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pellucid.core.kinds.pages import Json, ReadPage, SchemaError, WritePage, describe
from pellucid.core.kinds.plain import Either, Flag, Kind, Real, Text, Whole, read_as, tagged

PLAIN = Either((Flag(), Whole(), Real(), Text()))


@dataclass(frozen=True)
class Items(Kind):
    """A list or a tuple whose items are of one kind."""

    holds_many = True
    kind: Kind
    dim: str | None = None
    """The name of its length, which must have the same value throughout the estimator; None: any length."""
    most: int = 1_000_000

    @property
    def says(self) -> str:
        return f"a list or tuple of items each of which is {self.kind.says}"

    def fits(self, value: Any) -> bool:
        return type(value) in (list, tuple) and len(value) <= self.most and all(map(self.kind.fits, value))

    def write(self, value: Sequence[Any], page: WritePage, path: str) -> Json:
        page.agree(path, (self.dim,), (len(value),))
        items = [self.kind.write(item, page, f"{path}.{i}") for i, item in enumerate(value)]
        return {"list" if isinstance(value, list) else "tuple": items}

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        return isinstance(tagged(node, "list", "tuple"), list)

    def read(self, node: Json, page: ReadPage, path: str) -> list[Any] | tuple[Any, ...]:
        ((form, items),) = node.items()
        if len(items) > self.most:
            raise SchemaError(f"{path} must have at most {self.most} items, got {len(items)}.")
        page.agree(path, (self.dim,), (len(items),))
        found = [read_as(self.kind, item, page, f"{path}.{i}") for i, item in enumerate(items)]
        return found if form == "list" else tuple(found)


@dataclass(frozen=True)
class Lookup(Kind):
    """A dict with plain keys, kept as a list of pairs because JSON's keys are texts only."""

    holds_many = True
    value: Kind
    key: Kind = PLAIN
    says = "a dict"

    def fits(self, value: Any) -> bool:
        return type(value) is dict and all(self.key.fits(k) and self.value.fits(v) for k, v in value.items())

    def write(self, value: dict[Any, Any], page: WritePage, path: str) -> Json:
        pairs = enumerate(value.items())
        return {
            "dict": [[self.key.write(k, page, path), self.value.write(v, page, f"{path}.{i}")] for i, (k, v) in pairs]
        }

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        return isinstance(tagged(node, "dict"), list)

    def read(self, node: Json, page: ReadPage, path: str) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for i, pair in enumerate(node["dict"]):
            if not isinstance(pair, list) or len(pair) != 2:
                raise SchemaError(f"{path}.{i} must be a pair of key and value, got {describe(pair)}.")
            found[read_as(self.key, pair[0], page, path)] = read_as(self.value, pair[1], page, f"{path}.{i}")
        if len(found) < len(node["dict"]):
            raise SchemaError(f"{path} must not have the same key twice.")
        return found


@dataclass(frozen=True)
class Row(Kind):
    """A tuple whose entries have a kind each, such as ``(name, transformer, columns)``."""

    holds_many = True
    kinds: tuple[Kind, ...]

    @property
    def says(self) -> str:
        return f"a tuple of {', '.join(kind.says for kind in self.kinds)}"

    def fits(self, value: Any) -> bool:
        if type(value) is not tuple or len(value) != len(self.kinds):
            return False
        return all(kind.fits(entry) for kind, entry in zip(self.kinds, value, strict=True))

    def write(self, value: Sequence[Any], page: WritePage, path: str) -> Json:
        return [kind.write(entry, page, f"{path}.{i}") for i, (kind, entry) in self._pairs(value)]

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        if not isinstance(node, list) or len(node) != len(self.kinds):
            return False
        return all(kind.matches(entry, page, f"{path}.{i}") for i, (kind, entry) in self._pairs(node))

    def read(self, node: Json, page: ReadPage, path: str) -> tuple[Any, ...]:
        return tuple(kind.read(entry, page, f"{path}.{i}") for i, (kind, entry) in self._pairs(node))

    def _pairs(self, entries: Sequence[Any]) -> Iterator[tuple[int, tuple[Kind, Any]]]:
        return enumerate(zip(self.kinds, entries, strict=True))
