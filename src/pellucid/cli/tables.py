"""Tables: read them, say how their columns are understood, hand a model the columns it wants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pellucid.cli.errors import CommandError

READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    ".csv": pd.read_csv,
    ".tsv": lambda path: pd.read_csv(path, sep="\t"),
    ".parquet": pd.read_parquet,
}
MOST_WORDS = 50
"""A column of words with more different ones than this is taken for a name or a text, not for a category."""


@dataclass(frozen=True)
class Columns:
    """How the columns of a table are understood."""

    target: str
    numeric: tuple[str, ...]
    words: tuple[str, ...]
    left_out: dict[str, str]

    @property
    def used(self) -> list[str]:
        """The features."""
        return [*self.numeric, *self.words]


def read_table(path: Path) -> pd.DataFrame:
    """Return the table in a CSV, TSV or Parquet file."""
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise CommandError(f"table must be one of {', '.join(READERS)}, got {path.name}. Convert it.")
    if not path.is_file():
        raise CommandError(f"table must be a file, got {path}, which does not exist.")
    try:
        frame = reader(path)
    except (ValueError, OSError, ImportError) as error:  # pandas' parser errors are ValueErrors
        raise CommandError(f"table {path.name} must be readable, but pandas says: {_first_line(error)}") from error
    if frame.empty:
        raise CommandError(f"table {path.name} must have rows and columns, got {frame.shape[0]} rows.")
    frame.columns = [str(name) for name in frame.columns]
    if frame.columns.has_duplicates:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise CommandError(f"column names must differ, got {twice!r} twice. Rename one.")
    return frame


def understand(frame: pd.DataFrame, target: str) -> Columns:
    """Return the kind of every column; refuse a target that is not a number."""
    check_has_column(frame, target)
    numeric, words, left_out = [], [], {}
    for name in frame.columns.drop(target):
        reason = _reason_to_leave_out(frame[name])
        if reason:
            left_out[name] = reason
        elif _is_numeric(frame[name]):
            numeric.append(name)
        else:
            words.append(name)
    if not numeric and not words:
        raise CommandError(f"table must have a feature beside {target!r}, got none that can be used: {left_out}.")
    return Columns(target, tuple(numeric), tuple(words), left_out)


def check_has_column(frame: pd.DataFrame, name: str) -> None:
    """Refuse a column that is not there, and name those that are."""
    if name not in frame.columns:
        raise CommandError(f"target must be one of the columns {list(frame.columns)}, got {name!r}.")


def features(frame: pd.DataFrame, numeric: tuple[str, ...], words: tuple[str, ...]) -> pd.DataFrame:
    """Return the features as a pipeline takes them: floats, and texts with nan where one is missing."""
    missing = [name for name in (*numeric, *words) if name not in frame.columns]
    if missing:
        raise CommandError(f"table must have the columns {[*numeric, *words]}, but {missing} are missing.")
    columns = {name: _as_floats(frame[name]) for name in numeric} | {name: _as_texts(frame[name]) for name in words}
    return pd.DataFrame(columns, index=frame.index)


def target_values(frame: pd.DataFrame, target: str) -> np.ndarray:
    """Return the target as floats, without missing or infinite ones."""
    check_has_column(frame, target)
    if not _is_numeric(frame[target]):
        example = frame[target].dropna().iloc[0] if frame[target].notna().any() else "nothing"
        raise CommandError(
            f"target must be a column of numbers, got {target!r} with values like {str(example)[:40]!r}. "
            "Classification comes in a later version."
        )
    values = frame[target].to_numpy(dtype=np.float64, na_value=np.nan)
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise CommandError(f"target must be finite in every row, got {values[row]} in row {row}. Drop such rows.")
    return values


def features_for(model: Any, frame: pd.DataFrame) -> pd.DataFrame | np.ndarray:
    """Return the columns that a loaded model was fitted on."""
    prepare = getattr(model, "named_steps", {}).get("prepare")
    if prepare is not None:
        branches = {name: tuple(columns) for name, _, columns in prepare.transformers}
        return features(frame, branches.get("numeric", ()), branches.get("words", ()))
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        return features(frame, tuple(names), ())
    if frame.shape[1] != model.n_features_in_:
        raise CommandError(
            f"table must have {model.n_features_in_} columns besides the target, got {frame.shape[1]}: "
            f"{list(frame.columns)}. Keep only the features."
        )
    return features(frame, tuple(frame.columns), ()).to_numpy()


def _is_numeric(column: pd.Series) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column))


def _reason_to_leave_out(column: pd.Series) -> str:
    n_different = column.nunique(dropna=True)
    if n_different == 0:
        return "it is empty"
    if n_different == 1 and column.notna().all():
        return "it never changes"
    if pd.api.types.is_datetime64_any_dtype(column):
        return "dates are not used yet"
    if not _is_numeric(column) and n_different > MOST_WORDS:
        return f"it has {n_different} different texts, more than {MOST_WORDS}"
    return ""


def _as_floats(column: pd.Series) -> np.ndarray:
    try:
        values = pd.to_numeric(column).to_numpy(dtype=np.float64, na_value=np.nan)
    except (ValueError, TypeError):
        bad = next(value for value in column if pd.isna(pd.to_numeric(value, errors="coerce")) and not pd.isna(value))
        raise CommandError(f"column {column.name!r} must be numbers, got {str(bad)[:40]!r}.") from None
    if np.isinf(values).any():
        raise CommandError(f"column {column.name!r} must be finite or missing, got inf.")
    return values


def _as_texts(column: pd.Series) -> pd.Series:
    return column.astype(object).map(lambda value: np.nan if pd.isna(value) else str(value)).astype(object)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
