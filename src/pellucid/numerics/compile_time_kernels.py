"""How much of some work's time went into compiling loops: it is paid once, and says nothing about the next time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from numba.core.event import TimingListener, install_listener


class Stopwatch:
    """Seconds since it was made, those of compiling aside."""

    def __init__(self, compiling: TimingListener) -> None:
        self._start, self._compiling = time.monotonic(), compiling

    def seconds(self) -> float:
        """Return the seconds so far."""
        compiled: float = self._compiling.duration if self._compiling.done else 0.0
        return max(0.0, time.monotonic() - self._start - compiled)


@contextmanager
def without_compiling() -> Iterator[Stopwatch]:
    """Measure a block of work as it will be when all its loops are compiled."""
    with install_listener("numba:compile", TimingListener()) as compiling:
        yield Stopwatch(compiling)
