"""The catalogue: every topic of the syllabus, the objects that cover it, their proof, workings and tests."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from typing import Any

STATES = ("done", "planned")


@dataclass(frozen=True)
class Topic:
    """One topic of the syllabus."""

    id: str
    title: str
    objects: tuple[str, ...]
    status: str
    proof: str | None = None
    workings: str | None = None
    tests: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the objects, without their modules."""
        return tuple(path.split(":")[1] for path in self.objects)

    def load(self) -> tuple[Any, ...]:
        """Import the objects."""
        return tuple(_import(path) for path in self.objects)


def read_catalogue() -> tuple[Topic, ...]:
    """Return all topics, in the order of the file.

    Examples
    --------
    >>> from pellucid.catalogue import read_catalogue
    >>> read_catalogue()[0].names[0]
    'BayesClassifier'
    """
    rows = tomllib.loads((files("pellucid") / "catalogue.toml").read_text(encoding="utf-8"))
    return tuple(_topic(name, row) for name, row in rows.items())


def _topic(name: str, row: dict[str, Any]) -> Topic:
    return Topic(**{"id": name, **row, "objects": tuple(row["objects"]), "tests": tuple(row.get("tests", ()))})


def _import(path: str) -> Any:
    module, name = path.split(":")
    return getattr(import_module(module), name)
