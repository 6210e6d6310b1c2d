"""A page for every public name that is not a method: functions, classes and data of the families."""

from __future__ import annotations

import inspect
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pellucid
import site_pages
from pellucid.core.card_index import entries

ROOT = Path(pellucid.__file__).parent
INSIDE = ("pellucid.core", "pellucid.app.cli", "pellucid.discriminant_analysis.")
"""What only the library itself imports from."""


def write(folder: Path) -> None:
    """Write the pages and their index."""
    lines = ["Everything else", "===============", "", "Every other public name, package by package.", ""]
    for home, names in pages().items():
        lines += [home, "-" * len(home), "", f".. module:: {home}", "   :no-index-entry:", ""]
        lines += [".. list-table::", "   :widths: 35 65", ""]
        for name in names:
            page = f"{home}.{name}"
            site_pages.write_if_new(folder / "api" / f"{page}.rst", _page(home, name))
            about = site_pages.first_line(getattr(import_module(home), name))
            lines += [f"   * - :doc:`{name} <{page}>`", f"     - {about or '—'}"]
        lines.append("")
    lines += [".. toctree::", "   :hidden:", ""]
    lines += [f"   {home}.{name}" for home, names in pages().items() for name in names]
    site_pages.write_if_new(folder / "api" / "index.rst", "\n".join([*lines, ""]))


@cache
def pages() -> dict[str, list[str]]:
    """Return for each public package the names with a page there: a thing has one, in the outermost package."""
    homes: dict[str, list[str]] = {}
    seen: set[int] = set()
    for home in sorted(public_packages(), key=lambda name: name.count(".")):
        own = {name: thing for name, thing in own_names(home).items() if id(thing) not in seen}
        seen |= {id(thing) for thing in own.values()}
        homes[home] = list(own)
    return {home: homes[home] for home in sorted(homes) if homes[home]}


def public_packages() -> list[str]:
    """Return the packages, and the modules beside them, that export names."""
    paths = (path for path in sorted(ROOT.rglob("*.py")) if "\n__all__" in path.read_text(encoding="utf-8"))
    parts = (path.relative_to(ROOT.parent).with_suffix("").parts for path in paths)
    names = (".".join(part).removesuffix(".__init__") for part in parts)
    return [name for name in names if not name.startswith(INSIDE)]


def own_names(home: str) -> dict[str, Any]:
    """Return what a package exports and no method page has; names that scikit-learn owns are described there."""
    package = import_module(home)
    things = ((name, getattr(package, name, None)) for name in sorted(package.__all__) if name not in entries())
    return {name: thing for name, thing in things if is_ours(thing)}


def link_to(name: str, up: str = "") -> str:
    """Return a link to the page of a public name from a page of the generated ones; without a page, only the name."""
    if name in entries():
        return f":doc:`{name} <{up}methods/{name}>`"
    home = next((home for home, names in pages().items() if name in names), None)
    return f":doc:`{name} <{up}api/{home}.{name}>`" if home else f"``{name}``"


def is_ours(thing: Any) -> bool:
    """Return whether a public thing is written here, and not passed on from scikit-learn."""
    module = getattr(thing, "__module__", None) or getattr(type(thing), "__module__", "")
    return not str(module).startswith("sklearn")


def _page(home: str, name: str) -> str:
    thing = getattr(import_module(home), name)
    kind = "autoclass" if inspect.isclass(thing) else "autofunction" if callable(thing) else "autodata"
    title = f"{home}.{name}"
    options = "   :members:\n" if kind == "autoclass" else ""
    return f"{title}\n{'=' * len(title)}\n\n.. currentmodule:: {home}\n\n.. {kind}:: {home}.{name}\n{options}\n"
