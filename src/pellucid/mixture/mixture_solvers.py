"""EM for mixtures of densities of rows or columns: each is fitted to all rows, weighted by its responsibilities."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.cluster import KMeans
from pellucid.core.checks import column_values
from pellucid.core.fit import Effort, Fit
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.probability import Binomial, Categorical, Gaussian, MultivariateGaussian
from pellucid.probability.density import AUTO, DENSITIES, Density, choose_densities, find_density
from pellucid.probability.moments import moments
from pellucid.probability.sample_data import SampleData
from pellucid.proofs.rounding import TINY
from pellucid.proofs.training_data import TrainingData

BLUR = 0.1
"""Share of each row that a start by clusters gives to all components alike, so that none of them is singular."""
DEAD = 1e-12
"""A component with less than so much of a row keeps its densities."""


@dataclass(frozen=True, eq=False)
class MixtureOfDensities:
    """Weights and, for each component, its densities."""

    weights: Array
    densities: list[list[Any]]


Step = Callable[[MixtureOfDensities], tuple[float, MixtureOfDensities]]
"""From densities to the mean log likelihood of the rows under them, and the densities after one step of EM."""


def best_density_mixture(
    data: TrainingData,
    parts: Parts,
    start: Callable[[], MixtureOfDensities],
    n_starts: int,
    var_smoothing: float,
    effort: Effort,
) -> Fit:
    """Return the best of several fits, the first of equal ones."""
    values, weight = parts.values(data.X), data.weights

    def shared(found: MixtureOfDensities) -> tuple[float, Array]:
        logs, shares = responsibilities(log_joint(found.weights, found.densities, values), found.weights)
        return float(weight @ logs / weight.sum()), shares

    def step(found: MixtureOfDensities) -> tuple[float, MixtureOfDensities]:
        bound, shares = shared(found)
        return bound, densities_of_rows(parts, values, shares * weight[:, None], var_smoothing, found)

    best: list[Fit] = []
    for _ in range(n_starts):
        fit = ascend(parts, start(), step, lambda found: shared(found)[0], effort)
        if not best or fit.attributes["lower_bound_"] > best[0].attributes["lower_bound_"]:
            best = [fit]
    return best[0]


def ascend(
    parts: Parts,
    found: MixtureOfDensities,
    step: Step,
    likelihood: Callable[[MixtureOfDensities], float],
    effort: Effort,
) -> Fit:
    """Return the fit of EM from a start, by steps over rows wherever they are."""
    trace, bounds, gain = Trace(), list[float](), np.inf
    converged, stopped = False, "max_iter"
    for n_iter in range(1, effort.max_iter + 1):
        bound, found = step(found)
        before, gain = gain, bound - bounds[-1] if bounds else np.inf
        bounds.append(bound)
        trace.add(iteration=n_iter, objective=-bound, gain=gain)
        trace.keep(weights=found.weights)
        told_to_stop = effort.watch(found)
        if abs(gain) < effort.goal and gain <= before:  # a gain that grows leaves a flat place
            converged, stopped = True, "the likelihood rose by less than tol"
            break
        if told_to_stop:
            stopped = "callback"
            break
    attributes = {
        "weights_": found.weights,
        "densities_": found.densities,
        "by_column_": parts.by_column,
        "converged_": converged,
        "n_iter_": len(bounds),
        "lower_bound_": bounds[-1],
        "lower_bounds_": bounds,
        "log_likelihood_": likelihood(found),
    }
    return Fit(attributes, trace, stopped)


def densities_of_rows(
    parts: Parts, values: Sequence[Array], shares: Array, smoothing: float, old: MixtureOfDensities | None = None
) -> MixtureOfDensities:
    """Return weights and densities of the rows, shared out so."""

    def fit(k: int, j: int, kind: Any, before: Any) -> Any:
        share = np.ascontiguousarray(shares[:, k])
        if kind is not Gaussian and kind is not MultivariateGaussian:
            return density_of_values(kind, values[j], share, before)
        rows = values[j][:, None] if values[j].ndim == 1 else values[j]
        own, all_rows = (
            moments(SampleData(rows, w), full=kind is MultivariateGaussian) for w in (share, shares.sum(axis=1))
        )
        floor = smoothing * _variances(all_rows.scatter) / all_rows.total
        return smoothed_gaussian(kind, own.mean, own.scatter / own.total, floor)

    return fitted_densities(parts, shares.sum(axis=0), fit, old)


def fitted_densities(
    parts: Parts, totals: Array, fit: Callable[[int, int, Any, Any], Any], old: MixtureOfDensities | None = None
) -> MixtureOfDensities:
    """Return weights and densities, where ``fit`` makes the one of a component and a part; one without rows stays."""
    densities: list[list[Any]] = []
    for k, kinds in enumerate(parts.kinds):
        if totals[k] <= DEAD and old is not None:
            densities.append(old.densities[k])
            continue
        given = old.densities[k] if old is not None else [None] * len(kinds)
        try:
            densities.append([fit(k, j, *pair) for j, pair in enumerate(zip(kinds, given, strict=True))])
        except ValueError as error:
            raise ValueError(
                f"n_components must leave each component rows to fit its densities to, got {len(totals)}: {error}"
            ) from error
    return MixtureOfDensities(totals / totals.sum(), densities)


def smoothed_gaussian(kind: Any, mean: Array, spread: Array, floor: Array) -> Any:
    """Return a Gaussian of a column or of rows; its variances get a little of those of all rows."""
    if kind is Gaussian:
        return Gaussian(float(mean[0]), max(float(spread[0] + floor[0]), TINY))
    return MultivariateGaussian(mean, spread + np.diag(floor))


def density_of_values(kind: Any, values: Array, weight: Array, before: Any) -> Any:
    """Return the density of largest weighted likelihood; all values there are have their place in it."""
    if kind is Categorical:
        return Categorical.fit(values, weight, categories=np.unique(values))
    if kind is Binomial:
        return Binomial.fit(values, weight, n_trials=int(values.max()) if before is None else before.n_trials)
    return kind.fit(values, weight)


def _variances(scatter: Array) -> Array:
    return scatter.diagonal() if scatter.ndim == 2 else scatter


def clustered_start(
    data: TrainingData, parts: Parts, n_components: int, smoothing: float, rng: np.random.RandomState
) -> MixtureOfDensities:
    """Return densities of k-means clusters of the rows, standardized and words as zeros and ones, a little blurred."""
    table = _as_numbers(data.X, data.weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the clusters could not prove is no concern of the mixture
        labels = KMeans(n_components, n_init=1, random_state=rng).fit(table, sample_weight=data.weight).labels_
    shares = np.full((len(labels), n_components), BLUR / n_components)
    shares[np.arange(len(labels)), labels] += 1.0 - BLUR
    return densities_of_rows(parts, parts.values(data.X), shares * data.weights[:, None], smoothing)


def _as_numbers(X: Array, weight: Array) -> Array:
    columns: list[Array] = []
    for j in range(X.shape[1]):
        values = column_values(X, j)
        if values.dtype.kind == "U":
            columns += [(values == label).astype(np.float64) for label in np.unique(values)]
        else:
            centered = values - values[0]
            centered -= weight @ centered / weight.sum()
            deviation = float(np.sqrt(weight @ centered**2 / weight.sum()))
            columns.append(centered / (deviation if deviation > 0.0 else 1.0))
    return np.column_stack(columns)


OF_ROWS = ("multivariate_gaussian", "multinomial")
"""Densities of ours that take whole rows; the others take a number, or a label."""


@dataclass(frozen=True, eq=False)
class Parts:
    """For each component the classes of its densities, one for all columns together or one for each."""

    kinds: list[list[type[Density]]]
    by_column: bool

    def values(self, X: Array) -> list[Array]:
        """Return what the densities of a component are asked about."""
        if self.by_column:
            return [column_values(X, j) for j in range(X.shape[1])]
        return [X if X.dtype.kind in "biuf" else X.astype(np.float64)]


def density_parts(wanted: Any, n_components: int, X: Array, names: list[str] | None, declared: list[bool]) -> Parts:
    """Return the classes of the densities that are asked for, or guessed for columns."""
    if isinstance(wanted, (list, tuple)):
        return Parts([[type(density)] for density in wanted], by_column=False)
    if is_by_column(wanted):
        return Parts([choose_densities(wanted, X, names, declared)] * n_components, by_column=True)
    return Parts([[find_density(wanted)]] * n_components, by_column=False)


def is_by_column(wanted: Any) -> bool:
    """Return whether every column gets densities: by a dict, a guess, or one of ours that takes a number or a label."""
    if isinstance(wanted, (list, tuple)):
        return False
    if isinstance(wanted, Mapping) or wanted == AUTO:
        return True
    return find_density(wanted) in {find_density(name) for name in DENSITIES if name not in OF_ROWS}


def log_joint(weights: Array, densities: Sequence[Sequence[Any]], values: Sequence[Array]) -> Array:
    """Return the log joint density of each row and component, of shape (n, K)."""
    with np.errstate(divide="ignore"):
        logs = np.log(np.asarray(weights, dtype=np.float64))
    out = np.tile(logs, (len(values[0]), 1))
    for k, parts in enumerate(densities):
        for density, column in zip(parts, values, strict=True):
            out[:, k] += np.asarray(density.log_prob(column), dtype=np.float64)
    return out


def responsibilities(joint: Array, weights: Array) -> tuple[Array, Array]:
    """Return the log density of each row, and its responsibilities; the weights for a row that nobody can produce."""
    top = joint.max(axis=1, keepdims=True)
    possible = np.isfinite(top[:, 0])
    parts = np.exp(joint - np.where(possible[:, None], top, 0.0))
    total = np.where(possible, parts.sum(axis=1), 1.0)[:, None]
    with np.errstate(divide="ignore"):
        logs = np.where(possible, (np.where(possible[:, None], top, 0.0) + np.log(total))[:, 0], top[:, 0])
    return logs, np.where(possible[:, None], parts / total, weights)
