r"""One machine: rows with signs, the margins they want, and what a violated margin costs.

.. math:: P(u) = \Omega(u) + \sum_i c_i\,\ell(t_i a_i'u - g_i),\qquad
   D(\alpha) = \sum_i g_i\alpha_i - \sum_i \alpha_i^2/(4c_i)\,[\text{squared}] - \tfrac12\|A'(t\alpha)\|^2\,[l_2]
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.svm.augmented_rows import AugmentedRows

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
        return self.rows.transposed_times(self.signs * alpha)

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


class RepeatedRows:
    """The rows ``base[which]``: what costs something is done with the base, and with each of its rows once."""

    def __init__(self, base: AugmentedRows, which: Array) -> None:
        self.base, self.which = base, which
        self.n, self.width, self.constant, self.is_sparse = len(which), base.width, base.constant, base.is_sparse

    def scores(self, u: Array) -> Array:
        """Return ``A u``."""
        return self.base.scores(u)[self.which]

    def transposed_times(self, r: Array) -> Array:
        """Return ``A' r``."""
        return self.base.transposed_times(self.summed(r))

    def gram(self, h: Array) -> Array:
        """Return ``A' diag(h) A`` for weights of at least 0."""
        return self.base.gram(self.summed(h))

    def curve(self, h: Array, d: Array) -> Array:
        """Return ``A' diag(h) A d``."""
        return self.base.curve(self.summed(h), d)

    def gram_diagonal(self, h: Array) -> Array:
        """Return the diagonal of ``A' diag(h) A``."""
        return self.base.gram_diagonal(self.summed(h))

    def summed(self, values: Array) -> Array:
        """Return for each row of the base the sum over its repetitions."""
        return np.bincount(self.which, values, minlength=self.base.n)

    def sq_lengths(self) -> Array:
        """Return the squared length of each row."""
        return self.base.sq_lengths()[self.which]

    def inner_products(self) -> Array:
        """Return ``A A'``, of shape (n, n)."""
        return self.base.inner_products()[np.ix_(self.which, self.which)]

    def part(self, chosen: Array) -> RepeatedRows:
        """Return some of the rows."""
        used, which = np.unique(self.which[chosen], return_inverse=True)
        return RepeatedRows(self.base.part(used), which)

    def sampled(self, one_in: int) -> Array:
        """Return the numbers of a random sample of the rows, all repetitions of a row or none, the same each time."""
        is_chosen = np.zeros(self.base.n, dtype=bool)
        is_chosen[self.base.sampled(one_in)] = True
        return np.flatnonzero(is_chosen[self.which])

    def written_out(self) -> Array:
        """Return ``A``, dense."""
        return self.base.written_out()[self.which]

    def by_column(self) -> Any:
        """Return ``A`` as a CSC matrix."""
        return self.base.by_column().tocsr()[self.which].tocsc()
