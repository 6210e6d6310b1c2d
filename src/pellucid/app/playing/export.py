"""A recording and the page that plays it as one HTML file: it works from disk, without a server or a network."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Mapping
from graphlib import TopologicalSorter
from html import escape
from importlib.resources import files
from typing import Any, Protocol

from pellucid.core.atomic import write_whole

ENTRY, LIVE_ENTRY = "main.js", "live.js"
"""Where a page on disk begins, and one that a server gives out."""
IMPORT = re.compile(r'^import \{ ([^}]+) \} from "\./([\w.]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:const|function|class) (\w+))", re.MULTILINE)
COMMENT = re.compile(r"^ */\*\*(?:(?!\*/).)*\*/\n", re.MULTILINE | re.DOTALL)
"""Types and explanations, in lines of their own: they are for readers of the source, and half of it."""
STYLE_TAG = '<link rel="stylesheet" href="style.css">'
SCRIPT_TAG = f'<script type="module" src="{ENTRY}"></script>'
RECORDING_TAG = '<script type="application/json" id="recording"></script>'


class HasJson(Protocol):
    """What knows itself as JSON."""

    def to_json(self) -> Any:
        """Return JSON as a text, or as what ``json.dumps`` takes."""


def export_page(recording: Mapping[str, Any] | HasJson, path: str | os.PathLike[str]) -> None:
    """Write the page with a recording in it, whole or not at all.

    Parameters
    ----------
    recording : mapping, or an object with ``to_json()``
        What to play; NaN and infinity must have been written as None.
    path : path
        The HTML file.
    """
    write_whole(path, page_with(recording).encode())


def page_with(recording: Mapping[str, Any] | HasJson) -> str:
    """Return the page with a recording in it as one text. It may run its own script, and reach nothing outside."""
    from pellucid.show.html_printer import STYLE

    found = _json_of(recording)
    style, script = f"{STYLE}{_read('style.css')}", joined_script()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data: blob:"
    parts = {
        STYLE_TAG: f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<style>{style}</style>',
        "<title>Pellucid</title>": f"<title>{escape(str(json.loads(found)['title']))}</title>",
        RECORDING_TAG: RECORDING_TAG.replace("></", f">{found}</"),
        SCRIPT_TAG: f"<script>{script}</script>",
    }
    page = _read("index.html")
    for tag, content in parts.items():
        before, after = page.split(tag)
        page = f"{before}{content}{after}"
    return page


def joined_script(entry: str = ENTRY) -> str:
    """Return a module of the page and all it imports as one script, each in a scope of its own, the imported first.

    Browsers load modules from a server only: a page on disk has to hold them.
    """
    sources = _modules(entry)
    order = TopologicalSorter({name: [found for _, found in IMPORT.findall(text)] for name, text in sources.items()})
    return "\n".join(['"use strict";', *(_scoped(name, sources[name]) for name in order.static_order())])


def without_comments(module: str) -> str:
    r"""Return a module without the comments that stand in lines of their own.

    Examples
    --------
    >>> without_comments("/** Say it. */\nconst said = /** @type {any} */ (1);\n")
    'const said = /** @type {any} */ (1);\n'
    """
    return COMMENT.sub("", module)


def _modules(entry: str) -> dict[str, str]:
    waiting, sources = [entry], dict[str, str]()
    while waiting:
        name = waiting.pop()
        if name not in sources:
            sources[name] = without_comments(_read(name))
            waiting += [found for _, found in IMPORT.findall(sources[name])]
    return sources


def _scoped(name: str, text: str) -> str:
    exported = ", ".join(EXPORT.findall(text))
    body = EXPORT.sub("", IMPORT.sub(lambda found: f"const {{ {found[1]} }} = {_scope(found[2])};\n", text))
    return f"const {_scope(name)} = (() => {{\n{body}return {{ {exported} }};\n}})();"


def _scope(name: str) -> str:
    return f"module_{name.removesuffix('.js')}"


def _json_of(recording: Mapping[str, Any] | HasJson) -> str:
    """Return the recording as JSON in which nothing can end the element that holds it."""
    found = recording if isinstance(recording, Mapping) else recording.to_json()
    if not isinstance(found, str):
        try:
            found = json.dumps(found, allow_nan=False, separators=(",", ":"))
        except ValueError as error:
            reason = "A recording must hold finite numbers, got NaN or infinity. Write None in their place."
            raise ValueError(reason) from error
    return found.replace("<", "\\u003c")


def _read(name: str) -> str:
    return files("pellucid.app.playing").joinpath("page", name).read_text(encoding="utf-8")
