"""The model card: what the model is for, how good it is and what to beware of, in one page of Markdown."""

from __future__ import annotations

from pellucid.app.bake_off import BakeOffResult
from pellucid.app.bake_off.options import USER_SAID
from pellucid.app.bake_off.so_far import SoFar
from pellucid.app.report.numbers import format_measure, format_number, format_share, meaning_of, standing_of
from pellucid.app.report.page import Origin, versions

MOST_COLUMNS = 40


def render_model_card(result: BakeOffResult, origin: Origin) -> str:
    """Return the model card of a bake-off in Markdown.

    Parameters
    ----------
    result : BakeOffResult
        What ``bake_off`` returned.
    origin : Origin
        Names of table and model file, and the command.
    """
    sections = (
        head_section(result, origin, result.alarm),
        _section("Before you rely on it", [f"- {_plain(caution)}" for caution in result.cautions]),
        _section("How good it is", _worth(result)),
        leaderboard_section(result),
        data_section(result, origin),
        _section("What is proved", _proof(result)),
        again_section(result, origin),
    )
    return "\n".join(section for section in sections if section)


def head_section(result: BakeOffResult | SoFar, origin: Origin, alarm: str) -> str:
    """Return what the model is, and the sentence that comes before all others, if there is one."""
    target = result.target
    lines = [
        f"# Model card: {_plain(target.name)}",
        "",
        f"Predicts **{_plain(target.name)}** ({target.told}, because {_plain(target.reason)}) by "
        f"**{result.chosen.name}**, chosen among {len(result.scores)} methods. File: `{origin.model_name}`.",
        "",
    ]
    return "\n".join([*lines, f"> **{_plain(alarm)}**", ""] if alarm else lines)


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([f"## {title}", "", *lines, ""]) if lines else ""


def _worth(result: BakeOffResult) -> list[str]:
    headline, measure = result.judgement.headline, result.measure
    write = format_share if measure.is_share else format_number
    low, high = write(headline.low), write(headline.high)
    lines = [
        f"On {headline.n_samples:,} rows that it never saw, looked at once:",
        "",
        "| score | value |",
        "|---|---|",
        f"| {measure.title} ({100 * headline.level:g} % interval) | {write(headline.score)} ({low} to {high}) |",
        *(f"| {name} | {format_number(value, 3)} |" for name, value in result.judgement.scores.items()),
    ]
    if result.judgement.threshold is not None:
        lines += ["", f"Judged with the threshold {result.judgement.threshold:.3g} that suits the metric."]
    if result.learned is not None:
        usual = format_measure(result.learned.baseline_error, measure)
        lines += ["", f"Always saying the same gets {usual} there. {result.learned.sentence}"]
    return lines


def leaderboard_section(result: BakeOffResult | SoFar) -> str:
    """Return the methods with their scores in the comparison."""
    measure = result.measure
    rows = [
        f"| {score.name}{' (chosen)' if score is result.chosen else ''} | {format_measure(score.mean, measure)} |"
        for score in result.scores
    ]
    table = [f"| method | {measure.title} in the comparison |", "|---|---|", *rows, "", result.reason]
    return _section("What it was compared with", table)


def data_section(result: BakeOffResult | SoFar, origin: Origin) -> str:
    """Return the rows and columns, and what was done to them."""
    kinds = list(result.columns.kinds.items())
    shown = ", ".join(f"{_plain(name)} ({kind})" for name, kind in kinds[:MOST_COLUMNS])
    more = f" and {len(kinds) - MOST_COLUMNS} more" if len(kinds) > MOST_COLUMNS else ""
    left_out = "; ".join(
        f"{_plain(name)}: {'left out on request' if reason == USER_SAID else reason}"
        for name, reason in result.columns.left_out.items()
    )
    lines = [
        f"{result.n_rows:,} rows of `{origin.table_name}`, {result.n_learning:,} of them to compare and choose with. "
        f"{result.learned_from}".strip(),
        "",
        f"Columns: {shown}{more}.",
    ]
    if left_out:
        lines += ["", f"Not used: {left_out}."]
    notes = [f"- {_plain(note)}" for note in result.done_to_data]
    return _section("What it learned from", [*lines, *(["", *notes] if notes else [])])


def _proof(result: BakeOffResult) -> list[str]:
    certificate = result.certificate
    return [
        f"Certificate **{certificate.grade}**, {standing_of(result)[0]}: {meaning_of(certificate, result.model[-1])}. "
        "It is about the arithmetic of the fit on the given rows, not about rows to come."
    ]


def again_section(result: BakeOffResult | SoFar, origin: Origin) -> str:
    """Return the command, the seed and the versions."""
    used = ", ".join(f"{name} {number}" for name, number in versions().items())
    command = ["```", origin.command, "```", ""] if origin.command else []
    return _section("Get the same again", [*command, f"Seed {result.plan.seed}; {used}."])


def _plain(text: str) -> str:
    """Return a text without the signs that mean something in Markdown or HTML."""
    for sign in "\\`*_<>|[]#":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())
