"""A progress bar for long loops, if the user asks for one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def tracked(items: Sequence[Item], description: str, *, show: bool) -> Iterable[Item]:
    """Return the items, with a bar that fills as they are taken."""
    if not show:
        return items
    from rich.progress import track

    return track(items, description=description)
