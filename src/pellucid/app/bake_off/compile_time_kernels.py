"""How much of some work's time went into compiling loops: it is paid once, and says nothing about the next time."""

from __future__ import annotations

import threading
import time
from functools import cache
from typing import Any

from numba.core.event import Listener, register


class CompilingClock(Listener):
    """Runs while a loop is compiled, on whichever thread."""

    def __init__(self) -> None:
        self._lock, self._at_work, self._begun, self._ran = threading.Lock(), 0, 0.0, 0.0

    def on_start(self, event: Any) -> None:
        """Go on, unless it runs: loops that a loop calls are compiled inside of its time."""
        with self._lock:
            self._at_work += 1
            if self._at_work == 1:
                self._begun = time.monotonic()

    def on_end(self, event: Any) -> None:
        """Stop when nothing is being compiled any more."""
        with self._lock:
            self._at_work -= 1
            if self._at_work == 0:
                self._ran += time.monotonic() - self._begun

    def seconds(self) -> float:
        """Return how long it has run so far."""
        at_work, begun, ran = self._at_work, self._begun, self._ran  # no lock: an alarm may ring while it is held
        return ran + (time.monotonic() - begun if at_work else 0.0)


@cache
def compiling_clock() -> CompilingClock:
    """Return the one clock of this process, from the first call on."""
    clock = CompilingClock()
    register("numba:compile", clock)
    return clock


class Stopwatch:
    """Seconds since it was made, those of compiling aside."""

    def __init__(self) -> None:
        self._clock = compiling_clock()
        self._start, self._compiled = time.monotonic(), self._clock.seconds()

    def seconds(self) -> float:
        """Return the seconds so far."""
        return max(0.0, time.monotonic() - self._start - (self._clock.seconds() - self._compiled))
