"""What a proof draws to look at where there is too much to look at all of it, and what looking at some proves.

``verify`` draws anew each time, so that nobody who changes a model knows what will be looked at. A fit draws the same
way every time, so that equal fits leave equal certificates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim

MISSED = 0.01
"""The chance that more are wrong than is said."""

CONFIDENCE = "99 %"
"""One less that chance, as it stands in every claim about a sample."""

_AT_FIT = np.random.SeedSequence(0)
_drawn_from: ContextVar[np.random.Generator | None] = ContextVar("drawn_from", default=None)


@contextmanager
def drawing(source: np.random.Generator | int | None = None) -> Iterator[None]:
    """Draw from this source of randomness inside the block: None is a new one each time."""
    token = _drawn_from.set(np.random.default_rng(source))
    try:
        yield
    finally:
        _drawn_from.reset(token)


def draws() -> np.random.Generator:
    """Return what to draw from: verify's source of randomness; outside of verify the same numbers at each call."""
    return _drawn_from.get() or np.random.default_rng(_AT_FIT)


def is_fitting() -> bool:
    """Return whether it is a fit that asks, not verify: then a proof looks at less, lest it cost as much as the fit."""
    return _drawn_from.get() is None


def drawn(n: int, most: int, always: Any = ()) -> Array:
    """Return all places below ``n``, or so many drawn at random and those to look at always, in rising order.

    Examples
    --------
    >>> drawn(3, 5)
    array([0, 1, 2])
    >>> with drawing(0):
    ...     drawn(9, 3, always=[8])
    array([2, 4, 5, 8])
    """
    if n <= most:
        return np.arange(n)
    if most < 1:
        return np.sort(np.asarray(always, dtype=np.int64))
    return np.union1d(draws().permutation(n)[:most], np.asarray(always, dtype=np.int64))


def graded(grade: str, claims: Iterable[Claim], reason: str = "") -> Certificate:
    """Return the certificate of the claims: one that speaks of confidence comes from a sample, which proves no optimum.

    Examples
    --------
    >>> graded("exact", [Claim("rows", "of 9 rows, those that are wrong", 0.0, 0.0)]).grade
    'exact'
    >>> graded("exact", [Claim("rows", "of 5 of 9 rows (at most 60 % wrong, at 99 %)", 0.0, 0.0)]).grade
    'bounded'
    """
    claims = tuple(claims)
    is_sampled = any(CONFIDENCE in claim.statement for claim in claims)
    return Certificate("bounded" if is_sampled and grade in ("optimal", "exact") else grade, claims, reason)


def at_most_wrong(n_looked_at: int, n: int) -> str:
    """Return what a sample without a fault proves, in words to follow a statement; nothing where all were looked at.

    Examples
    --------
    >>> at_most_wrong(100, 5000)
    ' (at most 4.5 % wrong, at 99 %)'
    """
    return "" if n_looked_at >= n else f" (at most {in_percent(most_wrong(n_looked_at))} wrong, at {CONFIDENCE})"


def in_percent(share: float) -> str:
    """Return a share in percent with two figures, never with an exponent where it is large.

    Examples
    --------
    >>> in_percent(0.0046), in_percent(0.045), in_percent(0.997)
    ('0.46 %', '4.5 %', '100 %')
    """
    percent = 100.0 * share
    return f"{percent:.0f} %" if percent >= 10.0 else f"{percent:.2g} %"


def most_wrong(n_checked: int) -> float:
    r"""Return the share of all that may be wrong, at most, if none of those checked is: :math:`1 - 0.01^{1/k}`.

    Were more wrong, the chance to draw ``n_checked`` right ones would be below 1 %.

    Examples
    --------
    >>> round(most_wrong(1000), 4)
    0.0046
    """
    return float(1.0 - MISSED ** (1.0 / max(n_checked, 1)))
