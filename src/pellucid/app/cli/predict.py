"""``pellucid predict``: apply a saved model to a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pellucid.app.cli.errors import CommandError

if TYPE_CHECKING:
    import pandas as pd

    from pellucid.core.types import Data

JSON_LINES = (".jsonl", ".ndjson")
WRITTEN = (".csv", *JSON_LINES, ".parquet")
"""Kinds of files that predictions are written to."""


def predict(
    model: Annotated[
        Path, typer.Argument(help="Model file written by 'pellucid fit', 'pellucid cluster' or pellucid.save.")
    ],
    table: Annotated[
        Path,
        typer.Argument(
            help="CSV, TSV, JSON lines, Parquet, Feather or XLSX file with the columns of the training table."
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
) -> None:
    """Predict the target for every row of a table, or say which cluster it belongs to."""
    import sys

    from pellucid.app.cli.model_input import features_for, load_model, unused_columns
    from pellucid.app.tables import read_table
    from pellucid.core.atomic import write_whole

    if out is not None and out.suffix.lower() not in WRITTEN:
        raise CommandError(f"out must end in one of {', '.join(WRITTEN)}, got {out.name}.")
    loaded, frame = load_model(model), read_table(table)
    X = features_for(loaded, frame)
    found = _predictions(loaded, X, interval)
    if probabilities:
        found = found.join(_probabilities(loaded, X))
    remarks = _notes(loaded, frame, notes)
    if notes:
        found = found.assign(notes=remarks)
    found = _beside(frame, found, list(frame.columns) if append else keep or [])
    kind = (table if out is None else out).suffix.lower()
    content = _written(found, kind if out is not None or kind in JSON_LINES else ".csv")
    n_noted = sum(map(bool, remarks))
    if n_noted and not notes:
        rows = "1 row has" if n_noted == 1 else f"{n_noted:,} rows have"
        sys.stderr.write(f"{rows} values that are new, far off or read otherwise: --notes says which.\n")
    unused = unused_columns(loaded, frame)
    if unused:
        sys.stderr.write(f"Columns that the model does not use: {', '.join(unused)}.\n")
    if out is None:
        sys.stdout.write(content.decode())
    else:
        write_whole(out, content)


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


def _written(found: pd.DataFrame, kind: str) -> bytes:
    """Return the content of a file of predictions."""
    if kind in JSON_LINES:
        return found.to_json(orient="records", lines=True, force_ascii=False, double_precision=15).encode()
    if kind == ".parquet":
        try:
            return found.to_parquet(index=False)  # type: ignore[no-any-return]
        except ImportError as error:
            raise CommandError("out needs pyarrow to be a Parquet file. Install it: pip install pyarrow.") from error
    return found.to_csv(index=False).encode()


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
    import sys

    from pellucid.core.verification import last_step

    if getattr(model, "errors_", None) is not None:
        ends: tuple[Any, Any] = model.predict_interval(X, level)
        coverage = model.coverage(level)
        if coverage is not None:
            sys.stderr.write(f"Of the rows kept aside at the fit, {100 * coverage:.3g} % lay in their interval.\n")
        return ends
    estimator, seen = last_step(model, X)
    if not hasattr(estimator, "prediction_interval"):
        raise CommandError(
            "interval must be asked of a model of numbers written by 'pellucid fit', or of least squares or ridge, "
            f"got {type(estimator).__name__}, which has none. Leave --interval out."
        )
    of_theory: tuple[Any, Any] = estimator.prediction_interval(seen, level)
    return of_theory
