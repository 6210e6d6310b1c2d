"""Searches for the largest radius at which a margin is still above 0, for many rows at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

MOST_ROUNDS = 200
FIRST, LARGEST = 2.0**-14, 2.0**60
"""The first radius tried, whose margin tells how fast it falls, and one that is as good as any."""
GROWTH, FIRST_SHARE = 2.0**14, 0.6
"""At most so many times a radius is tried next, and so far along the first tangent."""
FAR = 4.0
"""How far below 0 a margin counts at most, in units of the one above."""

Margins = Callable[[Tensor, Tensor], Tensor]
"""From rows and their radii to margins; nan counts as below 0."""


def largest_radii(margins: Margins, n_rows: int, tol: float) -> Tensor:
    """Return radii whose margin is above 0, each at most a share ``tol`` below one whose margin is not.

    A margin falls with its radius, first straight, then faster. So the tangent from below guesses too far; between a
    radius below and one above, a parabola guesses, a little less and a little more in turns, so that they close in from
    both sides. Every fourth guess is the middle, for margins that fall in another way. Rows whose margin is not above 0
    at once get radius 0.
    """
    zeros = torch.zeros(n_rows, dtype=torch.float64)
    brackets = _Brackets(zeros.clone(), margins(torch.arange(n_rows), zeros).double(), tol)
    for turn in range(MOST_ROUNDS):
        rows = brackets.open_rows()
        if not len(rows):
            break
        radii = brackets.guess(turn)[rows]
        brackets.learn(rows, radii, margins(rows, radii).double())
    return brackets.low


@dataclass(eq=False)
class _Brackets:
    """For each row the largest radius found good and the smallest found bad, with their margins."""

    low: Tensor
    at_low: Tensor
    tol: float

    def __post_init__(self) -> None:
        self.high = torch.full_like(self.low, torch.inf)
        self.at_high, self.slope = torch.zeros_like(self.low), torch.zeros_like(self.low)

    def open_rows(self) -> Tensor:
        is_wide = self.high - self.low > self.tol * self.low
        return torch.nonzero((self.at_low > 0) & is_wide & (self.low < LARGEST)).flatten()

    def guess(self, turn: int) -> Tensor:
        # bounds bend as soon as rectifiers open, so the first tangent is followed half the way only
        tangent = (self.low + self.at_low / self.slope * (FIRST_SHARE if turn == 1 else 1.0)) * (1 + self.tol / 4)
        ahead = torch.minimum(torch.where(self.slope > 0, tangent, torch.inf), GROWTH * self.low).clamp(min=FIRST)
        width = self.high - self.low
        middle = self.low + width / 2
        inside = middle if turn % 4 == 3 else (self.low + self._parabola(width)) * (1 + (turn % 2 - 0.5) * self.tol / 2)
        is_inside = (inside > self.low) & (inside < self.high)
        return torch.where(torch.isfinite(self.high), torch.where(is_inside, inside, middle), ahead)

    def _parabola(self, width: Tensor) -> Tensor:
        """Return how far above ``low`` the parabola through both ends, with the slope at ``low``, is 0."""
        bend = (self.at_low - self.slope * width - self.at_high) / width**2
        root = torch.sqrt(self.slope**2 + 4 * bend * self.at_low)
        return 2 * self.at_low / (self.slope + root)

    def learn(self, rows: Tensor, radii: Tensor, margins: Tensor) -> None:
        good = margins > 0
        up, down = rows[good], rows[~good]
        self.slope[up] = (self.at_low[up] - margins[good]) / (radii[good] - self.low[up])
        self.low[up], self.at_low[up] = radii[good], margins[good]
        self.high[down] = radii[~good]
        # far outside, bounds say little about how far in to go
        self.at_high[down] = torch.maximum(margins[~good].nan_to_num(nan=-torch.inf), -FAR * self.at_low[down])
