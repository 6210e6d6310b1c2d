"""The syllabus as a table: id, objects, their pages, their tests."""

from __future__ import annotations

from pathlib import Path

import site_pages
from pellucid.catalogue import read_catalogue
from site_pages.api_pages import link_to


def write(folder: Path) -> None:
    """Write the page."""
    lines = ["The syllabus", "============", "", "Every topic with what covers it and the tests of that.", ""]
    lines += [".. list-table::", "   :header-rows: 1", "   :widths: 10 25 40 25", "   :class: syllabus", ""]
    lines += ["   * - id", "     - topic", "     - objects", "     - tests"]
    for topic in read_catalogue():
        objects = ", ".join(link_to(path.rpartition(":")[2]) for path in topic.found) or "—"
        tests = ", ".join(f"``{Path(path).name}``" for path in topic.tests) or "—"
        lines += [f"   * - {topic.id}", f"     - {topic.title}", f"     - {objects}", f"     - {tests}"]
    site_pages.write_if_new(folder / "syllabus.rst", "\n".join([*lines, ""]))
