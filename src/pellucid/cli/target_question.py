"""Which column to predict, asked of the user or listed for them."""

from __future__ import annotations

import sys

import pandas as pd
from rich.console import Console
from rich.table import Table

from pellucid.cli.errors import CommandError
from pellucid.tables.understanding import understand

MOST_LISTED = 60
NOBODY = "\x00"
"""Stands for a target while there is none: no column has this name."""


def find_target(frame: pd.DataFrame) -> str:
    """Return the column that the user names; where nobody can be asked, raise an error that lists the columns."""
    if sys.stdin.isatty() and sys.stderr.isatty():
        return ask_target(frame, Console(stderr=True))
    raise CommandError(f"target must be named with --target: one of {'; '.join(_listed(frame))}.")


def ask_target(frame: pd.DataFrame, console: Console) -> str:
    """Show the columns with their kinds, the last as the default, and ask until one is named."""
    names = [str(name) for name in frame.columns]
    kinds = _kinds(frame)
    table = Table("", "Column", "Kind", "For example", header_style="bold", box=None)
    for place, name in enumerate(names, start=1):
        present = frame[name].dropna()
        example = "" if present.empty else str(present.iloc[0])[:30]
        table.add_row(str(place), name, kinds[name], example)
    console.print("Which column shall be predicted?", style="bold")
    console.print(table)
    while True:
        answer = console.input(f"Number or name (Enter for {len(names)}, {names[-1]}): ").strip()
        if not answer:
            return names[-1]
        if answer in names:
            return answer
        if answer.isdecimal() and 1 <= int(answer) <= len(names):
            return names[int(answer) - 1]
        console.print(f"There is no column {answer!r}: give a number from 1 to {len(names)}, or a name.")


def _listed(frame: pd.DataFrame) -> list[str]:
    kinds = _kinds(frame)
    shown = [f"{name} ({kinds[str(name)]})" for name in frame.columns[:MOST_LISTED]]
    return [*shown, f"and {frame.shape[1] - MOST_LISTED} more"] if frame.shape[1] > MOST_LISTED else shown


def _kinds(frame: pd.DataFrame) -> dict[str, str]:
    """Return each column's kind, or what keeps it from being used."""
    columns = understand(frame.assign(**{NOBODY: 0}), NOBODY)
    return {str(name): columns.kinds.get(name, columns.left_out.get(name, "")) for name in frame.columns}
