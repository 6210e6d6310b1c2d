"""How the machines of all pairs of classes stand side by side, as LIBSVM lays them out.

The support vectors are sorted by class. Those of class c have a coefficient in each machine of c and another class, so
``dual_coef_`` has one row less than there are classes: the machine of c and j stands in row j - 1 if j comes after c,
in row j if it comes before.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import numpy as np

from pellucid.core.types import Array


def class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """Return the pairs of classes in the order of their machines.

    Examples
    --------
    >>> class_pairs(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return list(combinations(range(n_classes), 2))


def layout_row(own: int, other: int) -> int:
    """Return in which row the machine of two classes stands for the rows of the first of them."""
    return other - 1 if other > own else other


def positive_class(pair: tuple[int, int], n_classes: int) -> int:
    """Return the class with positive scores: the first of a pair, but of two classes the second, as in scikit-learn."""
    return pair[1] if n_classes == 2 else pair[0]


def class_blocks(counts: Array) -> list[slice]:
    """Return where the support vectors of each class stand.

    Examples
    --------
    >>> class_blocks(np.array([2, 1]))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    ends = np.concatenate([[0], np.cumsum(counts)]).tolist()
    return [slice(start, stop) for start, stop in pairwise(ends)]


def join_pairs(parts: list[Any]) -> list[Any]:
    """Return for each machine the sum of what its two classes contribute, each (n_rows, n_classes - 1)."""
    pairs = class_pairs(len(parts))
    return [parts[i][:, layout_row(i, j)] + parts[j][:, layout_row(j, i)] for i, j in pairs]


def machine_coefs(dual_coef: Array, blocks: list[slice]) -> Array:
    """Return the coefficients of each machine, of shape (n_machines, n_support): 0 for vectors of other classes."""
    pairs = class_pairs(len(blocks))
    found = np.zeros((len(pairs), dual_coef.shape[1]))
    for k, (i, j) in enumerate(pairs):
        found[k, blocks[i]] = dual_coef[layout_row(i, j), blocks[i]]
        found[k, blocks[j]] = dual_coef[layout_row(j, i), blocks[j]]
    return found


def in_layout(values: list[Array], rows: list[tuple[Array, Array]], n_classes: int, n_rows: int) -> Array:
    """Return what each machine says of its rows, given by number for each of its two classes, in LIBSVM's layout.

    ``values`` has for each machine those of the first class, then those of the second. The result is of shape
    (n_classes - 1, n_rows).
    """
    laid = np.zeros((n_classes - 1, n_rows))
    for (i, j), found, (first, second) in zip(class_pairs(n_classes), values, rows, strict=True):
        laid[layout_row(i, j), first] = found[: len(first)]
        laid[layout_row(j, i), second] = found[len(first) :]
    return laid
