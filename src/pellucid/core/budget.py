"""A time budget: the seconds left, and work that the clock or Ctrl-C cuts short."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Self, TypeVar

Result = TypeVar("Result")

RING_AGAIN = 0.5
"""Seconds after which the alarm rings again: an exception can be lost where Python must ignore one."""


EARLY = 0.01
"""Seconds by which the alarm may ring early."""
RING_AFTER_COMPILING = 0.05
COMPILER = ("numba", "llvmlite")
SHORTEST_GAUGE, LARGEST_SLOWDOWN = 0.1, 1.5
"""Seconds of computing from which a gauge means something, and what is believed of it."""


class CutShort(BaseException):
    """Raised inside work that has to end. No error of the work, so no ``except Exception`` may swallow it."""


class Budget:
    """A deadline, and whether the user asked to stop before it.

    Inside ``with budget:`` the first Ctrl-C, or a polite kill, ends the work in ``attempt`` and sets ``interrupted``;
    outside of ``attempt`` only the latter happens. The second one raises KeyboardInterrupt. Signals reach the main
    thread only: in another one, work is not cut short.

    Parameters
    ----------
    seconds : float
        How long the work may take.
    start : float, default=now
        The ``time.monotonic()`` from which they count.

    Attributes
    ----------
    deadline : float
        The ``time.monotonic()`` at which they are over.
    interrupted : bool
        Whether Ctrl-C was pressed.
    slowdown : float
        How many times as long as its computing work takes, because others compute on the same machine: see ``gauged``.
    """

    def __init__(self, seconds: float, start: float | None = None) -> None:
        self.seconds = seconds
        self.deadline = (time.monotonic() if start is None else start) + seconds
        self.interrupted = False
        self.slowdown = 1.0
        self._working, self._cut_by, self._until = False, "", math.inf
        self._handlers_before: dict[int, Any] = {}

    def seconds_left(self) -> float:
        """Return the seconds left, negative after the deadline."""
        return self.deadline - time.monotonic()

    @contextmanager
    def gauged(self) -> Iterator[None]:
        """See how busy the machine is from a block that computes on this thread alone."""
        start, computed = time.monotonic(), time.thread_time()
        yield
        computed = time.thread_time() - computed
        if computed >= SHORTEST_GAUGE:
            self.slowdown = min(max(1.0, (time.monotonic() - start) / computed), LARGEST_SLOWDOWN)

    def attempt(self, work: Callable[[], Result], seconds: float) -> tuple[Result | None, str]:
        """Return what the work returns, and why it was cut short: ``"time"``, ``"interruption"`` or nothing."""
        if self.interrupted or seconds <= 0:
            return None, "interruption" if self.interrupted else "time"
        try:
            try:
                self._cut_by, self._until, self._working = "", time.monotonic() + seconds, True
                self._ring_after(seconds)
                return work(), ""
            finally:
                self._working = False
        except CutShort:
            return None, self._cut_by
        finally:
            self._working = False  # again: the alarm may have rung in the line above
            self._ring_after(0.0)

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            handlers = dict.fromkeys((signal.SIGINT, signal.SIGTERM), self._on_interrupt)
            if hasattr(signal, "SIGALRM"):
                handlers[signal.SIGALRM] = self._on_alarm
            self._handlers_before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        return self

    def __exit__(self, *_error: object) -> None:
        self._ring_after(0.0)
        for number, handler in self._handlers_before.items():
            signal.signal(number, handler)
        self._handlers_before = {}

    def _ring_after(self, seconds: float) -> None:
        if hasattr(signal, "SIGALRM") and signal.SIGALRM in self._handlers_before:
            signal.setitimer(signal.ITIMER_REAL, seconds, RING_AGAIN if seconds else 0.0)

    def _on_alarm(self, _signal: int, frame: FrameType | None) -> None:
        left = self._until - time.monotonic()
        if self._working and not self._cut_by and left > EARLY:
            self._ring_after(left)
        elif self._working:
            self._cut_by = self._cut_by or "time"
            self._cut_short(frame)

    def _on_interrupt(self, _signal: int, frame: FrameType | None) -> None:
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True
        if self._working:
            self._cut_by = "interruption"
            self._cut_short(frame)

    def _cut_short(self, frame: FrameType | None) -> None:
        """End the work, unless a compiler is at it, which would be left in pieces: then when it is done."""
        if not is_compiling(frame):
            raise CutShort
        self._ring_after(RING_AFTER_COMPILING)


def is_compiling(frame: FrameType | None) -> bool:
    """Return whether a frame, or one that waits for it, is the compiler's."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] in COMPILER:
            return True
        frame = frame.f_back
    return False


CONTAINER_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
"""Where a container says what it may use, by the second and by the first version of control groups."""
OWN_PAGES = Path("/proc/self/statm")
USUAL_SHARE = 0.8
"""Of the memory there is, that a fit may use if nobody says otherwise."""


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


def memory_left() -> float:
    """Return the bytes that a fit may still take."""
    return max(0.0, USUAL_SHARE * memory_there_is() - memory_in_use())


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
