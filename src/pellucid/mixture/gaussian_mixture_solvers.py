r"""EM for Gaussian mixtures, in standardized units, one pass over the data for each step.

The fast pass sums features of the rows, in which digits cancel where a component is far narrower than the data; then
the careful pass takes differences from the means instead. A component that no row belongs to keeps its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pellucid.core.arrays import is_foreign
from pellucid.core.fit import Effort, Fit
from pellucid.core.threads import run_blocks
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.mixture.covariance_kinds import KINDS, ComponentMoments, Components, movement, scores
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.soft_assignment import (
    StandardRows,
    blocks_of,
    given_sums,
    parts_of,
    soft_log_sum,
    soft_sums,
    standard_rows,
)

NARROW = 1e5
"""Variance of the data over that of a component, from which on the fast pass would lose too many digits."""
FLOOR = 2.0**-33
"""Where ``reg_covar`` is above 0, no variance falls below this part of the variance of its column."""
DEAD = 10 * float(np.finfo(np.float64).eps)
"""A component with less than so much of a row keeps its mean and covariance."""


@dataclass(frozen=True, eq=False)
class MixtureRows:
    """Standardized rows with what the steps need to know about them and about the covariances."""

    rows: StandardRows
    kind: Any
    floor: Array
    """What is added to the variances of standardized columns."""
    variances: Array
    """Of the columns of standardized rows."""
    second: Array | None
    """Second moments of all standardized rows, for covariances that all components share."""
    total: float
    """Number of rows, repetitions counted."""

    @property
    def log_scale(self) -> float:
        """What the log density of a row loses when rows are turned back into the units of X."""
        return float(np.log(self.rows.scale).sum())

    def in_units(self, found: Components) -> Components:
        """Return components of standardized rows in the units of X."""
        center, scale = self.rows.center, self.rows.scale
        return Components(
            found.weights,
            center + scale * found.means,
            self.kind.to_units(found.covariances, scale),
            self.kind.factors_to_units(found.factors, scale),
        )

    def standardized(self, found: Components) -> Components:
        """Return components in the units of X as components of standardized rows."""
        center, turned = self.rows.center, 1.0 / self.rows.scale
        return Components(
            found.weights,
            (found.means - center) * turned,
            self.kind.to_units(found.covariances, turned),
            self.kind.factors_to_units(found.factors, turned),
        )


def mixture_rows(data: TrainingData, covariance_type: str, reg_covar: float) -> MixtureRows:
    """Return the rows as the steps want them."""
    if is_foreign(data.X):
        from pellucid.mixture.mixture_on_device import standard_rows_there

        rows, second = standard_rows_there(data.X, data.weight, float(np.sqrt(reg_covar)), covariance_type)
        return rows_of_mixture(rows, covariance_type, reg_covar, second, rows.total)
    one_scale = covariance_type == "spherical"
    rows = standard_rows(data.X, data.weight, smallest=float(np.sqrt(reg_covar)), one_scale=one_scale)
    second = _second_moments(rows) if covariance_type == "tied" else None
    return rows_of_mixture(rows, covariance_type, reg_covar, second, rows.total)


def rows_of_mixture(
    rows: StandardRows, covariance_type: str, reg_covar: float, second: Array | None, total: float
) -> MixtureRows:
    """Return standardized rows, so many in all, with what the steps need to know beside them."""
    assert rows.variances is not None
    least = np.maximum(reg_covar, FLOOR * rows.variances) if reg_covar > 0.0 else np.zeros(len(rows.variances))
    floor = least / rows.scale**2
    variances = rows.variances / rows.scale**2
    return MixtureRows(rows, KINDS[covariance_type], floor, variances, second, total)


def best_mixture(
    data: TrainingData,
    problem: MixtureRows,
    start: Callable[[], Components],
    n_starts: int,
    effort: Effort,
    before: float,
) -> Fit:
    """Return the best of several fits, the first of equal ones; ``before`` is the lower bound of an earlier fit."""
    runs: list[EmRun] = []
    for _ in range(n_starts):
        run = ascend(problem, start(), effort, before, partial(em_step, problem))
        if not runs or run.bound > runs[0].bound:
            runs = [run]
    return fit_of(problem, runs[0], _log_likelihood(data, problem, runs[0].found))


@dataclass(frozen=True, eq=False)
class EmRun:
    """Where EM has come from one start, in standardized units, and how."""

    found: Components
    bounds: list[float]
    bound: float
    moved: float
    converged: bool
    stopped: str
    trace: Trace


def ascend(
    problem: MixtureRows,
    found: Components,
    effort: Effort,
    before: float,
    step: Callable[[Components], tuple[float, Components]],
) -> EmRun:
    """Return where the steps lead, until they gain and move less than the goal."""
    trace, bounds, bound, last = Trace(), list[float](), before, np.inf
    converged, stopped, moved = False, "max_iter", np.inf
    for n_iter in range(1, effort.max_iter + 1):
        previous, old = bound, found
        bound, found = step(old)
        moved = movement(problem.kind, found, old)
        bounds.append(bound)
        trace.add(iteration=n_iter, objective=-bound, gain=bound - previous, moved=moved)
        shown = problem.in_units(found)
        trace.keep(weights=shown.weights, means=shown.means, covariances=shown.covariances)
        told_to_stop = effort.watch(shown)
        # steps that grow leave a flat place: there the gain is small, and the end is far
        if abs(bound - previous) < effort.goal and moved <= min(last, effort.goal):
            converged, stopped = True, "the lower bound rose by less than tol"
            break
        if told_to_stop:
            stopped = "callback"
            break
        last = moved
    return EmRun(found, bounds, bound, moved, converged, stopped, trace)


def fit_of(problem: MixtureRows, run: EmRun, log_likelihood: float) -> Fit:
    """Return a run as the fit it is; the likelihood is that of its last components."""
    found = problem.in_units(run.found)
    attributes = {
        "weights_": found.weights,
        "means_": found.means,
        "covariances_": found.covariances,
        "precisions_cholesky_": found.factors,
        "precisions_": problem.kind.precisions(found.factors),
        "converged_": run.converged,
        "n_iter_": len(run.bounds),
        "lower_bound_": run.bound,
        "lower_bounds_": run.bounds,
        "log_likelihood_": log_likelihood,
    }
    return Fit(attributes, run.trace, run.stopped)


def _log_likelihood(data: TrainingData, problem: MixtureRows, standard: Components) -> float:
    """Return the mean log likelihood of the final components, by products where these lose no digits."""
    if is_foreign(data.X):
        return em_step(problem, standard)[0]
    if is_narrow(problem, standard):
        logs = log_densities(problem.kind, problem.in_units(standard), data.X)
        return float(logs.mean() if data.weight is None else data.weight @ logs / data.weight.sum())
    log_sum = soft_log_sum(problem.rows, problem.kind.features, problem.kind.coefficients(standard))
    return (log_sum - _shared_part(problem, standard)) / problem.total - problem.log_scale


def _shared_part(problem: MixtureRows, found: Components) -> float:
    """Return the part of all log densities that the features leave out, as components of one covariance share it."""
    if problem.second is None:
        return 0.0
    return 0.5 * problem.total * float(np.sum(problem.kind.precisions(found.factors) * problem.second))


def em_step(problem: MixtureRows, found: Components) -> tuple[float, Components]:
    """Return the mean log likelihood of the components, and the components after one EM step."""
    careful = is_narrow(problem, found)
    return step_of(problem, found, pass_sums(problem, found, careful=careful), careful=careful)


def is_narrow(problem: MixtureRows, found: Components) -> bool:
    """Return whether the fast pass would lose too many digits."""
    return _narrowest(problem.kind, found.factors) > NARROW


PassSums = tuple[Any, ...]
"""The sum of the log densities, and sums over the rows of each component; those of parts of the rows add up."""


def pass_sums(problem: MixtureRows, found: Components, *, careful: bool) -> PassSums:
    """Return what one pass over rows sums up, from features or from differences."""
    if careful:
        return _careful_pass(problem, found)
    return soft_sums(problem.rows, problem.kind.features, problem.kind.coefficients(found))


def step_of(problem: MixtureRows, found: Components, sums: PassSums, *, careful: bool) -> tuple[float, Components]:
    """Return the mean log likelihood and the components after the step, from the sums over all rows."""
    if careful:
        log_sum, moments = sums[0], _careful_moments(problem, found, *sums[1:])
    else:
        log_sum, moments = sums[0] - _shared_part(problem, found), problem.kind.moments(sums[1], problem.second)
    return log_sum / problem.total - problem.log_scale, components_of(problem, moments, found)


def components_of(problem: MixtureRows, moments: ComponentMoments, old: Components | None = None) -> Components:
    """Return the components of largest likelihood, floor added; one without rows stays as it was."""
    covariances = problem.kind.with_floor(moments, problem.floor)
    means, is_dead = moments.means, moments.totals <= DEAD
    if old is not None and is_dead.any():
        means = np.where(is_dead[:, None], old.means, means)
        if problem.second is None:
            shaped = is_dead.reshape(-1, *[1] * (covariances.ndim - 1))
            covariances = np.where(shaped, old.covariances, covariances)
    return Components(moments.totals / moments.totals.sum(), means, covariances, problem.kind.factors(covariances))


def log_densities(kind: Any, found: Components, X: Array) -> Array:
    """Return the log density of each row, from differences."""
    out = np.empty(len(X))

    def respond(some: slice, joint: Array) -> None:
        top = joint.max(axis=0)
        out[some] = top + np.log(np.exp(joint - top).sum(axis=0))

    for_blocks(kind, found, X, respond)
    return out


def for_blocks(kind: Any, found: Components, X: Array, respond: Callable[[slice, Array], None]) -> None:
    """Call a function with blocks of rows and their log joint densities, of shape (K, n)."""
    width = X.shape[1] + len(found.weights)

    def work(part: slice) -> None:
        with np.errstate(all="ignore"):  # rows far out have a density of 0, whose logarithm is not finite
            for some in blocks_of(part, width):
                respond(some, scores(kind, found, np.asarray(X[some], dtype=np.float64)))

    run_blocks(work, parts_of(len(X), width, X.nbytes))


def _careful_pass(problem: MixtureRows, found: Components) -> PassSums:
    """Return the sum of the log densities and totals, shifts and scatters about the means of the components."""
    from pellucid.solvers.soft_assignment_kernels import responsibilities_pass

    rows, kind = problem.rows, problem.kind
    n, d = rows.X.shape
    tied = problem.second is not None
    shape = (len(found.weights), d, d) if tied else kind.shape(len(found.weights), d)
    if is_foreign(rows.X):
        from pellucid.mixture.mixture_on_device import careful_sums

        return careful_sums(rows, kind, found, shape)

    def work(part: slice) -> tuple[float, Array, Array, Array]:
        log_sum, totals = 0.0, np.zeros(len(found.weights))
        shifts, scatters = np.zeros(found.means.shape), np.zeros(shape)
        for some in blocks_of(part, d + len(found.weights)):
            block = (rows.plain(some) - rows.center) / rows.scale
            weight, logs = rows.weights(some), np.empty(len(block))
            shares = scores(kind, found, block)
            responsibilities_pass(shares, weight, logs, np.empty(len(block)))
            log_sum += float(weight @ logs)
            totals += shares.sum(axis=1)
            for k, mean in enumerate(found.means):
                deviations = block - mean
                shifts[k] += shares[k] @ deviations
                scatters[k] += kind.scatter(deviations, shares[k])
        return log_sum, totals, shifts, scatters

    logs, *sums = zip(*run_blocks(work, parts_of(n, int(np.prod(shape)), rows.X.nbytes)), strict=True)
    return (float(np.sum(logs)), *(np.sum(one, axis=0) for one in sums))


def _careful_moments(
    problem: MixtureRows, found: Components, totals: Array, shifts: Array, scatters: Array
) -> ComponentMoments:
    """Return the moments from sums about the means."""
    divisor = np.where(totals > 0.0, totals, 1.0)
    shift = shifts / divisor[:, None]
    spreads = problem.kind.less_shift(scatters / divisor.reshape(-1, *[1] * (scatters.ndim - 1)), shift)
    if problem.second is not None:
        spreads = np.einsum("k,kij->ij", totals / totals.sum(), spreads)
    return ComponentMoments(totals, found.means + shift, spreads)


def _narrowest(kind: Any, factors: Array) -> float:
    """Return the largest precision of a column, given the others."""
    is_matrix = factors.ndim == 3 or kind is KINDS["tied"]
    return float(np.max(np.sum(factors**2, axis=-1) if is_matrix else factors**2))


def _second_moments(rows: StandardRows) -> Array:
    full = KINDS["full"]
    sums = given_sums(rows, full.features, 1, lambda part: np.ones((1, part.stop - part.start)))
    found = full.moments(sums, None)
    return np.asarray(found.spreads[0] + np.outer(found.means[0], found.means[0]))
