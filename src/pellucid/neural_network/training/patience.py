"""Patience: when to stop because nothing gets better, and what was best."""

from __future__ import annotations

from typing import Any

import numpy as np


class Patience:
    """Watches a number that should rise: a score, or minus a loss.

    It runs out when the number has not risen by ``tol`` above its best for more than ``most`` epochs in a row.
    """

    def __init__(self, tol: float, most: float) -> None:
        self.tol, self.most = tol, most
        self.best = -np.inf
        self.best_epoch = 0
        self.waited = 0
        self.kept: Any = None
        """What belonged to the best epoch."""

    def see(self, value: float, epoch: int, keep: Any = None) -> None:
        """Take in one epoch; ``keep`` is called for what to keep of it, if it is the best so far."""
        self.waited = self.waited + 1 if value < self.best + self.tol else 0
        if value > self.best:
            self.best, self.best_epoch = value, epoch
            self.kept = keep() if keep else None

    @property
    def is_out(self) -> bool:
        """Whether it is time to stop."""
        return self.waited > self.most
