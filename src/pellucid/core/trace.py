"""Trace: what a fit did, one row per iteration."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.core.types import Array

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


FIRST_COLUMNS = ("iteration",)
MOST_SHOWN = 12
"""Rows of a trace in a notebook: the first and the last."""


class Trace:
    """Columns of numbers, one row per iteration: ``iteration``, then ``objective`` if the method has one, then others.

    Examples
    --------
    >>> trace = Trace()
    >>> trace.add(iteration=1, objective=4.0, gap=1.0)
    >>> trace.add(iteration=2, objective=3.5, gap=0.25)
    >>> trace
    Trace(2 rows: iteration, objective, gap; objective 4 -> 3.5)
    >>> trace["gap"]
    array([1.  , 0.25])
    """

    def __init__(self) -> None:
        self._rows: list[dict[str, float]] = []
        self.states: list[dict[str, Array]] = []

    @classmethod
    def from_columns(cls, columns: Mapping[str, Sequence[float]]) -> Trace:
        """Return the trace with these columns, which must have equal lengths and start with ``iteration``."""
        if tuple(columns)[:1] != FIRST_COLUMNS and columns:
            raise ValueError(f"columns must start with {FIRST_COLUMNS}, got {tuple(columns)}. Reorder them.")
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            raise ValueError(f"columns must have equal lengths, got {sorted(lengths)}. Pad with nan.")
        trace = cls()
        for values in zip(*columns.values(), strict=True):
            present = {name: v for name, v in zip(columns, values, strict=True) if not _is_absent(name, v)}
            trace.add(**{"iteration": math.nan, **present})
        return trace

    @classmethod
    def joined(cls, traces: Sequence[Trace], *, renumber: bool = False, numbered: str = "") -> Trace:
        """Return one trace with the rows and states of several, one after the other, counted through if asked.

        ``numbered`` names one more column, the number of the trace that a row comes from.
        """
        joined = cls()
        for k, trace in enumerate(traces):
            more = {numbered: float(k)} if numbered else {}
            for row in trace:
                joined.add(**({**row, "iteration": len(joined) + 1} if renumber else row), **more)
            joined.states.extend(trace.states)
        return joined

    def add(self, *, iteration: float, **more: float) -> None:
        """Append one row; a column that a row lacks reads as nan there."""
        self._rows.append({"iteration": iteration, **more})

    def annotate(self, **more: float) -> None:
        """Write more columns into the last row."""
        self._rows[-1].update(more)

    def keep(self, **state: Array | Sequence[Array]) -> None:
        """Keep copies of the arrays of this iteration, if inside ``pellucid.record()``; a list is stacked then."""
        if is_recording():
            self.states.append({name: _copied(value) for name, value in state.items()})

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order of first appearance."""
        names = dict.fromkeys(FIRST_COLUMNS)
        for row in self._rows:
            names.update(dict.fromkeys(row))
        return tuple(names)

    def __getitem__(self, column: str) -> Array:
        if column not in self.columns:
            raise KeyError(f"column must be one of {self.columns}, got {column!r}.")
        return np.array([row.get(column, math.nan) for row in self._rows], dtype=float)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[dict[str, float]]:
        return iter(self._rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trace):
            return NotImplemented
        return self.columns == other.columns and all(
            np.array_equal(self[name], other[name], equal_nan=True) for name in self.columns
        )

    __hash__ = None  # type: ignore[assignment]  # equal by value and growing: not to be hashed

    def __repr__(self) -> str:
        if not self._rows:
            return "Trace(0 rows)"
        rows = "1 row" if len(self) == 1 else f"{len(self)} rows"
        fell = ""
        if "objective" in self.columns:
            values = self["objective"]
            fell = f"; objective {values[0]:.6g} -> {values[-1]:.6g}"
        return f"Trace({rows}: {', '.join(self.columns)}{fell})"

    def _repr_html_(self) -> str:
        rows = "1 row" if len(self) == 1 else f"{len(self):,} rows"
        table = self.frame().to_html(index=False, max_rows=MOST_SHOWN, border=0, float_format="{:.6g}".format)
        return f"<div><b>Trace: {rows}</b>{table if len(self) else ''}</div>"

    def frame(self) -> pd.DataFrame:
        """Return the trace as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame({name: self[name] for name in self.columns})

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the trace; see :func:`pellucid.plots.plot_trace`."""
        from pellucid.plots.drawing.trace_plot import plot_trace

        return plot_trace(self, ax=ax, **options)


def _copied(value: Any) -> Array:
    """Return a copy as a NumPy array, from whatever device."""
    if isinstance(value, np.ndarray):
        return value.copy()
    from pellucid.core.arrays import as_numpy

    return as_numpy(value).copy() if hasattr(value, "shape") else np.array(value)


def _is_absent(name: str, value: float) -> bool:
    return name not in FIRST_COLUMNS and math.isnan(value)


_recording: ContextVar[bool] = ContextVar("pellucid_recording", default=False)


def is_recording() -> bool:
    """Return whether the code runs inside ``with pellucid.record():``."""
    return _recording.get()


@contextmanager
def record() -> Iterator[None]:
    """Keep the whole state of every iteration in ``trace_.states`` of the estimators fitted inside.

    Examples
    --------
    >>> import pellucid
    >>> from pellucid.linear_model import Lasso
    >>> with pellucid.record():
    ...     model = Lasso(alpha=0.5).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> len(model.trace_.states) == len(model.trace_)
    True
    """
    token = _recording.set(True)
    try:
        yield
    finally:
        _recording.reset(token)
