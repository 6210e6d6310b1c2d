"""What makes the site: pages written from the method cards, code that is run, formulas without a script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from site_pages import api_pages, executed_code, formulas, method_pages, room_pages, syllabus_pages


def setup(app: Any) -> dict[str, Any]:
    """Register everything with Sphinx."""
    app.connect("builder-inited", _write_pages)
    room_pages.setup(app)
    executed_code.setup(app)
    formulas.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write_pages(app: Any) -> None:
    folder = Path(app.srcdir) / "generated"
    for pages in (method_pages, api_pages, room_pages, syllabus_pages):
        pages.write(folder)


def write_if_new(path: Path, text: str) -> None:
    """Write a page, unless it says the same already: then Sphinx need not read it again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
