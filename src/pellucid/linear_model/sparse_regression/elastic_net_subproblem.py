r"""The elastic net on a working set, in terms of its Gram matrix alone.

Coordinate descent finds the support and the signs; then the objective is quadratic. A small support is solved exactly
by Cholesky. On a large one that would cost more than it gains, and the passes of coordinate descent, which have become
a linear iteration, are extrapolated instead (Anderson acceleration).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from pellucid.core.types import Array
from pellucid.linear_model.coordinate_descent_kernels import elastic_net_gap, gather_block, gram_descent
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import sum_error

SMALL_SUPPORT = 256
"""Up to this many coefficients a Cholesky solve costs next to nothing."""

MOST_DROPS = 20
"""Most coefficients that leave the support one by one before coordinate descent takes over again."""

SPARE_ROUNDS = 3
"""Rounds spent on reaching that after the goal."""

FREE_ROUNDS = 30
"""The same for at most ``FEW`` columns, where a round takes microseconds."""

FEW = 64

MEMORY = 5
"""Passes that one extrapolation looks back on."""

SMALLEST_PIVOT = 1e-10
"""Part of a column's square norm that the other columns must leave unexplained for Cholesky to be trusted."""


@dataclass
class Subproblem:
    """Gram matrix (the leading block of ``G``), coefficients, correlations ``g = A'(b - A w)`` and ``|b - A w|^2``."""

    G: Array
    g: Array
    w: Array
    sq_residual: float
    penalty: ElasticNetPenalty

    @property
    def gap(self) -> float:
        """The duality gap among these columns."""
        penalty = self.penalty
        return float(elastic_net_gap(self.g, self.w, self.sq_residual, penalty.l1, penalty.l2, penalty.positive))

    def descend(self, order: Array, aim: float, patience: int, max_passes: int) -> tuple[int, float]:
        """Do passes of coordinate descent until the gap is small or the signs have settled; return passes and gap."""
        penalty = self.penalty
        passes, gap, self.sq_residual = gram_descent(
            self.G,
            self.g,
            self.w,
            order,
            penalty.l1,
            penalty.l2,
            penalty.positive,
            self.sq_residual,
            aim,
            patience,
            max_passes,
        )
        return passes, gap

    def move(self, support: Array, target: Array) -> bool:
        """Set the coefficients of the support to these values if that does not raise the objective."""
        old = self.w[support]
        delta = np.zeros(len(self.w))
        delta[support] = target - old
        pull = self.G[: len(delta), : len(delta)] @ delta
        change = float(delta @ pull) - 2.0 * float(delta @ self.g)
        if not 0.5 * change + self.penalty.at(target) - self.penalty.at(old) <= 0.0:
            return False
        self.w[support] = target
        self.g -= pull
        self.sq_residual = max(self.sq_residual + change, 0.0)
        return True


def solve_subproblem(
    problem: Subproblem, goal: float, zero: float, budget: int, rng: np.random.RandomState | None
) -> int:
    """Descend until the gap is at most the goal or the budget of passes is spent; return the passes done.

    On small supports a few more rounds usually find the exact answer, with a gap below ``zero``, at little cost.
    """
    k = len(problem.w)
    order = np.arange(k)
    n_passes, patience, gap = 0, 3, np.inf
    spare_rounds = FREE_ROUNDS if k <= FEW else SPARE_ROUNDS
    while n_passes < budget and (gap > goal or (gap > zero and spare_rounds > 0)):
        if rng is not None:
            order = rng.permutation(k)
        if gap <= goal:
            patience, spare_rounds = 2, spare_rounds - 1
        aim = goal if gap > goal else zero
        if np.count_nonzero(problem.w) > SMALL_SUPPORT:
            spare_rounds = 0
            n_passes += _descend_on_support(problem, max(0.5 * goal, 0.1 * problem.gap), budget - n_passes)
            gap = problem.gap
            if gap > goal:
                passes, gap = problem.descend(order, aim, 1, 1)
                n_passes += passes
            continue
        passes, _ = problem.descend(order, aim, patience, min(budget - n_passes, 10 * patience))
        n_passes, patience = n_passes + passes, min(2 * patience, 50)
        if np.count_nonzero(problem.w) <= SMALL_SUPPORT:
            _polish(problem)
        gap = problem.gap
    return n_passes


def _descend_on_support(problem: Subproblem, aim: float, budget: int) -> int:
    """Descend on the columns of the support alone: their Gram matrix is smaller and stays in cache."""
    support = np.flatnonzero(problem.w)
    inner = Subproblem(
        _block(problem, support),
        problem.g[support],
        problem.w[support],
        problem.sq_residual,
        problem.penalty,
    )
    order = np.arange(len(support))
    n_passes, gap = 0, np.inf
    while gap > aim and n_passes + MEMORY < budget:
        iterates, correlations = [inner.w.copy()], [inner.g.copy()]
        for _ in range(MEMORY):
            _, gap = inner.descend(order, aim, 2, 1)
            n_passes += 1
            iterates.append(inner.w.copy())
            correlations.append(inner.g.copy())
            if gap <= aim:
                break
        else:
            _extrapolate(inner, np.array(iterates), np.array(correlations))
    problem.move(support, inner.w)
    return n_passes


