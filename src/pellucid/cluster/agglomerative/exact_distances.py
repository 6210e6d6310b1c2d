"""Distances in fractions, for workings: given, or of rows that were typed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sympy import Matrix, Rational, sqrt

from pellucid.cluster.agglomerative.distances import EUCLIDEAN
from pellucid.core.types import Data
from pellucid.workings.document import Block, table
from pellucid.workings.exact_data import MAX_FEATURES, exact_features, exact_number, rounding_remark
from pellucid.workings.notation import math, typed

MOST_ROWS = 7
"""Rows whose distance matrix fits a page, also when its numbers have many digits."""
MANHATTAN = ("manhattan", "cityblock", "l1")


@dataclass(frozen=True)
class ExactDistances:
    """The matrix, whether of squares, and what to say before it."""

    matrix: Matrix
    squared: bool
    opening: tuple[Block, ...]
    order: tuple[int, ...] = ()
    """The rows in the order of their values; those of a given matrix as they stand."""


def exact_distances(X: Data, metric: Any, linkage: str = "", *, most_rows: int = MOST_ROWS) -> ExactDistances:
    """Return distances that fractions can hold: squares of Euclidean ones, unless their roots must be added.

    Roots that are no fractions are rounded, and the opening says so.
    """
    given = isinstance(metric, str) and metric == "precomputed"
    features, names, rounded = exact_features(X, max_rows=most_rows, max_features=most_rows if given else MAX_FEATURES)
    n = features.rows
    if given:
        if features.cols != n:
            raise ValueError(f"X must be a square distance matrix, got {n} rows and {features.cols} columns.")
        return ExactDistances(
            features, squared=False, opening=(rounding_remark(),) if rounded else (), order=tuple(range(n))
        )
    opening: list[Block] = [_data_table(features, names)]
    if metric in MANHATTAN:
        gaps = Matrix(n, n, lambda i, j: sum((abs(x) for x in features.row(i) - features.row(j)), Rational(0)))
    elif metric in EUCLIDEAN:
        gaps = Matrix(n, n, lambda i, j: sum((x**2 for x in features.row(i) - features.row(j)), Rational(0)))
        if linkage not in ("ward", "single", "complete"):
            gaps, was_rounded = _roots(gaps)
            rounded = rounded or was_rounded
    else:
        raise ValueError(
            f"metric must be 'euclidean', 'manhattan' or 'precomputed' to be worked by hand, got {metric!r}."
        )
    squared = metric in EUCLIDEAN and linkage in ("ward", "single", "complete")
    order = tuple(sorted(range(n), key=lambda i: (*features.row(i), i)))
    return ExactDistances(gaps, squared, (*opening, *((rounding_remark(),) if rounded else ())), order)


def _roots(squares: Matrix) -> tuple[Matrix, bool]:
    """Return the roots of all entries, as fractions; those that are none are rounded."""
    found, rounded = Matrix.zeros(*squares.shape), False
    for i in range(squares.rows):
        for j in range(squares.cols):
            root = sqrt(squares[i, j])
            if root.is_rational:
                found[i, j] = root
            else:
                found[i, j], _ = exact_number(float(np.sqrt(float(squares[i, j]))), "X")
                rounded = True
    return found, rounded


def _data_table(features: Matrix, names: tuple[str, ...]) -> Block:
    symbols = [math(f"x_{j + 1}") if features.cols > 1 else math("x") for j in range(features.cols)]
    head = [math("i"), *(names or symbols)]
    rows = [[math(i + 1), *map(typed, features.row(i))] for i in range(features.rows)]
    return table(head, rows, caption="The data")
