"""A page for every public name that is not a method: functions, classes and data of the families."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pellucid
import site_pages
from pellucid.core.card_index import entries

FURTHER = ("pellucid", "pellucid.catalogue", "pellucid.vision", "pellucid.app.bake_off")
"""Packages with public names beside the families."""


def write(folder: Path) -> None:
    """Write the pages and their index."""
    homes = {home: own_names(home) for home in public_packages()}
    lines = ["Everything else", "===============", "", "Every other public name, package by package.", ""]
    for home, names in homes.items():
        lines += [home, "-" * len(home), "", f".. module:: {home}", "   :no-index-entry:", ""]
        lines += [".. list-table::", "   :widths: 35 65", ""] if names else ["Every name has a page of its own.", ""]
        for name in names:
            page = f"{home}.{name}"
            site_pages.write_if_new(folder / "api" / f"{page}.rst", _page(home, name))
            about = site_pages.first_line(getattr(import_module(home), name))
            lines += [f"   * - :doc:`{name} <{page}>`", f"     - {about or '—'}"]
        lines.append("")
    lines += [".. toctree::", "   :hidden:", ""]
    lines += [f"   {home}.{name}" for home, names in homes.items() for name in names]
    site_pages.write_if_new(folder / "api" / "index.rst", "\n".join([*lines, ""]))


def public_packages() -> list[str]:
    """Return the packages that export names."""
    families = (f"pellucid.{info.name}" for info in pkgutil.iter_modules(pellucid.__path__) if info.ispkg)
    found = dict.fromkeys([*FURTHER, *families])
    return [name for name in found if hasattr(import_module(name), "__all__")]


def own_names(home: str) -> list[str]:
    """Return what a package exports and no method page has; names that scikit-learn owns are described there."""
    package = import_module(home)
    return [
        name for name in sorted(package.__all__) if name not in entries() and is_ours(getattr(package, name, None))
    ]


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
