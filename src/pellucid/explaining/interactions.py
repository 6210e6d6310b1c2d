"""Which columns act together: the change that both make is not the sum of the changes that each makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from pellucid.core.types import Array
from pellucid.explaining.answer import Answer

MOST_PAIRS = 500
"""Pairs of rows drawn."""
SURE = 1.96
"""Standard errors on each side of an interval of 95 %."""


@dataclass(frozen=True)
class Interaction:
    """How far the change by two columns typically is from the sum of the changes by each, with an interval."""

    first: str
    second: str
    size: float
    low: float
    high: float


def interactions_of(
    answer: Answer, names: Sequence[str], seed: int, listen: Callable[[], None] = lambda: None
) -> list[Interaction]:
    r"""Return the interaction of every pair of columns, the largest first.

    Two rows x and z are drawn, and column j, column k or both are taken over from z into x. If j and k act apart,

    .. math:: D_{jk} = f(x) - f(x_j \leftarrow z_j) - f(x_k \leftarrow z_k) + f(x_{jk} \leftarrow z_{jk})

    is 0 for all rows; the root of its mean square is the size (a quarter of its square is the total interaction index
    of Fruth, Roustant and Kuhnt, 2014). The interval comes from the standard error of the mean square over the pairs.
    """
    n_rows = len(answer.read)
    order = np.random.default_rng(seed).permutation(n_rows)
    rows, others = order[:MOST_PAIRS], np.roll(order, 1)[:MOST_PAIRS]  # no row is paired with itself
    usual = answer.of(rows)
    alone = {}
    for name in names:
        alone[name] = answer.of(rows, {name: others})
        listen()
    found = []
    for first, second in combinations(names, 2):
        both = answer.of(rows, {first: others, second: others})
        found.append(_sized(first, second, usual - alone[first] - alone[second] + both))
        listen()
    return sorted(found, key=lambda one: -one.size)


def _sized(first: str, second: str, differences: Array) -> Interaction:
    squares = np.square(differences)
    mean, apart = float(squares.mean()), squares - squares.mean()
    # each pair of rows shares one with the next
    variance = float(np.mean(apart**2) + max(0.0, 2.0 * np.mean(apart[1:] * apart[:-1])))
    room = SURE * np.sqrt(variance / (len(squares) - 1))
    ends = np.sqrt(np.maximum([mean - room, mean + room], 0.0))
    return Interaction(first, second, float(np.sqrt(mean)), float(ends[0]), float(ends[1]))
