"""Prints the lowest versions that pyproject.toml allows, for pip: ``python -m tools.lowest_versions [EXTRA ...]``.

The base dependencies, and those of the extras named. What a dependency itself stands on is left to pip.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def lowest_versions(extras: list[str]) -> Iterator[str]:
    """Yield a constraint for each dependency; refuse one without a lower bound."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(one for extra in extras for one in project["optional-dependencies"][extra])]
    for text in wanted:
        requirement = Requirement(text)
        lower = [bound.version for bound in requirement.specifier if bound.operator == ">="]
        if len(lower) != 1:
            raise ValueError(f"a dependency must have one lower bound, got {text}. Write name>=version.")
        if requirement.marker is None or requirement.marker.evaluate():
            yield f"{requirement.name}=={lower[0]}"


if __name__ == "__main__":
    print(*lowest_versions(sys.argv[1:]), sep="\n")