def _extrapolate(problem: Subproblem, iterates: Array, correlations: Array) -> None:
    """Replace the last iterate by the affine combination with the smallest combined step, if that is better.

    Correlations are affine in ``w``, so they are combined alike and nothing is multiplied by ``G``.
    """
    steps = np.diff(iterates, axis=0)
    products = steps @ steps.T
    products.flat[:: len(steps) + 1] += 1e-12 * np.trace(products)
    try:
        weights = np.linalg.solve(products, np.ones(len(steps)))
    except np.linalg.LinAlgError:
        return
    weights /= weights.sum()
    w, g = weights @ iterates[1:], weights @ correlations[1:]
    w[problem.w == 0.0] = 0.0
    if not np.isfinite(w).all() or (problem.penalty.positive and w.min(initial=0.0) < 0.0):
        return
    delta = w - problem.w
    change = -float(delta @ (problem.g + g))  # of |b - A w|^2, as A'A delta is the difference of the correlations
    if 0.5 * change + problem.penalty.at(w) - problem.penalty.at(problem.w) < 0.0:
        problem.w, problem.g = w, g
        problem.sq_residual = max(problem.sq_residual + change, 0.0)


def _polish(problem: Subproblem) -> None:
    """Step to the minimum on the support until no sign changes on the way.

    With the signs fixed the objective is quadratic, so one Cholesky solve finds its minimum.
    """
    penalty = problem.penalty
    for _ in range(MOST_DROPS):
        support = np.flatnonzero(problem.w)
        if len(support) == 0:
            return
        old = problem.w[support]
        signs = np.sign(old)
        H = _block(problem, support)
        H.flat[:: len(support) + 1] += penalty.l2
        step = _newton_step(H, problem.g[support] - penalty.l2 * old - penalty.l1 * signs)
        if not problem.move(support, _clamp(old + step, signs)):
            problem.move(support, _clamp(old + _distance_to_sign_change(old, step) * step, signs))
        if np.all(problem.w[support] != 0.0):
            return


def _newton_step(H: Array, slope: Array) -> Array:
    """Solve ``H step = slope``.

    If columns depend on each other, ``H`` is damped: the step then runs along the dependence until a coefficient
    reaches 0, which is how a redundant column leaves the support.
    """
    diagonal = np.diag(H).copy()
    factor, info = dpotrf(H, lower=True, clean=False)
    if info != 0 or np.any(np.diag(factor) ** 2 < SMALLEST_PIVOT * diagonal):
        factor, info = dpotrf(H + np.diag(SMALLEST_PIVOT * diagonal), lower=True, clean=False)
    return dpotrs(factor, slope, lower=True)[0] if info == 0 else np.zeros(len(slope))


def _clamp(moved: Array, signs: Array) -> Array:
    """Set coefficients that changed sign to 0."""
    return np.where(moved * signs > 0.0, moved, 0.0)


def _distance_to_sign_change(old: Array, step: Array) -> float:
    """Return the longest multiple of the step, at most 1, before any coefficient changes sign."""
    against = old * step < 0.0
    return min(1.0, float((-old[against] / step[against]).min(initial=1.0)))


def _block(problem: Subproblem, support: Array) -> Array:
    """Return the Gram matrix of some columns."""
    block = np.empty((len(support), len(support)))
    gather_block(problem.G, support, block)
    return block


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
        lengths = self.l1 * float(np.abs(used).sum()) if self.l1 else 0.0
        return lengths + 0.5 * self.l2 * float(used @ used)

    def slopes(self, correlations: Array) -> Array:
        """Return what ``l1`` is compared with: a coordinate at 0 stays there if its slope is at most ``l1``."""
        return correlations if self.positive else np.abs(correlations)


ROUNDING = sum_error(0)
"""Relative error that sums of rounded numbers may have."""

SMALLEST_ALPHA = float(np.finfo(np.float64).resolution)
"""Where an automatic grid ends if no column has anything to do with the target."""


def elastic_net_certificate(*, gap: float, bound: float, drift: float, drift_bound: float) -> Certificate:
    """Return the certificate with these numbers; a model that breaks ``positive`` has an infinite gap."""
    remedy = "Raise max_iter or tol, or standardize X."
    return Certificate(
        "optimal",
        (
            Claim("duality gap", "the objective is at most this far above its minimum", gap, bound, remedy),
            Claim("intercept", "size of the mean residual, 0 up to rounding", drift, drift_bound),
        ),
    )


def gap_bound(tol: float, mean_sq_target: float, mean_sq_raw: float) -> float:
    """Return the gap to reach: ``tol`` times the variance of the target, plus what rounding the target may cause."""
    rounding = ROUNDING * np.sqrt(mean_sq_raw)
    return float(tol * mean_sq_target + rounding * (rounding + np.sqrt(mean_sq_target)))


def intercept_bound(intercept: float, scale: float, dtype: np.dtype) -> float:
    """Return how far from 0 the mean residual may be: the intercept is stored in ``dtype``, sums are in float64."""
    return float(np.finfo(dtype).eps * abs(intercept) + ROUNDING * scale)


def selection_claim(mse_path: Array, alphas: Array, alpha: float, l1_ratios: list[float], l1_ratio: float) -> Claim:
    """Return the claim that the values chosen have the smallest mean of the reported errors."""
    n_ratios, grids = len(l1_ratios), np.atleast_2d(alphas)
    grids = np.broadcast_to(grids, (n_ratios, grids.shape[1]))
    errors = np.asarray(mse_path, dtype=np.float64).reshape(n_ratios, grids.shape[1], -1).mean(axis=-1)
    chosen = (grids == alpha) & (np.asarray(l1_ratios)[:, None] == l1_ratio)
    excess = float(errors[chosen].min(initial=np.inf)) - float(errors.min())
    return Claim("selection", "mean held-out error of the values chosen, above the smallest on the grid", excess, 0.0)
