"""Data as exact rationals: 0.1 is read as 1/10, the way it was typed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Rational as AnyRational
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from sympy import Matrix, Rational

from pellucid.core.checks import check_nonnegative
from pellucid.core.types import Array, Data
from pellucid.show.document import Block, Sentence, Table, remark, sentence, table
from pellucid.show.notation import Math, Mathlike, Words, typed
from pellucid.show.notation import math as notate

MAX_ROWS = 12
MAX_FEATURES = 4
MAX_CELLS = 60
"""Where each cell is read once or twice and no step grows with the square of the rows."""
MAX_COUNTED_CELLS = 144
"""Where cells are only counted: the tables of the textbooks have 14 rows of 4 columns and 17 of 8."""
TYPED_DIGITS = 6
"""A float with at most so many decimals, or digits, was typed; one with more came out of a computation."""
KEPT_DIGITS = 4
"""Decimals kept of a float that was not typed and is no simple fraction; of a small one, digits."""
SIMPLE_DENOMINATOR = 100

Label: TypeAlias = str | int | float
"""The name of a class, as it was given."""

Column = tuple[str | Mathlike, Sequence[Any]]
"""A head, and the cells below it."""


@dataclass(frozen=True)
class ExactData:
    """A small data set in rationals, with the names of its features if it has any."""

    X: Matrix
    y: Matrix
    names: tuple[str, ...]
    rounded: bool

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.X.rows)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.cols)

    def symbol(self, letter: str, j: int) -> Math:
        """Return ``x_j``, or plain ``x`` if there is one feature; indices start at 1 on paper."""
        return notate(f"{letter}_{j + 1}") if self.n_features > 1 else notate(letter)

    def name(self, j: int) -> Math:
        """Return the name of a feature, or its symbol if it has none."""
        return Words(self.names[j]) if self.names else self.symbol("x", j)

    def opening(self, *columns: Column, caption: str = "The data") -> list[Block]:
        """Return the data table and the notes on it."""
        return [self.table(*columns, caption=caption), *self.notes()]

    def notes(self) -> list[Block]:
        """Return what the symbols stand for, and whether numbers were rounded."""
        blocks: list[Block] = []
        if self.names:
            parts: list[str | Mathlike] = ["Here "]
            for j, name in enumerate(self.names):
                parts += [", " if j else "", self.symbol("x", j), f" is {name}"]
            blocks.append(sentence(*parts, "."))
        if self.rounded:
            blocks.append(rounding_remark())
        return blocks

    def table(self, *columns: Column, caption: str = "The data") -> Table:
        """Return the data as they were typed: the features, and behind them these columns, or else the target."""
        heads = [self.symbol("x", j) for j in range(self.n_features)]
        columns = columns or ((notate("y"), [typed(value) for value in self.y]),)
        return numbered_table(self.X, heads, *columns, caption=caption)

    def feature_table(self) -> Table:
        """Return the features as they were typed, without a target."""
        return numbered_table(self.X, [self.symbol("x", j) for j in range(self.n_features)])


def numbered_table(
    X: Matrix,
    heads: Sequence[str | Mathlike],
    *more: Column,
    caption: str = "The data",
    called: Sequence[str] = (),
) -> Table:
    """Return a matrix as it was typed, its rows called by their names or numbered from 1, with more columns behind."""
    names: list[Math] = [Words(name) for name in called] or [notate(i + 1) for i in range(X.rows)]
    rows = [[names[i], *map(typed, X.row(i)), *(cells[i] for _, cells in more)] for i in range(X.rows)]
    return table([notate("i"), *heads, *(head for head, _ in more)], rows, caption=caption)


def class_column(labels: Sequence[Any]) -> Column:
    """Return the column of the classes."""
    return "class", [str(label) for label in labels]


def rounding_remark() -> Sentence:
    """Return the sentence that owns up to rounded data."""
    return remark(
        f"Some numbers have more than {TYPED_DIGITS} decimals. They are rounded to {KEPT_DIGITS} here "
        "(or read as a simple fraction where they are one), so the answer is exact for the rounded numbers only."
    )


def exact_data(
    X: Data, y: Data, *, max_rows: int = MAX_ROWS, max_features: int = MAX_FEATURES, max_cells: int = 0
) -> ExactData:
    """Return features and a numeric target as rationals, or refuse what is too large to work by hand."""
    features, names, rounded = exact_features(X, max_rows=max_rows, max_features=max_features, max_cells=max_cells)
    if y is None:
        raise ValueError("y must be given, got None. Pass the target as the third argument.")
    target = np.asarray(y)
    target = target[:, 0] if target.ndim == 2 and target.shape[1] == 1 else target
    if target.ndim != 1:
        raise ValueError(f"y must have one dimension, got shape {target.shape}. Show one target at a time.")
    if len(target) != features.rows:
        raise ValueError(f"y must have as many rows as X ({features.rows}), got {len(target)}.")
    refuse_words(target[:, None], "y")
    values = [exact_number(value, "y") for value in target]
    return ExactData(features, Matrix([value for value, _ in values]), names, rounded or any(r for _, r in values))


def exact_features(
    X: Data, *, max_rows: int = MAX_ROWS, max_features: int = MAX_FEATURES, max_cells: int = 0
) -> tuple[Matrix, tuple[str, ...], bool]:
    """Return the features as a matrix of rationals, their names, and whether a number was rounded.

    Where the work grows with the cells of the table and no faster, ``max_cells`` of them may be more than ``max_rows``.
    """
    table_ = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    if table_.ndim != 2 or 0 in table_.shape:
        raise ValueError(f"X must have rows and columns, got shape {table_.shape}. Reshape one feature to (-1, 1).")
    check_workable(table_.shape, max_rows, max_features, max_cells)
    refuse_words(table_, "X")
    cells = [[exact_number(value, "X") for value in row] for row in table_]
    rounded = any(was_rounded for row in cells for _, was_rounded in row)
    return Matrix([[value for value, _ in row] for row in cells]), _names(X), rounded


def refuse_words(cells: Array, name: str) -> None:
    """Refuse a table with a text in it, and name the first cell that is no number: of '2' and 'abc', 'abc'."""
    texts = [(i, cell) for i, row in enumerate(cells) for cell in row if isinstance(cell, str)]
    if texts:
        row, cell = next(((i, cell) for i, cell in texts if not _is_written_number(cell)), texts[0])
        raise ValueError(
            f"{name} must hold finite numbers, got {str(cell)!r} in row {row + 1}. Remove or replace it, and turn "
            "texts into numbers."
        )


def _is_written_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def check_workable(shape: tuple[int, ...], max_rows: int, max_features: int, max_cells: int = 0) -> None:
    """Refuse a table that is too large to be worked by hand."""
    most = max(max_rows, max_cells // shape[1])
    if shape[0] > most or shape[1] > max_features:
        raise ValueError(
            f"X must have at most {most} rows and {max_features} features to be worked by hand, got "
            f"{shape[0]} rows and {shape[1]} features. Show the work on a few rows and columns of it."
        )


@dataclass(frozen=True)
class WordCodes:
    """The words of each column in their order, whose places are their codes; None for a column of numbers."""

    words: tuple[tuple[str, ...] | None, ...]

    def encode(self, X: Data) -> Data:
        """Return a table with a number in the place of every word."""
        cells, coded = np.asarray(X, dtype=object), []
        for j, known in enumerate(self.words):
            for cell in cells[:, j]:
                if known is not None and str(cell) not in known:
                    raise ValueError(f"column {j + 1} must hold one of {', '.join(known)}, got {cell!r}.")
            coded.append([cell if known is None else known.index(str(cell)) for cell in cells[:, j]])
        numbers = np.array(coded, dtype=object).T
        return type(X)(numbers, columns=X.columns).infer_objects() if hasattr(X, "columns") else numbers.astype(float)


def word_codes(X: Data) -> WordCodes | None:
    """Return the codes of a table with columns of words, None for one of numbers alone."""
    cells = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=object)
    if cells.ndim != 2:
        return None
    is_text = [any(isinstance(cell, str) for cell in cells[:, j]) for j in range(cells.shape[1])]
    words = tuple(tuple(sorted(set(map(str, cells[:, j])))) if is_text[j] else None for j in range(cells.shape[1]))
    return WordCodes(words) if any(is_text) else None


def exact_number(value: Any, name: str) -> tuple[Rational, bool]:
    """Return a number as a rational, and whether it had to be rounded.

    Examples
    --------
    >>> exact_number(0.1, "alpha")
    (1/10, False)
    >>> exact_number(2 / 3, "alpha")
    (2/3, False)
    >>> exact_number(3.14159265, "alpha")
    (3927/1250, True)
    """
    value = int(value) if isinstance(value, np.bool_) else value
    if isinstance(value, AnyRational):
        return Rational(int(value.numerator), int(value.denominator)), False
    if not isinstance(value, (Real, Decimal)) or not math.isfinite(value):
        raise ValueError(f"{name} must hold finite numbers, got {value!r}. Remove or replace it.")
    decimal = value if isinstance(value, Decimal) else Decimal(str(value))
    exact = Fraction(decimal)
    shape = decimal.as_tuple()
    if isinstance(value, Decimal) or min(-int(shape.exponent), len(shape.digits)) <= TYPED_DIGITS:
        return _rational(exact), False
    simple = exact.limit_denominator(SIMPLE_DENOMINATOR)
    if abs(simple - exact) <= Fraction(float(np.spacing(np.abs(np.asarray(value))))):
        return _rational(simple), False
    return _rational(Fraction(round(exact, max(KEPT_DIGITS, KEPT_DIGITS - 1 - decimal.adjusted())))), True


def _rational(value: Fraction) -> Rational:
    return Rational(value.numerator, value.denominator)


def row_names(X: Data, n: int) -> tuple[str, ...]:
    """Return what the rows are called: the words of a data frame's index, or else their numbers from 1."""
    index = list(X.index) if hasattr(X, "columns") and hasattr(X, "index") else []
    named = len(index) == n and len(set(index)) == n and all(isinstance(name, str) for name in index)
    return tuple(index) if named else tuple(str(i + 1) for i in range(n))


