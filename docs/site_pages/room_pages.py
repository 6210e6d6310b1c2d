"""The READMEs of the rooms as pages: what stands in a room, which methods, which differences."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pellucid
import site_pages

ROOMS = Path(pellucid.__file__).parent
LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


def write(folder: Path) -> None:
    """Write the pages and their index."""
    names = []
    for path in sorted(ROOMS.rglob("README.md")):
        name = ".".join(path.parent.relative_to(ROOMS).parts)
        names.append(name)
        site_pages.write_if_new(folder / "rooms" / f"{name}.md", without_far_links(path.read_text(encoding="utf-8")))
    lines = ["# Rooms", "", "What stands in each room of the code, in the words of its own README.", ""]
    lines += ["```{toctree}", ":maxdepth: 1", "", *names, "```", ""]
    site_pages.write_if_new(folder / "rooms" / "index.md", "\n".join(lines))


def without_far_links(text: str) -> str:
    """Return a page whose links to files of the repository are words: the site holds pages, not files."""
    return LINK.sub(lambda found: found[0] if found[2].startswith(("http", "#")) else found[1], text)


def setup(app: Any) -> None:
    """Let the pages that are written by hand link to rooms, where on disk they link to READMEs."""
    app.connect("source-read", _link_to_rooms)


def _link_to_rooms(_app: Any, name: str, source: list[str]) -> None:
    if not name.startswith("generated/"):
        up = "../" * name.count("/")
        source[0] = LINK.sub(lambda found: _link(found[1], found[2], up), source[0])


def _link(words: str, target: str, up: str) -> str:
    room = re.fullmatch(r"(?:\.\./)+src/pellucid/(.+)/README\.md", target)
    if room:
        return f"[{words}]({up}generated/rooms/{room[1].replace('/', '.')}.md)"
    is_far = target.startswith(f"{up}../") or target.startswith("../../")
    return words if is_far else f"[{words}]({target})"
