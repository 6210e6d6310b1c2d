"""What ``pellucid fit`` shows: a live line on standard error while methods are compared, the result when it is done."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.table import Table

from pellucid.app.bake_off import BakeOffResult
from pellucid.app.bake_off.comparison import Stage
from pellucid.app.bake_off.measures import Measure
from pellucid.app.bake_off.scores import MethodScore
from pellucid.app.bake_off.so_far import stages_shown
from pellucid.app.cli.errors import CommandError
from pellucid.app.clusters import Grouping
from pellucid.app.maps import MappedTable
from pellucid.app.pictures import DetectedFile, FittedDetector, RestoredFile, SegmentedFile
from pellucid.app.report import (
    format_measure,
    format_number,
    format_seconds,
    format_share,
    format_spread,
    meaning_of,
    standing_of,
)
from pellucid.app.tables.understanding import understand
from pellucid.core.watching import terminal_bar

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
    if result.learned_from:
        console.print(result.learned_from, highlight=False, markup=False)
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
            f"{result.compiling_seconds:.0f} s of the time went into compiling loops, once on this machine; "
            "'pellucid warm-up' does it for all methods.",
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


def print_grouping(result: Grouping, console: Console, files: Sequence[Path]) -> None:
    """Print how many clusters there are and why, what they are, the methods, what to beware of, and the files."""
    for note in result.notes:
        console.print(note, highlight=False, markup=False)
    if result.alarm:
        console.print(result.alarm, highlight=False, markup=False, style="bold red")
    elif result.choice is not None:
        console.print(f"{result.k} clusters. {result.choice.reason}", highlight=False, markup=False)
    for profile in result.profiles:
        console.print(f"- {profile.sentence}", highlight=False, markup=False)
    console.print(_methods(result))
    certificate = result.certificate
    console.print(f"Certificate: {certificate.grade}, {certificate.verdict}.", highlight=False, markup=False)
    if result.cautions:
        console.print("Before you rely on it:", style="bold yellow")
    for caution in result.cautions:
        console.print(f"- {caution}", highlight=False, markup=False, style="yellow")
    names = ("Model", "Report", "Rows with their cluster")
    shown = "\n".join(f"{name}: {file}" for name, file in zip(names, files, strict=True))
    console.print(shown, highlight=False, markup=False, soft_wrap=True)


def _methods(result: Grouping) -> Table:
    table = Table("Method", "Silhouette", "Comes back", "Same as k-means", header_style="bold")
    for column in table.columns[1:]:
        column.justify = "right"
    for score in result.scores:
        is_chosen = score is result.chosen
        values = score.silhouette, score.stability, score.agreement
        cells = ("-" if value != value else format_number(value, 3) for value in values)
        name = f"{score.method.name}{' (chosen)' if is_chosen else ''}"
        table.add_row(name, *cells, style="bold" if is_chosen else "")
    return table


def print_map(result: MappedTable, console: Console, files: Sequence[Path]) -> None:
    """Print what every method keeps, which one was chosen, its certificate, and the files."""
    for note in result.columns.notes():
        console.print(note, highlight=False, markup=False)
    table = Table("Method", "Trustworthiness", "Continuity", "Stress", "Distance correlation", header_style="bold")
    for column in table.columns[1:]:
        column.justify = "right"
    for score in result.scores:
        is_chosen, quality = score is result.chosen, score.quality
        cells = ["-"] * 4
        if quality is not None:
            values = (quality.trustworthiness, quality.continuity, quality.stress, quality.distance_correlation)
            cells = [format_number(value, 3) for value in values]
        table.add_row(f"{score.name}{' (chosen)' if is_chosen else ''}", *cells, style="bold" if is_chosen else "")
    console.print(table)
    certificate = result.certificate
    console.print(f"Certificate: {certificate.grade}, {certificate.verdict}.", highlight=False, markup=False)
    for score in result.scores:
        if score.failure:
            console.print(f"No map by {score.name}: {score.failure}", highlight=False, markup=False, style="yellow")
    names = ("Page", "Rows with their places")
    shown = "\n".join(f"{name}: {file}" for name, file in zip(names, files, strict=True))
    console.print(shown, highlight=False, markup=False, soft_wrap=True)


def print_restoration(result: RestoredFile, console: Console, files: Sequence[Path]) -> None:
    """Print the methods compared, how good the image is now, its certificate, and the files."""
    found = result.found
    if result.trials:
        table = Table("Method", "Estimated PSNR", "95 % interval", "Seconds", header_style="bold")
        for column in table.columns[1:]:
            column.justify = "right"
        for trial in result.trials:
            psnr, is_chosen = trial.psnr, trial is result.chosen
            cells = (f"{psnr.value:.2f}", psnr.interval) if psnr.is_known else ("-", "-")
            name = f"{trial.name}{' (chosen)' if is_chosen else ''}"
            table.add_row(name, *cells, f"{trial.seconds:.1f}", style="bold" if is_chosen else "")
        console.print(table)
    how = "estimated" if found.sigma_was_estimated else "given"
    lines = [
        f"{type(found.method).__name__}: noise {found.sigma:.3g} ({how}). {found.psnr}.",
        f"Certificate: {found.certificate.grade}, {found.certificate.verdict}.",
        *(f"{name}: {file}" for name, file in zip(("Image", "Page"), files, strict=True)),
    ]
    console.print("\n".join(lines), highlight=False, markup=False, soft_wrap=True)


def print_segmentation(result: SegmentedFile, console: Console, files: Sequence[Path]) -> None:
    """Print how much of each class was seen, and the files."""
    table = Table("Class", "Share", "Mean probability", header_style="bold")
    for column in table.columns[1:]:
        column.justify = "right"
    for one in result.found:
        table.add_row(one.name, f"{one.share:.1%}", f"{one.confidence:.1%}")
    console.print(table)
    lines = [f"{name}: {file}" for name, file in zip(("Picture", "Labels", "JSON", "Page"), files, strict=True)]
    console.print("\n".join(lines), highlight=False, markup=False, soft_wrap=True)


def print_detection(result: DetectedFile, console: Console, files: Sequence[Path]) -> None:
    """Print the objects that were found, and the files."""
    table = Table("Label", "Score", "Box", header_style="bold")
    table.columns[1].justify = "right"
    for label, score, box in zip(result.found.labels, result.found.scores, result.found.boxes, strict=True):
        table.add_row(str(label), f"{score:.3f}", " ".join(f"{side:.0f}" for side in box))
    nothing = f"Nothing was found with a score of {result.threshold:g} or more."
    console.print(table if len(result.found) else nothing)
    lines = [f"{name}: {file}" for name, file in zip(("Picture", "JSON", "Page"), files, strict=True)]
    console.print("\n".join(lines), highlight=False, markup=False, soft_wrap=True)


def print_fitted_detector(result: FittedDetector, console: Console, files: Sequence[Path]) -> None:
    """Print what a detector reaches, what to beware of, and the files."""
    table = Table("On images not learned from", "Value", "95 % interval", header_style="bold")
    for column in table.columns[1:]:
        column.justify = "right"
    values = [("AP50", result.score.ap50, result.interval50), ("mean AP", result.score.ap, result.interval)]
    if result.masks is not None:
        values.append(("AP50 of masks", result.masks.ap50, result.masks.interval(threshold=0.5)))
    for name, value, (low, high) in values:
        table.add_row(name, f"{value:.3f}", f"{low:.2f} to {high:.2f}")
    console.print(table)
    missed, false = result.confusion.missed.sum(), result.confusion.false.sum()
    console.print(f"At a score of 0.5, {missed} of their objects are missed, and {false} found that are not there.")
    for sentence in result.cautions:
        console.print(f"Beware: {sentence}", highlight=False, markup=False)
    lines = [f"{name}: {file}" for name, file in zip(("Model", "JSON", "Page"), files, strict=True)]
    console.print("\n".join(lines), highlight=False, markup=False, soft_wrap=True)


MOST_LISTED = 60
NOBODY = "\x00"
"""Stands for a target while there is none: no column has this name."""


def find_target(frame: pd.DataFrame) -> str:
    """Return the column that the user names; where nobody can be asked, raise an error that lists the columns."""
    if sys.stdin.isatty() and sys.stderr.isatty():
        return ask_target(frame, Console(stderr=True))
    raise CommandError(f"target must be named with --target: one of {'; '.join(_listed(frame))}.")


def ask_target(frame: pd.DataFrame, console: Console) -> str:
    """Show the columns with their kinds, the last as the default, and ask until one is named."""
    names = [str(name) for name in frame.columns]
    kinds = _kinds(frame)
    table = Table("", "Column", "Kind", "For example", header_style="bold", box=None)
    for place, name in enumerate(names, start=1):
        present = frame[name].dropna()
        example = "" if present.empty else str(present.iloc[0])[:30]
        table.add_row(str(place), name, kinds[name], example)
    console.print("Which column shall be predicted?", style="bold")
    console.print(table)
    while True:
        answer = console.input(f"Number or name (Enter for {len(names)}, {names[-1]}): ").strip()
        if not answer:
            return names[-1]
        if answer in names:
            return answer
        if answer.isdecimal() and 1 <= int(answer) <= len(names):
            return names[int(answer) - 1]
        console.print(f"There is no column {answer!r}: give a number from 1 to {len(names)}, or a name.")


def _listed(frame: pd.DataFrame) -> list[str]:
    kinds = _kinds(frame)
    shown = [f"{name} ({kinds[str(name)]})" for name in frame.columns[:MOST_LISTED]]
    return [*shown, f"and {frame.shape[1] - MOST_LISTED} more"] if frame.shape[1] > MOST_LISTED else shown


def _kinds(frame: pd.DataFrame) -> dict[str, str]:
    """Return each column's kind, or what keeps it from being used."""
    columns = understand(frame.assign(**{NOBODY: 0}), NOBODY)
    return {str(name): columns.kinds.get(name, columns.left_out.get(name, "")) for name in frame.columns}
