"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

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


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a file to write part by part, which has its name only when the block has ended well."""
    with _beside(Path(path)) as (temporary, file):
        yield file
    try:
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(Path(path).parent)


def _write_beside(path: Path, content: bytes) -> Path:
    with _beside(path) as (temporary, file):
        file.write(content)
    return temporary


@contextmanager
def _beside(path: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """Yield a file of a temporary name beside its own, on the disk when the block has ended, gone if it fails."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield temporary, file
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(_usual_mode())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


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
