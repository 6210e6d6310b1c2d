"""``pellucid monitor``: tell whether a new table still looks like the one that a model learned from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pellucid.app.cli.errors import MEMORY_HELP, ClaimError, parse_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd
    from rich.table import Table

    from pellucid.app.table_model import Drift

MOST_SHOWN = 15
MOST_DRAWN = 100_000
"""Rows of a larger table that are compared: a share of them is off by less than 0.5 %, in 99 of 100 draws."""


def monitor(
    model: Annotated[Path, typer.Argument(help="Model file written by 'pellucid fit'.")],
    table: Annotated[str, typer.Argument(help="New rows, in any file, folder or pattern that 'pellucid fit' reads.")],
    threshold: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Part of the rows that must differ for a column to have drifted.")
    ] = 0.1,
    out: Annotated[Path | None, typer.Option(help="CSV file for the figures of every column.")] = None,
    memory: Annotated[str | None, typer.Option(help=MEMORY_HELP)] = None,
) -> None:
    """Compare new rows with the training table, column by column; exit code 1 if one has drifted."""
    import pandas as pd
    from rich.console import Console

    from pellucid.app.cli.model_input import load_table_model
    from pellucid.app.table_model import find_drift
    from pellucid.core.atomic import write_whole

    loaded, (frame, n_rows) = load_table_model(model), _rows(table, None if memory is None else parse_memory(memory))
    read = loaded[0].transform(frame).assign(**{loaded.prediction_name: loaded.said_as_seen(loaded.predict(frame))})
    found = find_drift(loaded.seen_, read, threshold)
    if out is not None:
        write_whole(out, pd.DataFrame(found).to_csv(index=False).encode())
    Console().print(_as_table(found))
    drifted = [drift.column for drift in found if drift.is_drifted]
    if drifted:
        are = "have" if drifted[1:] else "has"
        raise ClaimError(f"{', '.join(drifted)} {are} drifted: {len(drifted)} of {len(found)} columns.")
    drawn = f", drawn evenly from {n_rows:,}" if n_rows > len(frame) else ""
    Console().print(f"No column has drifted; {len(frame):,} rows{drawn} were compared.", highlight=False)


def _rows(table: str, memory: float | None) -> tuple[pd.DataFrame, int]:
    """Return the rows to compare, and how many there are: of a table that does not fit into memory, a draw."""
    from rich.console import Console

    from pellucid.app.tables.survey import survey
    from pellucid.app.tables.table_files import TableFiles
    from pellucid.app.tables.table_room import open_source
    from pellucid.core.watching import terminal_bar

    source = open_source(table, memory=memory)
    if not isinstance(source, TableFiles):
        return source, len(source)
    with terminal_bar(Console(stderr=True)) as show:
        found = survey(
            source, None, MOST_DRAWN, show=lambda done, total: show("reading all rows", done, total), vault_share=0.0
        )
    return found.sample, found.n_rows


def _as_table(found: Sequence[Drift]) -> Table:
    """Return the columns that differ most; what none of them has, gaps or unseen words, has no column either."""
    from rich.table import Column, Table

    figures: list[tuple[str, Callable[[Drift], str]]] = [
        ("Distance", lambda drift: f"{drift.distance:.3f}"),
        ("Chance", lambda drift: f"{drift.chance:.2g}"),
    ]
    if any(drift.gaps_before or drift.gaps_now for drift in found):
        figures.append(("Gaps", lambda drift: f"{100 * drift.gaps_before:.1f} → {100 * drift.gaps_now:.1f} %"))
    if any(drift.unseen for drift in found):
        figures.append(("Unseen words", lambda drift: f"{100 * drift.unseen:.1f} %"))
    headings = [Column(heading, justify="right", no_wrap=True) for heading, _ in figures]
    shown = Table(Column("Column", overflow="fold"), *headings, "", header_style="bold")
    for drift in found[:MOST_SHOWN]:
        cells = [write(drift) for _, write in figures]
        verdict, style = ("drifted", "bold yellow") if drift.is_drifted else ("", "dim")
        shown.add_row(drift.column, *cells, verdict, style=style)
    if len(found) > MOST_SHOWN:
        shown.caption = f"and {len(found) - MOST_SHOWN} columns that differ less; --out writes them all"
    return shown
