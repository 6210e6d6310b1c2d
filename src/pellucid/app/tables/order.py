"""Are few whole numbers in an order? They are if the other columns rise and fall with them.

Grades and marks are; codes of kinds of trees are not. How much a plane through the columns explains of the numbers is
compared with what it explains when the same numbers are put into other orders.
"""

from __future__ import annotations

from itertools import permutations
from math import factorial

import numpy as np
import pandas as pd

from pellucid.app.tables.preparation import comparable
from pellucid.app.tables.understanding import TEXT, Columns
from pellucid.core.random_state import some_rows
from pellucid.core.types import Array

FEWEST_VALUES = 5
"""Of four numbers there are twelve orders, back and forth the same: the best of them may well be chance."""
LEVEL = 0.03
MOST_ROWS = 4000
MOST_ORDERS = 2000


def is_in_order(columns: Columns, read: pd.DataFrame, values: Array) -> bool:
    """Return whether the columns explain whole numbers in their order better than in nearly all others.

    Examples
    --------
    >>> grades = np.tile(np.arange(6), 20)
    >>> hours = pd.DataFrame({"hours": 10.0 * grades + np.random.default_rng(0).normal(size=120)})
    >>> is_in_order(Columns({"hours": "number"}, {}), hours, grades)
    True
    """
    rows = some_rows(len(values), MOST_ROWS)
    different, codes, counts = np.unique(values[rows], return_inverse=True, return_counts=True)
    known = Columns({name: kind for name, kind in columns.kinds.items() if kind != TEXT}, {})
    if len(different) < FEWEST_VALUES or not known.kinds:
        return False
    X = comparable(known, read).fit_transform(read.iloc[rows])
    told = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[0]  # all that is linear in the columns
    is_value = np.eye(len(different))[codes]
    products = told.T @ is_value
    own = _explained(products, counts, np.arange(len(different))[None])[0]
    others = _explained(products, counts, _orders(len(different)))
    return bool(np.mean(others >= own * (1.0 - 1e-9)) <= LEVEL)


def _explained(products: Array, counts: Array, orders: Array) -> Array:
    """Return which part of the variance of the places of the numbers the columns explain, for each order."""
    places = orders - (orders @ counts / counts.sum())[:, None]
    return np.asarray(np.square(places @ products.T).sum(axis=1) / (np.square(places) @ counts))


def _orders(n: int) -> Array:
    """Return all orders of so many things, or some at random if there are very many."""
    if factorial(n) <= 3 * MOST_ORDERS:
        return np.array(list(permutations(range(n))))
    rng = np.random.default_rng(0)
    return np.stack([rng.permutation(n) for _ in range(MOST_ORDERS)])
