"""``pellucid describe``: what is in a table, on the screen and as one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pellucid.app.cli.errors import AsIs, Query, TableName, read_source, refuse_a_file

if TYPE_CHECKING:
    from rich.console import Console

    from pellucid.app.describing import DescribedTable

PAGE_FILE = "description.html"
MOST_PAIRS = 5


def describe(
    table: TableName,
    out: Annotated[Path, typer.Option(help="Folder for the page.")] = Path("described"),
    query: Query = None,
    as_is: AsIs = False,
) -> None:
    """Say what is in a table: kinds, gaps, spread, what goes together, what changes, what looks wrong."""
    given = dict(locals())
    from rich.console import Console

    from pellucid.app.cli.fit import command_line
    from pellucid.app.describing import describe_table
    from pellucid.app.report import Origin, render_description
    from pellucid.app.tables.reading import name_of, without_password
    from pellucid.core.atomic import write_all_whole

    refuse_a_file(out)
    frame = read_source(table, query)
    found = describe_table(frame, coerce=not as_is)
    command = command_line(given | {"table": without_password(table)}, of=describe)
    page = render_description(found, Origin(name_of(table), "", command))
    out.mkdir(parents=True, exist_ok=True)
    write_all_whole({out / PAGE_FILE: page.encode()})
    _print(found, Console(), out / PAGE_FILE)


def _print(found: DescribedTable, console: Console, page: Path) -> None:
    """Print the columns, the closest pairs, what is odd, and where the page is."""
    from rich.table import Table

    from pellucid.app.report import format_share, values_in_words

    def say(sentence: str, style: str = "") -> None:
        console.print(sentence, highlight=False, markup=False, style=style)

    for note in found.notes:
        say(note)
    table = Table("Column", "Taken as", "Gaps", "Different", "Values", header_style="bold")
    table.columns[2].justify = table.columns[3].justify = "right"
    for facts in found.facts:
        gaps = format_share(facts.n_gaps / len(found.table)) if facts.n_gaps else ""
        kind = "left out" if facts.left_out else facts.kind
        table.add_row(facts.name, kind, gaps, f"{facts.n_different:,}", values_in_words(found, facts))
    console.print(table, markup=False)
    clear = [pair for pair in found.together if pair.is_clear]
    for pair in clear[:MOST_PAIRS]:
        say(
            f"{pair.first} and {pair.second}: rank correlation {pair.correlation:.2f} [{pair.low:.2f}, {pair.high:.2f}]"
        )
    if found.changed:
        names = ", ".join(one.column for one in found.changed[:MOST_PAIRS])
        say(f"Changed from the first half of the rows to the second, by {found.in_time or 'their order'}: {names}.")
    for one in found.suspicions:
        say(one.sentence, style="yellow")
    say(f"{found}.")
    console.print(f"Page: {page}", highlight=False, markup=False, soft_wrap=True)
