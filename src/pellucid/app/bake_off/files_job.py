"""The main job on files larger than memory: one pass, a comparison on rows drawn from it, a fit to every row."""

from __future__ import annotations

import time
from typing import Any

from pellucid.app.bake_off.comparison import Stage
from pellucid.app.bake_off.every_row import EveryRow
from pellucid.app.bake_off.memory_room import drawn_bytes
from pellucid.app.bake_off.procedure import Listener, bake_off
from pellucid.app.bake_off.result import BakeOffResult
from pellucid.app.bake_off.so_far import stages_shown
from pellucid.app.tables.reading import NOTES, TableError
from pellucid.app.tables.survey import Survey, survey
from pellucid.app.tables.table_files import TableFiles
from pellucid.core.budget import Budget
from pellucid.core.watching import listening

ROWS_PER_SECOND = 500.0
"""Rows that are drawn for each second of the time given: more could not be compared in it."""
FEWEST_DRAWN, MOST_DRAWN = 5_000, 1_000_000
UNSUITED = {
    "group": "rows of a group lie in several files",
    "time_column": "the latest rows lie anywhere in the files",
    "weights": "rows are drawn evenly",
    "test": "rows of all files are kept aside",
}
"""Wishes that a table in files larger than memory cannot fulfil, and why."""


def bake_off_files(
    source: str | TableFiles,
    target: str,
    *,
    seconds: float = 300.0,
    budget: Budget | None = None,
    seed: int = 0,
    memory: float | None = None,
    coerce: bool = True,
    listen: Listener | None = None,
    **options: Any,
) -> BakeOffResult:
    """Do the bake-off of a table in files, such as ``"events/*.parquet"``, without ever holding all of it.

    One pass over all rows says what the columns hold, and draws rows evenly from all files; a fifth of these are kept
    aside. The methods are compared on the others. The one that is chosen is fitted to every row but those kept aside
    if it has a form for rows in blocks, and is judged on those.

    Parameters
    ----------
    source : str
        A folder, a pattern or a file; CSV, TSV, JSON lines or Parquet.
    target : str
        The column to predict.
    seconds, budget, seed, memory, coerce, listen, **options
        As of :func:`bake_off`. The draw takes a twelfth of the memory, and 500 rows for every second.
    """
    for name, reason in UNSUITED.items():
        if options.get(name) is not None:
            option = f"--{name.replace('_', '-')}"
            raise TableError(f"{option} must be left out for files larger than memory, got one: {reason}.")
    files = (source if isinstance(source, TableFiles) else TableFiles.of(source, target)).cut()
    own = budget is None
    budget = budget or Budget(seconds)
    if own:
        with budget:
            return _bake_off_files(files, target, budget, seed, memory, coerce, listen, options)
    return _bake_off_files(files, target, budget, seed, memory, coerce, listen, options)


def _bake_off_files(
    files: TableFiles,
    target: str,
    budget: Budget,
    seed: int,
    memory: float | None,
    coerce: bool,
    listen: Listener | None,
    options: dict[str, Any],
) -> BakeOffResult:
    room = drawn_bytes(memory)
    start = time.monotonic()
    with listening(listen, stages_shown) as hear:
        found = _survey(files, target, _n_drawn(files, room, budget), seed, budget, hear)
        every_row = EveryRow(
            found, time.monotonic() - start, 3.0 * room, found.understood(target, coerce=coerce), target, coerce
        )
        found.sample.attrs[NOTES] = [*_notes(found), *found.notes]
        return bake_off(
            found.sample,
            target,
            budget=budget,
            seed=seed,
            memory=memory,
            coerce=coerce,
            listen=hear,
            **options | {"simple": True, "test": found.vault, "every_row": every_row},
        )


def _n_drawn(files: TableFiles, room: float, budget: Budget) -> int:
    head = files.head()
    bytes_per_row = float(head.memory_usage(index=False, deep=True).sum()) / len(head)
    in_time = min(max(ROWS_PER_SECOND * budget.seconds, FEWEST_DRAWN), MOST_DRAWN)
    return int(min(in_time, room / max(bytes_per_row, 1.0)))


def _survey(files: TableFiles, target: str, n_drawn: int, seed: int, budget: Budget, listen: Listener) -> Survey:
    """Return what one pass finds; one that is interrupted has found nothing."""

    def show(done: int, total: int) -> None:
        listen(Stage("reading all rows", done, total, None, budget.seconds_left(), budget.interrupted))

    found, cut_by = budget.attempt(lambda: survey(files, target, n_drawn, seed, show), budget.seconds_left())
    if found is None and cut_by == "time":
        raise TableError(
            f"time must suffice for one pass over the files, got {budget.seconds:g} seconds for "
            f"{files.file_bytes / 1e9:.1f} GB. Give more."
        )
    if found is None:
        raise KeyboardInterrupt
    return found


def _notes(found: Survey) -> list[str]:
    n_files, size = len(found.files.files), found.files.file_bytes / 1e9
    where = "one file" if n_files == 1 else f"{n_files:,} files"
    return [
        f"The table has {found.n_rows:,} rows in {where} ({size:,.3g} GB), more than the memory holds. Its columns "
        f"were understood from all rows; the methods were compared on {len(found.sample):,} rows drawn evenly from all "
        f"files, and {len(found.vault):,} others were kept aside."
    ]
