"""What "near" means: the metric of a neighbors estimator, resolved once; and what a neighbor counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import DistanceMetric, pairwise_distances
from sklearn.neighbors import VALID_METRICS

from pellucid.core.array_api import array_namespace
from pellucid.core.input_rules import unit_for
from pellucid.core.types import Array, Data, MetricLike
from pellucid.core.user_warnings import warn_user

POWERS = {
    "euclidean": 2.0,
    "l2": 2.0,
    "sqeuclidean": 2.0,
    "manhattan": 1.0,
    "cityblock": 1.0,
    "l1": 1.0,
    "chebyshev": math.inf,
    "infinity": math.inf,
}
"""Names of Minkowski metrics with a fixed power; sqeuclidean is the only one without a root."""

SHORT_NAMES = {1.0: "manhattan", 2.0: "euclidean", math.inf: "chebyshev"}
COMPILED = frozenset(VALID_METRICS["ball_tree"]) - {"pyfunc"}
SPARSE_METRICS = frozenset({"cityblock", "cosine", "euclidean", "l1", "l2", "manhattan", "precomputed"})

SAFE_POWER = 1e120
"""Data whose powers are below this, and above one over it, are searched as they are; others in another unit."""


@dataclass(frozen=True)
class Similarity:
    r"""A metric for ``metric=``: rows are nearer the larger ``function(x, z)`` is, and the distance is its negative.

    With ``weights="exponential"`` a neighbor then counts :math:`\exp(\text{rate} \cdot s)`; ``weights="distance"`` has
    no meaning for it. For the cosine there is ``metric="cosine"``, which is faster.

    Parameters
    ----------
    function : callable
        Takes two rows of shape (n_features,) and returns a number.

    Examples
    --------
    >>> Similarity(np.dot)(np.array([1.0, 2.0]), np.array([3.0, 1.0]))
    -5.0
    """

    function: Callable[[Array, Array], float]

    def __call__(self, x: Array, z: Array) -> float:
        """Return minus the similarity of two rows."""
        return -float(self.function(x, z))


@dataclass(frozen=True)
class Metric:
    """A metric by name or function with its arguments, as scikit-learn spells them in ``effective_metric_``."""

    name: Any
    params: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def resolve(cls, metric: MetricLike, p: float | None, metric_params: Mapping[str, Any] | None) -> Metric:
        """Return the metric that the three parameters of an estimator describe; 'minkowski' gets its short name."""
        params = dict(metric_params or {})
        if metric != "minkowski":
            return cls(metric, params)
        power, weights = params.pop("p", p), params.pop("w", None)
        power = 2.0 if power is None else power
        if weights is None and power in SHORT_NAMES:
            return cls(SHORT_NAMES[power], params)
        return cls("minkowski", {**params, "p": power, "w": weights})

    @property
    def power(self) -> float | None:
        r"""The p of :math:`(\sum_j |x_j - z_j|^p)^{1/p}`, or None for a metric that is not of this form."""
        if not isinstance(self.name, str):
            return None
        others = {name for name, value in self.params.items() if value is not None} - {"p"}
        if self.name in ("minkowski", "p"):
            return None if others else float(self.params.get("p") or 2.0)
        return None if others or "p" in self.params else POWERS.get(self.name)

    @property
    def suits_a_tree(self) -> bool:
        """Whether the distance to a box bounds the distances to what is in it: true of norms."""
        return self.power is not None and self.power >= 1 and self.name != "sqeuclidean"

    def rooted(self, sums: Array, unit: float = 1.0) -> Array:
        """Return the distances for sums of powers of differences, or for their largest, of data times ``unit``."""
        power = self.power
        if self.name == "sqeuclidean":
            return sums / unit / unit  # the square of the unit might overflow
        if power in (1.0, math.inf, None):
            return sums / unit
        return (np.sqrt(sums) if power == 2.0 else sums ** (1.0 / power)) / unit

    def table(self, queries: Data, rows: Data) -> Array:
        """Return all distances of the queries to the rows, of shape (n_queries, n_rows)."""
        if isinstance(self.name, str) and self.name == "cosine":  # which no unit changes, and lengths must not vanish
            queries, rows = (
                part * unit_of(part.data if sparse.issparse(part) else part, 2.0) for part in (queries, rows)
            )
        formula = None if sparse.issparse(queries) or sparse.issparse(rows) else self._formula()
        if formula is not None:
            return np.asarray(formula.pairwise(*(np.ascontiguousarray(a, dtype=np.float64) for a in (queries, rows))))
        return np.asarray(pairwise_distances(queries, rows, metric=self.name, **self.params))

    def _formula(self) -> DistanceMetric | None:
        """Return scikit-learn's compiled formula, if it has one: SciPy's of the same name may differ (braycurtis)."""
        if not isinstance(self.name, str):
            return self.name if isinstance(self.name, DistanceMetric) else None
        if self.name not in COMPILED or (self.params.get("p") or 1) < 1:
            return None
        return DistanceMetric.get_metric(self.name, **self.params)


def check_metric(metric: MetricLike, p: float | None, metric_params: Mapping[str, Any] | None, algorithm: str) -> None:
    """Refuse a metric that is unknown, or that the algorithm has no bounds for."""
    if metric_params is not None and "p" in metric_params and p is not None:
        warn_user("p is given twice: metric_params wins. Leave p at None.", SyntaxWarning)
    if callable(metric) or isinstance(metric, DistanceMetric):
        if algorithm == "kd_tree" and not isinstance(metric, DistanceMetric):
            raise ValueError(f"metric must be a norm with algorithm='kd_tree', got {metric!r}. Use algorithm='brute'.")
        return
    allowed = set().union(*VALID_METRICS.values()) if algorithm == "auto" else set(VALID_METRICS[algorithm])
    allowed.discard("pyfunc")
    if not isinstance(metric, str) or metric not in allowed:
        raise ValueError(
            f"metric must be one of {sorted(allowed)} or a callable with algorithm={algorithm!r}, "
            f"got {metric!r}. Use algorithm='brute', or another metric."
        )
    power = Metric.resolve(metric, p, metric_params).power
    if power is None or power >= 1:
        return
    if algorithm in ("kd_tree", "ball_tree"):
        raise ValueError(f"p must be at least 1 with algorithm={algorithm!r}, got {power!r}. Use algorithm='brute'.")
    warn_user(
        f"p is {power!r}, below 1: such a Minkowski distance breaks the triangle inequality. Brute force is used."
    )


def check_sparse_metric(metric: Metric) -> None:
    """Refuse a metric that has no formula for sparse rows."""
    if isinstance(metric.name, str) and metric.name not in SPARSE_METRICS:
        raise ValueError(
            f"metric must be one of {sorted(SPARSE_METRICS)} or a callable for sparse X, got {metric.name!r}. "
            "Make X dense, or use another metric."
        )


def check_keeps_zeros(X: Data) -> None:
    """Refuse precomputed distances in a sparse format that drops stored zeros: a distance of 0 would be lost."""
    if sparse.issparse(X) and X.format not in ("csr", "csc", "coo", "lil"):
        raise TypeError(
            f"X must be dense, or sparse in format csr, csc, coo or lil, with metric='precomputed', got {X.format}. "
            "Other formats may drop distances of 0."
        )


def unit_of(X: Array, power: float | None) -> float:
    """Return a power of two to multiply the data by so that sums of powers neither overflow nor vanish; mostly 1."""
    some = X[:: max(1, len(X) // 1024)]
    size = float(max(some.max(initial=0.0), -some.min(initial=0.0)))
    safe = SAFE_POWER ** (1.0 / power) if power is not None and power < math.inf else SAFE_POWER
    if size == 0 or not math.isfinite(size) or 1 / safe < size < safe:
        return 1.0
    return unit_for(size)


def inverse_weights(distances: Any, rate: float) -> Any:  # noqa: ARG001  (the signature of every weighting)
    """Return 1 / d; where a neighbor is at distance 0 only such neighbors count, 1 each."""
    xp = array_namespace(distances)
    with np.errstate(divide="ignore", over="ignore"):
        weights = 1.0 / distances
    # 1 / d overflows for the tiniest distances: those count as 0 as well
    at_zero = (distances == 0) | xp.isinf(weights)
    return xp.where(xp.any(at_zero, axis=1, keepdims=True), xp.astype(at_zero, weights.dtype), weights)


def exponential_weights(distances: Any, rate: float) -> Any:
    """Return exp(-rate d), divided by the weight of the nearest so that not all of them underflow."""
    xp = array_namespace(distances)
    return xp.exp(-rate * (distances - xp.min(distances, axis=1, keepdims=True)))


WEIGHTINGS: dict[str, Callable[[Any, float], Any]] = {
    "distance": inverse_weights,
    "exponential": exponential_weights,
}


def vote_weights(distances: Any, weights: Any, rate: float) -> Any:
    """Return the weight of every neighbor, of the shape of ``distances``, or None if all count the same.

    Examples
    --------
    >>> vote_weights(np.array([[1.0, 2.0], [0.0, 2.0]]), "distance", 1.0)
    array([[1. , 0.5],
           [1. , 0. ]])
    """
    if weights in (None, "uniform"):
        return None
    xp = array_namespace(distances)
    found = WEIGHTINGS[weights](distances, rate) if isinstance(weights, str) else xp.asarray(weights(distances))
    if found.shape != distances.shape:
        raise ValueError(f"weights must return an array of shape {tuple(distances.shape)}, got {tuple(found.shape)}.")
    if not bool(xp.all(xp.any(found != 0.0, axis=1))):
        raise ValueError(
            "weights must be above 0 for at least one neighbor of every query, got a query where all are 0. "
            "Use a function that does not vanish."
        )
    return found
