"""A bar that fills epoch by epoch, with loss, score, speed and the time left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pellucid.core.watching import Watch

if TYPE_CHECKING:
    from pellucid.neural_network.training.trainer import Training


@contextmanager
def with_bar(watch: Watch, epochs: int, *, show: bool) -> Iterator[Watch]:
    """Yield the watch, or one that moves a bar as well."""
    if not show:
        yield watch
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("epoch"), MofNCompleteColumn(), BarColumn(), TextColumn("{task.description}"))
    with Progress(*columns, TimeRemainingColumn()) as progress:
        bar = progress.add_task("", total=epochs)

        def shown(run: Training) -> bool:
            progress.update(bar, completed=run.epochs, description=_said(run))
            return watch(run)

        yield shown


def _said(run: Training) -> str:
    row = list(run.trace)[-1]
    score = f", score {row['validation_score']:.4f}" if "validation_score" in row else ""
    return f"loss {row['objective']:.4f}{score}, {row['rows_per_second']:,.0f} rows/s"
