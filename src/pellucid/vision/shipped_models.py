"""Trained models that come with the package, and the figures that were measured when they were made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pellucid.core.checks import check_one_of
from pellucid.core.files import load


@dataclass(frozen=True)
class ShippedModels:
    """Model files of a folder by the names that users give them; beside each lies a file of figures."""

    folder: Path
    files: Mapping[str, str]
    """Name -> file, without its ending."""

    def path(self, name: str) -> Path:
        """Return where a model lies."""
        check_one_of(tuple(self.files), name=name)
        return self.folder / f"{self.files[name]}.safetensors"

    def model(self, name: str) -> Any:
        """Return a trained model."""
        return load(self.path(name))

    def figures(self, name: str) -> dict[str, Any]:
        """Return what was measured when its weights were made."""
        found: dict[str, Any] = json.loads(self.path(name).with_suffix(".json").read_text(encoding="utf-8"))
        return found
