"""MultivariateGaussian: the normal density of a vector, with a full, a diagonal or a spherical covariance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import log, pi
from typing import Any, Self

import numpy as np
from scipy.linalg import solve_triangular

from pellucid.core.checks import check_one_of, check_whole
from pellucid.core.random_state import generator
from pellucid.core.scale.row_blocks import is_in_blocks
from pellucid.core.threads import own_threads, run_blocks, split_evenly, thread_count
from pellucid.core.types import Array, Data, RandomState
from pellucid.probability.conjugate_priors import NormalInverseGamma, NormalInverseWishart
from pellucid.probability.moments import RowMoments, moments, moments_in_blocks
from pellucid.probability.sample_data import EqualByValue, counted, covariance_matrix, finite_array, set_fields, vectors

KINDS = ("spherical", "diagonal", "full")
"""Kind of covariance by the number of its dimensions: one number, one per column, a matrix."""

BLOCK = 1 << 17
"""Numbers of a block of rows, which should stay in cache."""


@dataclass(frozen=True, eq=False)
class MultivariateGaussian(EqualByValue):
    r"""The normal density of a vector of length p.

    .. math:: \log f(x) = -\tfrac12 \bigl( p \log 2\pi + \log|\Sigma| + (x - \mu)^\top \Sigma^{-1} (x - \mu) \bigr)

    Parameters
    ----------
    mean : array-like of shape (p,)
        :math:`\mu`.
    covariance : array-like of shape (p, p) or (p,), or float
        :math:`\Sigma`, positive definite; or its diagonal; or the one variance of all columns.

    Examples
    --------
    >>> density = MultivariateGaussian.fit([[0, 0], [2, 0], [0, 2], [2, 2]])
    >>> density.mean, density.covariance
    (array([1., 1.]), array([[1., 0.],
           [0., 1.]]))
    >>> MultivariateGaussian([0, 0], 4.0).kind
    'spherical'
    """

    mean: Array
    covariance: Array

    def __post_init__(self) -> None:
        center = finite_array("mean", self.mean, 1)
        ndim = np.ndim(self.covariance)
        if ndim == 2:
            spread = covariance_matrix("covariance", self.covariance)
        else:
            spread = finite_array("covariance", self.covariance, ndim)
            if spread.min() <= 0:
                raise ValueError(f"covariance must be above 0, got {float(spread.min())!r}.")
        if spread.ndim and len(spread) != len(center):
            raise ValueError(f"covariance must have {len(center)} rows, as mean has, got {len(spread)}.")
        set_fields(self, mean=center, covariance=spread)

    @classmethod
    def fit(cls, X: Data, sample_weight: Data | None = None, *, prior: Any = None, kind: str = "full") -> Self:
        r"""Return the weighted mean and the mean of :math:`(x - \bar x)(x - \bar x)^\top`, or the posterior mode.

        Parameters
        ----------
        X : array-like of shape (n_samples, p)
            Rows; those of a Dask collection are read in one pass.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row stands there.
        prior : NormalInverseWishart or NormalInverseGamma, default=None
            The former for a full covariance; the latter for a diagonal one, the same for every column, or for the one
            variance of a spherical covariance.
        kind : {"full", "diagonal", "spherical"}, default="full"
            What the covariance may be.
        """
        check_one_of(KINDS, kind=kind)
        if is_in_blocks(X):
            found = moments_in_blocks(X, sample_weight, full=kind == "full")
        else:
            found = moments(counted(vectors(X), sample_weight), full=kind == "full")
        mean, covariance = COVARIANCE_FITS[kind](found, prior)
        try:
            return cls(mean, covariance)
        except ValueError as singular:
            remedy = "Pass a NormalInverseWishart prior, more rows, or kind='diagonal'."
            raise ValueError(f"{singular} {remedy}") from None

    def fitted_covariance_bias(self, n: int) -> Array:
        r"""Return :math:`E[\hat\Sigma] - \Sigma = -\Sigma / n`, how far ``fit`` to ``n`` draws is off on average."""
        check_whole(n=n)
        return np.asarray(-self.covariance / n)

    @property
    def kind(self) -> str:
        """``"full"``, ``"diagonal"`` or ``"spherical"``."""
        return KINDS[self.covariance.ndim]

    @property
    def variance(self) -> Array:
        """Variance of each column."""
        return self.covariance.diagonal() if self.kind == "full" else np.broadcast_to(self.covariance, self.mean.shape)

    @property
    def full_covariance(self) -> Array:
        """The covariance as a matrix of shape (p, p), whatever its kind."""
        return self.covariance if self.kind == "full" else np.diag(self.variance)

    def log_prob(self, X: Data) -> Array:
        """Return the log density of each row, from rows that the Cholesky factor makes uncorrelated."""
        rows = vectors(X, len(self.mean))
        out = np.empty(len(rows))
        height = max(1, BLOCK // len(self.mean))

        def work(part: slice) -> None:
            with np.errstate(over="ignore", invalid="ignore"):
                for start in range(part.start, part.stop, height):
                    these = slice(start, min(start + height, part.stop))
                    z = whiten(np.subtract(rows[these], self.mean, dtype=np.float64))
                    out[these] = constant - 0.5 * np.einsum("ij,ij->i", z, z)

        with own_threads():  # the threads of BLAS would spin on after the factor is made, and take a core
            whiten, constant = self._whitener(), -0.5 * (len(self.mean) * log(2 * pi) + self._log_det)
            run_blocks(work, split_evenly(len(rows), thread_count()))
        return self._at_infinity(rows, out)

    def sample(self, n: int, random_state: RandomState = None) -> Array:
        """Return ``n`` rows."""
        check_whole(0, n=n)
        z = generator(random_state).standard_normal((n, len(self.mean)))
        return self.mean + (z @ self._factor.T if self.kind == "full" else z * self._factor)

    def entropy(self) -> float:
        r"""Return the differential entropy in nats, :math:`\tfrac12 (p \log 2\pi e + \log|\Sigma|)`."""
        return float(0.5 * (len(self.mean) * (log(2 * pi) + 1) + self._log_det))

    @cached_property
    def _factor(self) -> Array:
        """The Cholesky factor, or the deviations if the covariance is no matrix."""
        return np.linalg.cholesky(self.covariance) if self.kind == "full" else np.sqrt(self.covariance)

    @property
    def _log_det(self) -> float:
        deviations = self._factor.diagonal() if self.kind == "full" else np.broadcast_to(self._factor, self.mean.shape)
        return 2.0 * float(np.log(deviations).sum())

    def _whitener(self) -> Callable[[Array], Array]:
        """Return the map from centered rows to rows of unit covariance; it may overwrite what it is given."""
        if self.kind != "full":
            return lambda centered: np.divide(centered, self._factor, out=centered)
        # inverted once, so that the blocks are plain products, which run on all threads; leaving out the zeros of the
        # triangle (trmm, or panels) measured slower than multiplying them
        inverse = np.ascontiguousarray(solve_triangular(self._factor, np.eye(len(self.mean)), lower=True).T)
        return lambda centered: centered @ inverse

    def _at_infinity(self, rows: Array, out: Array) -> Array:
        """Infinite coordinates cancel to nan in the solve, though nothing is less likely."""
        doubtful = np.flatnonzero(np.isnan(out))
        out[doubtful] = np.where(np.isnan(rows[doubtful]).any(axis=1), np.nan, -np.inf)
        return out


Fit = Callable[[RowMoments, Any], tuple[Array, Any]]


def full_covariance(found: RowMoments, prior: NormalInverseWishart | None) -> tuple[Array, Array]:
    """Return the mean and the scatter over the number of rows, or the mode of the normal-inverse-Wishart posterior."""
    _check_prior(prior, NormalInverseWishart, "full")
    if prior is None:
        return found.mean, found.scatter / found.total
    if len(prior.location) != len(found.mean):
        raise ValueError(f"prior must have dimension {len(found.mean)}, as X has, got {len(prior.location)}.")
    return prior.updated(found.total, found.mean, found.scatter).mode


def diagonal_covariance(found: RowMoments, prior: NormalInverseGamma | None) -> tuple[Array, Array]:
    """Return mean and variance of each column as if it were alone."""
    _check_prior(prior, NormalInverseGamma, "diagonal")
    if prior is None:
        _refuse_constant(found.scatter)
        return found.mean, found.scatter / found.total
    modes = [
        prior.updated(found.total, float(m), float(s)).mode for m, s in zip(found.mean, found.scatter, strict=True)
    ]
    mean, variance = np.array(modes).T
    return mean, variance


def spherical_covariance(found: RowMoments, prior: NormalInverseGamma | None) -> tuple[Array, float]:
    r"""Return the mean and the one variance of all columns.

    With a prior :math:`v` has shape :math:`\alpha + np/2`, and p means share it: the mode divides by
    :math:`\alpha + np/2 + 1 + p/2`.
    """
    _check_prior(prior, NormalInverseGamma, "spherical")
    p, scatter = len(found.mean), float(found.scatter.sum())
    if prior is None:
        _refuse_constant(np.array([scatter]))
        return found.mean, scatter / (p * found.total)
    count = prior.pseudo_count + found.total
    gap = found.mean - prior.location
    mean = prior.location + found.total / count * gap
    scale = prior.scale + scatter / 2 + prior.pseudo_count * found.total / count * float(gap @ gap) / 2
    return mean, scale / (prior.shape + p * found.total / 2 + 1 + p / 2)


COVARIANCE_FITS: dict[str, Fit] = {
    "full": full_covariance,
    "diagonal": diagonal_covariance,
    "spherical": spherical_covariance,
}


def _check_prior(prior: Any, wanted: type, kind: str) -> None:
    if not (prior is None or isinstance(prior, wanted)):
        raise TypeError(f"prior of a {kind} covariance must be a {wanted.__name__}, got {type(prior).__name__}.")


def _refuse_constant(scatter: Array) -> None:
    if scatter.min() <= 0:
        raise ValueError(
            f"variance must be above 0, got 0: column {int(scatter.argmin())} of X is constant. "
            "Drop it, or pass a NormalInverseGamma prior."
        )
