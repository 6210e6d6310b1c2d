"""How loops are compiled: what only compiled loops call, and what is kept on disk until one of its files changes."""

# mypy: allow-untyped-defs

import ast
import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit

ROOM = Path(__file__).parents[1]
"""Where the files of the package are."""

PLAIN: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
LEAN: dict[str, Any] = {**PLAIN, "_nrt": False}
"""For loops that allocate nothing: their arrays need no reference counts."""
INNER: dict[str, Any] = {**LEAN, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

lean: Any = njit(**INNER)
"""For what allocates nothing and only compiled loops call: code to call it from Python is a quarter of the time."""

ANY_ORDER = {"nnan", "nsz", "reassoc", "contract"}
lean_in_any_order: Any = njit(**INNER, fastmath=ANY_ORDER)
"""The same for a largest, least or sum of numbers that may be taken in any order; infinity may be among them."""

lean_inlined: Any = njit(**INNER, forceinline=True)
"""For what is called once, or in the innermost loop: passing arrays on takes longer than a loop over few rows."""

lean_inlined_in_any_order: Any = njit(**INNER, forceinline=True, fastmath=ANY_ORDER)
"""Both at once."""


def kept(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a loop and keep the code on disk; further options are numba's, such as ``fastmath``.

    The compiler would take kept code for fresh as long as the file of the function is the same, though other files are
    compiled into it: with a constant changed elsewhere it would write past the end of an array.
    """
    if function is None:
        return lambda loop: kept(loop, **options)
    compiled: Any = njit(cache=True, **(PLAIN | options))(function)
    index: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(index, "_source_stamp"):
        index._source_stamp = (index._source_stamp, stamp_of(Path(function.__code__.co_filename)))
    return compiled


def is_kept(compiled: Any) -> bool:
    """Return whether code of a loop is on disk, for some kind of arguments."""
    index: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    return bool(hasattr(index, "_load_index") and index._load_index())


lean_and_kept: Any = kept(**LEAN)
"""The same for a loop that allocates nothing."""


def stamp_of(path: Path) -> str:
    """Return a hash of a file and of all files of ours that it imports from, by whatever way."""
    found = hashlib.sha256()
    for file in sorted(_files_behind(path)):
        found.update(file.read_bytes())
    return found.hexdigest()


def _files_behind(path: Path) -> set[Path]:
    found, waiting = set[Path](), [path]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += _imported_by(file)
    return found


@cache
def _imported_by(path: Path) -> list[Path]:
    nodes = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.ImportFrom)]
    names = {node.module or "" for node in nodes} | {
        f"{node.module}.{one.name}" for node in nodes for one in node.names
    }
    files = (ROOM.parent.joinpath(*name.split(".")).with_suffix(".py") for name in sorted(names))
    return [file for file in files if file.is_relative_to(ROOM) and file.exists()]
