"""Data as a page asks for them, by one small JSON object, and as a play takes them: rows, a formula, or an image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.app.playing.given.images import load_image
from pellucid.app.playing.given.sets import MOST_ROWS, load_set
from pellucid.core.checks import find_name, is_number
from pellucid.core.types import Array, Data

if TYPE_CHECKING:
    import pandas as pd

KINDS_OF_DATA = {
    "set": {"rows", "seed", "columns"},
    "table": {"target", "columns"},
    "points": {"target"},
    "formula": {"start"},
    "image": set[str](),
}
"""How data are named -> what else may stand beside."""
GIVES = {"set": "rows", "table": "rows", "points": "rows", "formula": "formula", "image": "image"}
"""How data are named -> the kind of data that a play takes."""

POINTS = "points"
"""What rows drawn by hand are called: (x, y), of which a regression without a target predicts y."""


@dataclass(frozen=True)
class GivenData:
    """What a play plays on; what is not of its kind is None."""

    name: str
    """What the data are called: the set, table or image, or the formula itself."""
    X: Data = None
    """Rows, of shape (n, d), as an array or a data frame."""
    y: Data = None
    """Their target; None where there is none."""
    names: tuple[str, ...] = ()
    """Names of the columns."""
    formula: str | None = None
    """A function of its variables, such as ``x**2 + 3*y**2``."""
    start: tuple[float, ...] | None = None
    """Where a search for its minimum begins, one number for each variable."""
    image: Array | None = None
    """Gray values from 0 to 1, of shape (height, width), the topmost row first."""
    target: str = "target"
    """What the target is called."""
    told: Mapping[str, Any] | None = None
    """The object that named the data."""

    @property
    def loading(self) -> str:
        """The line of Python that reads the same data; a table is the reader's own file."""
        if self.told is None or "table" in self.told:
            return "# data.X and data.y are your rows and your target"
        return f"data = read_data({dict(self.told)!r})"


def read_data(told: Any, *, tables: Mapping[str, pd.DataFrame] | None = None) -> GivenData:
    """Return the data that a JSON object names, or say what is wrong with it.

    Parameters
    ----------
    told : dict
        One of ``{"set": name, "rows"?, "seed"?, "columns"?}``, ``{"table": id, "target"?, "columns"?}``,
        ``{"points": [[x, y], ...], "target"?}``, ``{"formula": text, "start": [a, b]}``, ``{"image": name}``.
    tables : dict of data frames, default=None
        The tables that an id may name.

    Examples
    --------
    >>> read_data({"points": [[0, 0], [1, 2]], "target": ["a", "b"]}).X.shape
    (2, 2)
    """
    if not isinstance(told, Mapping) or len(named := [kind for kind in KINDS_OF_DATA if kind in told]) != 1:
        raise ValueError(f"data must name one of {', '.join(KINDS_OF_DATA)}, got {told!r}.")
    return replace(_read(told, named[0], tables or {}), told=dict(told))


def _read(told: Mapping[str, Any], kind: str, tables: Mapping[str, pd.DataFrame]) -> GivenData:
    unknown = told.keys() - KINDS_OF_DATA[kind] - {kind}
    if unknown:
        allowed = ", ".join(sorted(KINDS_OF_DATA[kind])) or "nothing"
        raise ValueError(f"data of a {kind} must have {allowed} beside it, got {', '.join(sorted(map(str, unknown)))}.")
    if kind == "set":
        return _of_set(**told)
    if kind == "points":
        return _of_points(**told)
    if kind == "formula":
        return _of_formula(**told)
    if kind == "image":
        return GivenData(str(told["image"]), image=load_image(told["image"]))
    return _of_table(tables, **told)


def _of_set(set: Any, rows: Any = None, seed: Any = 0, columns: Any = None) -> GivenData:  # noqa: A002
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**32:
        raise ValueError(f"seed must be a whole number of at least 0, got {seed!r}.")
    X, y, names = load_set(str(set), rows=150 if rows is None else rows, seed=seed)
    if columns is not None:
        places = [names.index(name) for name in _known_columns(columns, names)]
        X = X.iloc[:, places] if hasattr(X, "iloc") else X[:, places]
        names = [names[j] for j in places]
    return GivenData(str(set), X, y, tuple(names))


