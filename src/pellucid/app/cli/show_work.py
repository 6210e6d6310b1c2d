"""``pellucid show-work``: the steps of a method on a small table, as a person would write them."""

from __future__ import annotations

import ast
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pellucid.app.cli.errors import CommandError

if TYPE_CHECKING:
    import pandas as pd

    from pellucid.show import Document

OTHER_NAMES = {"least-squares": "linear-regression"}
FORMATS = {"text": "text", "markdown": "markdown", "latex": "latex", "html": "html"}
MOST_VALUES = 2
"""What ``show_work`` takes by its place, beside the name of a topic."""
SHOWN_STEPS = {"steps", "batch_size", "random_state", "penalty"}
"""Settings of the workings of a method that minimizes, not of the method."""
Format = StrEnum("Format", FORMATS)  # type: ignore[misc]  # mypy wants a literal list


def show_work(
    given: Annotated[
        list[str],
        typer.Argument(
            metavar="TABLE",
            help="CSV, TSV, Parquet, Feather or XLSX file with a few rows. For a topic such as convolution or graph, "
            "what it takes: numbers '[3, 1, 2]', a formula '(x + y)*z'. For a method that minimizes, such as newton, "
            "the formula and the start.",
        ),
    ],
    target: Annotated[str | None, typer.Option(help="Name of the column to explain; none for clusters.")] = None,
    method: Annotated[
        str,
        typer.Option(
            help="What to work by hand: a class such as lasso or gaussian-nb, a topic such as maximum-margin, "
            "convolution or graph, a method that minimizes such as newton."
        ),
    ] = "least-squares",
    new: Annotated[
        list[str] | None,
        typer.Option(help="A row to decide about, such as 3,4.5 or sunny,cool, or a table of such rows; repeat it."),
    ] = None,
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
    format: Annotated[Format, typer.Option(help="How to print the steps.")] = Format["text"],  # noqa: A002  (an option)
    out: Annotated[Path | None, typer.Option(help="File to write; without it, standard output.")] = None,
) -> None:
    """Work a small problem by hand, step by step, with exact fractions."""
    import sys

    from pellucid.core.atomic import write_whole

    shown = _named(method)
    settings = read_settings(parameters or [])
    if alpha is not None:
        settings["alpha"] = alpha
    if shown in methods_with_workings():
        document = _of_estimator(shown, given, settings, target=target, new=new or [], qid=qid)
    else:
        for name, value in (("new", new), ("qid", qid)):
            if value:
                raise CommandError(f"{name} must be left out for {shown}, got {value}. It is for classes that predict.")
        document = _of_topic(shown, given, settings, target=target)
    text = str(getattr(document, str(format))())
    if out is None:
        sys.stdout.write(text.rstrip("\n") + "\n")
    else:
        write_whole(out, text.encode())


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


def _named(method: str) -> str:
    """Return the name, as the command writes it, of what is to be shown."""
    from pellucid.core.checks import find_name

    known = [*methods_with_workings(), *OTHER_NAMES, *_topics(), *_minimizers()]
    name = find_name(method, known, hint="'pellucid catalogue' lists all.")
    return OTHER_NAMES.get(name, name)


def _topics() -> dict[str, str]:
    """Return the names of the topics, by their names on the command line."""
    from pellucid.show.showing import TOPICS

    return {topic.replace(" ", "-"): topic for topic in TOPICS}


def _minimizers() -> dict[str, str]:
    """Return the classes of methods that minimize, by their names on the command line."""
    from pellucid.core.card_index import hyphened
    from pellucid.optimize.workings import METHOD_WORKINGS

    return {hyphened(name): name for name in (*METHOD_WORKINGS, "StochasticGradient")}


def _of_estimator(
    name: str, given: list[str], settings: dict[str, Any], *, target: str | None, new: list[str], qid: str | None
) -> Document:
    """Return the work of an estimator on a table, and of its decisions about new rows."""
    from inspect import signature

    from sklearn.base import is_regressor

    from pellucid import show
    from pellucid.app.cli.model_input import read_numbers, takes_target
    from pellucid.app.tables.reading import check_has_column

    estimator = _estimator(name, settings)
    if takes_target(estimator) != (target is not None):
        wanted = "given" if target is None else "left out"
        raise CommandError(f"target must be {wanted} for {name}, got {target}.")
    if qid is not None and "qid" not in signature(estimator.fit).parameters:
        raise CommandError(f"qid must be left out for {name}, got {qid}. It is for ranking-svm.")
    if len(given) > 1:
        raise CommandError(f"one table must be given for {name}, got {' '.join(given)}.")
    frame, y = _rows_and_target(given[0], target, numbers=is_regressor(estimator))
    queries = None
    if qid is not None:
        check_has_column(frame, qid)
        queries, frame = frame[qid].to_numpy(), frame.drop(columns=qid)
    tags = estimator.__sklearn_tags__().input_tags
    takes_texts = tags.string or tags.categorical
    X = frame if takes_texts else read_numbers(frame, list(frame.columns))
    asked = _new_rows(new, frame)
    if asked is not None and not takes_texts:
        asked = read_numbers(asked, list(asked.columns))
    more = {} if asked is None else {"new": asked}
    return show.show_work(estimator if queries is None else estimator.fit(X, y, qid=queries), X, y, **more)


