"""One way to name a source of randomness: nothing, a seed, or a generator."""

from __future__ import annotations

import threading
from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state

from pellucid.core.types import Array, RandomState

LARGEST_SEED = 2**31 - 1

_own = threading.local()


def generator(random_state: RandomState = None) -> np.random.Generator:
    """Return a NumPy generator for None, a seed, a Generator or scikit-learn's RandomState.

    Examples
    --------
    >>> generator(0).integers(10, size=3)
    array([8, 6, 5])
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.Generator(random_state._bit_generator)
    is_whole = isinstance(random_state, Integral) and not isinstance(random_state, bool)
    if random_state is None or (is_whole and int(random_state) >= 0):
        return np.random.default_rng(random_state)
    raise ValueError(
        f"random_state must be None, a whole number of at least 0, a Generator or a RandomState, got {random_state!r}."
    )


def drawn_seed(random_state: RandomState) -> int:
    """Return a seed drawn from a source of randomness as scikit-learn reads it.

    A seed is put into a generator that is there already: making one takes longer than many a small fit.

    Examples
    --------
    >>> drawn_seed(0) == np.random.RandomState(0).randint(2**31 - 1)
    True
    """
    if not isinstance(random_state, Integral):
        return int(check_random_state(random_state).randint(LARGEST_SEED))
    if not hasattr(_own, "source"):
        _own.source = np.random.RandomState(0)
    _own.source.seed(int(random_state))
    return int(_own.source.randint(LARGEST_SEED))


def fixed_seed(random_state: RandomState) -> int:
    """Return a seed for a method whose answer does not depend on it beyond rounding: None is 0, for the same bits."""
    return 0 if random_state is None else drawn_seed(random_state)


def some_rows(n_rows: int, most: int, seed: int = 0) -> Array:
    """Return the places of all rows, or of so many at most, drawn in the same way every time, in rising order.

    Examples
    --------
    >>> some_rows(3, 5), some_rows(9, 3)
    (array([0, 1, 2]), array([2, 4, 5]))
    """
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).permutation(n_rows)[:most])
