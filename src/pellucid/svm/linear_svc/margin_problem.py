r"""One machine: rows with signs, the margins they want, and what a violated margin costs.

.. math:: P(u) = \Omega(u) + \sum_i c_i\,\ell(t_i a_i'u - g_i),\qquad
   D(\alpha) = \sum_i g_i\alpha_i - \sum_i \alpha_i^2/(4c_i)\,[\text{squared}] - \tfrac12\|A'(t\alpha)\|^2\,[l_2]
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.svm.augmented_rows import AugmentedRows
from pellucid.svm.repeated_rows import RepeatedRows

LARGEST_GAP = 1e-6
"""Part of the objective that the gap may be at most, whatever ``tol``."""


@dataclass(frozen=True)
class SingleRows:
    """Rows with one dual variable each: in [0, c], or in [-c, c] less ``tube`` times its size."""

    rows: AugmentedRows
    signs: Array
    cost: Array
    wanted: Array
    is_two_sided: bool = False
    tube: float = 0.0


@dataclass(frozen=True)
class MarginProblem:
    """Rows ``a_i``, signs ``t_i`` of +-1, costs ``c_i`` above 0, and the margins wanted: 1 of a classifier."""

    rows: AugmentedRows | RepeatedRows
    signs: Array
    cost: Array
    wanted: Array | float = 1.0

    def margins(self, u: Array) -> Array:
        """Return ``t_i a_i'u``."""
        return self.signs * self.rows.scores(u)

    def beyond(self, margins: Array) -> Array:
        """Return by how much margins exceed what is wanted."""
        return margins - self.wanted

    def combine(self, alpha: Array) -> Array:
        """Return the weights ``sum_i alpha_i t_i a_i``."""
        return self.rows.pull(self.signs * alpha)

    def hinge_values(
        self, u: Array, alpha: Array, margins: Array, combined: Array | None = None
    ) -> tuple[float, float]:
        """Return the hinge objective of the weights and its distance from the dual objective."""
        v = self.combine(alpha) if combined is None else combined
        objective = 0.5 * float(u @ u) + float(self.cost @ np.maximum(self.wanted - margins, 0.0))
        return objective, max(0.0, objective - float(np.sum(self.wanted * alpha)) + 0.5 * float(v @ v))

    def descended(self) -> SingleRows:
        """Return the problem as descent along one dual variable per row sees it."""
        assert isinstance(self.rows, AugmentedRows)
        wanted = np.broadcast_to(self.wanted, self.rows.n).astype(np.float64)
        return SingleRows(self.rows, self.signs, self.cost, wanted)

    def dual_point(self, alpha: Array) -> Array:
        """Return the dual point that the variables of this descent stand for."""
        return alpha

    def part(self, chosen: Array) -> MarginProblem:
        """Return the problem of some of the rows."""
        wanted = self.wanted[chosen] if isinstance(self.wanted, np.ndarray) else self.wanted
        return MarginProblem(self.rows.part(chosen), self.signs[chosen], self.cost[chosen], wanted)


@dataclass
class MarginFit:
    """What a solver found: the weights, the dual point if it is needed to prove them, and how it went."""

    u: Array
    alpha: Array | None = None
    objective: float = np.inf
    gap: float = np.inf
    n_iter: int = 0
    trace: Trace = field(default_factory=Trace)

    def note(self, objective: float, gap: float, **more: float) -> None:
        """Write the state of this iteration down."""
        self.objective, self.gap = objective, gap
        self.trace.add(iteration=self.n_iter, objective=objective, gap=gap, **more)

    def is_within(self, part: float) -> bool:
        """Return whether the gap is at most this part of the objective."""
        return self.gap <= part * abs(self.objective)
