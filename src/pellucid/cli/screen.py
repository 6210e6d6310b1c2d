"""What ``pellucid fit`` shows: a live line on standard error while methods are compared, the result when it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pellucid.bake_off import BakeOffResult
from pellucid.bake_off.comparison import Stage
from pellucid.bake_off.measures import Measure
from pellucid.bake_off.scores import MethodScore
from pellucid.bake_off.stages_shown import stages_shown
from pellucid.core.progress import terminal_bar
from pellucid.report import (
    format_measure,
    format_number,
    format_seconds,
    format_share,
    format_spread,
    meaning_of,
    standing_of,
)

WORTH_SAYING = 1.0
"""Seconds of compiling that a user has noticed."""


@contextmanager
def live_line(console: Console) -> Iterator[Callable[[Stage], None]]:
    """Show the method, the best so far and the time left while the block runs; nothing where there is no terminal."""
    with terminal_bar(console) as show:
        show("reading the table", 0, 1)
        yield stages_shown(show)


def print_result(
    result: BakeOffResult, console: Console, *, model_file: Path, report_file: Path, card_file: Path
) -> None:
    """Print the guess, the leaderboard, the estimate, the certificate, what to beware of, and where the files are."""
    target = result.target
    for note in result.done_to_data:
        console.print(note, highlight=False, markup=False)
    console.print(f"{target.name}: {target.told}, because {target.reason}.", highlight=False, markup=False)
    console.print(_leaderboard(result))
    console.print(_verdict(result), highlight=False, markup=False)
    alarm = result.alarm
    if alarm:
        console.print(alarm, highlight=False, markup=False, style="bold red")
    cautions = [caution for caution in result.cautions if caution != alarm]
    if cautions:
        console.print("Before you rely on it:", style="bold yellow")
    for caution in cautions:
        console.print(f"- {caution}", highlight=False, markup=False, style="yellow")
    if result.compiling_seconds >= WORTH_SAYING:
        console.print(
            f"{result.compiling_seconds:.0f} s went into compiling loops, once on this machine and outside of the time "
            "given; 'pellucid warm-up' does it for all methods.",
            highlight=False,
            style="dim",
        )
    files = f"Model: {model_file}\nReport: {report_file}\nModel card: {card_file}"
    console.print(files, highlight=False, markup=False, soft_wrap=True)


def _leaderboard(result: BakeOffResult) -> Table:
    measure = result.measure
    last = ("Balanced", "AUC") if result.target.is_classification else ("Coefficients",)
    table = Table("Method", measure.title, "± SE", *last, "Seconds", header_style="bold")
    for column in table.columns[1:]:
        column.justify = "right"
    for score in result.scores:
        chosen = score is result.chosen
        name = f"{score.name}{' (chosen)' if chosen else ''}"
        style = "bold" if chosen else "dim" if score.contestant.is_baseline else ""
        table.add_row(name, *_cells(score, measure), style=style)
    return table


def _cells(score: MethodScore, measure: Measure) -> tuple[str, ...]:
    seconds = format_seconds(score.fit_seconds)
    shown = format_measure(score.mean, measure), format_spread(score.standard_error, measure)
    if score.balanced is not None:
        auc = "-" if score.auc != score.auc else f"{score.auc:.3f}"
        return *shown, format_share(score.balanced.mean()), auc, seconds
    return *shown, "-" if not score.n_coefficients else format_number(score.n_coefficients, 3), seconds


def _verdict(result: BakeOffResult) -> str:
    headline, certificate, measure = result.judgement.headline, result.certificate, result.measure
    write = format_share if measure.is_share else format_number
    value, low, high = (write(number) for number in (headline.score, headline.low, headline.high))
    interval = f"{100 * headline.level:g} % interval {low} to {high}"
    return (
        f"{measure.title} on {headline.n_samples:,} rows kept aside: {value} ({interval})\n"
        f"Certificate: {certificate.grade}, {standing_of(result)[0]}: {meaning_of(certificate, result.model[-1])}"
    )
