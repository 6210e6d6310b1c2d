"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

NEW_FILE_MODE = 0o666


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write one file: see ``write_all_whole``."""
    write_all_whole({Path(path): content})


def write_all_whole(contents: Mapping[Path, bytes]) -> None:
    """Write every file under a temporary name beside its own, force it to the disk, and only then rename them all."""
    waiting: dict[Path, Path] = {}
    try:
        for path, content in contents.items():
            waiting[path] = _write_beside(path, content)
        for path, temporary in waiting.items():
            temporary.replace(path)
    finally:
        for temporary in waiting.values():
            temporary.unlink(missing_ok=True)
    for folder in {path.parent for path in contents}:
        _sync_folder(folder)


def _write_beside(path: Path, content: bytes) -> Path:
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(_usual_mode())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _usual_mode() -> int:
    """Return the mode a plain ``open`` would give: mkstemp's is private to the owner."""
    mask = os.umask(0)
    os.umask(mask)
    return NEW_FILE_MODE & ~mask


def _sync_folder(folder: Path) -> None:
    """Force the rename itself to the disk, where the system lets a folder be opened."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
