"""The check of decay rates, which many methods have."""

from __future__ import annotations

from typing import Any

from pellucid.core.checks import is_number


def check_fraction(**values: Any) -> None:
    """Refuse values that are not numbers of at least 0 and below 1."""
    for name, value in values.items():
        if not is_number(value) or not 0 <= value < 1:
            raise ValueError(f"{name} must be at least 0 and below 1, got {value!r}.")
