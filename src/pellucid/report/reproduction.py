"""How to get the same again: the command, the versions, the data."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("pellucid", "numpy", "scipy", "scikit-learn", "numba", "pandas")


@dataclass(frozen=True)
class Origin:
    """Where a result comes from: the names of table and model file, and the command that made it (none in Python)."""

    table_name: str
    model_name: str
    command: str = ""


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that a fit depends on, and the kind of machine."""
    found = {"Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # run from its sources
            continue
    return found | {"machine": f"{platform.system()} {platform.machine()}"}
