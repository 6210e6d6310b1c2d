"""The fields of the page: what to type for each column, with an example."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.table_model import SeenTable, TableModel
from pellucid.tables.dates import DATES
from pellucid.tables.understanding import FLAG, NUMBER, TEXT, WORD_KINDS

MOST_CHOICES = 200


@dataclass(frozen=True)
class Field:
    """One column: its kind, a typical value, and what may be chosen."""

    name: str
    kind: str
    example: str | float
    choices: tuple[str, ...] = ()

    @property
    def is_number(self) -> bool:
        """Whether what is typed is sent as a number."""
        return self.kind == NUMBER


def fields_of(model: TableModel) -> list[Field]:
    """Return a field for every column that the model reads."""
    return [_field(name, kind, model.seen_) for name, kind in model[0].kinds.items()]


def _field(name: str, kind: str, seen: SeenTable) -> Field:
    if kind == FLAG:
        return Field(name, kind, "yes", ("yes", "no"))
    if kind in WORD_KINDS:
        words = tuple(seen.words.get(name, {}))
        return Field(name, kind, words[0] if words else "", tuple(sorted(words)[:MOST_CHOICES]))
    if kind == TEXT or kind in DATES:
        return Field(name, kind, "" if kind == TEXT else "2024-12-31")
    quantiles = seen.numbers.get(name)
    typical = float(f"{quantiles[len(quantiles) // 2]:.4g}") if quantiles is not None and len(quantiles) else 0.0
    return Field(name, kind, typical if kind == NUMBER else str(typical))
