"""``pellucid explain``: why a model says what it says about some rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pellucid.cli.errors import CommandError

LEVEL = 0.9


def explain(
    model: Annotated[Path, typer.Argument(help="Model file written by 'pellucid fit'.")],
    table: Annotated[Path, typer.Argument(help="Rows to explain, in any file that 'pellucid fit' reads.")],
    rows: Annotated[int, typer.Option(min=1, max=1000, help="Explain the first rows only, this many.")] = 10,
) -> None:
    """Say for each row what is predicted, how sure that is, and what each column adds to it."""
    import warnings

    from rich.console import Console
    from sklearn.base import is_classifier

    from pellucid.bake_off.explanation import explain_rows
    from pellucid.cli.model_input import finds_clusters, load_table_model, read_rows

    loaded, frame = load_table_model(model), read_rows(table).head(rows)
    if finds_clusters(loaded):
        raise CommandError(
            "model must predict a target to be explained, got one of clusters. What they are stands in its report."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        story = explain_rows(loaded, frame)
    console = Console(highlight=False)
    if is_classifier(loaded):
        chances = loaded.predict_proba(frame)
        places = {str(label): place for place, label in enumerate(loaded.classes_)}
        sure = [f"{100 * chances[i, places[one.prediction]]:.3g} % sure" for i, one in enumerate(story.examples)]
    else:
        low, high = loaded.predict_interval(frame, LEVEL)
        sure = [f"{100 * LEVEL:g} % interval {a:.4g} to {b:.4g}" for a, b in zip(low, high, strict=True)]
    if any(one.reasons for one in story.examples):
        console.print(f"What each column adds to {story.event}, the largest first:", style="dim", markup=False)
    for number, (one, words) in enumerate(zip(story.examples, sure, strict=True), start=1):
        console.print(f"\nRow {number}: {loaded.target_} = {one.prediction} ({words})", style="bold", markup=False)
        if one.sentence:
            console.print(f"  {one.sentence}", markup=False)
        for reason in one.reasons:
            console.print(f"  {reason.added:+10.4g}  {reason.column} = {reason.value}", markup=False)
