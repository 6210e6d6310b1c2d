"""Momentum of rounds that improve two factors in turn: how far beyond the last ones the next round begins."""

from __future__ import annotations

from dataclasses import dataclass

FIRST, FASTER, SLOWER, MOST = 0.5, 1.05, 0.5, 1.0


@dataclass
class Momentum:
    """The part of the last change by which a round goes on before it begins; more after good rounds, less after bad.

    A round that raises the objective is taken back by its solver, so that the objective still never rises (Ang and
    Gillis).
    """

    part: float = FIRST

    def speed_up(self) -> None:
        """Go a little farther: the round was good."""
        self.part = min(self.part * FASTER, MOST)

    def slow_down(self) -> None:
        """Go half as far: the round was taken back."""
        self.part *= SLOWER
