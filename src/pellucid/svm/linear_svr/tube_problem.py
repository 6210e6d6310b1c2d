r"""Regression with a tube, as a machine of twice the rows.

A residual beyond the tube is a margin too short. Row i wants :math:`a_i'u \ge y_i - \varepsilon` and
:math:`-a_i'u \ge -y_i - \varepsilon`, each at the cost :math:`c_i`, and never misses both. So the methods of LinearSVC
fit it, and :math:`\beta = \alpha^+ - \alpha^-` is its dual point. The rows are stored and multiplied once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pellucid.core.types import Array
from pellucid.svm.augmented_rows import AugmentedRows
from pellucid.svm.linear_svc.margin_problem import MarginProblem, SingleRows
from pellucid.svm.repeated_rows import RepeatedRows


@dataclass(frozen=True)
class TubeProblem(MarginProblem):
    """The rows twice, first with the sign + and then with -; ``single`` are the rows once."""

    single: SingleRows = field(kw_only=True)

    def descended(self) -> SingleRows:
        """Return the rows once."""
        return self.single

    def dual_point(self, alpha: Array) -> Array:
        """Return the positive parts, and then the negative ones."""
        return np.maximum(np.concatenate([alpha, -alpha]), 0.0)


def tube_problem(rows: AugmentedRows, y: Array, epsilon: float, cost: Array) -> TubeProblem:
    """Return the problem of targets ``y`` and what it costs to miss them by more than epsilon."""
    twice = RepeatedRows(rows, np.tile(np.arange(rows.n), 2))
    signs, wanted = np.repeat([1.0, -1.0], rows.n), np.concatenate([y - epsilon, -y - epsilon])
    single = SingleRows(rows, np.ones(rows.n), cost, y, is_two_sided=True, tube=epsilon)
    return TubeProblem(twice, signs, np.tile(cost, 2), wanted, single=single)
