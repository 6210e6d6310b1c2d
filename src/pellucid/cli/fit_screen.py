"""What ``pellucid fit`` prints when it is done."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from pellucid.bake_off import BakeOff
from pellucid.bake_off.comparing import Score
from pellucid.report import format_number, format_share


def print_found(found: BakeOff, console: Console, *, model_file: Path, report_file: Path) -> None:
    """Print the guess, the leaderboard, the estimate, the certificate, what to beware of, and where the files are."""
    target = found.target
    console.print(f"{target.name}: {target.task}, because {target.reason}.", highlight=False, markup=False)
    console.print(_leaderboard(found))
    console.print(_verdict(found), highlight=False, markup=False)
    if found.notes:
        console.print("Before you rely on it:", style="bold yellow")
    for note in found.notes:
        console.print(f"- {note}", highlight=False, markup=False, style="yellow")
    console.print(f"Model: {model_file}\nReport: {report_file}", highlight=False, markup=False, soft_wrap=True)


def _leaderboard(found: BakeOff) -> Table:
    if found.target.is_classification:
        table = Table("Method", "Right", "± SE", "Balanced", header_style="bold")
    else:
        table = Table("Method", "Error", "± SE", "Coefficients", header_style="bold")
    for column in table.columns[1:]:
        column.justify = "right"
    for score in found.scores:
        chosen = score is found.chosen
        name = f"{score.contestant.name}{' (chosen)' if chosen else ''}"
        style = "bold" if chosen else "dim" if score.contestant.is_baseline else ""
        table.add_row(name, *_cells(score), style=style)
    return table


def _cells(score: Score) -> tuple[str, str, str]:
    if score.balanced is not None:
        return format_share(1 - score.mean), format_share(score.standard_error), format_share(score.balanced.mean())
    size = "-" if not score.n_coefficients else f"{score.n_coefficients:.3g}"
    return format_number(score.mean), format_number(score.standard_error, 2), size


def _verdict(found: BakeOff) -> str:
    headline, certificate = found.judgement.headline, found.certificate
    write = format_share if found.target.is_classification else format_number
    value, low, high = (write(number) for number in (headline.score, headline.low, headline.high))
    what = "Right" if found.target.is_classification else "Error"
    interval = f"{100 * headline.level:g} % interval {low} to {high}"
    return (
        f"{what} on {headline.n_samples:,} rows kept aside: {value} ({interval})\n"
        f"Certificate: {certificate.grade}, {'holds' if certificate.holds else 'DOES NOT HOLD'}"
    )
