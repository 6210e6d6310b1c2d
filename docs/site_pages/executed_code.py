"""Runs the Python of the pages, block after block in one namespace a page; what fails ends the build.

A block of text right behind a block of Python is what it prints, and is compared with what was printed.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
import warnings
from pathlib import Path
from typing import Any

from sphinx.errors import ExtensionError

BLOCKS = re.compile(r"^```python\n(.*?)^```$(?:\s*^```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)
ROUNDING = re.compile(r"(?<![\w.])-?(0|\d+(\.\d+)?e-\d+)(?![\w.])")
"""What rounding leaves differs between machines."""


def setup(app: Any) -> None:
    """Run the code of each page when it is read."""
    app.connect("source-read", _run_page)


def _run_page(_app: Any, name: str, source: list[str]) -> None:
    if name.startswith("generated/") or "```python" not in source[0]:
        return
    try:
        run_blocks(source[0])
    except Exception as error:
        raise ExtensionError(f"the code of {name} does not do what the page says: {error}") from error


def run_blocks(page: str) -> int:
    """Run the Python of a page; return how many blocks there were."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    blocks, before = BLOCKS.findall(page), Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # what a page writes is gone with it
        try:
            for code, said in blocks:
                printed = _output_of(code, namespace)
                if said:
                    _compare(said, printed)
        finally:
            os.chdir(before)
    return len(blocks)


def _output_of(code: str, namespace: dict[str, Any]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("default")
        exec(compile(code, "page", "exec"), namespace)
    return out.getvalue()


def _compare(said: str, printed: str) -> None:
    wanted, found = (ROUNDING.sub("#", text).split() for text in (said, printed))
    if wanted != found:
        raise AssertionError(f"it prints\n{printed}\nbut the page says\n{said}")
