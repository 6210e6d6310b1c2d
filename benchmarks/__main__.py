"""Prints the speed table of one family or of all."""

from __future__ import annotations

import argparse
import os
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from benchmarks.harness import OURS, Outcome, geometric_mean, run


def families() -> list[str]:
    """Return the names of the benchmark files that hold rows."""
    here = Path(__file__).parent
    return sorted(p.stem for p in here.glob("*.py") if "def rows" in p.read_text(encoding="utf-8") and p.stem[0] != "_")


def main() -> None:
    """Run the rows and print them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("families", nargs="*", help="families to run; all if none is named")
    parser.add_argument("--only", default="", help="run rows whose name contains this")
    options = parser.parse_args()
    console = Console()
    chosen = options.families or families()
    modules = [import_module(f"benchmarks.{name}") for name in chosen]
    for module in modules:
        if hasattr(module, "report"):  # compares answers, not times
            module.report(console, options.only)
    rows = [row for module in modules if hasattr(module, "rows") for row in module.rows() if options.only in row.name]
    if not rows:
        return
    outcomes: list[Outcome] = []
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        for row in rows:
            task = progress.add_task(row.name)
            outcomes.append(run(row))
            progress.remove_task(task)
            _print_line(console, outcomes[-1])
    console.print(_table(outcomes))


def _print_line(console: Console, outcome: Outcome) -> None:
    times = "  ".join(f"{name} {outcome.median(name):.4f} s" for name in outcome.times)
    console.print(f"{outcome.name}: {times}", highlight=False)


def _table(outcomes: list[Outcome]) -> Table:
    cores = os.environ.get("OMP_NUM_THREADS") or os.cpu_count()
    ratios = [outcome.ratio for outcome in outcomes]
    mean = f"geometric mean {geometric_mean(ratios):.2f}" if ratios else ""
    table = Table(title=f"best peer time / our time, {cores} threads; {mean}")
    for heading in ("row", "ours", "best peer", "its time", "ratio", "of the machine's own", "objective no worse"):
        table.add_column(heading, justify="left" if heading in ("row", "best peer") else "right")
    for outcome in outcomes:
        table.add_row(
            outcome.name,
            f"{outcome.median(OURS):.4f} s",
            outcome.best_peer,
            f"{outcome.median(outcome.best_peer):.4f} s",
            f"{outcome.ratio:.2f}",
            "" if outcome.share is None else f"{outcome.share:.2f}",
            "yes"
            if outcome.is_fair
            else f"NO: {outcome.objectives[OURS]:.9g} > {min(outcome.objectives.values()):.9g}",
        )
    return table


if __name__ == "__main__":
    main()
