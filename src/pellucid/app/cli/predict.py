"""``pellucid predict``: apply a saved model to a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pellucid.app.cli.errors import MEMORY_HELP, CommandError, parse_memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from pellucid.app.tables.table_files import TableFiles
    from pellucid.core.types import Data


def predict(
    model: Annotated[
        Path, typer.Argument(help="Model file written by 'pellucid fit', 'pellucid cluster' or pellucid.save.")
    ],
    table: Annotated[
        str,
        typer.Argument(
            help="CSV, TSV, JSON lines, Parquet, Feather or XLSX file with the columns of the training table; a "
            "folder, or a pattern such as 'events/*.parquet', of such files."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="CSV, .jsonl or Parquet file to write; without it, standard output.")
    ] = None,
    interval: Annotated[
        float | None, typer.Option(help="Also give the prediction interval of this level, such as 0.95.")
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Also give the probability of every class.")
    ] = False,
    notes: Annotated[
        bool,
        typer.Option("--notes", help="Also say, row by row, which values are new or far off, or how they were read."),
    ] = False,
    keep: Annotated[
        list[str] | None, typer.Option(help="Column of the table to write before the prediction; may be given again.")
    ] = None,
    append: Annotated[
        bool, typer.Option("--append", help="Write the whole table, with the predictions behind its columns.")
    ] = False,
    memory: Annotated[str | None, typer.Option(help=MEMORY_HELP)] = None,
) -> None:
    """Predict the target for every row of a table, or say which cluster it belongs to."""
    import sys

    from pellucid.app.cli.model_input import load_model
    from pellucid.app.cli.prediction_files import JSON_LINES, WRITTEN, prediction_file
    from pellucid.app.tables.table_files import TableFiles
    from pellucid.app.tables.table_room import open_source

    if out is not None and out.suffix.lower() not in WRITTEN:
        raise CommandError(f"out must end in one of {', '.join(WRITTEN)}, got {out.name}.")
    loaded, source = load_model(model), open_source(table, memory=None if memory is None else parse_memory(memory))
    asked = _Asked(interval, probabilities, notes, keep or [], append)
    kind = (Path(table) if out is None else out).suffix.lower()
    n_noted, unused = 0, dict[str, None]()
    with prediction_file(out, kind if out is not None or kind in JSON_LINES else ".csv") as file:
        for place, frame in _parts_of(source) if isinstance(source, TableFiles) else [("", source)]:
            found, noted, others = _answers(loaded, frame, asked, place)
            n_noted += noted
            unused |= dict.fromkeys(others)
            file.add(found)
    if interval is not None:
        _say_coverage(loaded, interval)
    if n_noted and not notes:
        rows = "1 row has" if n_noted == 1 else f"{n_noted:,} rows have"
        sys.stderr.write(f"{rows} values that are new, far off or read otherwise: --notes says which.\n")
    if unused:
        sys.stderr.write(f"Columns that the model does not use: {', '.join(unused)}.\n")


@dataclass(frozen=True)
class _Asked:
    """What is to be written of each row."""

    interval: float | None
    probabilities: bool
    notes: bool
    kept: list[str]
    append: bool


def _parts_of(files: TableFiles) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the parts of a table that does not fit into memory, and what to call each."""
    from rich.console import Console

    from pellucid.core.watching import terminal_bar

    with terminal_bar(Console(stderr=True)) as show:
        settled = files.settled(lambda done, total: show("reading all rows", done, total))
        for number, (part, frame) in enumerate(settled.in_order()):
            show("predicting", number, len(settled.parts))
            yield f"{part.name}, from row {part.first_row + 1:,} on: ", frame


def _answers(model: Any, frame: pd.DataFrame, asked: _Asked, place: str) -> tuple[pd.DataFrame, int, list[str]]:
    """Return what is to be written of some rows, how many have something to note, and columns that are not used."""
    from pellucid.app.cli.model_input import features_for, unused_columns
    from pellucid.app.tables import TableError

    try:
        X = features_for(model, frame)
        found = _predictions(model, X, asked.interval)
        if asked.probabilities:
            found = found.join(_probabilities(model, X))
        remarks = _notes(model, frame, asked.notes)
    except TableError as problem:
        raise TableError(f"{place}{problem}") from None
    if asked.notes:
        found = found.assign(notes=remarks)
    found = _beside(frame, found, list(frame.columns) if asked.append else asked.kept)
    return found, sum(map(bool, remarks)), unused_columns(model, frame)


def _beside(frame: pd.DataFrame, found: pd.DataFrame, kept: list[str]) -> pd.DataFrame:
    """Return predictions behind some columns of their table, which may not have the same names."""
    import pandas as pd

    missing = [name for name in kept if name not in frame.columns]
    if missing:
        raise CommandError(f"keep must name columns of the table {list(frame.columns)}, got {missing}.")
    twice = [name for name in found.columns if name in kept]
    if twice:
        raise CommandError(
            f"columns kept must not be called {twice}, as the predictions are. Rename them in the table."
        )
    return pd.concat([frame[kept].reset_index(drop=True), found.reset_index(drop=True)], axis=1)


def _notes(model: Any, frame: pd.DataFrame, wanted: bool) -> list[str]:
    """Return what is to be known of each row in a text, empty for most; of other models nothing is known."""
    from pellucid.app.table_model import TableModel

    if isinstance(model, TableModel):
        return ["; ".join(found) for found in model.notes(frame)]
    if wanted:
        raise CommandError("notes must be asked of a model written by 'pellucid fit', which knows what it has seen.")
    return []


def _probabilities(model: Any, X: Data) -> pd.DataFrame:
    import pandas as pd

    if hasattr(model, "predict_shares"):
        names = [f"probability {value:g}" for value in model.order_.values]
        return pd.DataFrame(model.predict_shares(X), columns=names)
    if not hasattr(model, "predict_proba"):
        raise CommandError(
            "probabilities must be asked of a model that has them, such as logistic regression. "
            "Leave --probabilities out."
        )
    names = [f"probability {label}" for label in model.classes_]
    return pd.DataFrame(model.predict_proba(X), columns=names)


def _predictions(model: Any, X: Data, level: float | None) -> pd.DataFrame:
    import pandas as pd

    from pellucid.app.cli.model_input import finds_clusters

    found = pd.DataFrame({"cluster" if finds_clusters(model) else "prediction": model.predict(X)})
    if level is None:
        return found
    low, high = _interval(model, X, level)
    return found.assign(low=low, high=high)


def _interval(model: Any, X: Data, level: float) -> tuple[Any, Any]:
    """Return the ends of the intervals: from errors on rows held out if the model knows them, else from its theory."""
    from pellucid.core.verification import last_step

    if getattr(model, "errors_", None) is not None:
        ends: tuple[Any, Any] = model.predict_interval(X, level)
        return ends
    estimator, seen = last_step(model, X)
    if not hasattr(estimator, "prediction_interval"):
        raise CommandError(
            "interval must be asked of a model of numbers written by 'pellucid fit', or of least squares or ridge, "
            f"got {type(estimator).__name__}, which has none. Leave --interval out."
        )
    of_theory: tuple[Any, Any] = estimator.prediction_interval(seen, level)
    return of_theory


def _say_coverage(model: Any, level: float) -> None:
    """Say how often intervals of this level held the truth, if the model knows."""
    import sys

    coverage = model.coverage(level) if hasattr(model, "coverage") else None
    if coverage is not None:
        sys.stderr.write(f"Of the rows kept aside at the fit, {100 * coverage:.3g} % lay in their interval.\n")