def _of_topic(name: str, given: list[str], settings: dict[str, Any], *, target: str | None) -> Document:
    """Return the work on a topic, or of a method that minimizes a formula."""
    from pellucid import optimize, show
    from pellucid.app.cli.model_input import read_numbers

    values: list[Any] = []
    for text in given:
        if target is not None or Path(text).is_file():
            frame, y = _rows_and_target(text, target, numbers=False)
            X = read_numbers(frame, list(frame.columns)).to_numpy()
            values += [X] if y is None else [X, y]
        else:
            values.append(_value(text))
    if len(values) > MOST_VALUES:
        raise CommandError(f"at most {MOST_VALUES} values must be given for {name}, got {len(values)}. Use --set.")
    shown: Any = _topics().get(name)
    try:
        if shown is None:
            options = {key: settings.pop(key) for key in SHOWN_STEPS & settings.keys()}
            shown, settings = getattr(optimize, _minimizers()[name])(**settings), options
        return show.show_work(shown, *values, **settings)
    except TypeError as error:
        takes = "a formula, a start and settings" if name in _minimizers() else "other arguments"
        raise CommandError(f"{name} takes {takes}, settings as --set NAME=VALUE: {error}.") from None


def _rows_and_target(table: str, target: str | None, *, numbers: bool) -> tuple[pd.DataFrame, Any]:
    """Return the columns of a table, and apart from them the target."""
    from pellucid.app.cli.model_input import read_numbers
    from pellucid.app.tables import read_table
    from pellucid.app.tables.reading import check_has_column

    frame = read_table(Path(table))
    if target is None:
        return frame, None
    check_has_column(frame, target)
    y = (read_numbers(frame, [target]) if numbers else frame)[target].to_numpy()
    return frame.drop(columns=target), y


def _new_rows(texts: list[str], like: pd.DataFrame) -> pd.DataFrame | None:
    """Return the rows to decide about, with the columns of the table."""
    import csv

    import pandas as pd

    from pellucid.app.tables import read_table

    parts = []
    for text in texts:
        if Path(text).is_file():
            parts.append(read_table(Path(text)).reindex(columns=like.columns))
            continue
        cells = [_cell(cell.strip()) for cell in next(csv.reader([text], skipinitialspace=True))]
        if len(cells) != like.shape[1]:
            raise CommandError(
                f"new must have a value for each of the columns {', '.join(map(str, like.columns))}, got {text!r}."
            )
        parts.append(pd.DataFrame([cells], columns=like.columns))
    return pd.concat(parts, ignore_index=True) if parts else None


def read_settings(texts: list[str]) -> dict[str, Any]:
    """Return the parameters of texts such as ``C=10``."""
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise CommandError(f"set must be NAME=VALUE, got {text!r}.")
        values[name.strip()] = _value(value)
    return values


def _estimator(name: str, settings: dict[str, Any]) -> Any:
    from pellucid.core.cards import find_card

    card: Any = find_card(methods_with_workings()[name])
    estimator = card.estimator()
    known = estimator.get_params(deep=False)
    for parameter, value in settings.items():
        if parameter not in known:
            raise CommandError(
                f"set must be NAME=VALUE with a name of {', '.join(known)}, got '{parameter}={value}' for {name}."
            )
    return estimator.set_params(**settings)


def _value(text: str) -> Any:
    """Return a number, True, False, None, a list or densities as Python writes them, and anything else as text."""
    try:
        return _built(ast.parse(text, mode="eval").body)
    except (ValueError, SyntaxError):
        return text


def _built(node: ast.expr) -> Any:
    """Return what an expression says, 1/3 exactly; it may call nothing but the densities."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return Fraction(ast.literal_eval(node.left)) / Fraction(ast.literal_eval(node.right))
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
