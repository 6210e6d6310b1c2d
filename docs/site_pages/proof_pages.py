"""The mathematics of the proofs, family by family, in the words of the modules that compute them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import pellucid.proofs
import site_pages
from pellucid.proofs.index import proof_files, proof_modules
from site_pages.api_pages import link_to

OPENING = """The mathematics of the proofs
=============================

Every claim is *value ≤ bound*: what is measured, which theorem makes it mean something, and how much rounding explains.
These are the opening words of the files that compute it, family by family; each method page links to its own. All of it
stands in ``src/pellucid/proofs``, needs NumPy and SciPy, and shares no code with a fit. How a proof is derived:
:doc:`../../guides/adding_a_method`; what it means: :doc:`../../guides/reading_a_certificate`.
"""


def write(folder: Path) -> None:
    """Write the page."""
    rooms: dict[str, list[str]] = {}
    for path in proof_files():
        parts = path.relative_to(Path(pellucid.proofs.__path__[0])).with_suffix("").parts
        if parts[-1] not in ("__init__", "__main__"):
            rooms.setdefault(" ".join(parts[:-1]) or "what all proofs stand on", []).append(".".join(parts))
    methods = _methods_by_module()
    text = [OPENING]
    for room in sorted(rooms, key=lambda name: (" " in name, name)):
        title = room.replace("_", " ")
        text += [title, "-" * len(title), ""]
        for name in rooms[room]:
            text += _section(name, methods.get(f"pellucid.proofs.{name}", []))
    site_pages.write_if_new(folder / "proofs" / "index.rst", "\n".join(text))


def label_of(module: str) -> str:
    """Return the label under which a module of proofs stands on the page."""
    return f"proof-{module.removeprefix('pellucid.proofs.').replace('.', '-').replace('_', '-')}"


def _methods_by_module() -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, module in proof_modules().items():
        found.setdefault(module, []).append(name)
    return found


def _section(name: str, methods: list[str]) -> list[str]:
    module = import_module(f"pellucid.proofs.{name}")
    title = name.rpartition(".")[2].replace("_", " ")
    lines = [f".. _{label_of(name)}:", "", title, "~" * len(title), "", inspect.getdoc(module) or "", ""]
    proves = " proves " + ", ".join(link_to(method, "../") for method in sorted(methods)) if methods else ""
    return [*lines, f"``pellucid.proofs.{name}``{proves}.", ""]
