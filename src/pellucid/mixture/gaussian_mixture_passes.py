"""Gaussian mixtures over rows in blocks: each step of EM is a pass, which sums what the step in memory does.

The start is the mixture of some rows, kept by the first pass: the starts that were asked for are made there, and the
best goes on over all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pellucid.core.fit import Effort, Fit
from pellucid.core.scale.first_look import FirstLook, first_look
from pellucid.core.scale.moments import groups_of
from pellucid.core.scale.row_blocks import RowBlock, RowBlocks
from pellucid.core.types import Array
from pellucid.core.watching import Watch
from pellucid.mixture.covariance_kinds import KINDS, Components
from pellucid.mixture.gaussian_mixture_solvers import (
    MixtureRows,
    PassSums,
    ascend,
    best_mixture,
    fit_of,
    is_narrow,
    mixture_rows,
    pass_sums,
    rows_of_mixture,
    step_of,
)
from pellucid.mixture.gaussian_mixture_starts import GIVEN, check_given, start_components
from pellucid.solvers.soft_assignment import StandardRows, scale_of


def mixture_in_passes(estimator: Any, blocks: RowBlocks, watch: Watch) -> Fit:
    """Return the fit of EM from one start."""
    earlier, before = estimator._earlier()
    look = first_look(blocks, "rows")
    estimator._check_count(blocks.n_rows)
    estimator._check_earlier(earlier, blocks.n_features)
    given = check_given(estimator, blocks.n_features)
    problem = _problem_of(estimator, look)

    def step(found: Components) -> tuple[float, Components]:
        careful = is_narrow(problem, found)
        sums: PassSums = blocks.reduce(step_of_block, join_steps, estimator.covariance_type, problem, found, careful)
        return step_of(problem, found, sums, careful=careful)

    start = _start(estimator, look, problem, given) if earlier is None else problem.standardized(earlier)
    effort = Effort(estimator.tol, estimator.max_iter, lambda found: watch(estimator._attributes_of(found)))
    run = ascend(problem, start, effort, before, step)
    return fit_of(problem, run, step(run.found)[0])


def _problem_of(estimator: Any, look: FirstLook) -> MixtureRows:
    """Return what the steps need to know, from the moments of all rows."""
    moments, kind = look.moments, estimator.covariance_type
    assert moments is not None
    covariance = moments.scatter / moments.weight
    variances = np.maximum(covariance.diagonal(), 0.0)
    scale = scale_of(variances, smallest=float(np.sqrt(estimator.reg_covar)), one_scale=kind == "spherical")
    rows = StandardRows(np.empty((0, len(scale))), None, moments.mean, scale, variances)
    second = covariance / np.outer(scale, scale) if kind == "tied" else None
    return rows_of_mixture(rows, kind, estimator.reg_covar, second, moments.weight)


def _start(estimator: Any, look: FirstLook, problem: MixtureRows, given: dict[str, Array]) -> Components:
    """Return the components to start from: those given, or the best mixture of the rows that were kept."""
    data, rng = look.data, check_random_state(estimator.random_state)
    if len(given) == len(GIVEN):
        return start_components(data, problem, estimator, given, rng)
    if len(data.X) < estimator.n_components:
        raise ValueError(f"n_components must be at most {len(data.X):,} for rows in blocks, the rows that are kept.")
    some = mixture_rows(data, estimator.covariance_type, estimator.reg_covar)
    effort = Effort(estimator.tol, estimator.max_iter)
    found = best_mixture(
        data, some, lambda: start_components(data, some, estimator, given, rng), estimator.n_init, effort, -np.inf
    ).attributes
    names = ("weights_", "means_", "covariances_", "precisions_cholesky_")
    return problem.standardized(Components(*(found[name] for name in names)))


def step_of_block(block: RowBlock, covariance_type: str, problem: MixtureRows, found: Components, careful: bool) -> Any:
    """Return what one pass sums over the rows of a block."""
    for _, (X,), weight in groups_of(block, "rows"):
        rows = replace(problem.rows, X=X, weight=weight)
        return pass_sums(replace(problem, kind=KINDS[covariance_type], rows=rows), found, careful=careful)
    return None  # no row of it counts


def join_steps(found: Sequence[PassSums]) -> PassSums:
    """Return the sums over several blocks."""
    return tuple(np.sum(parts, axis=0) for parts in zip(*found, strict=True))
