"""Pace: how the time of a fit grows with the rows, from what smaller fits took."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pace:
    """Seconds that a fit took, with preparation and predictions, by its training rows: a constant plus a power."""

    rows: int
    seconds: float
    power: float = 1.0
    constant: float = 0.0

    def seconds_for(self, n_rows: float) -> float:
        """Return what a fit to that many rows will take."""
        return self.constant + (self.seconds - self.constant) * (n_rows / self.rows) ** self.power

    def rows_within(self, seconds: float) -> int:
        """Return the most rows that a fit ends with in this time."""
        share = (seconds - self.constant) / max(self.seconds - self.constant, 1e-9)
        return int(self.rows * share ** (1.0 / self.power)) if share > 0 else 0

    def after(self, earlier: Pace | None) -> Pace:
        """Return the pace through this point and an earlier one of fewer rows.

        A first fit that took longer than a larger one has compiled something, and says nothing.
        """
        if earlier is None or earlier.rows >= self.rows or earlier.seconds >= self.seconds:
            return self
        growth = (self.rows / earlier.rows) ** self.power
        constant = max(0.0, (growth * earlier.seconds - self.seconds) / (growth - 1.0))
        return Pace(self.rows, self.seconds, self.power, constant)
