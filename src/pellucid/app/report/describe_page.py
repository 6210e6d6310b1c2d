"""The page that says what is in a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

import pellucid
from pellucid.app.describing import ColumnFacts, DescribedTable, Together
from pellucid.app.report.column_pictures import histogram
from pellucid.app.report.figures import Whisker, about_zero
from pellucid.app.report.numbers import format_number
from pellucid.app.report.page import Origin, column_summary, page_template, versions

MOST_PAIRS = 15
WRITTEN_OUT = 1e12
"""Whole numbers below this are written with all their digits."""


@dataclass(frozen=True)
class ColumnLine:
    """One line of the table of columns."""

    facts: ColumnFacts
    picture: Markup
    values: str


def render_description(found: DescribedTable, origin: Origin) -> str:
    """Return what is in a table as one HTML page without anything from elsewhere.

    Parameters
    ----------
    found : DescribedTable
        What ``describe_table`` found.
    origin : Origin
        Name of the table, and the command; there is no model.
    """
    clear = [pair for pair in found.together if pair.is_clear]
    return page_template("describe_report.html").render(
        found=found,
        columns=[_column_line(found, facts) for facts in found.facts],
        any_gaps=any(facts.n_gaps for facts in found.facts),
        any_far=any(facts.n_far for facts in found.facts),
        pairs=list(zip(clear[:MOST_PAIRS], pair_whiskers(clear[:MOST_PAIRS]), strict=True)),
        n_clear=len(clear),
        table_name=origin.table_name,
        command=origin.command,
        version=pellucid.__version__,
        versions=versions(),
    )


def pair_whiskers(pairs: Sequence[Together]) -> list[Whisker]:
    """Return the intervals of correlations on a scale from -1 to 1."""
    return about_zero([(pair.low, pair.correlation, pair.high) for pair in pairs], (-1.0, 1.0))


def values_in_words(found: DescribedTable, facts: ColumnFacts) -> str:
    """Return the values of a column in a few words: quartiles of numbers, frequent words, first and last date.

    Parameters
    ----------
    found : DescribedTable
        What is known of the table, with its values.
    facts : ColumnFacts
        The column: one of ``found.facts``.
    """
    if facts.quartiles is None or facts.n_different <= 2:
        return column_summary(found.table[facts.name], facts.kind)
    low, lower, median, upper, high = map(_short, facts.quartiles)
    return f"{low} to {high}, half of them {lower} to {upper}, median {median}"


def _short(value: float) -> str:
    """Return a whole number in full and any other in four figures."""
    return (
        f"{value:,.0f}".replace("-", "\N{MINUS SIGN}")
        if value.is_integer() and abs(value) < WRITTEN_OUT
        else (format_number(value))
    )


def _column_line(found: DescribedTable, facts: ColumnFacts) -> ColumnLine:
    return ColumnLine(facts, histogram(found.table[facts.name], facts.kind), values_in_words(found, facts))
