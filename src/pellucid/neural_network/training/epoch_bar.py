"""A bar that fills batch by batch, with loss, score, speed and the time left."""

from __future__ import annotations

import os
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pellucid.core.watching import Watch

if TYPE_CHECKING:
    from pellucid.neural_network.training.trainer import Training


class EpochBar:
    """Shows how far a run is; of several processes the first one shows it."""

    def __init__(self, epochs: int, *, show: bool) -> None:
        self.epochs = epochs
        self._progress: Any = None
        if show and os.environ.get("RANK", "0") == "0":
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            said = TextColumn("{task.description}"), TimeRemainingColumn(), TextColumn("left")
            self._progress = Progress(TextColumn("epoch"), MofNCompleteColumn(), BarColumn(None), *said, expand=True)

    def __enter__(self) -> Self:
        if self._progress is not None:
            self._progress.start()
            self._task = self._progress.add_task("", total=self.epochs)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._progress is not None:
            self._progress.stop()

    def tick(self, time: float) -> None:
        """Show the time, in epochs."""
        if self._progress is not None:
            self._progress.update(self._task, completed=time)

    def watching(self, watch: Watch) -> Watch:
        """Return a watch that writes how each epoch ended beside the bar."""
        if self._progress is None:
            return watch

        def shown(run: Training) -> bool:
            self._progress.update(self._task, completed=run.epochs, description=_said(run))
            return watch(run)

        return shown


def _said(run: Training) -> str:
    row = list(run.trace)[-1]
    score = f", score {row['validation_score']:.4f}" if "validation_score" in row else ""
    return f"loss {row['objective']:.4f}{score}, {row['rows_per_second']:,.0f} rows/s"
