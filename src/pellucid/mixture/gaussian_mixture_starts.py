"""Where EM for Gaussian mixtures starts from: clusters, drawn rows, random responsibilities, or given parameters."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.cluster import KMeans
from pellucid.cluster.kmeans.kmeans_starts import STARTS as STARTS_OF_CLUSTERS
from pellucid.core.array_api import array_namespace, device
from pellucid.core.arrays import is_foreign
from pellucid.core.types import Array
from pellucid.core.watching import ignore
from pellucid.mixture.covariance_kinds import ComponentMoments, Components
from pellucid.mixture.gaussian_mixture_solvers import MixtureRows, components_of
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.soft_assignment import given_sums

SHARP = 1e-6
"""Variance around drawn rows, as a part of that of the data: each row then belongs to the nearest."""

GIVEN = ("weights_init", "means_init", "precisions_init")


def start_components(
    data: TrainingData, problem: MixtureRows, parameters: Any, given: dict[str, Array], rng: np.random.RandomState
) -> Components:
    """Return the components to start from, in standardized units; given parameters replace those that are found."""
    kind, scale = problem.kind, problem.rows.scale
    found = None if len(given) == len(GIVEN) else STARTS[parameters.init_params](data, problem, parameters, rng)
    weights = given["weights_init"] if found is None or "weights_init" in given else found.weights
    means = (given["means_init"] - problem.rows.center) / scale if "means_init" in given else found.means  # type: ignore[union-attr]
    if "precisions_init" not in given:
        return Components(weights, means, found.covariances, found.factors)  # type: ignore[union-attr]
    factors = kind.factors_to_units(kind.factors_of_precisions(given["precisions_init"]), 1.0 / scale)
    return Components(weights, means, kind.covariances_of_factors(factors), factors)


def _from_clusters(data: TrainingData, problem: MixtureRows, parameters: Any, rng: np.random.RandomState) -> Components:
    labels = _clusters(data, parameters.n_components, rng)
    labels = labels if data.kept is None else labels[labels >= 0]
    return _estimated(problem, parameters.n_components, lambda part: _one_hot(labels[part], parameters.n_components))


def _from_random(data: TrainingData, problem: MixtureRows, parameters: Any, rng: np.random.RandomState) -> Components:
    """Draw responsibilities that depend on the values of a row alone: a weight then does the same as repetitions."""
    seed = rng.randint(np.iinfo(np.int32).max)

    def respond(part: slice) -> Array:
        drawn = row_noise(data.X[part], parameters.n_components, seed)
        return np.asarray(drawn / drawn.sum(axis=0))

    return _estimated(problem, parameters.n_components, respond)


def _from_rows(init: str) -> Callable[..., Components]:
    def start(data: TrainingData, problem: MixtureRows, parameters: Any, rng: np.random.RandomState) -> Components:
        drawn = STARTS_OF_CLUSTERS[init](data, parameters.n_components, rng)
        (k, d), means = drawn.shape, (drawn - problem.rows.center) / problem.rows.scale
        spread = np.maximum(problem.floor, SHARP * np.where(problem.variances > 0.0, problem.variances, 1.0))
        if problem.second is not None:  # one matrix for all: that of the data
            covariances = problem.second + np.diag(spread)
        else:
            around = ComponentMoments(np.ones(k), means, np.zeros(problem.kind.shape(k, d)))
            covariances = problem.kind.with_floor(around, spread)
        return Components(np.full(k, 1.0 / k), means, covariances, problem.kind.factors(covariances))

    return start


STARTS: dict[str, Callable[..., Components]] = {
    "kmeans": _from_clusters,
    "k-means++": _from_rows("k-means++"),
    "random": _from_random,
    "random_from_data": _from_rows("random"),
}


def row_noise(X: Array, n_columns: int, seed: int) -> Array:
    """Return uniform numbers of shape (n_columns, n_rows), the same for equal rows, whatever stands around them."""
    bits = np.ascontiguousarray(X, dtype=np.float64) + 0.0  # minus 0 is 0
    state = np.full(len(bits), seed, dtype=np.uint64)
    for column in bits.view(np.uint64).T:
        state = _mixed(state ^ column)
    steps = np.arange(1, n_columns + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    drawn = _mixed(state + steps[:, None]) >> np.uint64(11)
    return np.asarray((drawn + 0.5) / 2.0**53)


def _mixed(state: Array) -> Array:
    """Return 64 bits of which each depends on each of the given ones: the last steps of SplitMix64."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(state ^ (state >> np.uint64(31)))


