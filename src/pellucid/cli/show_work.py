"""``pellucid show-work``: the steps of a method on a small table, as a person would write them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

METHODS = {
    "least-squares": "LinearRegression",
    "ridge": "Ridge",
    "lasso": "Lasso",
    "elastic-net": "ElasticNet",
    "lars": "Lars",
    "lasso-lars": "LassoLars",
    "ridge-classifier": "RidgeClassifier",
}
FORMATS = {"text": "text", "markdown": "markdown", "latex": "latex", "html": "html"}
Method = StrEnum("Method", {name: name for name in METHODS})  # type: ignore[misc]  # mypy wants a literal list
Format = StrEnum("Format", FORMATS)  # type: ignore[misc]  # mypy wants a literal list


def show_work(
    table: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet or XLSX file with a few rows.")],
    target: Annotated[str, typer.Option(help="Name of the column to explain.")],
    method: Annotated[Method, typer.Option(help="The method to work by hand.")] = Method["least-squares"],
    alpha: Annotated[float | None, typer.Option(help="Weight of the penalty, where the method has one.")] = None,
    format: Annotated[Format, typer.Option(help="How to print the steps.")] = Format["text"],  # noqa: A002  (an option)
    out: Annotated[Path | None, typer.Option(help="File to write; without it, standard output.")] = None,
) -> None:
    """Work a small problem by hand, step by step, with exact fractions."""
    import sys

    from pellucid import workings
    from pellucid.cli.model_input import read_numbers
    from pellucid.core.atomic import write_whole
    from pellucid.tables import read_table
    from pellucid.tables.reading import check_has_column

    frame = read_table(table)
    check_has_column(frame, target)
    X = read_numbers(frame, list(frame.columns.drop(target)))
    document = workings.show_work(_estimator(method, alpha), X, frame[target].to_numpy())
    text = str(getattr(document, str(format))())
    if out is None:
        sys.stdout.write(text.rstrip("\n") + "\n")
    else:
        write_whole(out, text.encode())


def _estimator(method: str, alpha: float | None) -> Any:
    import inspect

    import pellucid.linear_model
    from pellucid.cli.errors import CommandError

    kind = getattr(pellucid.linear_model, METHODS[method])
    if alpha is None:
        return kind()
    if "alpha" not in inspect.signature(kind).parameters:
        raise CommandError(f"alpha must be left out for {method}, got {alpha:g}. Use ridge or lasso for a penalty.")
    return kind(alpha=alpha)