def _names(X: Data) -> tuple[str, ...]:
    columns: Sequence[Any] = getattr(X, "columns", ())
    return tuple(columns) if len(columns) and all(isinstance(name, str) for name in columns) else ()


MAX_CLASSES = 4


def read_labels(y: Data, n: int) -> list[Label]:
    """Return one label for each of ``n`` rows, or refuse."""
    if y is None:
        raise ValueError("y must be given, got None. Pass the class of every row as the third argument.")
    labels = np.asarray(y)
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if labels.shape != (n,):
        raise ValueError(f"y must have one label for each of the {n} rows of X, got shape {labels.shape}.")
    return list(labels.tolist())


def sorted_classes(labels: list[Label], least: int = 2) -> list[Label]:
    """Return the classes in order, or refuse if there are too few or too many to work by hand."""
    classes = list(np.unique(labels).tolist())
    if not least <= len(classes) <= MAX_CLASSES:
        raise ValueError(
            f"y must have between {least} and {MAX_CLASSES} classes to be worked by hand, got {len(classes)}. "
            "Show the work on some of the classes."
        )
    return classes


def exact_parameter(estimator: Any, name: str) -> Rational:
    """Return a hyperparameter of at least 0 as a rational, read to its last digit."""
    value = getattr(estimator, name)
    check_nonnegative(**{name: value})
    simple, rounded = exact_number(value, name)
    return Rational(str(Decimal(str(value)))) if rounded else simple


def require(estimator: Any, name: str, wanted: Any) -> None:
    """Refuse a setting whose steps are not written down."""
    value = getattr(estimator, name, wanted)
    if value is not wanted:
        raise ValueError(
            f"{name} must be {wanted!r} to show the work, got {value!r}. The other steps are not written down."
        )
