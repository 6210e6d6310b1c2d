"""The catalogue: every topic of the syllabus, the objects that cover it, their proof, workings and tests."""

from __future__ import annotations

import ast
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from pellucid.core.card_index import Entry, entries, source_of
from pellucid.core.public_names import PASSED_ON, is_installed

STATES = ("done", "begun", "planned")


@dataclass(frozen=True)
class Topic:
    """One topic of the syllabus: what it asks for, and what of it is there."""

    id: str
    title: str
    wanted: tuple[str, ...]
    """Names of estimators, or ``module:name``."""
    found: tuple[str, ...]
    """Those that are there, without having been imported where that takes long."""
    proofs: tuple[str, ...] = ()
    workings: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    """What has to be installed for some of it."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of what is there, without modules."""
        return tuple(name.rpartition(":")[2] for name in self.found)

    @property
    def status(self) -> str:
        """Whether all that is wanted is there, some of it, or nothing yet; or which extra it needs to be there."""
        if self.extras:
            return f"needs pellucid[{','.join(self.extras)}]"
        there = sum(name in self.found for name in self.wanted)
        return "done" if there == len(self.wanted) else "begun" if there else "planned"


def read_catalogue() -> tuple[Topic, ...]:
    """Return all topics, in the order of the file.

    Examples
    --------
    >>> from pellucid.catalogue import read_catalogue
    >>> read_catalogue()[0].names[0]
    'BayesClassifier'
    """
    rows = tomllib.loads((files("pellucid") / "catalogue.toml").read_text(encoding="utf-8"))
    cards = entries().values()
    unknown = {topic for card in cards for topic in card.topics} - set(rows)
    if unknown:
        raise LookupError(f"topics of method cards must be in catalogue.toml, got {sorted(unknown)}.")
    return tuple(_topic(name, row, [card for card in cards if name in card.topics]) for name, row in rows.items())


def _topic(name: str, row: dict[str, Any], cards: list[Entry]) -> Topic:
    extras = {*(card.extra for card in cards), row.get("extra", "")}
    return Topic(
        id=name,
        title=row["title"],
        wanted=tuple(row["objects"]),
        found=(*(card.name for card in cards), *(path for path in row["objects"] if ":" in path and _is_there(path))),
        proofs=tuple(dict.fromkeys([*(card.prove for card in cards), *_given(row, "proof")])),
        workings=tuple(
            dict.fromkeys([*(c.workings.split(":")[0] for c in cards if c.workings), *_given(row, "workings")])
        ),
        extras=tuple(sorted({extra for extra in extras if not is_installed(extra)})),
        tests=tuple(dict.fromkeys([*(path for card in cards for path in card.test_files), *row.get("tests", ())])),
    )


def _given(row: dict[str, Any], key: str) -> list[str]:
    return [row[key]] if key in row else []


def _is_there(path: str) -> bool:
    """Return whether a package has a name, by what its file imports and defines: nothing is imported for that."""
    module, name = path.split(":")
    if module.partition(".")[2] in PASSED_ON:  # or it is scikit-learn's own
        return True
    for node in ast.walk(ast.parse(source_of(module))):
        if isinstance(node, (ast.ImportFrom, ast.FunctionDef, ast.ClassDef)):
            known = [one.asname or one.name for one in node.names] if isinstance(node, ast.ImportFrom) else [node.name]
            if name in known:
                return True
    return False
