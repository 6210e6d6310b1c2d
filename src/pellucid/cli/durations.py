"""Durations as people write them: 90, 90s, 5m, 1.5h."""

from __future__ import annotations

import re

from pellucid.cli.errors import CommandError

SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
LONGEST = 30 * 24 * 3600.0


def parse_duration(text: str) -> float:
    """Return the seconds.

    Examples
    --------
    >>> parse_duration("5m"), parse_duration("1.5h"), parse_duration("90")
    (300.0, 5400.0, 90.0)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smh]?)\s*", text.lower())
    seconds = float(match[1]) * SECONDS[match[2]] if match else 0.0
    if not 0.0 < seconds <= LONGEST:
        raise CommandError(f"time must be a duration above 0 such as 90s, 5m or 1h, got {text!r}.")
    return seconds
