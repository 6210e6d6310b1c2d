"""Models from files, and the estimator of ours at their end."""

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


def last_step(model: Any, X: Any) -> tuple[Any, Any]:
    """Return the estimator at the end of a pipeline and the data as it sees them; a lone estimator is its own end."""
    if not hasattr(model, "steps"):
        return model, X
    return model[-1], model[:-1].transform(X) if len(model.steps) > 1 else X
