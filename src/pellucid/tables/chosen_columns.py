"""The columns of a table that distances between its rows are made of."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from pellucid.tables.reading import TableError
from pellucid.tables.understanding import NUMBER, Columns, understand


def understand_chosen(table: pd.DataFrame, drop: Sequence[str], keep: Sequence[str], *, coerce: bool) -> Columns:
    """Return what the columns are, without those to ``drop`` and with those to ``keep`` although they look like ids."""
    unknown = [name for name in (*drop, *keep) if name not in table.columns]
    if unknown:
        raise TableError(f"drop and keep must name columns of the table {list(table.columns)}, got {unknown}.")
    others = table.drop(columns=[*drop, *keep])
    found = understand(others, None, coerce=coerce) if len(others.columns) or not keep else Columns({}, {})
    kept = {name: NUMBER if pd.api.types.is_numeric_dtype(table[name]) else "words" for name in keep}
    return Columns({**found.kinds, **kept}, {**found.left_out, **dict.fromkeys(drop, "you said so")})
