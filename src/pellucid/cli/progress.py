"""What is seen while methods are compared: the method, the best so far, the time left. On standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column

    from pellucid.bake_off.comparing import Stage


@contextmanager
def progress_display(console: Console, *, is_classification: bool) -> Iterator[Callable[[Stage], None]]:
    """Show a live line while the block runs; nothing where the console is no terminal."""
    from rich.progress import BarColumn, Progress, TextColumn

    layout = (
        TextColumn("{task.description}", table_column=_one_line(ratio=3)),
        BarColumn(bar_width=16),
        TextColumn("{task.completed:.0f}/{task.total:.0f}", table_column=_one_line()),
        TextColumn("[dim]{task.fields[best]}", table_column=_one_line(ratio=4)),
        TextColumn("[dim]{task.fields[left]}", table_column=_one_line()),
    )
    with Progress(*layout, console=console, transient=True, expand=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("reading the table", total=1, best="", left="")

        def listen(stage: Stage) -> None:
            progress.update(
                task,
                description=stage.method,
                completed=stage.done,
                total=stage.total,
                best=best_so_far(stage, is_classification=is_classification),
                left=time_left(stage.seconds_left),
            )

        yield listen


def _one_line(ratio: int | None = None) -> Column:
    """Return a column that ends in dots rather than in a second line where the terminal is narrow."""
    from rich.table import Column

    return Column(no_wrap=True, overflow="ellipsis", ratio=ratio)


def best_so_far(stage: Stage, *, is_classification: bool) -> str:
    """Return the best method and its score in a few words."""
    if stage.interrupted:
        return "interrupted: finishing with the best so far, Ctrl-C again to abort"
    if stage.best is None:
        return ""
    score = f"{100 * (1 - stage.best.mean):.1f} % right" if is_classification else f"error {stage.best.mean:.4g}"
    return f"best: {stage.best.contestant.name}, {score}"


def time_left(seconds: float) -> str:
    """Return the time left as minutes and seconds.

    Examples
    --------
    >>> time_left(95.4)
    '1:35 left'
    """
    whole = max(0, int(seconds))
    return f"{whole // 60}:{whole % 60:02d} left"