def _estimated(problem: MixtureRows, n_components: int, respond: Callable[[slice], Array]) -> Components:
    moments = problem.kind.moments(
        given_sums(problem.rows, problem.kind.features, n_components, respond), problem.second
    )
    return components_of(problem, moments)


def _one_hot(labels: Any, n_components: int) -> Any:
    xp = array_namespace(labels)
    return xp.astype(labels == xp.arange(n_components, device=device(labels))[:, None], xp.float64)


def _clusters(data: TrainingData, k: int, rng: np.random.RandomState) -> Any:
    """Return the labels of k-means, good enough to start from: what it could not prove is no concern of the mixture."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clusters = KMeans(k, n_init=1, random_state=rng)
        if is_foreign(data.X):
            from pellucid.cluster.kmeans.clusters_on_device import fit_on_device

            return fit_on_device(clusters, data, ignore).attributes["labels_"]
        return clusters.fit(data.given[0], sample_weight=data.given[2]).labels_


SUM_ERROR = 1e-6
"""How far from 1 given weights may add up."""
ASYMMETRY = 1e-8
"""Difference between mirrored entries of a given precision, relative to its largest."""


def check_given(estimator: Any, d: int) -> dict[str, Array]:
    """Return what is given as float64, by the name of its parameter; refuse what no mixture can have."""
    k, kind = estimator.n_components, estimator.covariance_type
    shapes = {
        "weights_init": (k,),
        "means_init": (k, d),
        "precisions_init": {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[kind],
    }
    given = {}
    for name, shape in shapes.items():
        value = getattr(estimator, name)
        if value is None:
            continue
        given[name] = np.array(value, dtype=np.float64)
        if given[name].shape != shape or not np.isfinite(given[name]).all():
            known = {"weights_init": "weights", "means_init": "means", "precisions_init": f"{kind} precision"}[name]
            raise ValueError(
                f"{name} must be finite numbers of shape {shape}, got shape {given[name].shape}. (The parameter "
                f"'{known}' should have the shape of {shape}, but got {given[name].shape}.) Change its shape."
            )
    if "weights_init" in given:
        _check_weights(given["weights_init"])
    if "precisions_init" in given:
        _check_precisions(given["precisions_init"], kind)
    return given


def _check_weights(weights: Array) -> None:
    if weights.min() < 0.0 or weights.max() > 1.0:
        worst = weights.min() if weights.min() < 0.0 else weights.max()
        raise ValueError(f"weights_init must be between 0 and 1, got {worst:g}. Divide by their sum.")
    if abs(weights.sum() - 1.0) > SUM_ERROR:
        raise ValueError(
            f"weights_init must add up to 1, got {weights.sum():.5f}. (The parameter 'weights' should be normalized, "
            f"but got sum(weights) = {weights.sum():.5f}.) Divide by their sum."
        )


def _check_precisions(precisions: Array, kind: str) -> None:
    if kind in ("diag", "spherical"):
        if not (precisions > 0.0).all():
            raise ValueError(
                f"precisions_init must be above 0, got {precisions.min():g}. '{kind} precision' should be positive."
            )
        return
    for matrix in precisions if kind == "full" else precisions[None]:
        size = float(np.abs(matrix).max())
        if np.abs(matrix - matrix.T).max() > ASYMMETRY * size or not (np.linalg.eigvalsh(matrix) > 0.0).all():
            raise ValueError(
                "precisions_init must be symmetric and positive definite, got a matrix that is not. "
                f"('{kind} precision' should be symmetric, positive-definite.) Take the inverses of covariances."
            )
