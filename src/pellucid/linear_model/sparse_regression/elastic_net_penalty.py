"""The penalty of the elastic net."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.core.types import Array


@dataclass(frozen=True)
class ElasticNetPenalty:
    r""":math:`l_1 \|w\|_1 + \frac{l_2}{2} \|w\|_2^2`, with :math:`w \ge 0` if positive."""

    l1: float
    l2: float
    positive: bool = False

    @classmethod
    def of(cls, alpha: float, l1_ratio: float, total_weight: float, *, positive: bool) -> ElasticNetPenalty:
        """Return the penalty of scikit-learn's parametrization, times the total weight of the samples."""
        return cls(alpha * l1_ratio * total_weight, alpha * (1.0 - l1_ratio) * total_weight, positive)

    def at(self, w: Array) -> float:
        """Return the penalty of ``w``."""
        used = w[np.flatnonzero(w)]
        return self.l1 * float(np.abs(used).sum()) + 0.5 * self.l2 * float(used @ used)

    def slopes(self, correlations: Array) -> Array:
        """Return what ``l1`` is compared with: a coordinate at 0 stays there if its slope is at most ``l1``."""
        return correlations if self.positive else np.abs(correlations)
