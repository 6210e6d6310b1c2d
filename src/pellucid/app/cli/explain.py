"""``pellucid explain``: why a model says what it says, about some rows on the screen, about all of them as one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pellucid.app.cli.errors import CommandError

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from pellucid.app.table_model import TableModel

LEVEL = 0.9
PAGES = (".html", ".htm")


def explain(
    model: Annotated[Path, typer.Argument(help="Model file written by 'pellucid fit'.")],
    table: Annotated[Path, typer.Argument(help="Rows to explain, in any file that 'pellucid fit' reads.")],
    rows: Annotated[int, typer.Option(min=1, max=1000, help="Explain the first rows only, this many.")] = 10,
    out: Annotated[
        Path | None,
        typer.Option(
            help="HTML page to write: which columns matter, how, which act together, and one row step by step."
        ),
    ] = None,
    row: Annotated[int, typer.Option(min=1, help="The row that the page shows step by step.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the page: the same seed gives the same page.")] = 0,
) -> None:
    """Say for each row what is predicted, how sure that is, and what each column adds to it."""
    given = dict(locals())
    from rich.console import Console

    from pellucid.app.cli.fit import command_line
    from pellucid.app.cli.model_input import finds_clusters, load_table_model, read_rows

    if out is not None and (out.suffix.lower() not in PAGES or out.is_dir()):
        raise CommandError(f"out must be an HTML file such as page.html, got {out}.")
    loaded, frame = load_table_model(model), read_rows(table)
    if finds_clusters(loaded):
        raise CommandError(
            "model must predict a target to be explained, got one of clusters. What they are stands in its report."
        )
    console = Console(highlight=False)
    if out is not None:
        _write_page(loaded, frame, out, row - 1, seed, (table.name, model.name, command_line(given, of=explain)))
    _print_rows(loaded, frame.head(rows), console)
    if out is not None:
        console.print(f"\nPage: {out}", markup=False, soft_wrap=True)


def _print_rows(model: TableModel, frame: pd.DataFrame, console: Console) -> None:
    import warnings

    from sklearn.base import is_classifier

    from pellucid.app.bake_off.explanation import explain_rows

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        story = explain_rows(model, frame)
    if is_classifier(model):
        chances = model.predict_proba(frame)
        places = {str(label): place for place, label in enumerate(model.classes_)}
        sure = [f"{100 * chances[i, places[one.prediction]]:.3g} % sure" for i, one in enumerate(story.examples)]
    else:
        low, high = model.predict_interval(frame, LEVEL)
        sure = [f"{100 * LEVEL:g} % interval {a:.4g} to {b:.4g}" for a, b in zip(low, high, strict=True)]
    if any(one.reasons for one in story.examples):
        console.print(f"What each column adds to {story.event}, the largest first:", style="dim", markup=False)
    for number, (one, words) in enumerate(zip(story.examples, sure, strict=True), start=1):
        console.print(f"\nRow {number}: {model.target_} = {one.prediction} ({words})", style="bold", markup=False)
        if one.sentence:
            console.print(f"  {one.sentence}", markup=False)
        for reason in one.reasons:
            console.print(f"  {reason.added:+10.4g}  {reason.column} = {reason.value}", markup=False)


def _write_page(
    model: TableModel, frame: pd.DataFrame, out: Path, row: int, seed: int, names: tuple[str, str, str]
) -> None:
    from pellucid.app.explaining import explain_model
    from pellucid.app.report import Origin, render_explanation
    from pellucid.core.atomic import write_whole
    from pellucid.core.watching import terminal_bar

    with terminal_bar() as show:
        found = explain_model(model, frame, truth=_truth(model, frame), row=row, seed=seed, listen=show)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(out, render_explanation(found, Origin(*names)).encode())


def _truth(model: TableModel, frame: pd.DataFrame) -> tuple[Any, Any] | None:
    """Return which rows have a known target, and their targets; None if the table has none."""
    from pellucid.app.cli.model_input import training_target
    from pellucid.app.tables.understanding import has_value

    target = model.target_
    return training_target(model, frame, target) if target in frame and has_value(frame[target]).any() else None
