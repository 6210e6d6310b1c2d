r"""A search for the largest radius that bounds can prove, for many rows at once.

Bounds that hold within the radius r prove some radius :math:`\phi(r)`: the smaller of both is proved. As :math:`\phi`
falls, the largest radius that proves itself is where :math:`r = \phi(r)`. An exact evaluation costs a lot, an estimate
from the last exact one little: so the crossing of the estimate is found, and an exact evaluation made there, until both
agree.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

import torch
from torch import Tensor

LARGEST = 2.0**60
"""A radius that is as good as any."""
FIRST_SHARE = 0.25
"""Where to look first, as a share of what the gradient promises: bounds bend as rectifiers open."""
EXACT_ROUNDS, ROUNDS = 12, 60
"""Most evaluations, and most estimates after each."""
PILOT = 10
"""One of so many rows goes first."""
FALL = 8.0
"""How many times faster than the radius grows the proved one falls, as a first guess."""
NEAR = 0.015
"""Estimates are as good as exact if they are this close to the last exact evaluation, as a share of the radius."""

Provable = Callable[[Tensor, Tensor], Tensor]
"""From rows and their radii to the radii that bounds on these balls prove."""


class RadiusBounds(Protocol):
    """What the search asks."""

    def provable(self, rows: Tensor, radii: Tensor) -> Tensor:
        """Return the radii that bounds on balls of these radii prove."""

    def estimated(self, rows: Tensor, radii: Tensor) -> Tensor:
        """Return the same as estimated from the last time that ``provable`` was asked."""


def largest_radii(bounds: RadiusBounds, n_rows: int, tol: float) -> Tensor:
    """Return the largest radii that prove themselves, up to a share ``tol``; they are not quite proved.

    A few rows go first: the share of what the gradient promises is about the same for the others.
    """
    rows = torch.arange(n_rows)
    high = bounds.provable(rows, torch.zeros(n_rows, dtype=torch.float64)).clamp(min=0.0, max=LARGEST)
    radii, share = torch.zeros_like(high), FIRST_SHARE
    rows = rows[high > 0]
    for some in rows.split([len(rows) // PILOT, len(rows) - len(rows) // PILOT]):
        radii[some] = _fixed_points(bounds, some, share * high[some], high[some], tol)
        share = float((radii[some] / high[some]).median()) if len(some) else share
    return radii


def _fixed_points(bounds: RadiusBounds, rows: Tensor, radii: Tensor, high: Tensor, tol: float) -> Tensor:
    """Return the radii of some rows, from first guesses and radii that are too large."""
    radii, high = radii.clone(), high.clone()
    left = torch.arange(len(rows))
    for _ in range(EXACT_ROUNDS):
        if not len(left):
            break
        tried = radii[left]
        proved = bounds.provable(rows[left], tried)
        high[left] = torch.where(proved < tried, torch.minimum(high[left], tried), high[left])
        ask = partial(_ask, bounds.estimated, rows[left])
        radii[left] = crossing(ask, high[left], tol / 2, tried, proved)
        change = (radii[left] - tried).abs()
        left = left[(change > max(NEAR, tol) * tried) & (radii[left] > 0)]
    return radii


def _ask(estimated: Provable, rows: Tensor, some: Tensor, radii: Tensor) -> Tensor:
    return estimated(rows[some], radii)


def crossing(provable: Provable, high: Tensor, tol: float, tried: Tensor, proved: Tensor) -> Tensor:
    """Return where ``provable(r) = r``, from below, up to a share ``tol``, by secants in a bracket.

    The radii ``tried`` are known to prove those ``proved``. Every third guess is the middle.
    """
    low, high = torch.where(proved >= tried, tried, 0.0), torch.where(proved >= tried, high, tried)
    last, at_last = tried.clone(), proved.clone()
    guess = _within((proved + FALL * tried) / (1 + FALL), low, high)
    for turn in range(1, ROUNDS):
        rows = torch.nonzero(high - low > tol * high).flatten()
        if not len(rows):
            break
        radii = guess[rows]
        at_radii = provable(rows, radii)
        is_proved = at_radii >= radii
        low[rows], high[rows] = torch.where(is_proved, radii, low[rows]), torch.where(is_proved, high[rows], radii)
        fall = (at_last[rows] - at_radii) / (radii - last[rows])
        last[rows], at_last[rows] = radii, at_radii
        # a little to the other side, so that both ends of the bracket move
        secant = (at_radii + fall * radii) / (1 + fall) * torch.where(is_proved, 1 + tol / 3, 1 - tol / 3)
        guess[rows] = _within(secant if turn % 3 else secant + torch.nan, low[rows], high[rows])
    return low


def _within(guess: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Return the guess if it is inside the bracket, else its middle, by ratio if it is wide."""
    is_wide = (high > 16 * low) & (low > 0)
    middle = torch.where(is_wide, (low * high).sqrt(), (low + high) / 2)
    return torch.where((guess > low) & (guess < high), guess, middle)
