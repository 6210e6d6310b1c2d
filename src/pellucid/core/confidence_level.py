"""The check of a confidence level."""

from __future__ import annotations

from typing import Any

from pellucid.core.checks import is_number


def check_level(level: Any) -> None:
    """Refuse what is not a number strictly between 0 and 1: 95 where 0.95 is meant, and certainty."""
    if not (is_number(level) and 0 < level < 1):
        raise ValueError(f"level must be above 0 and below 1, got {level!r}. Give 0.95 for 95 %.")
