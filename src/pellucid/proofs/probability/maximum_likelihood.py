r"""certify_fit: whether a density has the largest likelihood or posterior, from the data and its parameters alone.

**Shares.** The maximum of :math:`\sum_j c_j \log p_j` over probability vectors, with :math:`c_j` the count of category
:math:`j` plus the prior's :math:`\alpha_j - 1`, has :math:`c_j = \lambda p_j` where :math:`p_j > 0` and
:math:`c_j \le 0` where :math:`p_j = 0`.

**Gaussian.** A conjugate prior acts like :math:`\kappa` more rows at :math:`m` and a scatter :math:`\Psi` on top. With
:math:`S(\mu) = \sum_i w_i (x_i - \mu)(x_i - \mu)^\top + \kappa(m - \mu)(m - \mu)^\top + \Psi` the score is zero iff

.. math:: \sum_i w_i (x_i - \mu) + \kappa (m - \mu) = 0 \quad\text{and}\quad S(\mu) = (n + c)\,\Sigma,

for a constant :math:`c` of the prior; a diagonal or spherical covariance needs the diagonal or the trace of that.

**Logistic.** In standardized data :math:`z_i = (x_i - \mu)/s` the fit is the minimum of a convex function at
:math:`a = 0, b = 1`,

.. math:: F(a, b) = -\log b + \frac1n \sum_i w_i \varphi(b z_i - a), \qquad \varphi(z) = 2 \log(2\cosh\tfrac z2).

For slopes :math:`|u_i| \le 1` with mean 0 and :math:`C = \frac1n \sum w_i u_i z_i > 0`, Fenchel's inequality gives

.. math:: \min F \ge 1 + \log C - \frac1n \sum_i w_i \varphi^*(u_i), \qquad
          \varphi^*(u) = 2\,(q \log q + (1 - q) \log(1 - q)),\ q = \tfrac{1 + u}2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import entr

from pellucid.proofs.arrays import Array, SparseOrDense, dense
from pellucid.proofs.certificate import Certificate, Claim, gap_claim
from pellucid.proofs.rounding import EPSILON, sum_error

ROWS_AT_ONCE = 4096
SMALL_SCORE = 1e-9
"""A score that Newton's method leaves far behind."""


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Numbers, labels or rows, and how often each stands there: those that stand nowhere are gone."""

    values: Array
    weight: Array

    @property
    def total(self) -> float:
        """How many there are, repetitions counted."""
        return float(self.weight.sum())

    def sum(self, per_row: Array) -> Array:
        """Return the weighted sum of numbers that belong to the rows."""
        return np.asarray(self.weight @ per_row)


def _counted(values: Array, weight: Any) -> CountedRows:
    n = len(values)
    counts = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
    if n == 0 or counts.shape != (n,) or not (counts >= 0).all() or not counts.any():
        raise ValueError(f"sample_weight must be a number of at least 0 for each of the {n} rows, and not all 0.")
    return CountedRows(values[counts > 0], counts[counts > 0])


def _numbers(X: SparseOrDense, weight: Any) -> CountedRows:
    return _counted(dense(X).astype(np.float64).reshape(len(X)), weight)


def certify_fit(density: Any, X: SparseOrDense, sample_weight: Any = None, prior: Any = None) -> Certificate:
    """Return the evidence that ``density`` maximizes the weighted likelihood of ``X``, times the prior if there is one.

    The score, the gradient of the log likelihood, is computed anew and must vanish up to rounding; at a probability of
    0 it must point outward. No code of the fits is used.

    Parameters
    ----------
    density : Density
        A fitted density of this package; nothing is claimed about other classes.
    X, sample_weight, prior
        What it was fitted to.

    Examples
    --------
    >>> from pellucid.probability import Bernoulli
    >>> certify_fit(Bernoulli(0.75), [1, 1, 0, 1]).holds
    True
    >>> certify_fit(Bernoulli(0.7), [1, 1, 0, 1]).holds
    False
    """
    for kind in type(density).__mro__:
        if kind.__module__.startswith("pellucid.") and kind.__name__ in PROOFS:
            with np.errstate(all="ignore"):  # wrong parameters may overflow; their claims then read inf or nan and fail
                return PROOFS[kind.__name__](density, X, sample_weight, prior)
    return Certificate("none", reason=f"The score of {type(density).__name__} is not known here.")


def _bernoulli(density: Any, X: SparseOrDense, sample_weight: Any, prior: Any) -> Certificate:
    data = _numbers(X, sample_weight)
    ones, zeros = data.values == 1, data.values == 0
    counts = np.array([data.sum(ones), data.sum(zeros)])
    return prove_shares((density.p, 1 - density.p), counts, _two(prior), float(data.sum(~(ones | zeros))))


def _binomial(density: Any, X: SparseOrDense, sample_weight: Any, prior: Any) -> Certificate:
    data, n = _numbers(X, sample_weight), density.n_trials
    possible = (data.values >= 0) & (data.values <= n) & (data.values == np.round(data.values))
    counts = np.array([data.sum(np.where(possible, k, 0.0)) for k in (data.values, n - data.values)])
    return prove_shares((density.p, 1 - density.p), counts, _two(prior), float(data.sum(~possible)))


def _categorical(density: Any, X: SparseOrDense, sample_weight: Any, prior: Any) -> Certificate:
    labels = np.asarray(X)
    data = _counted(labels.reshape(len(labels)), sample_weight)
    hits = [data.values == label for label in density.categories]
    counts, known = np.array([data.sum(hit) for hit in hits]), np.any(hits, axis=0)
    return prove_shares(density.probabilities, counts, _several(prior), float(data.sum(~known)))


def _multinomial(density: Any, X: SparseOrDense, sample_weight: Any, prior: Any) -> Certificate:
    data = _counted(dense(X), sample_weight)
    possible = (data.values >= 0).all(axis=1) & (data.values.sum(axis=1) == density.n_trials)
    counts = data.sum(data.values.astype(np.float64))
    return prove_shares(density.probabilities, counts, _several(prior), float(data.sum(~possible)))


def _gaussian(density: Any, X: SparseOrDense, sample_weight: Any, prior: Any) -> Certificate:
    data = _numbers(X, sample_weight)
    column = CountedRows(data.values[:, None], data.weight)
    return prove_gaussian(np.array([density.mean]), np.array([density.variance]), column, prior)


def _multivariate(density: Any, X: SparseOrDense, sample_weight: Any, prior: Any) -> Certificate:
    data = _counted(dense(X), sample_weight)
    return prove_gaussian(density.mean, density.covariance, data, prior)


def _logistic(density: Any, X: SparseOrDense, sample_weight: Any, prior: Any) -> Certificate:
    if prior is not None:
        raise TypeError(f"prior must be None for Logistic, which has no conjugate prior, got {type(prior).__name__}.")
    return prove_logistic(density.location, density.scale, _numbers(X, sample_weight))


PROOFS: dict[str, Callable[[Any, Any, Any, Any], Certificate]] = {
    "Bernoulli": _bernoulli,
    "Binomial": _binomial,
    "Categorical": _categorical,
    "Gaussian": _gaussian,
    "Logistic": _logistic,
    "Multinomial": _multinomial,
    "MultivariateGaussian": _multivariate,
}
"""Class name -> its proof. Names, not classes: a proof imports no fit."""


def _two(prior: Any) -> tuple[float, float]:
    return (0.0, 0.0) if prior is None else (prior.alpha - 1, prior.beta - 1)


def _several(prior: Any) -> Any:
    return 0.0 if prior is None else prior.concentration - 1


def prove_shares(probabilities: Any, counts: Array, pseudo_counts: Any, impossible: float) -> Certificate:
    """Return the certificate; ``impossible`` is the weight of rows that the density cannot produce."""
    p = np.asarray(probabilities, dtype=np.float64)
    evidence = counts + pseudo_counts
    inside = p > 0
    multiplier = float(evidence[inside].sum())
    score = np.abs(evidence - multiplier * p)[inside].max() / np.abs(evidence).sum()
    bound = sum_error(int(min(counts.sum(), 1e15)))
    claims = [
        Claim("score", "relative size of the gradient of the log likelihood, 0 up to rounding", float(score), bound),
        Claim("support", "weight of rows that this density cannot produce", float(impossible), 0.0),
    ]
    if not inside.all():
        pull = float(evidence[~inside].max()) / max(multiplier, 1.0)
        claims.append(Claim("boundary", "pull of the data away from a probability of 0, at most 0", pull, 0.0))
    return Certificate("exact", tuple(claims))


@dataclass(frozen=True, eq=False)
class PriorAsData:
    """What a prior adds: rows at a place, a scatter, and to the number of rows that the scatter is divided by."""

    rows: SparseOrDense = 0.0
    place: Any = 0.0
    scatter: Any = 0.0
    divisor: float = 0.0
    fixes_spread: bool = False


def prove_gaussian(mean: Array, covariance: Array, data: CountedRows, prior: Any) -> Certificate:
    """Return the certificate of a mean and a covariance, which is a matrix, a diagonal or one number."""
    variance = covariance.diagonal() if covariance.ndim == 2 else np.broadcast_to(covariance, mean.shape)
    added = _as_data(prior, covariance, len(mean))
    shift, scatter = _sums(data, mean, full=covariance.ndim == 2)
    toward_prior = added.place - mean
    size = (data.total + added.rows) * (np.abs(mean) + np.sqrt(variance))
    score = float(np.max(np.abs(shift + added.rows * toward_prior) / size))
    bound = 2.0 * sum_error(len(data.values))  # of the stored sums and of these
    claims = [Claim("mean score", "relative size of the gradient in the mean, 0 up to rounding", score, bound)]
    if not added.fixes_spread:
        seen = float(np.max((EPSILON * mean) ** 2 / variance))  # what rounding of the mean adds to the scatter
        misfit = _misfit(scatter, added, toward_prior, covariance, data.total)
        claims.append(
            Claim("spread score", "relative size of the gradient in the covariance, 0 up to rounding", misfit,
                  bound + seen)
        )  # fmt: skip
    return Certificate("exact", tuple(claims))


def _misfit(scatter: Array, added: PriorAsData, gap: Array, covariance: Array, total: float) -> float:
    """Return the largest difference of the covariance from what the data say, in units of the deviations."""
    if covariance.ndim == 2:
        wanted = (scatter + added.rows * np.outer(gap, gap) + added.scatter) / (total + added.divisor)
        deviation = np.sqrt(covariance.diagonal())
        return float(np.max(np.abs(wanted - covariance) / np.outer(deviation, deviation)))
    per_column = scatter + added.rows * gap**2
    if covariance.ndim == 0:
        wanted = (per_column.sum() + added.scatter) / (len(gap) * total + added.divisor)
    else:
        wanted = (per_column + added.scatter) / (total + added.divisor)
    return float(np.max(np.abs(wanted / covariance - 1)))


def _as_data(prior: Any, covariance: Array, p: int) -> PriorAsData:
    name = type(prior).__name__
    if prior is None:
        return PriorAsData()
    if name == "NormalInverseWishart" and covariance.ndim == 2:
        return PriorAsData(prior.pseudo_count, prior.location, prior.scale, prior.degrees + p + 2)
    if name == "NormalInverseGamma" and covariance.ndim < 2:
        means_sharing_it = p if covariance.ndim == 0 else 1
        return PriorAsData(prior.pseudo_count, prior.location, 2 * prior.scale, 2 * prior.shape + 2 + means_sharing_it)
    if name == "Gaussian" and p == 1:
        return PriorAsData(covariance / prior.variance, prior.mean, fixes_spread=True)
    raise TypeError(f"prior must be the conjugate prior that the density was fitted with, got {name}.")


def _sums(data: CountedRows, mean: Array, *, full: bool) -> tuple[Array, Array]:
    """Return the weighted sums of ``x - mean`` and of its products with itself."""
    p = len(mean)
    shifts, scatter = [], np.zeros((p, p) if full else p)
    for start in range(0, len(data.values), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        centered = data.values[rows].astype(np.float64) - mean
        weighted = centered * data.weight[rows, None]
        shifts.append(weighted.sum(axis=0))
        scatter += weighted.T @ centered if full else (weighted * centered).sum(axis=0)
    return np.sum(shifts, axis=0), scatter


def prove_logistic(location: float, scale: float, data: CountedRows) -> Certificate:
    """Return the certificate: the duality gap per observation, and the two scores."""
    share = data.weight / data.total
    z = (data.values - location) / scale
    slope = np.tanh(z / 2)
    rounded = 64 * EPSILON * abs(location) / scale  # the location is stored with so many digits only
    primal, below = _primal_and_bound(z, share)
    gap_bound = sum_error(len(z)) * (1 + float(share @ np.abs(z))) + rounded**2
    scores = (abs(float(share @ slope)), abs(float(share @ (z * slope)) - 1))
    claims = (
        gap_claim("gap", "no parameters have a mean log likelihood larger by more than this", primal, below,
                  gap_bound, rounding=gap_bound),
        Claim("location score", "mean gradient in the location, 0 up to rounding", scores[0], SMALL_SCORE + rounded),
        Claim("scale score", "mean gradient in the scale, 0 up to rounding", scores[1], SMALL_SCORE + rounded),
    )  # fmt: skip
    return Certificate("optimal", claims)


def _primal_and_bound(z: Array, share: Array) -> tuple[float, float]:
    """Return the objective and what no objective is below; minus infinity if the dual point bounds nothing."""
    u, size = _dual_point(z, share), np.abs(z)
    primal = float(share @ (size + 2 * np.log1p(np.exp(-size))))
    correlation = float(share @ (u * z))
    if not correlation > 0:
        return primal, -np.inf
    conjugate = -2 * float(share @ (entr((1 + u) / 2) + entr((1 - u) / 2)))
    return primal, 1 + float(np.log(correlation)) - conjugate


def _dual_point(z: Array, share: Array) -> Array:
    """Return the slopes at the best location for this scale, whose mean is 0; what rounding leaves is shrunk away."""
    center = brentq(lambda c: float(share @ np.tanh((z - c) / 2)), z.min() - 1, z.max() + 1)
    slope = np.tanh((z - center) / 2)
    up, down = float(share @ np.maximum(slope, 0)), float(share @ np.maximum(-slope, 0))
    lighter = min(up, down)
    return np.where(slope > 0, slope * (lighter / up if up else 0), slope * (lighter / down if down else 0))
