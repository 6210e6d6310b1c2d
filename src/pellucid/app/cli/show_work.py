"""``pellucid show-work``: the steps of a method on a small table, as a person would write them."""

from __future__ import annotations

import ast
import csv
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from pellucid.app.cli.errors import CommandError

OTHER_NAMES = {"least-squares": "linear-regression"}
FORMATS = {"text": "text", "markdown": "markdown", "latex": "latex", "html": "html"}
Format = StrEnum("Format", FORMATS)  # type: ignore[misc]  # mypy wants a literal list


def show_work(
    table: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, Feather or XLSX file with a few rows.")],
    target: Annotated[str | None, typer.Option(help="Name of the column to explain; none for clusters.")] = None,
    method: Annotated[
        str, typer.Option(help="The method to work by hand: its class in small letters, such as lasso or gaussian-nb.")
    ] = "least-squares",
    alpha: Annotated[float | None, typer.Option(help="Weight of the penalty, where the method has one.")] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter of the method, such as C=10, or for bayes-classifier "
            "'densities={0: Gaussian(2, 1), 1: Gaussian(0, 1)}'; repeat as needed.",
        ),
    ] = None,
    qid: Annotated[
        str | None, typer.Option(help="Name of the column that says which rows are compared, for ranking-svm.")
    ] = None,
    new: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROW",
            help="A row to decide about: its values in the order of the columns, with commas, such as 2,sunny; "
            "repeat as needed.",
        ),
    ] = None,
    format: Annotated[Format, typer.Option(help="How to print the steps.")] = Format["text"],  # noqa: A002  (an option)
    out: Annotated[Path | None, typer.Option(help="File to write; without it, standard output.")] = None,
) -> None:
    """Work a small problem by hand, step by step, with exact fractions."""
    import sys
    from inspect import signature

    from pellucid import show
    from pellucid.app.cli.model_input import read_numbers, takes_target
    from pellucid.app.tables import read_table
    from pellucid.app.tables.reading import check_has_column
    from pellucid.core.atomic import write_whole

    estimator = _estimator(method, alpha, parameters or [])
    frame = read_table(table)
    if takes_target(estimator) != (target is not None):
        wanted = "given" if target is None else "left out"
        raise CommandError(f"target must be {wanted} for {method}, got {target}.")
    if qid is not None and "qid" not in signature(estimator.fit).parameters:
        raise CommandError(f"qid must be left out for {method}, got {qid}. It is for ranking-svm.")
    y, queries = None, None
    if target is not None:
        check_has_column(frame, target)
        y, frame = frame[target].to_numpy(), frame.drop(columns=target)
    if qid is not None:
        check_has_column(frame, qid)
        queries, frame = frame[qid].to_numpy(), frame.drop(columns=qid)
    tags = estimator.__sklearn_tags__().input_tags
    X = frame if tags.string or tags.categorical else read_numbers(frame, list(frame.columns))
    more = {"new": _rows(new, X)} if new else {}
    document = show.show_work(estimator if queries is None else estimator.fit(X, y, qid=queries), X, y, **more)
    text = str(getattr(document, str(format))())
    if out is None:
        sys.stdout.write(text.rstrip("\n") + "\n")
    else:
        write_whole(out, text.encode())


def _rows(texts: list[str], X: Any) -> Any:
    """Return rows typed on the command line under the names of the columns."""
    import pandas as pd

    cells = [[_cell(cell.strip()) for cell in next(csv.reader([text]))] for text in texts]
    for text, row in zip(texts, cells, strict=True):
        if len(row) != X.shape[1]:
            raise CommandError(f"new must have {X.shape[1]} values ({', '.join(map(str, X.columns))}), got {text!r}.")
    return pd.DataFrame(cells, columns=X.columns)


def _cell(text: str) -> Any:
    """Return a number where the text is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def methods_with_workings() -> dict[str, str]:
    """Return the names of the estimators that can show their work, by their names on the command line."""
    from pellucid.core.card_index import entries

    return {entry.command_name: entry.name for entry in entries().values() if entry.workings}


def _estimator(method: str, alpha: float | None, settings: list[str]) -> Any:
    from pellucid.core.cards import find_card

    methods = methods_with_workings()
    name = OTHER_NAMES.get(method, method)
    if name not in methods:
        names = ", ".join(sorted({*methods, *OTHER_NAMES}))
        raise CommandError(f"method must be one of {names}, got {method}.")
    card: Any = find_card(methods[name])
    estimator = card.estimator()
    known = estimator.get_params(deep=False)
    if alpha is not None and "alpha" not in known:
        raise CommandError(f"alpha must be left out for {method}, got {alpha:g}. Use ridge or lasso for a penalty.")
    values: dict[str, Any] = {} if alpha is None else {"alpha": alpha}
    for setting in settings:
        parameter, equals, value = setting.partition("=")
        if not equals or parameter not in known:
            raise CommandError(f"set must be NAME=VALUE with a name of {', '.join(known)}, got {setting!r}.")
        values[parameter] = _value(value)
    return estimator.set_params(**values)


def _value(text: str) -> Any:
    """Return a number, True, False, None, a list or densities as Python writes them, and anything else as text."""
    try:
        return _built(ast.parse(text, mode="eval").body)
    except (ValueError, SyntaxError):
        return text


def _built(node: ast.expr) -> Any:
    """Return what an expression says; it may call nothing but the densities."""
    if isinstance(node, ast.Dict):
        return {ast.literal_eval(key): _built(value) for key, value in zip(node.keys, node.values, strict=True) if key}
    if isinstance(node, ast.List):
        return [_built(part) for part in node.elts]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        from pellucid import probability
        from pellucid.probability.density import DENSITIES

        if node.func.id in {path.rpartition(":")[2] for path in DENSITIES.values()}:
            more = {word.arg: ast.literal_eval(word.value) for word in node.keywords if word.arg}
            given = [ast.literal_eval(argument) for argument in node.args]
            try:
                return getattr(probability, node.func.id)(*given, **more)
            except (ValueError, TypeError) as error:  # what the density says is wrong with its numbers
                raise CommandError(f"set must hold densities, got {ast.unparse(node)}: {error}") from None
    return ast.literal_eval(node)
