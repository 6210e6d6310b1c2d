"""The syllabus as a table: id, objects, their pages, their tests."""

from __future__ import annotations

from pathlib import Path

import site_pages
from pellucid.catalogue import read_catalogue
from pellucid.core.card_index import entries


def write(folder: Path) -> None:
    """Write the page."""
    lines = ["The syllabus", "============", "", "Every topic with what covers it and the tests of that.", ""]
    lines += [".. list-table::", "   :header-rows: 1", "   :widths: 10 25 40 25", "   :class: syllabus", ""]
    lines += ["   * - id", "     - topic", "     - objects", "     - tests"]
    for topic in read_catalogue():
        objects = ", ".join(_object(path) for path in topic.found) or "—"
        tests = ", ".join(f"``{Path(path).name}``" for path in topic.tests) or "—"
        lines += [f"   * - {topic.id}", f"     - {topic.title}", f"     - {objects}", f"     - {tests}"]
    site_pages.write_if_new(folder / "syllabus.rst", "\n".join([*lines, ""]))


def _object(path: str) -> str:
    name = path.rpartition(":")[2]
    return f":doc:`methods/{name}`" if name in entries() else f"``{name}``"
