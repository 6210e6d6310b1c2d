"""Kinds of values: each can tell whether a value is of it, refuse one that is not, write it as JSON and read it back.

A fit checks its parameters by the same kinds that save and load do, so that a file we write is a file we read.
"""

# ruff: noqa: D102  (the methods of a kind are described once, in Kind)

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from pellucid.core.checks import is_number
from pellucid.core.kinds.pages import Json, NotSaveableError, ReadPage, SchemaError, WritePage, describe

MAX_WHOLE = 2**63 - 1
SPECIAL_FLOATS = ("nan", "inf", "-inf")
FLOAT_TYPES: dict[str, type] = {"float": float, "float32": np.float32, "float64": np.float64}


class Kind(ABC):
    """One kind of value."""

    holds_many = False
    """Whether its values hold others: arrays, lists, dicts."""

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

    def complaint(self, name: str, value: Any) -> Exception:
        """Return the error that refuses a value of this name: what, got what, do what instead."""
        return ValueError(f"{name} must be {self.says}, got {value!r}.")

    def __or__(self, other: Kind) -> Either:
        return Either((self, *(other.kinds if isinstance(other, Either) else (other,))))


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

    def __or__(self, other: Kind) -> Either:
        return Either((*self.kinds, *(other.kinds if isinstance(other, Either) else (other,))))

    @property
    def says(self) -> str:
        *first, last = (kind.says for kind in self.kinds)
        return f"{', '.join(first)} or {last}"

    def complaint(self, name: str, value: Any) -> Exception:
        """Return the error of the one kind beside None that is about such values, or a sentence that names all."""
        about = [kind for kind in self.kinds if not isinstance(kind, Nothing)]
        may_be_text = any(isinstance(kind, (OneOf, Text)) for kind in about)
        if not np.iterable(value) or (isinstance(value, str) and not may_be_text):
            about = [kind for kind in about if not kind.holds_many]
        if is_number(value):
            about = [kind for kind in about if not isinstance(kind, (Flag, OneOf, Text))] or about
        return about[0].complaint(name, value) if len(about) == 1 else super().complaint(name, value)

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
    hint: str = ""

    @property
    def says(self) -> str:
        return repr(self.options[0]) if len(self.options) == 1 else f"one of {self.options}"

    def fits(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.options

    def complaint(self, name: str, value: Any) -> Exception:
        return ValueError(f"{name} must be one of {self.options}, got {value!r}. {self.hint}".rstrip())


@dataclass(frozen=True)
class OneOfWholes(Plain):
    """One of some whole numbers."""

    options: tuple[int, ...]

    @property
    def says(self) -> str:
        return f"one of {self.options}"

    def fits(self, value: Any) -> bool:
        return is_whole(value) and value in self.options

    def write(self, value: Any, page: WritePage, path: str) -> Json:
        return int(value)


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
    hint: str = ""

    @property
    def says(self) -> str:
        return "a whole number" if self.low == -MAX_WHOLE else f"a whole number of at least {self.low}"

    def fits(self, value: Any) -> bool:
        return is_whole(value) and self.low <= value <= self.high

    def complaint(self, name: str, value: Any) -> Exception:
        if not is_whole(value):
            return TypeError(f"{name} must be a whole number, got {value!r}. {self.hint}".rstrip())
        limit = f"at least {self.low}" if value < self.low else f"at most {self.high}"
        return ValueError(f"{name} must be {limit}, got {value!r}. {self.hint}".rstrip())

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


@dataclass(frozen=True)
class Number(Real):
    """A real number in a range, whole or not: most parameters are one."""

    above: float = -math.inf
    below: float = math.inf
    """It is larger than the one, smaller than the other."""
    low: float = -math.inf
    high: float = math.inf
    hint: str = ""

    @property
    def says(self) -> str:
        return "a number" if self._range == "finite" else f"a number {self._range}".rstrip()

    @property
    def _range(self) -> str:
        if math.isfinite(self.high):
            return f"between {self.low:g} and {self.high:g}"
        limits = [f"above {self.above:g}"] if self.above > -math.inf else []
        limits += [f"at least {self.low:g}"] if self.low > -math.inf else []
        limits += [f"below {self.below:g}"] if self.below < math.inf else []
        return " and ".join(limits) or ("finite" if self.finite else "")

    def fits(self, value: Any) -> bool:
        if not is_number(value) or (self.finite and not math.isfinite(value)):
            return False
        return self.above < value and self.low <= value <= self.high and (value < self.below or math.isinf(self.below))

    def complaint(self, name: str, value: Any) -> Exception:
        if not is_number(value):
            return TypeError(f"{name} must be {self.says}, got {value!r}. {self.hint}".rstrip())
        return ValueError(f"{name} must be {self._range}, got {value!r}. {self.hint}".rstrip())

    def write(self, value: Any, page: WritePage, path: str) -> Json:
        if is_whole(value):
            return int(value)
        return super().write(value if type(value) in FLOAT_TYPES.values() else float(value), page, path)

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        return is_whole(node) or super().matches(node, page, path)


@dataclass(frozen=True)
class Live(Kind):
    """A value that a fit takes but no file can hold, such as a function or a random generator."""

    words: str
    test: Callable[[Any], bool] = callable
    holds_many: bool = False

    @property
    def says(self) -> str:
        return self.words

    def fits(self, value: Any) -> bool:
        return bool(self.test(value))

    def write(self, value: Any, page: WritePage, path: str) -> Json:
        raise NotSaveableError(f"{path} must be a plain value to be saved, got {value!r}.")

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        return False

    def read(self, node: Json, page: ReadPage, path: str) -> Any:
        raise SchemaError(f"{path} must be a plain value.")


def storable(kind: Kind) -> Kind:
    """Return the part of a kind that a file can hold."""
    if isinstance(kind, Either):
        kept = tuple(part for part in kind.kinds if not isinstance(part, Live))
        return kept[0] if len(kept) == 1 else Either(kept)
    return Nothing() if isinstance(kind, Live) else kind


@dataclass(frozen=True)
class Optional:
    """An attribute that an estimator may lack."""

    kind: Kind