def _of_points(points: Any, target: Any = None) -> GivenData:
    try:
        X = np.array(points, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("points must be pairs of numbers, got something else.") from None
    if X.ndim != 2 or X.shape[1] != 2 or not len(X) or not np.isfinite(X).all():
        raise ValueError("points must be pairs of finite numbers, at least one, got something else.")
    if len(X) > MOST_ROWS:
        raise ValueError(f"points must be at most {MOST_ROWS:,}, got {len(X):,}.")
    if target is None:
        return GivenData(POINTS, X, None, ("x", "y"))
    if not isinstance(target, Sequence) or isinstance(target, str) or len(target) != len(X):
        raise ValueError(f"target must have a label for each of the {len(X)} points, got {target!r}.")
    if not all(is_number(label) or isinstance(label, str) for label in target):
        raise ValueError("target must have texts or numbers as labels, got something else.")
    return GivenData(POINTS, X, np.array(target), ("x", "y"))


def _of_formula(formula: Any, start: Any = None) -> GivenData:
    is_pair = isinstance(start, Sequence) and not isinstance(start, str) and all(map(is_number, start))
    if not isinstance(formula, str) or (start is not None and not is_pair):
        raise ValueError(f"formula must be a text and start numbers, got {formula!r} and {start!r}.")
    return GivenData(formula, formula=formula, start=None if start is None else tuple(map(float, start)))


def _of_table(tables: Mapping[str, pd.DataFrame], table: Any, target: Any = None, columns: Any = None) -> GivenData:
    if table not in tables:
        raise ValueError(f"table must be one that was read before, got {table!r}. Read the file again.")
    frame = tables[table]
    known = [str(name) for name in frame.columns]
    frame = frame.set_axis(known, axis=1)
    if target is not None:
        target = find_name(str(target), known, what="target")
    words = [name for name in known if frame[name].dtype.kind not in "fiub" and name != target]
    if columns is None:
        columns = [name for name in known if name != target and name not in words]
        if not columns:
            raise ValueError("table must have a column of numbers beside its target, got none.")
    chosen = _known_columns(columns, [name for name in known if name != target])
    refused = [name for name in chosen if name in words]
    if refused:
        raise ValueError(f"columns must be numbers, got words in {', '.join(refused)}. Choose others.")
    whole = frame[chosen].notna().all(axis=1)
    if target is not None:
        whole &= frame[target].notna()
    frame = frame[whole].head(MOST_ROWS)
    if not len(frame):
        raise ValueError("table must have a row without missing values in the chosen columns, got none.")
    y = None if target is None else frame[target].to_numpy()
    if y is not None and y.dtype.kind not in "fiub":
        y = y.astype(str)
    X = frame[chosen].to_numpy(dtype=float)
    return GivenData(str(table), X, y, tuple(chosen), target=target or "target")


def _known_columns(columns: Any, known: Sequence[str]) -> list[str]:
    if not isinstance(columns, Sequence) or isinstance(columns, str) or not columns:
        raise ValueError(f"columns must be a list of names, got {columns!r}.")
    return [find_name(str(name), known, what="column") for name in columns]


def checked_for(data: GivenData, kinds: Sequence[str], wants: str | None) -> GivenData:
    """Return the data if a play takes their kind and target, or say why not."""
    got = "formula" if data.formula is not None else "image" if data.image is not None else "rows"
    if got not in kinds:
        raise ValueError(f"data must be {' or '.join(kinds)}, got {got}.")
    if got != "rows":
        return data
    words = [name for name, column in zip(data.names, np.asarray(data.X).T, strict=True) if _is_words(column)]
    if words:
        raise ValueError(f"columns must be numbers to be drawn, got words in {', '.join(words)}. Choose other data.")
    if wants == "numbers" and data.y is None and data.name == POINTS:
        data = replace(data, X=data.X[:, :1], y=data.X[:, 1], names=data.names[:1], target=data.names[1])
    if wants and data.y is None:
        raise ValueError(f"data must have a target of {wants}, got none. Choose a target, or a method without one.")
    if wants == "numbers" and np.asarray(data.y).dtype.kind not in "fiub":
        raise ValueError(f"{data.target} must be numbers for a regression, got words. Choose a classifier.")
    return data


def _is_words(column: Array) -> bool:
    return column.dtype.kind not in "fiub" and not all(map(is_number, column))
