"""How much memory there is, as the machine or its container allows, and how much of it this process has."""

from __future__ import annotations

import os
from pathlib import Path

CONTAINER_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
"""Where a container says what it may use, by the second and by the first version of control groups."""
OWN_PAGES = Path("/proc/self/statm")


def memory_there_is() -> float:
    """Return the bytes of the machine, or of the container if that has fewer; infinite if nobody says."""
    try:
        machine = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):  # no POSIX
        machine = float("inf")
    return min([machine, *(_number_in(path) for path in CONTAINER_LIMITS)])


def memory_in_use() -> float:
    """Return the bytes that this process has in memory now, or the most it had, where only that is known; else 0."""
    try:
        return float(OWN_PAGES.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError, IndexError):
        return _most_so_far()


def _most_so_far() -> float:
    try:
        import resource
        import sys
    except ImportError:
        return 0.0
    unit = 1.0 if sys.platform == "darwin" else 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _number_in(path: Path) -> float:
    """Return the number that a file holds; infinite if it is not there or says ``max``."""
    try:
        return float(path.read_text())
    except (OSError, ValueError):
        return float("inf")
