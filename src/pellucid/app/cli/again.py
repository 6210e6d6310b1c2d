"""``pellucid again``: run the command that made a page once more."""

from __future__ import annotations

import html
import re
import shlex
from pathlib import Path
from typing import Annotated

import typer

from pellucid.app.cli.errors import CommandError

MAKERS = ("fit", "cluster", "map", "describe", "explain")
"""Commands that write pages."""
COMMAND = re.compile(rf"<code>(pellucid (?:{'|'.join(MAKERS)}) [^<]*)</code>")


def again(page: Annotated[Path, typer.Argument(help="Page that a command of pellucid wrote.")]) -> None:
    """Run the command that made a page once more, as the page tells it, on the table as it is now."""
    import sys

    from pellucid.app.cli.application import run

    words = command_in(page)
    sys.stderr.write(f"{shlex.join(['pellucid', *words])}\n")
    code = run(words)
    if code:
        raise typer.Exit(code)


def command_in(page: Path) -> list[str]:
    """Return the words of the command in a page, the program's name aside.

    Nothing is handed to a shell, and no command but those that write pages is taken from one.
    """
    if not page.is_file():
        raise CommandError(f"page must be a file, got {page}, which does not exist.")
    found = COMMAND.search(page.read_text(encoding="utf-8", errors="replace"))
    if found is None:
        raise CommandError(f"page must tell the command that made it, got {page.name}, which tells none.")
    return shlex.split(html.unescape(found[1]))[1:]
