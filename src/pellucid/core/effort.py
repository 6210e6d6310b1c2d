"""Effort: how far a solver shall go, and who looks on."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.core.watching import Watch, ignore


@dataclass(frozen=True)
class Effort:
    """The precision to reach, the most iterations to spend, and what to tell after each."""

    goal: float
    max_iter: int
    watch: Watch = ignore
