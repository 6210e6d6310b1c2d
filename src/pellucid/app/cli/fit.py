"""``pellucid fit``: from a table to a chosen, certified, saved model and its report."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from enum import Enum
from inspect import Parameter, signature
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import typer

from pellucid.app.cli.errors import (
    INTERRUPTED,
    MEMORY_HELP,
    AsIs,
    CommandError,
    Drop,
    Keep,
    Query,
    TableName,
    parse_memory,
    refuse_a_file,
)

MODEL_FILE = "model.safetensors"
REPORT_FILE = "report.html"
CARD_FILE = "model_card.md"
SECONDS_PER_UNIT = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
LONGEST = 30 * 24 * 3600.0


class Task(Enum):
    """What kind of value the target is."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


class Reading(Enum):
    """The same, as people say it, and whole numbers in an order."""

    numbers = "numbers"
    classes = "classes"
    order = "order"


TASK_OF = {Reading.numbers: "regression", Reading.classes: "classification", Reading.order: "order"}


class RecipeName(Enum):
    """How the methods are compared."""

    cv = "cv"
    split = "split"
    resample = "resample"


def fit(
    table: TableName,
    target: Annotated[
        str | None, typer.Option(help="Name of the column to predict; without it, you are asked.")
    ] = None,
    task: Annotated[Task, typer.Option(help="Whether it is a class or a number.")] = Task.auto,
    as_: Annotated[
        Reading | None,
        typer.Option("--as", help="How to read the target: numbers, classes, or order (few whole numbers, as grades)."),
    ] = None,
    recipe: Annotated[
        RecipeName, typer.Option(help="Compare by cross-validation, one validation set, or random ones.")
    ] = RecipeName.cv,
    time: Annotated[str, typer.Option(help="Time budget, such as 90s, 5m or 1h.")] = "5m",
    memory: Annotated[str | None, typer.Option(help=MEMORY_HELP)] = None,
    out: Annotated[Path, typer.Option(help="Folder for the model file and the report.")] = Path("learned"),
    folds: Annotated[int, typer.Option(min=2, max=50, help="Folds, or random validation sets.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the splits: the same seed gives the same answer.")] = 0,
    one_standard_error: Annotated[
        bool, typer.Option("--one-standard-error", help="Choose the simplest method within one standard error.")
    ] = False,
    drop: Drop = None,
    keep: Keep = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help="Score to choose by: a scikit-learn scorer such as roc_auc, f1 or neg_mean_absolute_error, or a CSV "
            "file of costs (true class down, called class across)."
        ),
    ] = None,
    group: Annotated[
        str | None, typer.Option(help="Column, such as a customer's number, whose rows stay together in every split.")
    ] = None,
    time_column: Annotated[
        str | None, typer.Option(help="Column that says when a row was: later rows are predicted from earlier ones.")
    ] = None,
    weights: Annotated[str | None, typer.Option(help="Column of weights, for fits and scores.")] = None,
    test: Annotated[
        Path | None,
        typer.Option(help="Table of your own to judge the chosen method on, not a fifth of the rows."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Method to compare, named as in the table; may be given again.")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="Method to leave out of the comparison; may be given again.")
    ] = None,
    query: Query = None,
    as_is: AsIs = False,
    simple: Annotated[bool, typer.Option("--simple", help="Choose a single method, not several that vote.")] = False,
    card: Annotated[
        Path | None, typer.Option(help="Where to write the model card, in Markdown; without it, beside the report.")
    ] = None,
) -> None:
    """Compare methods on a table, choose one, certify it, save it and write a report and a model card."""
    given = dict(locals())
    start = monotonic()

    from rich.console import Console

    from pellucid.app.bake_off import bake_off, bake_off_files
    from pellucid.app.cli.screen import find_target, live_line, print_result
    from pellucid.app.cli.so_far_files import SoFarFiles
    from pellucid.app.report import Origin, render_fit_report, render_model_card
    from pellucid.app.tables import read_table
    from pellucid.app.tables.reading import name_of, without_password
    from pellucid.app.tables.table_files import TableFiles
    from pellucid.app.tables.table_room import open_source
    from pellucid.core.atomic import write_all_whole
    from pellucid.core.budget import Budget
    from pellucid.core.files.saving import model_bytes

    seconds = parse_duration(time)
    if as_ is not None and task is not Task.auto:
        raise CommandError("as and task must not be given together: both say how to read the target. Use --as.")
    most_bytes = None if memory is None else parse_memory(memory)
    refuse_a_file(out)
    source: Any = open_source(table, query, most_bytes, target)
    if target is None:
        target = find_target(source.head() if isinstance(source, TableFiles) else source)
        start = monotonic()  # the time to think is not counted
    model_file, report_file, card_file = out / MODEL_FILE, out / REPORT_FILE, card or out / CARD_FILE
    origin = Origin(
        name_of(table), MODEL_FILE, command_line(given | {"target": target, "table": without_password(table)})
    )
    so_far = SoFarFiles(out, origin)
    with so_far.named_if_cut_short(), Budget(seconds, start) as budget:
        with live_line(Console(stderr=True)) as show:
            job: Callable[..., Any] = bake_off_files if isinstance(source, TableFiles) else bake_off
            result = job(
                source,
                target,
                task=task.value if as_ is None else TASK_OF[as_],
                recipe=recipe.value,
                budget=budget,
                folds=folds,
                seed=seed,
                one_standard_error=one_standard_error,
                drop=drop or (),
                keep=keep or (),
                metric=_read_metric(metric),
                group=group,
                time_column=time_column,
                weights=weights,
                test=None if test is None else read_table(test),
                only=only or (),
                without=without or (),
                coerce=not as_is,
                simple=simple,
                memory=most_bytes,
                listen=show,
                keep_so_far=so_far.keep,
            )
        report = render_fit_report(result, origin)
        contents = {
            model_file: model_bytes(result.model),
            report_file: report.encode(),
            card_file: render_model_card(result, origin).encode(),
        }
        for folder in (out, card_file.parent):
            folder.mkdir(parents=True, exist_ok=True)
        write_all_whole(contents)
        so_far.remove()
        print_result(result, Console(), model_file=model_file, report_file=report_file, card_file=card_file)
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


