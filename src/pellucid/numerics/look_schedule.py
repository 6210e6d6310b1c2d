"""When a solver looks at its gap."""

from __future__ import annotations

import math
from dataclasses import dataclass

FEWEST, MOST = 5, 40
"""Passes between two looks."""


@dataclass
class LookSchedule:
    """When to look at the gap of a method whose passes are cheaper than the look.

    Looks after five passes, and once the gap is seen to fall, where it should have reached the goal.

    Examples
    --------
    >>> looks = LookSchedule()
    >>> looks.saw(0, 1.0, goal=1e-6), looks.next_look
    (None, 5)
    >>> looks.saw(5, 0.1, goal=1e-6), looks.next_look  # a tenth in five passes: 25 more are needed
    (None, 30)
    """

    next_look: int = 0
    haste: float = 1.0
    """Part of the passes that should be needed after which to look: less than 1 for a gap that falls ever faster."""
    _last: tuple[int, float] | None = None

    def saw(self, n_iter: int, gap: float, *, goal: float) -> None:
        """Note the gap after so many passes."""
        self.next_look = n_iter + FEWEST
        if self._last is not None and 0.0 < goal < gap < self._last[1]:
            passes, before = n_iter - self._last[0], self._last[1]
            needed = math.ceil(self.haste * passes * math.log(gap / goal) / math.log(before / gap))
            self.next_look = n_iter + min(max(needed, FEWEST), MOST)
        self._last = (n_iter, gap)
