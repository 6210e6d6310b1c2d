"""Parts of a graph that no link leads out of, and how a message names them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from pellucid.core.types import Array

MOST_NAMED = 5


def parts_of(graph: Any) -> list[Array]:
    """Return the rows of each part, in the order of their first rows."""
    n_parts, labels = connected_components(sparse.csr_array(graph), directed=False)
    return [np.flatnonzero(labels == label) for label in range(n_parts)]


def named(parts: Iterable[Array]) -> str:
    """Return a text that says how large the first parts are and which row each begins with.

    Examples
    --------
    >>> named([np.array([0, 2]), np.array([1])])
    '2 with row 0, 1 with row 1'
    """
    return listed(f"{len(part)} with row {part[0]}" for part in parts)


def listed(texts: Iterable[str]) -> str:
    """Return the first of some texts, with dots for the others."""
    every = list(texts)
    return ", ".join([*every[:MOST_NAMED], *(["..."] if len(every) > MOST_NAMED else [])])
