"""Kinds of values: each can tell whether a value is of it, write the value as JSON and read it back.

Save and load apply the same checks, so that a file we write is a file we read.
"""

# ruff: noqa: D102  (the four methods of a kind are described once, in Kind)

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from pellucid.files.errors import SchemaError
from pellucid.files.pages import ReadPage, WritePage
from pellucid.files.strict_json import Json, describe

MAX_WHOLE = 2**63 - 1
SPECIAL_FLOATS = ("nan", "inf", "-inf")
FLOAT_TYPES: dict[str, type] = {"float": float, "float32": np.float32, "float64": np.float64}


class Kind(ABC):
    """One kind of value."""

    @property
    @abstractmethod
    def says(self) -> str:
        """What it is, in words, for messages."""

    @abstractmethod
    def fits(self, value: Any) -> bool:
        """Return whether the value is of this kind."""

    @abstractmethod
    def write(self, value: Any, page: WritePage, path: str) -> Json:
        """Return the value as JSON; arrays go to the page under ``path``."""

    @abstractmethod
    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        """Return whether the JSON has the outer form of this kind."""

    @abstractmethod
    def read(self, node: Json, page: ReadPage, path: str) -> Any:
        """Return the value, or raise SchemaError. ``matches`` has been asked before."""

    def __or__(self, other: Kind) -> Either:
        return Either((self, other))


def is_whole(value: Any) -> bool:
    """Return whether the value is a whole number and not a bool."""
    return isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))


def read_as(kind: Kind, node: Json, page: ReadPage, path: str) -> Any:
    """Return the value of a node that must be of the kind."""
    if not kind.matches(node, page, path):
        raise SchemaError(f"{path} must be {kind.says}, got {describe(node)}.")
    return kind.read(node, page, path)


def tagged(node: Json, *tags: str) -> Json:
    """Return the content of an object with one key, if it is one of the tags; else None."""
    if isinstance(node, dict) and len(node) == 1:
        ((tag, content),) = node.items()
        return content if tag in tags else None
    return None


@dataclass(frozen=True)
class Either(Kind):
    """A value of the first kind that takes it. The kinds must differ in the outer form of their JSON."""

    kinds: tuple[Kind, ...]

    @property
    def says(self) -> str:
        return " or ".join(kind.says for kind in self.kinds)

    def __or__(self, other: Kind) -> Either:
        return Either((*self.kinds, other))

    def fits(self, value: Any) -> bool:
        return any(kind.fits(value) for kind in self.kinds)

    def write(self, value: Any, page: WritePage, path: str) -> Json:
        return next(kind for kind in self.kinds if kind.fits(value)).write(value, page, path)

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        return any(kind.matches(node, page, path) for kind in self.kinds)

    def read(self, node: Json, page: ReadPage, path: str) -> Any:
        return next(kind for kind in self.kinds if kind.matches(node, page, path)).read(node, page, path)


class Plain(Kind):
    """A value that JSON has a word for: it is written as it is."""

    def write(self, value: Any, page: WritePage, path: str) -> Json:
        return value

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        return self.fits(node)

    def read(self, node: Json, page: ReadPage, path: str) -> Any:
        return node


class Nothing(Plain):
    """None."""

    says = "None"

    def fits(self, value: Any) -> bool:
        return value is None


class Flag(Plain):
    """True or False."""

    says = "True or False"

    def fits(self, value: Any) -> bool:
        return isinstance(value, (bool, np.bool_))

    def write(self, value: Any, page: WritePage, path: str) -> Json:
        return bool(value)


class Text(Plain):
    """A string."""

    says = "a text"

    def fits(self, value: Any) -> bool:
        return isinstance(value, str)

    def write(self, value: Any, page: WritePage, path: str) -> Json:
        return str(value)


@dataclass(frozen=True)
class OneOf(Plain):
    """One of some texts."""

    options: tuple[str, ...]

    @property
    def says(self) -> str:
        return repr(self.options[0]) if len(self.options) == 1 else f"one of {self.options}"

    def fits(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.options


@dataclass(frozen=True)
class Only(Plain):
    """One value and no other, where the rest of a parameter's range is not supported."""

    value: bool | str

    @property
    def says(self) -> str:
        return repr(self.value)

    def fits(self, value: Any) -> bool:
        return type(value) is type(self.value) and value == self.value


@dataclass(frozen=True)
class Whole(Plain):
    """A whole number in a range; it may give a symbolic size its value."""

    low: int = -MAX_WHOLE
    high: int = MAX_WHOLE
    size: str | None = None

    @property
    def says(self) -> str:
        return "a whole number" if self.low == -MAX_WHOLE else f"a whole number of at least {self.low}"

    def fits(self, value: Any) -> bool:
        return is_whole(value) and self.low <= value <= self.high

    def write(self, value: Any, page: WritePage, path: str) -> Json:
        page.agree(path, (self.size,), (int(value),))
        return int(value)

    def read(self, node: Json, page: ReadPage, path: str) -> int:
        page.agree(path, (self.size,), (node,))
        return node


@dataclass(frozen=True)
class Real(Kind):
    """A float. NumPy's float scalars keep their type, which decides the precision of later sums."""

    finite: bool = True

    @property
    def says(self) -> str:
        return "a finite float" if self.finite else "a float"

    def fits(self, value: Any) -> bool:
        return type(value) in FLOAT_TYPES.values() and (not self.finite or math.isfinite(value))

    def write(self, value: Any, page: WritePage, path: str) -> Json:
        number = float(value) if math.isfinite(value) else str(float(value))
        return number if type(value) is float and math.isfinite(value) else [type(value).__name__, number]

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        if type(node) is float:
            return math.isfinite(node)
        if not isinstance(node, list) or len(node) != 2 or not isinstance(node[0], str) or node[0] not in FLOAT_TYPES:
            return False
        return (type(node[1]) is float and math.isfinite(node[1])) or node[1] in SPECIAL_FLOATS

    def read(self, node: Json, page: ReadPage, path: str) -> Any:
        value = FLOAT_TYPES[node[0]](node[1]) if isinstance(node, list) else node
        if not self.fits(value):
            raise SchemaError(f"{path} must be {self.says}, got {value!r}.")
        return value
