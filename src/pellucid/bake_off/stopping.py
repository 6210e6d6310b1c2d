"""Work that may be cut short: by the clock, or by Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from typing import Any, Self, TypeVar

Result = TypeVar("Result")

RING_AGAIN = 0.5
"""Seconds after which the alarm rings again: an exception can be lost where Python must ignore one."""


class CutShort(BaseException):
    """Raised inside work that has to end. No error of the work, so no ``except Exception`` may swallow it."""


class Stopper:
    """Keeps a time budget and listens for Ctrl-C.

    The first Ctrl-C ends the work in ``attempt`` and sets ``interrupted``; outside of it only the latter happens. The
    second one raises KeyboardInterrupt. Signals reach the main thread only: in another one, work is not cut short.

    Parameters
    ----------
    seconds : float
        The budget.
    begin : float, default=now
        The ``time.monotonic()`` from which it runs.
    """

    def __init__(self, seconds: float, begin: float | None = None) -> None:
        self._end = (time.monotonic() if begin is None else begin) + seconds
        self._armed, self._reason = False, ""
        self._before: dict[int, Any] = {}
        self.interrupted = False

    def left(self) -> float:
        """Return the seconds left."""
        return self._end - time.monotonic()

    def attempt(self, work: Callable[[], Result], seconds: float) -> tuple[Result | None, str]:
        """Return what the work returns, and why it was cut short: ``"time"``, ``"interruption"`` or nothing."""
        if self.interrupted or seconds <= 0:
            return None, "interruption" if self.interrupted else "time"
        try:
            try:
                self._reason, self._armed = "", True
                self._ring_after(seconds)
                return work(), ""
            finally:
                self._armed = False
        except CutShort:
            return None, self._reason
        finally:
            self._armed = False  # again: the alarm may have rung in the line above
            self._ring_after(0.0)

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            handlers = {signal.SIGINT: self._on_interrupt}
            if hasattr(signal, "SIGALRM"):
                handlers[signal.SIGALRM] = self._on_alarm
            self._before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        return self

    def __exit__(self, *_error: object) -> None:
        self._ring_after(0.0)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def _ring_after(self, seconds: float) -> None:
        if hasattr(signal, "SIGALRM") and signal.SIGALRM in self._before:
            signal.setitimer(signal.ITIMER_REAL, seconds, RING_AGAIN if seconds else 0.0)

    def _on_alarm(self, *_signal: object) -> None:
        if self._armed:
            self._reason = self._reason or "time"
            raise CutShort

    def _on_interrupt(self, *_signal: object) -> None:
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True
        if self._armed:
            self._reason = "interruption"
            raise CutShort
