r"""The duality gap of the squared hinge loss with an l1 penalty.

The dual point is :math:`\tau\alpha,\ \alpha_i = 2c_i\max(0, 1 - m_i)`, with the best :math:`\tau` that keeps
:math:`\tau|A'(t\alpha)| \le 1`.
"""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array
from pellucid.svm.linear_svc.margin_problem import MarginProblem


def lasso_values(problem: MarginProblem, u: Array, margins: Array) -> tuple[float, float, Array]:
    """Return the objective, the gap, and minus the gradient of the loss."""
    short = np.maximum(1.0 - margins, 0.0)
    pull = problem.combine(2.0 * problem.cost * short)
    loss, total = float(problem.cost @ (short * short)), float(2.0 * problem.cost @ short)
    objective, steepest = float(np.abs(u).sum()) + loss, float(np.abs(pull).max(initial=0.0))
    if loss == 0.0:
        return objective, objective, pull
    tau = min(total / (2.0 * loss), 1.0 / steepest if steepest > 0.0 else np.inf)
    return objective, max(0.0, objective - tau * total + tau * tau * loss), pull
