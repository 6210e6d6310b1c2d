"""Pace: how the time of a fit grows with the rows and the rounds, from what smaller fits took."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pace:
    """Seconds that a fit took, with preparation and predictions, by its training rows: a constant plus a power.

    A method of rounds, such as boosting, takes as much longer as it has more of them.
    """

    rows: int
    seconds: float
    power: float = 1.0
    constant: float = 0.0
    rounds: int = 1

    def seconds_for(self, n_rows: float, rounds: int | None = None) -> float:
        """Return what a fit to that many rows will take, with as many rounds as before or so many."""
        of_rows = self.constant + (self.seconds - self.constant) * (n_rows / self.rows) ** self.power
        return of_rows * (rounds or self.rounds) / self.rounds

    def rows_within(self, seconds: float, rounds: int | None = None) -> int:
        """Return the most rows that a fit ends with in this time."""
        seconds = seconds * self.rounds / (rounds or self.rounds)
        share = (seconds - self.constant) / max(self.seconds - self.constant, 1e-9)
        return int(self.rows * share ** (1.0 / self.power)) if share > 0 else 0

    def after(self, earlier: Pace | None) -> Pace:
        """Return the pace through this point and an earlier one of fewer rows.

        A first fit that took longer than a larger one has compiled something, and says nothing.
        """
        before = None if earlier is None else earlier.seconds * self.rounds / earlier.rounds
        if earlier is None or before is None or earlier.rows >= self.rows or before >= self.seconds:
            return self
        growth = (self.rows / earlier.rows) ** self.power
        constant = max(0.0, (growth * before - self.seconds) / (growth - 1.0))
        return Pace(self.rows, self.seconds, self.power, constant, self.rounds)
