"""Proof of a Gaussian mixture from one pass over rows in blocks: the claims of the proof in memory, all of them.

A pass sums what one more step of EM needs, the moments of the data and how far they reach; the rows of which the
curvature is taken are drawn from every block, in proportion to what it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.blocks import BlockSums, add_blocks, sum_block
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.mixture.gaussian_components import (
    GaussianComponents,
    divergence,
    found_in_step,
    next_components,
    plain_sums,
)
from pellucid.proofs.mixture.gaussian_mixture import (
    CURVED,
    CURVED_AT_FIT,
    NOT_CONVERGED,
    ONLY_THE_START,
    STEP_ROUNDING,
    STEP_SAYS,
    MixtureData,
    collapse_report,
    curvature_claim,
    inverse_claim,
    likelihood_claim,
    moment_claims,
    rise_claims,
    stored_components,
    variance_floor,
)
from pellucid.proofs.sampling import draws, is_fitting
from pellucid.proofs.seen import Seen

ROWS_AT_ONCE = 1 << 14


@dataclass(frozen=True, eq=False)
class MixtureSums:
    """What one pass leaves."""

    sums: BlockSums
    step: tuple[Any, ...]
    """Sums of log densities, weights, deviations and their products, by component."""
    least: Array
    most: Array
    n_rows: int
    """Those of a weight above 0."""
    keys: Array
    rows: Array
    weight: Array
    """Random numbers, and the rows and weights that have the smallest of them."""


def mixture_block(block: Any, model: GaussianComponents, count: int, seed: int) -> MixtureSums:
    """Return the sums of a block, and its rows of the smallest random numbers."""
    weight = np.ones(len(block.X)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
    counts = np.flatnonzero(weight > 0.0)
    keys = np.random.default_rng((seed, block.number)).random(len(counts))
    chosen = np.argsort(keys, kind="stable")[:count]
    d = block.X.shape[1]
    step: tuple[Any, ...] | None = None
    low, high = np.full(d, np.inf), np.full(d, -np.inf)
    for start in range(0, max(len(counts), 1), ROWS_AT_ONCE):
        some = counts[start : start + ROWS_AT_ONCE]
        rows = np.asarray(block.X[some], dtype=np.float64)
        found = plain_sums(rows, weight[some], model)
        step = found if step is None else _added([step, found])
        least, most = np.min(rows, axis=0, initial=np.inf), np.max(rows, axis=0, initial=-np.inf)
        low, high = np.minimum(low, least), np.maximum(high, most)
    assert step is not None
    rows = np.asarray(block.X[counts[chosen]], dtype=np.float64)
    return MixtureSums(
        sum_block(block, "rows"), step, low, high, len(counts), keys[chosen], rows, weight[counts[chosen]]
    )


mixture_block.made_on_device = "pellucid.proofs.on_device:mixture_of_rows"  # type: ignore[attr-defined]  # a mark


def join_mixtures(found: Sequence[MixtureSums]) -> MixtureSums:
    """Return what several blocks leave; of the drawn rows as many as one block may have."""
    keys, rows, weight = (np.concatenate([getattr(one, name) for one in found]) for name in ("keys", "rows", "weight"))
    chosen = np.argsort(keys, kind="stable")[:CURVED]
    return MixtureSums(
        add_blocks([one.sums for one in found]),
        _added([one.step for one in found]),
        np.min([one.least for one in found], axis=0),
        np.max([one.most for one in found], axis=0),
        sum(one.n_rows for one in found),
        keys[chosen],
        rows[chosen],
        weight[chosen],
    )


def _added(steps: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(np.sum(parts, axis=0) for parts in zip(*steps, strict=True))


def prove_mixture_in_passes(fitted: Seen, parameters: Seen, blocks: Any) -> Certificate:
    """Return the certificate from one pass over the rows and the fitted attributes alone."""
    model = stored_components(fitted, parameters, blocks.n_features)
    if isinstance(model, Certificate):
        return model
    count, seed = CURVED_AT_FIT if is_fitting() else CURVED, int(draws().integers(1 << 31))
    seen: MixtureSums = blocks.reduce(mixture_block, join_mixtures, model, count, seed)
    (sums,) = seen.sums.by_label.values()
    mean = sums.pivot + sums.first / sums.weight
    covariance = sums.about(mean).second / sums.weight
    reach = np.max([seen.most - mean, mean - seen.least], axis=0)
    about = MixtureData(seen.n_rows, mean, covariance if model.has_matrices else covariance.diagonal(), reach)
    floor = variance_floor(parameters.reg_covar, about.variances)
    moments = moment_claims(model, about, floor, parameters)
    found = found_in_step(model, sums.weight, *seen.step)
    own = (
        inverse_claim(fitted, model, about, floor),
        likelihood_claim(fitted.log_likelihood_, found.log_likelihood, about, len(model.weights)),
    )
    if parameters.max_iter == 0:
        return Certificate("none", (moments[0], *own), ONLY_THE_START)
    step = divergence(next_components(model, found, floor), model)
    claims = (
        *moments,
        *own,
        *rise_claims(fitted, found.log_likelihood, parameters, about, floor),
        Claim("step", STEP_SAYS, step, parameters.tol + STEP_ROUNDING, NOT_CONVERGED),
        curvature_claim(model, seen.rows[:count], seen.weight[:count], about, floor, parameters.tol),
    )
    return Certificate("stationary", claims, collapse_report(model, about, floor))


PROVES_BLOCKS = {"GaussianMixture": prove_mixture_in_passes}
