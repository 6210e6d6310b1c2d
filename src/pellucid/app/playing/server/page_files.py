"""The files of the page as the server gives them out: the same that an export holds, each under its own address."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from pellucid.app.playing.export import LIVE_ENTRY, SCRIPT_TAG, STYLE_TAG, without_comments

FOLDER = "/page"
STYLES = ("style.css", "live.css")
MEDIA = {"js": "text/javascript", "css": "text/css"}


def live_page() -> str:
    """Return the page without a recording, which asks the server for what it shows."""
    page = _text("index.html")
    parts = {
        '<html lang="en">': '<html lang="en" data-live>',
        STYLE_TAG: "\n".join(f'<link rel="stylesheet" href="{FOLDER}/{name}">' for name in STYLES),
        SCRIPT_TAG: f'<script type="module" src="{FOLDER}/{LIVE_ENTRY}"></script>',
    }
    for tag, content in parts.items():
        before, after = page.split(tag)
        page = f"{before}{content}{after}"
    return page


def page_file(name: str) -> tuple[str, str] | None:
    """Return the media type and the text of a file of the page; None if there is none of this name."""
    if name not in _names():
        return None
    text = without_comments(_text(name)) if name.endswith(".js") else _text(name)
    if name == "style.css":
        from pellucid.show.html_printer import STYLE

        text = f"{STYLE}{text}"
    return MEDIA[name.rpartition(".")[2]], text


@cache
def _names() -> frozenset[str]:
    """The names that are given out; whatever else is asked for is not even looked for."""
    found = files("pellucid.app.playing").joinpath("page").iterdir()
    return frozenset(one.name for one in found if one.name.rpartition(".")[2] in MEDIA)


def _text(name: str) -> str:
    return files("pellucid.app.playing").joinpath("page", name).read_text(encoding="utf-8")
