"""A bar that fills batch by batch, with loss, score, speed and the time left."""

from __future__ import annotations

import os
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pellucid.core.watching import Show, Watch, asked_bar, show_nothing

if TYPE_CHECKING:
    from pellucid.neural_network.training.trainer import Training


class EpochBar:
    """Shows how far a run is; of several processes the first one shows it."""

    def __init__(self, epochs: int, *, show: bool) -> None:
        self.epochs = epochs
        self._bar: Any = None
        self._show: Show = show_nothing
        self._notes: tuple[str, ...] = ()
        if show and os.environ.get("RANK", "0") == "0":
            self._bar = asked_bar()

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._show, self._start = self._bar.__enter__(), monotonic()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.__exit__(kind, error, traceback)

    def tick(self, time: float) -> None:
        """Show the time, in epochs."""
        if self._bar is not None and time > 0.0:
            left = (monotonic() - self._start) * (self.epochs - time) / time
            self._show("epoch", time, self.epochs, *self._notes, f"{left:.0f} s left")

    def watching(self, watch: Watch) -> Watch:
        """Return a watch that writes how each epoch ended beside the bar."""
        if self._bar is None:
            return watch

        def shown(run: Training) -> bool:
            self._notes = (_said(run),)
            self.tick(run.epochs)
            return watch(run)

        return shown


def _said(run: Training) -> str:
    row = list(run.trace)[-1]
    score = f", score {row['validation_score']:.4f}" if "validation_score" in row else ""
    return f"loss {row['objective']:.4f}{score}, {row['rows_per_second']:,.0f} rows/s"
