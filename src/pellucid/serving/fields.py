"""The fields of the page: how each column is asked for, with a typical value and the usual range."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.core.types import Array
from pellucid.table_model import SeenTable, TableModel
from pellucid.tables.dates import DATES
from pellucid.tables.understanding import FLAG, NUMBER, TEXT, WORD_KINDS
from pellucid.tables.written_numbers import DURATION, WITH_COMMA

MOST_CHOICES = 40
"""Words that are chosen from a list; more are typed, with those as suggestions."""
MOST_SUGGESTED = 200
USUAL = (0.1, 0.9)
"""Shares of the rows below the ends of the range that is called usual."""
SELECT, SUGGEST, NUMBERS, DAY, MOMENT, WRITTEN, LINES = "select", "suggest", "number", "date", "moment", "text", "lines"
"""Ways to ask."""


@dataclass(frozen=True)
class Field:
    """One column: its kind, a typical value, how it is asked for, what may be chosen, and a hint."""

    name: str
    kind: str
    example: str | float
    way: str
    choices: tuple[str, ...] = ()
    hint: str = ""


def fields_of(model: TableModel) -> list[Field]:
    """Return a field for every column that the model reads."""
    reader = model[0]
    return [_field(name, kind, model.seen_, name in reader.with_hours_) for name, kind in reader.kinds.items()]


def _field(name: str, kind: str, seen: SeenTable, with_hours: bool) -> Field:
    gaps = _gaps(seen.gaps.get(name, 0.0))
    if kind == FLAG:
        return Field(name, kind, "yes", SELECT, ("yes", "no"), gaps)
    if kind in WORD_KINDS:
        words = tuple(seen.words.get(name, {}))
        way = SELECT if words and len(words) <= MOST_CHOICES else SUGGEST
        hint = gaps if way == SELECT else _joined(f"{len(words):,} words are known", gaps)
        return Field(name, kind, words[0] if words else "", way, tuple(sorted(words[:MOST_SUGGESTED], key=_rank)), hint)
    if kind == TEXT:
        return Field(name, kind, "", LINES)
    if kind in DATES:
        return Field(name, kind, "2024-12-31", MOMENT if with_hours else DAY)
    quantiles = seen.numbers.get(name)
    if quantiles is None or not len(quantiles):
        return Field(name, kind, 0.0 if kind == NUMBER else "", NUMBERS if kind == NUMBER else WRITTEN)
    typical = float(f"{quantiles[len(quantiles) // 2]:.4g}")
    hint = _joined(_usual(quantiles, kind), gaps)
    return Field(name, kind, typical if kind == NUMBER else _written(typical, kind),
                 NUMBERS if kind == NUMBER else WRITTEN, hint=hint)  # fmt: skip


def _usual(quantiles: Array, kind: str) -> str:
    low, high = (_written(float(quantiles[round(share * (len(quantiles) - 1))]), kind) for share in USUAL)
    return f"usually {low} to {high}" if low != high else f"usually {low}"


def _gaps(share: float) -> str:
    return f"empty in {100 * share:.0f} % of the rows" if share >= 0.005 else ""


def _joined(*hints: str) -> str:
    return "; ".join(filter(None, hints))


def _written(value: float, kind: str) -> str:
    """Return a number as the column writes it, so that it can be read again."""
    if kind == DURATION:
        sign, whole = "-" if value < 0 else "", round(abs(value))
        return f"{sign}{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    text = f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    return text.replace(".", ",") if kind == WITH_COMMA else text


def _rank(word: str) -> tuple[float, str]:
    """Return where a word stands in a list: numbers by their size, before words by their letters."""
    try:
        return float(word), word
    except ValueError:
        return float("inf"), word