def command_line(given: dict[str, Any], of: Callable[..., None] | None = None) -> str:
    """Return the command, of ``fit`` or another, that does the same again: every option that is not as usual.

    Examples
    --------
    >>> command_line({"table": Path("a b.csv"), "target": "y", "folds": 5, "drop": ["id", "no"], "seed": 3})
    "pellucid fit 'a b.csv' --target y --drop id --drop no --seed 3"
    """
    command = of or fit
    parameters = signature(command).parameters
    usual = {name: parameter.default for name, parameter in parameters.items()}
    places = [name for name, parameter in parameters.items() if _is_place(parameter)]
    words = ["pellucid", command.__name__.strip("_").replace("_", "-"), *(str(given[name]) for name in places)]
    for name, value in given.items():
        if name in places or value == usual.get(name) or value is None or value is False:
            continue
        option = f"--{name.strip('_').replace('_', '-')}"
        for one in value if isinstance(value, list) else [value]:
            words += [option] if one is True else [option, str(one.value if isinstance(one, Enum) else one)]
    return shlex.join(words)


def _is_place(parameter: Parameter) -> bool:
    """Return whether a word of a command has no name before it: options may be required, too."""
    is_option = "OptionInfo" in str(parameter.annotation) or "typer.Option" in str(parameter.annotation)
    return parameter.default is Parameter.empty and not is_option


def _read_metric(metric: str | None) -> Any:
    """Return the name of a score as it is, and a file of costs as a table."""
    if metric is None or not metric.lower().endswith(".csv"):
        return metric

    import pandas as pd

    from pellucid.app.tables import read_table

    costs: pd.DataFrame = read_table(Path(metric))
    return costs.set_index(costs.columns[0])
