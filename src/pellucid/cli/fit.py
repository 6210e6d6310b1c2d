"""``pellucid fit``: from a table to a chosen, certified, saved model and its report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pellucid.cli.errors import CommandError

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from pellucid.cli.bake_off import BakeOff
    from pellucid.cli.tables import Columns
    from pellucid.core.types import Array

MODEL_FILE = "model.safetensors"
REPORT_FILE = "report.html"


def fit(
    table: Annotated[Path, typer.Argument(help="CSV, TSV or Parquet file, one row per example.")],
    target: Annotated[str, typer.Option(help="Name of the column to predict.")],
    out: Annotated[Path, typer.Option(help="Folder for the model file and the report.")] = Path("learned"),
    folds: Annotated[int, typer.Option(min=2, max=50, help="Folds of the cross-validation.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the splits: the same seed gives the same answer.")] = 0,
    one_standard_error: Annotated[
        bool, typer.Option("--one-standard-error", help="Choose the simplest method within one standard error.")
    ] = False,
) -> None:
    """Compare methods on a table, choose one, certify it, save it and write a report."""
    from rich.console import Console

    from pellucid.cli.fit_report import describe_fit
    from pellucid.cli.tables import features, read_table, target_values, understand
    from pellucid.core.atomic import write_all_whole
    from pellucid.files.writing import model_bytes
    from pellucid.report import render_fit_report

    if out.exists() and not out.is_dir():
        raise CommandError(f"out must be a folder, got {out}, which is a file. Choose another name.")
    frame = read_table(table)
    y = target_values(frame, target)
    columns = understand(frame, target)
    X = features(frame, columns.numeric, columns.words)
    found = _run_with_progress(X, y, columns, folds=folds, seed=seed, one_standard_error=one_standard_error)
    model_file, report_file = out / MODEL_FILE, out / REPORT_FILE
    report = describe_fit(found, frame, columns, table=table, model_file=model_file, folds=folds, seed=seed)
    contents = {model_file: model_bytes(found.model), report_file: render_fit_report(report).encode()}
    out.mkdir(parents=True, exist_ok=True)
    write_all_whole(contents)

    console = Console()
    console.print(_leaderboard(found))
    console.print(_verdict(found), highlight=False, markup=False)
    console.print(f"Model: {model_file}\nReport: {report_file}", highlight=False, markup=False, soft_wrap=True)


def _run_with_progress(X: pd.DataFrame, y: Array, columns: Columns, **options: Any) -> BakeOff:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from pellucid.cli.bake_off import bake_off
    from pellucid.cli.contestants import contestants_for

    layout = (TextColumn("{task.description:<18}"), BarColumn(), TextColumn("{task.completed}/{task.total}"))
    with Progress(*layout, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=options["folds"] * len(contestants_for(columns)))
        return bake_off(
            X, y, columns, advance=lambda name: progress.update(task, description=name, advance=1), **options
        )


def _leaderboard(found: BakeOff) -> Table:
    from rich.table import Table

    from pellucid.report import format_number

    table = Table("Method", "Error", "± SE", "Coefficients", header_style="bold")
    for score in found.scores:
        chosen = score is found.chosen
        table.add_row(
            f"{score.contestant.name}{' (chosen)' if chosen else ''}",
            format_number(score.mean),
            format_number(score.standard_error, 2),
            "-" if score.contestant.is_baseline else f"{score.n_coefficients:.3g}",
            style="bold" if chosen else "dim" if score.contestant.is_baseline else "",
        )
    return table


def _verdict(found: BakeOff) -> str:
    from pellucid.report import format_number

    estimate, certificate = found.estimate, found.model[-1].certificate_
    error, low, high = (format_number(value) for value in (estimate.error, estimate.low, estimate.high))
    return (
        f"Error on {len(estimate.actual)} rows kept aside: {error} (95 % interval {low} to {high})\n"
        f"Certificate: {certificate.grade}, {'holds' if certificate.holds else 'DOES NOT HOLD'}"
    )
