"""``pellucid fit``: from a table to a chosen, certified, saved model and its report."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from time import monotonic
from typing import Annotated

import typer

from pellucid.cli.errors import INTERRUPTED, CommandError

MODEL_FILE = "model.safetensors"
REPORT_FILE = "report.html"
SECONDS_PER_UNIT = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
LONGEST = 30 * 24 * 3600.0


class Task(Enum):
    """What kind of value the target is."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


class RecipeName(Enum):
    """How the methods are compared."""

    cv = "cv"
    split = "split"
    resample = "resample"


def fit(
    table: Annotated[
        Path, typer.Argument(help="CSV or TSV (packed too), Parquet, Feather or XLSX file, one row per example.")
    ],
    target: Annotated[str, typer.Option(help="Name of the column to predict.")],
    task: Annotated[Task, typer.Option(help="Whether it is a class or a number.")] = Task.auto,
    recipe: Annotated[
        RecipeName, typer.Option(help="Compare by cross-validation, one validation set, or random ones.")
    ] = RecipeName.cv,
    time: Annotated[str, typer.Option(help="Time budget, such as 90s, 5m or 1h.")] = "5m",
    out: Annotated[Path, typer.Option(help="Folder for the model file and the report.")] = Path("learned"),
    folds: Annotated[int, typer.Option(min=2, max=50, help="Folds, or random validation sets.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the splits: the same seed gives the same answer.")] = 0,
    one_standard_error: Annotated[
        bool, typer.Option("--one-standard-error", help="Choose the simplest method within one standard error.")
    ] = False,
) -> None:
    """Compare methods on a table, choose one, certify it, save it and write a report."""
    start = monotonic()
    from rich.console import Console

    from pellucid.bake_off import bake_off
    from pellucid.cli.screen import live_line, print_result
    from pellucid.core.atomic import write_all_whole
    from pellucid.core.budget import Budget
    from pellucid.files.writing import model_bytes
    from pellucid.report import render_fit_report
    from pellucid.tables import read_table

    seconds = parse_duration(time)
    if out.exists() and not out.is_dir():
        raise CommandError(f"out must be a folder, got {out}, which is a file. Choose another name.")
    frame = read_table(table)
    model_file, report_file = out / MODEL_FILE, out / REPORT_FILE
    with Budget(seconds, start) as budget:
        with live_line(Console(stderr=True)) as show:
            result = bake_off(
                frame,
                target,
                task=task.value,
                recipe=recipe.value,
                budget=budget,
                folds=folds,
                seed=seed,
                one_standard_error=one_standard_error,
                listen=show,
            )
        report = render_fit_report(result, table_name=table.name, model_name=MODEL_FILE)
        contents = {model_file: model_bytes(result.model), report_file: report.encode()}
        out.mkdir(parents=True, exist_ok=True)
        write_all_whole(contents)
        print_result(result, Console(), model_file=model_file, report_file=report_file)
    if budget.interrupted:
        raise typer.Exit(INTERRUPTED)


def parse_duration(text: str) -> float:
    """Return the seconds of a duration as people write it.

    Examples
    --------
    >>> parse_duration("5m"), parse_duration("1.5h"), parse_duration("90")
    (300.0, 5400.0, 90.0)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smh]?)\s*", text.lower())
    seconds = float(match[1]) * SECONDS_PER_UNIT[match[2]] if match else 0.0
    if not 0.0 < seconds <= LONGEST:
        raise CommandError(f"time must be a duration above 0 such as 90s, 5m or 1h, got {text!r}.")
    return seconds
