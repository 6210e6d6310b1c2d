"""The soft-margin support vector machine: a primal, a dual, and no gap between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.core.checks import check_positive
from pellucid.core.types import Array, Data
from pellucid.core.user_warnings import warn_unless_holds
from pellucid.optimize.constrained.constrained_problem import ConstrainedProblem
from pellucid.optimize.constrained.quadratic_program import quadratic_program
from pellucid.optimize.constrained.scipy_solver import solve_scipy
from pellucid.proofs.certificate import Certificate, Claim

BOUND = 1e-6
"""A multiplier this close to 0 or C, relative to C, is at its bound."""


@dataclass(frozen=True, eq=False)
class SoftMarginSVM:
    r"""The separating plane :math:`w'x + b = 0` of two classes :math:`y_i = \pm 1`, with slack :math:`\xi_i`.

    .. math:: \min_{w,b,\xi \ge 0}\ \frac12\|w\|^2 + C\sum_i \xi_i \quad\text{with}\quad y_i(w'x_i + b) \ge 1 - \xi_i
    .. math:: \max_{0 \le \alpha \le C}\ \sum_i \alpha_i - \frac12\Bigl\|\sum_i \alpha_i y_i x_i\Bigr\|^2
        \quad\text{with}\quad \sum_i \alpha_i y_i = 0

    The primal is a minimum: some notes print it as a maximum, which has no solution.

    Parameters
    ----------
    X : array of shape (m, n)
        The points.
    y : array of shape (m,)
        Their classes, -1 or 1, both present.
    C : float, default=1.0
        Price of the slack, above 0.

    Examples
    --------
    >>> svm = SoftMarginSVM([[0.0], [2.0]], [-1, 1], C=10.0)
    >>> answer = svm.solve()
    >>> answer.w.round(6), round(answer.b, 6), answer.alpha.round(6)  # the plane is half way, x - 1 = 0
    (array([1.]), -1.0, array([0.5, 0.5]))
    """

    X: Array
    y: Array
    C: float = 1.0

    def __post_init__(self) -> None:
        check_positive(C=self.C)
        X, y = np.array(self.X, dtype=np.float64), np.array(self.y, dtype=np.float64)
        if X.ndim != 2 or y.shape != X.shape[:1]:
            raise ValueError(f"X and y must have shapes (m, n) and (m,), got {X.shape} and {y.shape}.")
        if not np.isfinite(X).all():
            raise ValueError("X must be finite, got nan or inf in it. Remove or replace those rows.")
        if set(np.unique(y)) != {-1.0, 1.0}:
            raise ValueError(f"y must hold both classes -1 and 1, got {np.unique(y)}. Recode it: 2 * (y == name) - 1.")
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "y", y)

    @property
    def primal(self) -> ConstrainedProblem:
        """The problem over (w, b, xi): the margins first, then the bounds of the slack."""
        m, n = self.X.shape
        P = np.diag(np.r_[np.ones(n), np.zeros(1 + m)])
        q = np.r_[np.zeros(n + 1), np.full(m, self.C)]
        margins = np.column_stack([self.y[:, None] * self.X, self.y, np.eye(m)])
        low = np.r_[np.full(n + 1, -np.inf), np.zeros(m)]
        return quadratic_program(P, q, G=-margins, h=-np.ones(m), low=low)

    @property
    def dual(self) -> ConstrainedProblem:
        """The problem over alpha, as a minimum: its value is minus that of the dual."""
        rows = self.y[:, None] * self.X
        m = len(self.y)
        return quadratic_program(rows @ rows.T, -np.ones(m), A=self.y[None], b=[0.0], low=0.0, high=self.C)

    def recover(self, alpha: Data) -> SVMAnswer:
        """Return the plane that belongs to multipliers, with both objectives and their gap."""
        alpha = np.asarray(alpha, dtype=np.float64)
        if alpha.shape != self.y.shape:
            raise ValueError(f"alpha must have shape {self.y.shape}, one per point, got {alpha.shape}.")
        w = (alpha * self.y) @ self.X
        b = self._bias(alpha, w)
        slack = np.maximum(0.0, 1 - self.y * (self.X @ w + b))
        half = 0.5 * float(w @ w)
        return SVMAnswer(w, b, alpha, half + self.C * float(slack.sum()), float(alpha.sum()) - half)

    def solve(self, *, tol: float = 1e-6) -> SVMAnswer:
        """Solve the dual with SciPy and recover the plane."""
        answer = self.recover(solve_scipy(self.dual, np.zeros(len(self.y)), tol=tol).x)
        warn_unless_holds(self.certify(answer, tol=tol), "SoftMarginSVM.solve")
        return answer

    def certify(self, answer: SVMAnswer, *, tol: float = 1e-6) -> Certificate:
        """Return the gap of an answer, and whether its multipliers may be used for it."""
        alpha = answer.alpha
        outside = max(float(-alpha.min()), float(alpha.max()) - self.C, abs(float(alpha @ self.y)))
        claims = (
            Claim("dual feasibility", "how far alpha is outside its constraints", outside, tol * max(1.0, self.C)),
            Claim(
                "duality gap",
                "the primal objective is at most this far above its minimum",
                abs(answer.gap),
                tol * max(1.0, abs(answer.primal_value)) * len(alpha),
                "Solve the dual with a smaller tolerance.",
            ),
        )
        return Certificate("optimal", claims)

    def _bias(self, alpha: Array, w: Array) -> float:
        """Average over the support vectors on the margin; without any, take the middle of what fits.

        A point at C may be inside the margin, so that y - w'x is not its bias: notes that average over all support
        vectors get it wrong.
        """
        bias = self.y - self.X @ w  # of a point that lies exactly on its margin
        at_zero, at_C = alpha <= BOUND * self.C, alpha >= (1 - BOUND) * self.C
        on_margin = ~(at_zero | at_C)
        if on_margin.any():
            return float(bias[on_margin].mean())
        above, below = self.y > 0, self.y < 0
        limits = [bias[(at_zero & below) | (at_C & above)].min(initial=np.inf)]  # b is at most this
        limits.append(bias[(at_zero & above) | (at_C & below)].max(initial=-np.inf))  # and at least this
        return float(np.mean([limit for limit in limits if np.isfinite(limit)]))


@dataclass(frozen=True, eq=False)
class SVMAnswer:
    """A plane, the multipliers it comes from, and both objectives."""

    w: Array
    """Normal of the plane, of shape (n,)."""
    b: float
    """Offset of the plane, which is where :math:`w'x + b = 0`."""
    alpha: Array
    """The multipliers, one for each point; where they are 0, the point has no say in the plane."""
    primal_value: float
    """The objective of the primal for this plane, with the least slack it needs."""
    dual_value: float
    """The objective of the dual for these multipliers."""

    @property
    def gap(self) -> float:
        """Primal less dual objective."""
        return self.primal_value - self.dual_value
