"""What is to be known of single rows before their predictions are used: how values were read, which are new."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from pellucid.app.tables.understanding import JOINED_WORDS, NUMBER, WORD_KINDS
from pellucid.app.tables.written_numbers import WITH_COMMA, WITH_POINT, is_gap
from pellucid.core.types import Array

BEYOND = 0.1
"""Share of the range of a column by which a number must lie outside of it to be called far."""
HARDLY_ANY = 1e-9
LONGEST = 40


def row_notes(model: Any, frame: pd.DataFrame) -> list[list[str]]:
    """Return for each row what a model of a table makes of values that it has not learned from: nothing for most rows.

    Told are words that were never seen, or seen in another spelling, numbers far outside of those learned from, numbers
    read from texts in a column of plain numbers, and infinite ones, which are taken for gaps.
    """
    reader, seen = model[0], model.seen_
    frame = reader.named_as_fitted(frame)
    read = reader.transform(frame)
    notes: list[list[str]] = [[] for _ in range(len(frame))]
    for name, kind in reader.kinds.items():
        column = frame[name]
        if kind in WORD_KINDS:
            found = _of_words(
                column, read[name].astype(object), seen.words.get(name, {}), is_joined=kind == JOINED_WORDS
            )
        elif kind in (NUMBER, WITH_POINT, WITH_COMMA):
            found = _of_numbers(
                column, read[name].to_numpy(), seen.numbers.get(name, np.empty(0)), is_plain=kind == NUMBER
            )
        else:
            continue
        for place, note in found:
            notes[place].append(f"{name}: {note}")
    return notes


def _of_words(
    column: pd.Series, read: pd.Series, shares: dict[str, float], *, is_joined: bool
) -> Iterator[tuple[int, str]]:
    knows_all = bool(shares) and sum(shares.values()) > 1.0 - HARDLY_ANY

    def say(place: int) -> str:
        word, given = read.iloc[place], column.iloc[place]
        if word not in shares:
            return f"{_shown(given)} was never seen" if knows_all else ""
        is_respelled = not is_joined and isinstance(given, str) and given != word
        return f"{_shown(given)} was read as {_shown(word)}" if is_respelled else ""

    return _for_each_value(column, say)


def _of_numbers(column: pd.Series, read: Array, quantiles: Array, *, is_plain: bool) -> Iterator[tuple[int, str]]:
    def say(place: int) -> str:
        given = column.iloc[place]
        if np.isnan(read[place]):
            return "" if is_gap(given) else f"{given} was taken for a gap"
        is_strange = is_plain and isinstance(given, str) and not _is_plain_number(given)
        return f"{_shown(given)} was read as {read[place]:g}" if is_strange else ""

    if not pd.api.types.is_numeric_dtype(column) or np.isinf(column.to_numpy(np.float64, na_value=np.nan)).any():
        yield from _for_each_value(column, say)
    if not len(quantiles):
        return
    low, high = float(quantiles[0]), float(quantiles[-1])
    room = BEYOND * (high - low)
    for place in np.flatnonzero((read < low - room) | (read > high + room)):
        yield int(place), f"{read[place]:g} is far outside of what was learned from ({low:g} to {high:g})"


def _for_each_value(column: pd.Series, say: Callable[[int], str]) -> Iterator[tuple[int, str]]:
    """Yield the rows with something to say, gaps aside; each value is looked at once, where it stands first."""
    codes, _ = pd.factorize(column)
    places = np.flatnonzero(codes >= 0)
    _, first = np.unique(codes[places], return_index=True)
    said = [say(int(place)) for place in places[first]]
    has_note = np.array([*map(bool, said), False])[codes]  # a gap has the code -1
    return ((int(place), said[codes[place]]) for place in np.flatnonzero(has_note))


def _is_plain_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _shown(value: object) -> str:
    return repr(str(value)[:LONGEST])
