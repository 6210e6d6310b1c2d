"""``pellucid compare``: two saved models on the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pellucid.app.cli.errors import CommandError

if TYPE_CHECKING:
    import pandas as pd

    from pellucid.app.table_model.comparing import PairedDifference

ModelFile = Annotated[Path, typer.Argument(help="Model file written by 'pellucid fit' or pellucid.save.")]


def compare(
    first: ModelFile,
    second: ModelFile,
    table: Annotated[Path, typer.Argument(help="Table with the target, of rows that neither model learned from.")],
    target: Annotated[str | None, typer.Option(help="Column to predict; models of 'pellucid fit' know it.")] = None,
) -> None:
    """Say by how much one model is better than another on new rows, with an interval for the difference."""
    import sys

    from rich.console import Console
    from rich.table import Table
    from sklearn.base import is_classifier

    from pellucid.app.cli.model_input import features_for, load_model, read_rows, training_target
    from pellucid.app.report import format_number
    from pellucid.app.table_model.comparing import compare_models

    models, frame = [load_model(path) for path in (first, second)], read_rows(table)
    name = _target_of(models, target)
    if is_classifier(models[0]) != is_classifier(models[1]):
        raise CommandError("models must both predict classes or both numbers, got one of each.")
    rows, actual = training_target(models[0], frame, name)
    kept = frame[rows]
    for path, model in zip((first, second), models, strict=True):
        if _learned_from(model, kept, actual):
            sys.stderr.write(f"{path.name} learned from these very rows: on new ones it will not do as well.\n")
    asked = [(model, features_for(model, kept.drop(columns=name))) for model in models]
    found = compare_models(asked[0], asked[1], actual, is_class=is_classifier(models[0]))
    shown = Table("Measure", first.name, second.name, "Difference", "95 % interval", header_style="bold")
    for column in shown.columns[1:]:
        column.justify = "right"
    for one in found:
        ends = f"{format_number(one.low, 3)} to {format_number(one.high, 3)}"
        shown.add_row(one.measure, *(format_number(v, 4) for v in (one.first, one.second, one.difference)), ends)
    console = Console()
    console.print(shown)
    for one in found:
        console.print(verdict(one, first.name, second.name), highlight=False, markup=False)


def verdict(found: PairedDifference, first: str, second: str) -> str:
    """Return which model is better by a measure, in a sentence."""
    if not found.better:
        return f"By {found.measure} the models cannot be told apart on {found.n_rows:,} rows."
    name = first if found.better == 1 else second
    return f"By {found.measure} {name} is better, by more than chance explains on {found.n_rows:,} rows."


def _target_of(models: list[Any], given: str | None) -> str:
    """Return the column that both models predict."""
    known = {str(model.target_) for model in models if hasattr(model, "target_")}
    names = known if given is None else {given}
    if len(names) != 1:
        got = f"got {' and '.join(sorted(names))}" if names else "and these files do not say which"
        raise CommandError(f"target must be one column that both models predict, {got}. Name it with --target.")
    return names.pop()


def _learned_from(model: Any, rows: pd.DataFrame, actual: Any) -> bool:
    from pellucid.app.cli.model_input import features_for, fingerprints, training_fingerprint

    try:
        return training_fingerprint(model) in fingerprints(model, features_for(model, rows), actual)
    except (AttributeError, ValueError):  # a model that has no fingerprint, or rows that it never could have seen
        return False
