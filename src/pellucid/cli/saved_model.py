"""Models from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pellucid.cli.errors import CommandError
from pellucid.files import load


def load_model(path: Path) -> Any:
    """Return the model in a file."""
    if not path.is_file():
        raise CommandError(f"model must be a file, got {path}, which does not exist.")
    return load(path)
