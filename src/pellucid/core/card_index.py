"""The index of method cards: what their files say of each method, read without importing any of them.

Importing all methods takes seconds, and most questions are about one: which file has its card, what it is called on the
command line, which topic it belongs to. So a card writes these down as they are: names, strings and tuples of strings.
"""

from __future__ import annotations

import ast
import pkgutil
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pellucid
from pellucid.proofs.index import proof_modules

ENDING = "_card"


def hyphened(name: str) -> str:
    """Return the name of a class in small letters, with hyphens between its words.

    Examples
    --------
    >>> hyphened("KNeighborsClassifier"), hyphened("ID3Classifier")
    ('k-neighbors-classifier', 'id3-classifier')
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])", "-", name).lower()


@dataclass(frozen=True)
class Entry:
    """What the file of a card says of one estimator; modules are given by their names."""

    name: str
    home: str
    """The module of the estimator."""
    file: str
    """The module of the card."""
    topics: tuple[str, ...]
    workings: str | None = None
    extra: str = ""
    tests: tuple[str, ...] = ()
    proof: str = ""

    @property
    def prove(self) -> str:
        """The module of the proof."""
        return self.proof.partition(":")[0] or proof_modules()[self.name]

    @property
    def command_name(self) -> str:
        """What the command calls it: ``KNeighborsClassifier`` is ``k-neighbors-classifier``."""
        return hyphened(self.name)

    @property
    def family(self) -> str:
        """The package it is in."""
        return self.home.split(".")[1]

    @property
    def test_files(self) -> tuple[str, ...]:
        """Paths of its tests in the repository."""
        names = self.tests or (f"test_{self.home.rpartition('.')[2]}",)
        return tuple(f"tests/{self.family}/{name}.py" for name in names)


SAID = ("topics", "proof", "workings", "extra", "tests")


@cache
def entries() -> Mapping[str, Entry]:
    """Return every entry by the name of its estimator, one family after the other."""
    return {entry.name: entry for module in card_modules() for entry in _entries_in(module)}


def card_modules(package: str = "pellucid") -> Iterator[str]:
    """Yield the modules with cards, those of a folder after those of the folders in it."""
    found = list(pkgutil.iter_modules(path_without_import(package), f"{package}."))
    for info in found:
        if info.ispkg:
            yield from card_modules(info.name)
    yield from (info.name for info in found if info.name.endswith(ENDING))


def path_without_import(package: str) -> list[str]:
    """Return the folders of a package."""
    below = package.split(".")[1:]
    return [str(Path(root, *below)) for root in pellucid.__path__]


def source_of(module: str) -> str:
    """Return the text of a module or package of ours; of one that is not there, none."""
    places = [Path(place) for place in path_without_import(module)]
    paths = (path for place in places for path in (place.with_suffix(".py"), place / "__init__.py"))
    return next((path.read_text(encoding="utf-8") for path in paths if path.exists()), "")


def names_word(module: str, word: str) -> bool:
    """Return whether the file of a module of ours has a word."""
    return word.isidentifier() and re.search(rf"\b{word}\b", source_of(module)) is not None


def _entries_in(module: str) -> Iterator[Entry]:
    tree = ast.parse(source_of(module))
    homes = {
        alias.asname or alias.name: str(node.module)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    values = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }

    def said(node: ast.expr) -> Any:
        """Return what an expression says; a function says which module it is in."""
        match node:
            case ast.Constant(value):
                return value
            case ast.Tuple(parts):
                return tuple(map(said, parts))
            case ast.JoinedStr(parts) | ast.FormattedValue(ast.JoinedStr(parts)):
                return "".join(map(said, parts))
            case ast.FormattedValue(value):
                return said(value)
            case ast.Name(name):
                return said(values[name]) if name in values else homes.get(name, module)
        raise LookupError(f"{module} must write {', '.join(SAID)} down as they are, got {ast.unparse(node)}.")

    cards = values.get("CARDS")
    for card in cards.elts if isinstance(cards, ast.Tuple) else ():
        if not (isinstance(card, ast.Call) and card.args and isinstance(card.args[0], ast.Name)):
            raise LookupError(f"{module} must have cards that begin with their estimator, got {ast.unparse(card)}.")
        fields = {name: said(node) for name, node in _arguments(card, values) if name in SAID}
        yield Entry(card.args[0].id, homes[card.args[0].id], module, **fields)


def _arguments(card: ast.Call, values: Mapping[str, ast.expr]) -> Iterator[tuple[str, ast.expr]]:
    """Yield the named arguments of a call, those in a dictionary of the same file as well."""
    for word in card.keywords:
        shared = values.get(word.value.id) if word.arg is None and isinstance(word.value, ast.Name) else None
        if word.arg is not None:
            yield word.arg, word.value
        elif isinstance(shared, ast.Dict):
            pairs = zip(shared.keys, shared.values, strict=True)
            yield from ((str(ast.literal_eval(key)), value) for key, value in pairs if key)
