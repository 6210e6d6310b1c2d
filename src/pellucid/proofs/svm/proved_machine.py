r"""One machine of SVC or SVR as numbers: its duality gap, its optimality conditions, and what is claimed of them.

With :math:`r_i = t_i - f(x_i)` and the excess over the tube as loss, the primal objective exceeds the dual one by

.. math:: P - D = \sum_i\bigl(u_i\max(0, r_i - \varepsilon) - l_i\max(0, -r_i - \varepsilon) - \beta_ir_i
          + \varepsilon|\beta_i|\bigr),

if :math:`\sum\beta_i = 0`. Every term is at least 0 inside the box :math:`l_i \le \beta_i \le u_i`, so nothing cancels
and the sum is precise. Where a box is infinite (a hard margin) the loss is a constraint instead: its excess counts
among the conditions, and the gap is that of the problem whose constraints are loosened by that excess.

A product of two rows is computed up to ``PRODUCT_ERROR`` of the largest product of a row with itself, so a score up to
that times the total of the coefficients. Nothing that is stored may differ by more from what follows from them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim, worst_claim
from pellucid.proofs.rounding import ROUNDING
from pellucid.proofs.seen import Seen

LARGEST_GAP = 1e-3
"""Part of the objective that the gap may be at most, whatever ``tol``."""

PRODUCT_ERROR = 4e-11
"""Part of the largest product of a row with itself by which two computations of a product may differ."""

REMEDY = "Raise max_iter or cache_size, or standardize X."


@dataclass(frozen=True)
class ProvedMachine:
    """The problem of one machine as numbers, and the point stored for it; rows may have been moved to their mean."""

    target: Array
    lower: Array
    upper: Array
    tube: float
    coef: Array
    products: Array
    r""":math:`K\beta`."""
    intercept: float
    shift: float
    """By how much the stored intercept is less, as the rows were moved."""

    @cached_property
    def squared_length(self) -> float:
        r""":math:`\|w\|^2 = \beta'K\beta`."""
        return float(self.coef @ self.products)

    @cached_property
    def residual(self) -> Array:
        """What is missing to the targets."""
        return self.target - self.products - self.intercept

    @cached_property
    def losses(self) -> Array:
        """What the excess over the tube costs; nothing where it is a constraint."""
        above, below = np.maximum(self.residual - self.tube, 0.0), np.maximum(-self.residual - self.tube, 0.0)
        upper, lower = (np.where(np.isinf(bound), 0.0, bound) for bound in (self.upper, self.lower))
        return upper * above - lower * below

    @property
    def objective(self) -> float:
        """The primal objective."""
        return 0.5 * self.squared_length + float(self.losses.sum())

    @property
    def gap(self) -> float:
        """How far the primal objective is above the dual one; see the head of this file."""
        return float(np.abs(self.losses - self.coef * self.residual + self.tube * np.abs(self.coef)).sum())

    @property
    def relative_gap(self) -> float:
        """The gap as a part of the objective; 0 if both are."""
        return self.gap / abs(self.objective) if self.objective else 0.0 if self.gap == 0.0 else np.inf

    @property
    def violation(self) -> float:
        """By how much the residual of a row is not what its coefficient asks for, at most.

        A coefficient that may rise asks for a residual of at most the tube, of minus the tube where it is below 0; one
        that may fall for one of at least minus the tube, or the tube where it is above 0.
        """
        most = np.where(self.coef >= 0.0, self.tube, -self.tube)
        least = np.where(self.coef > 0.0, self.tube, -self.tube)
        wrong = [
            np.where(self.coef < self.upper, self.residual - most, 0.0),
            np.where(self.coef > self.lower, least - self.residual, 0.0),
            np.where(np.isinf(self.upper), self.residual - self.tube, 0.0),
            np.where(np.isinf(self.lower), -self.residual - self.tube, 0.0),
        ]
        return float(np.max(wrong, initial=0.0))

    @property
    def infeasibility(self) -> float:
        """How far the coefficients leave their boxes, or their sum 0, as a part of their total."""
        total = float(np.abs(self.coef).sum())
        outside = np.max([self.coef - self.upper, self.lower - self.coef], initial=0.0)
        return float(np.maximum(outside, abs(self.coef.sum())) / total) if total != 0.0 else 0.0

    @cached_property
    def intercept_range(self) -> tuple[float, float]:
        """The intercepts that the conditions allow: one, their weighted mean, if some coefficients are free."""
        aim = self.target - self.products
        is_free = (self.coef > self.lower) & (self.coef < self.upper) & ((self.coef != 0.0) | (self.tube == 0.0))
        if is_free.any():
            width = (self.upper - self.lower)[is_free]  # a row that stands for k rows has a box k times as wide
            asked = (aim - self.tube * np.sign(self.coef))[is_free]
            mean = float(np.average(asked, weights=width if np.isfinite(width).all() else None))
            return mean, mean
        least = (aim - np.where(self.coef >= 0.0, self.tube, -self.tube))[self.coef < self.upper]
        most = (aim - np.where(self.coef > 0.0, self.tube, -self.tube))[self.coef > self.lower]
        low, high = float(np.max(least, initial=-np.inf)), float(np.min(most, initial=np.inf))
        return min(low, high), max(low, high)

    @property
    def wanted_intercept(self) -> float:
        """The middle of the range; its finite end if it has one only, 0 if it has none."""
        ends = [end for end in self.intercept_range if math.isfinite(end)]
        return sum(ends) / len(ends) if ends else 0.0

    @property
    def margin_width(self) -> float:
        r"""The distance :math:`2/\|w\|` of the lines of scores -1 and +1 in the space of the kernel."""
        return 2.0 / math.sqrt(self.squared_length) if self.squared_length > 0.0 else np.inf


def certificate_of(machines: Sequence[ProvedMachine], tol: float, doubt: str) -> Certificate:
    """Return the certificate of the worst machine.

    ``doubt`` says why the kernel is not known to be an inner product; empty if it is. Without one, the conditions hold
    at the minimum and perhaps elsewhere, and a gap means nothing.
    """
    violation, infeasibility, gap = (
        float(np.max([getattr(machine, name) for machine in machines]))
        for name in ("violation", "infeasibility", "relative_gap")
    )
    asked = "by how much the score of a row is not what its coefficient asks for, at most"
    outside = "part of all coefficients by which one leaves its box or their sum leaves 0"
    claims = (
        Claim("optimality conditions", asked, violation, tol * (1.0 + ROUNDING), REMEDY),
        Claim("dual feasibility", outside, infeasibility, ROUNDING),
    )
    if doubt:
        return Certificate("stationary", claims, doubt)
    above = "part of its objective by which the worst machine is above its minimum, at most"
    bound = min(tol, LARGEST_GAP) + ROUNDING
    return Certificate("optimal", (Claim("duality gap", above, gap, bound, REMEDY), *claims))


def stored_claims(machines: Sequence[ProvedMachine], fitted: Seen, largest: float) -> tuple[Claim, ...]:
    """Return the claims that intercepts, their ranges, objectives, gaps and margins are those of the coefficients.

    ``largest`` is the largest product of a row with itself.
    """
    stored = [fitted.intercept_, fitted.intercept_range_, fitted.objective_, fitted.dual_gap_]
    stored += [fitted.margin_width_] if hasattr(fitted, "margin_width_") else []  # of classes
    parts = [_claims_of(machine, largest, *values) for machine, *values in zip(machines, *stored, strict=True)]
    return tuple(map(worst_claim, zip(*parts, strict=True)))


def _claims_of(
    machine: ProvedMachine, largest: float, b: float, ends: Array, objective: float, gap: float, width: Any = None
) -> list[Claim]:
    total, size = np.abs(machine.coef).sum(), np.abs(machine.target).max(initial=0.0)
    score_error = PRODUCT_ERROR * float(total * largest + size)  # of two computations of a score
    costs = np.maximum(np.where(np.isfinite(machine.upper), machine.upper, 0.0), np.abs(machine.coef))
    error = 2.0 * float(costs.sum()) * score_error  # of the objective: that of each score, times what it costs
    off = _distance(np.array([b, *ends]) + machine.shift, [machine.wanted_intercept, *machine.intercept_range])
    asked = "distance from the mean of what the free support vectors ask for, or from the middle of its range"
    claims = [Claim("intercept", asked, off, score_error + ROUNDING * abs(machine.shift))]
    for name, value in (("objective", objective), ("gap", gap)):
        said = f"distance of the {name} stored for a machine from what its coefficients give"
        claims.append(Claim(f"reported {name}", said, _distance(value, getattr(machine, name)), error))
    if width is not None:
        said, length = "part by which margin_width_ differs from what the coefficients give", machine.squared_length
        part = 0.0 if width == machine.margin_width else abs(width / machine.margin_width - 1.0)
        claims.append(Claim("margin width", said, part, error / length if length > 0.0 else 0.0))
    return claims


def _distance(stored: Any, wanted: Any) -> float:
    """Return the largest difference; none between equal infinities, and NaN stays NaN."""
    one, other = np.asarray(stored, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    return float(np.max(np.where(one == other, 0.0, np.abs(one - other))))
