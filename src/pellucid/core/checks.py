"""Checks of hyperparameters. Each error is one sentence: what, got what, do what instead."""

from __future__ import annotations

import math
from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np

from pellucid.core.types import Array

NEAR = 0.75
"""Likeness from which on one name may be meant by another."""
NEAREST = 3
"""Names that the message about a wrong one tells."""


def check_positive(hint: str = "", **values: Any) -> None:
    """Refuse values that are not finite numbers above 0."""
    for name, value in values.items():
        _check_number(name, value, "above 0", is_number(value) and 0 < value < math.inf, hint)


def check_nonnegative(hint: str = "", **values: Any) -> None:
    """Refuse values that are not finite numbers of at least 0."""
    for name, value in values.items():
        _check_number(name, value, "at least 0", is_number(value) and 0 <= value < math.inf, hint)


def check_between(low: float, high: float, hint: str = "", **values: Any) -> None:
    """Refuse values that are not numbers in [low, high]."""
    for name, value in values.items():
        _check_number(name, value, f"between {low} and {high}", is_number(value) and low <= value <= high, hint)


def check_whole(low: int = 1, hint: str = "", **values: Any) -> None:
    """Refuse values that are not whole numbers of at least ``low``."""
    for name, value in values.items():
        if not isinstance(value, Integral) or isinstance(value, (bool, np.bool_)):
            raise TypeError(_sentence(f"{name} must be a whole number, got {value!r}.", hint))
        if value < low:
            raise ValueError(_sentence(f"{name} must be at least {low}, got {value!r}.", hint))


def check_one_of(options: Iterable[Any], hint: str = "", **values: Any) -> None:
    """Refuse values that are not among the options."""
    allowed = tuple(options)
    for name, value in values.items():
        if not any(_same(value, option) for option in allowed):
            raise ValueError(_sentence(f"{name} must be one of {allowed}, got {value!r}.", hint))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the known name that is meant by another, as a question to end a sentence; nothing if none is near.

    Examples
    --------
    >>> did_you_mean("survved", ["age", "Survived"]), did_you_mean("x", ["age"])
    (" Did you mean 'Survived'?", '')
    """
    by_key = {" ".join(one.split()).casefold(): one for one in known}
    near = get_close_matches(" ".join(name.split()).casefold(), by_key, 1, NEAR)
    return f" Did you mean {by_key[near[0]]!r}?" if near else ""


def find_name(name: str, known: Iterable[str], hint: str = "", what: str = "method") -> str:
    """Return the known name that is written, whatever its case and hyphens; for a wrong one tell the three nearest.

    Examples
    --------
    >>> find_name("ID3-classifier", ["id3classifier", "lasso"])
    'id3classifier'
    """
    by_key = {_letters(one): one for one in known}
    key = _letters(name)
    if key in by_key:
        return by_key[key]
    order = sorted(by_key, key=lambda one: (not key or key not in one, -SequenceMatcher(None, key, one).ratio()))
    first, *others = [by_key[one] for one in order[:NEAREST]]
    near = f"{', '.join([first, *others[:-1]])} and {others[-1]} are" if others else f"{first} is"
    raise ValueError(_sentence(f"{what} must be a name that is known, got {name!r}; {near} nearest.", hint))


def _letters(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def is_number(value: Any) -> bool:
    """Return whether the value is a real number and not a bool."""
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def _check_number(name: str, value: Any, condition: str, holds: bool, hint: str) -> None:
    if not is_number(value):
        raise TypeError(_sentence(f"{name} must be a number {condition}, got {value!r}.", hint))
    if not holds:
        raise ValueError(_sentence(f"{name} must be {condition}, got {value!r}.", hint))


def _same(value: Any, option: Any) -> bool:
    return value is option or (type(value) is type(option) and isinstance(value, (str, bool)) and value == option)


def _sentence(start: str, hint: str) -> str:
    return f"{start} {hint}".rstrip()


def check_level(level: Any) -> None:
    """Refuse what is not a number strictly between 0 and 1: 95 where 0.95 is meant, and certainty."""
    if not (is_number(level) and 0 < level < 1):
        raise ValueError(f"level must be above 0 and below 1, got {level!r}. Give 0.95 for 95 %.")


def column_values(X: Array, j: int) -> Array:
    """Return a column as float64, or as texts if it holds texts."""
    column = X[:, j]
    if column.dtype.kind in "US" or (column.dtype == object and isinstance(column[0], str)):
        return column.astype(str)
    if column.dtype == object and any(isinstance(value, str) for value in column):
        raise TypeError(f"X must hold numbers or texts in column {j}, got both. Turn all into text.")
    return column.astype(np.float64)
