"""What makes the site: pages written from the method cards, code that is run, formulas without a script."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

from site_pages import (
    api_pages,
    executed_code,
    formulas,
    method_pages,
    proof_pages,
    room_pages,
    syllabus_pages,
)

WRITTEN: set[Path] = set()
"""The pages of this build."""


def setup(app: Any) -> dict[str, Any]:
    """Register everything with Sphinx."""
    app.connect("builder-inited", _write_pages)
    app.connect("autodoc-skip-member", _skip_what_others_describe)
    method_pages.setup(app)
    room_pages.setup(app)
    executed_code.setup(app)
    formulas.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write_pages(app: Any) -> None:
    folder = Path(app.srcdir) / "generated"
    for pages in (method_pages, api_pages, proof_pages, room_pages, syllabus_pages):
        pages.write(folder)
    for path in folder.glob("*/*"):
        if path not in WRITTEN and path.parent.name != "examples":
            path.unlink()  # the page of a name that is gone


def _skip_what_others_describe(_app: Any, _what: str, _name: str, thing: Any, *_others: Any) -> bool | None:
    """Leave out methods that come from scikit-learn as they are: its documentation describes them."""
    return True if str(getattr(thing, "__module__", "")).startswith("sklearn") else None


def write_if_new(path: Path, text: str) -> None:
    """Write a page, unless it says the same already: then Sphinx need not read it again."""
    WRITTEN.add(path)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def first_line(thing: Any) -> str:
    """Return the first line of a docstring; what it refers to may have no page beside this one, and is only named."""
    line = (inspect.getdoc(thing) or "").partition("\n")[0]
    return re.sub(r":(?:class|func|mod|meth):`~?([^`]+)`", r"``\1``", line)
