"""The columns of a table of mixed kinds: numbers or texts each, and the density that suits them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pellucid.core.checks import column_values
from pellucid.core.types import Array, Data
from pellucid.probability.density import Density, find_density

AUTO = "auto"


def declared_categories(X: Data) -> list[bool]:
    """Return for each column whether a data frame calls it categorical; an array says nothing."""
    dtypes = list(X.dtypes) if hasattr(X, "columns") and hasattr(X, "dtypes") else []
    return ["categ" in str(dtype).lower() for dtype in dtypes]


def choose_densities(wanted: Any, X: Array, names: list[str] | None, declared: list[bool]) -> list[type[Density]]:
    """Return the density class of every column, as asked for or guessed.

    Texts and what a data frame calls categorical are categorical, zeros and ones are bernoulli, other numbers gaussian.
    """
    return [
        find_density(guess_density(column_values(X, j), bool(declared) and declared[j]) if entry is None else entry)
        for j, entry in enumerate(wanted_densities(wanted, X.shape[1], names))
    ]


def wanted_densities(wanted: Any, n_columns: int, names: list[str] | None) -> list[Any]:
    """Return what is asked for each column; None means that it is to be guessed."""
    if isinstance(wanted, Mapping):
        known = {name: j for j, name in enumerate(names or [])} | {j: j for j in range(n_columns)}
        unknown = [key for key in wanted if key not in known]
        if unknown:
            raise ValueError(f"densities must name columns of X, got {unknown[0]!r}. Columns are {list(known)}.")
        entries: list[Any] = [AUTO] * n_columns
        for key, entry in wanted.items():
            entries[known[key]] = entry
    elif isinstance(wanted, str | type):
        entries = [wanted] * n_columns
    else:
        entries = list(wanted)
        if len(entries) != n_columns:
            raise ValueError(
                f"densities must have an entry for each of the {n_columns} columns, got {len(entries)}. "
                "Give a dict to name some columns only."
            )
    return [None if isinstance(entry, str) and entry == AUTO else entry for entry in entries]


def guess_density(values: Array, is_declared: bool = False) -> str:
    """Return the name of the density that suits a column; a declared one holds categories."""
    if values.dtype.kind == "U" or is_declared:
        return "categorical"
    return "bernoulli" if ((values == 0.0) | (values == 1.0)).all() else "gaussian"
