r"""The four kinds of covariances of a Gaussian mixture, in the units of standardized rows.

A kind knows the features in which the log density of a component is linear, the coefficients of these, and how sums of
features become means and covariances. ``factors`` are upper triangular matrices :math:`U` with
:math:`\Sigma^{-1} = U U^\top`, or deviations turned over.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from pellucid.core.types import Array
from pellucid.proofs.rounding import TINY
from pellucid.solvers.soft_assignment import COLUMNS, LENGTH, PRODUCTS, SQUARES, Features

NOT_DEFINITE = (
    "Fitting the mixture model failed because some components have ill-defined empirical covariance (for instance "
    "caused by singleton or collapsed samples). Try to decrease the number of components, increase reg_covar, or scale "
    "the input data."
)


@dataclass(frozen=True, eq=False)
class Components:
    """Weights of shape (K,), means (K, d), covariances and factors of their inverses, as the kind has them."""

    weights: Array
    means: Array
    covariances: Array
    factors: Array


@dataclass(frozen=True, eq=False)
class ComponentMoments:
    """Of each component: the weight of its rows (K,), their mean (K, d), and their covariance as the kind has it."""

    totals: Array
    means: Array
    spreads: Array


class Full:
    """A matrix for each component."""

    features: Features = PRODUCTS

    def shape(self, n_components: int, d: int) -> tuple[int, ...]:
        """Return the shape of the covariances."""
        return (n_components, d, d)

    def coefficients(self, components: Components) -> Array:
        """Return what the features are multiplied with to give the log joint density of each component."""
        precisions = components.factors @ components.factors.transpose(0, 2, 1)
        slopes = np.einsum("kij,kj->ki", precisions, components.means)
        a, b = np.triu_indices(precisions.shape[1])
        squares = -precisions[:, a, b] * np.where(a == b, 0.5, 1.0)
        return _joined(squares, slopes, self.log_peaks(components), components.means)

    def moments(self, sums: Array, second: Array | None) -> ComponentMoments:
        """Return the moments of the rows from the sums of features."""
        totals, means, rest = _means(sums, _columns_of_products(sums.shape[1]))
        a, b = np.triu_indices(means.shape[1])
        spreads = np.empty((len(sums), means.shape[1], means.shape[1]))
        spreads[:, a, b] = spreads[:, b, a] = rest
        return ComponentMoments(totals, means, spreads - means[:, :, None] * means[:, None, :])

    def with_floor(self, moments: ComponentMoments, floor: Array) -> Array:
        """Return the covariances, with what keeps them from being singular added."""
        return np.asarray(moments.spreads + np.diag(floor))

    def factors(self, covariances: Array) -> Array:
        """Return the factors of the inverses, or refuse covariances that are singular."""
        return np.stack([_inverse_factor(covariance) for covariance in covariances])

    def factors_of_precisions(self, precisions: Array) -> Array:
        """Return the factors of given inverses."""
        return np.stack([_upper_factor(precision) for precision in precisions])

    def covariances_of_factors(self, factors: Array) -> Array:
        """Return the covariances whose inverses have these factors."""
        return np.stack([_covariance(factor) for factor in factors])

    def log_peaks(self, components: Components) -> Array:
        """Return the log joint density of each component at its mean."""
        log_det = np.log(np.diagonal(components.factors, axis1=1, axis2=2)).sum(axis=1)
        return _log_peaks(components, log_det)

    def whitened(self, deviations: Array, factors: Array, k: int) -> Array:
        """Return deviations from the mean of component ``k`` as if its covariance were 1."""
        return np.asarray(deviations @ factors[k])

    def scatter(self, deviations: Array, shares: Array) -> Array:
        """Return the sum of products of deviations, times shares."""
        return np.asarray((deviations * shares[:, None]).T @ deviations)

    def less_shift(self, spreads: Array, shift: Array) -> Array:
        """Return second moments about the means from those about points that are ``shift`` away."""
        return np.asarray(spreads - shift[:, :, None] * shift[:, None, :])

    def to_units(self, covariances: Array, scale: Array) -> Array:
        """Return covariances of standardized rows, or precisions if the scale is turned over, in the units of X."""
        return np.asarray(covariances * scale * scale[:, None])

    def factors_to_units(self, factors: Array, scale: Array) -> Array:
        """Return factors of standardized rows in the units of X."""
        return np.asarray(factors / scale[:, None])

    def precisions(self, factors: Array) -> Array:
        """Return the inverse covariances."""
        return np.asarray(factors @ factors.swapaxes(-1, -2))

    def divergence(self, new: Components, old: Components) -> Array:
        r"""Return :math:`\mathrm{KL}(f'_k \| f_k)` for each component, without the part of the means."""
        inner = np.einsum("kij,kij->k", self.precisions(old.factors), new.covariances)
        log_dets = [np.log(np.diagonal(one.factors, axis1=1, axis2=2)).sum(axis=1) for one in (new, old)]
        return np.asarray(0.5 * (inner - new.means.shape[1]) + log_dets[0] - log_dets[1])


class Tied(Full):
    """One matrix for all components; the second moments of all rows, which never change, are all it needs of them."""

    features: Features = COLUMNS

    def shape(self, n_components: int, d: int) -> tuple[int, ...]:  # noqa: D102
        return (d, d)

    def coefficients(self, components: Components) -> Array:  # noqa: D102
        slopes = components.means @ self.precisions(components.factors)
        return _joined(np.empty((len(slopes), 0)), slopes, self.log_peaks(components), components.means)

    def moments(self, sums: Array, second: Array | None) -> ComponentMoments:  # noqa: D102
        totals, means, _ = _means(sums, sums.shape[1] - 1)
        between = (means * (totals / totals.sum())[:, None]).T @ means
        return ComponentMoments(totals, means, np.asarray(second - between))

    def factors(self, covariances: Array) -> Array:  # noqa: D102
        return _inverse_factor(covariances)

    def factors_of_precisions(self, precisions: Array) -> Array:  # noqa: D102
        return _upper_factor(precisions)

    def covariances_of_factors(self, factors: Array) -> Array:  # noqa: D102
        return _covariance(factors)

    def log_peaks(self, components: Components) -> Array:  # noqa: D102
        return _log_peaks(components, float(np.log(np.diagonal(components.factors)).sum()))

    def whitened(self, deviations: Array, factors: Array, k: int) -> Array:  # noqa: D102
        return np.asarray(deviations @ factors)

    def divergence(self, new: Components, old: Components) -> Array:  # noqa: D102
        inner = float(np.sum(self.precisions(old.factors) * new.covariances))
        log_dets = [np.log(np.diagonal(one.factors)).sum() for one in (new, old)]
        return np.full(len(new.weights), 0.5 * (inner - new.means.shape[1]) + log_dets[0] - log_dets[1])


class Diagonal(Full):
    """A variance for each component and column."""

    features: Features = SQUARES

    def shape(self, n_components: int, d: int) -> tuple[int, ...]:  # noqa: D102
        return (n_components, d)

    def coefficients(self, components: Components) -> Array:  # noqa: D102
        precisions = components.factors**2
        return _joined(-0.5 * precisions, precisions * components.means, self.log_peaks(components), components.means)

    def moments(self, sums: Array, second: Array | None) -> ComponentMoments:  # noqa: D102
        totals, means, squares = _means(sums, (sums.shape[1] - 1) // 2)
        return ComponentMoments(totals, means, squares - means**2)

    def with_floor(self, moments: ComponentMoments, floor: Array) -> Array:  # noqa: D102
        return np.asarray(moments.spreads + floor)

    def factors(self, covariances: Array) -> Array:  # noqa: D102
        if not (covariances > 0.0).all():
            raise ValueError(NOT_DEFINITE)
        return np.asarray(1.0 / np.sqrt(covariances))

    def factors_of_precisions(self, precisions: Array) -> Array:  # noqa: D102
        return np.asarray(np.sqrt(precisions))

    def covariances_of_factors(self, factors: Array) -> Array:  # noqa: D102
        return np.asarray(factors**-2)

    def log_peaks(self, components: Components) -> Array:  # noqa: D102
        return _log_peaks(components, np.log(components.factors).sum(axis=1))

    def whitened(self, deviations: Array, factors: Array, k: int) -> Array:  # noqa: D102
        return np.asarray(deviations * factors[k])

    def scatter(self, deviations: Array, shares: Array) -> Array:  # noqa: D102
        return np.asarray(shares @ deviations**2)

    def less_shift(self, spreads: Array, shift: Array) -> Array:  # noqa: D102
        return np.asarray(spreads - shift**2)

    def to_units(self, covariances: Array, scale: Array) -> Array:  # noqa: D102
        return np.asarray(covariances * scale * scale)

    def factors_to_units(self, factors: Array, scale: Array) -> Array:  # noqa: D102
        return np.asarray(factors / scale)

    def precisions(self, factors: Array) -> Array:  # noqa: D102
        return np.asarray(factors**2)

    def divergence(self, new: Components, old: Components) -> Array:  # noqa: D102
        ratio = new.covariances * old.factors**2
        return np.asarray(0.5 * (ratio - 1.0 - np.log(ratio)).sum(axis=1))


class Spherical(Diagonal):
    """One variance for each component; all columns have the same scale."""

    features: Features = LENGTH

    def shape(self, n_components: int, d: int) -> tuple[int, ...]:  # noqa: D102
        return (n_components,)

    def coefficients(self, components: Components) -> Array:  # noqa: D102
        precisions = components.factors[:, None] ** 2
        return _joined(-0.5 * precisions, precisions * components.means, self.log_peaks(components), components.means)

    def moments(self, sums: Array, second: Array | None) -> ComponentMoments:  # noqa: D102
        totals, means, lengths = _means(sums, sums.shape[1] - 2)
        return ComponentMoments(totals, means, (lengths[:, 0] - (means**2).sum(axis=1)) / means.shape[1])

    def with_floor(self, moments: ComponentMoments, floor: Array) -> Array:  # noqa: D102
        return np.asarray(moments.spreads + floor.mean())

    def log_peaks(self, components: Components) -> Array:  # noqa: D102
        return _log_peaks(components, components.means.shape[1] * np.log(components.factors))

    def scatter(self, deviations: Array, shares: Array) -> Array:  # noqa: D102
        return np.asarray(shares @ (deviations**2).mean(axis=1))

    def less_shift(self, spreads: Array, shift: Array) -> Array:  # noqa: D102
        return np.asarray(spreads - (shift**2).mean(axis=1))

    def to_units(self, covariances: Array, scale: Array) -> Array:  # noqa: D102
        return np.asarray(covariances * scale[0] * scale[0])

    def factors_to_units(self, factors: Array, scale: Array) -> Array:  # noqa: D102
        return np.asarray(factors / scale[0])

    def divergence(self, new: Components, old: Components) -> Array:  # noqa: D102
        ratio = new.covariances * old.factors**2
        return np.asarray(0.5 * new.means.shape[1] * (ratio - 1.0 - np.log(ratio)))


KINDS: dict[str, Any] = {"full": Full(), "tied": Tied(), "diag": Diagonal(), "spherical": Spherical()}


def scores(kind: Any, components: Components, rows: Array) -> Array:
    """Return the log joint densities of shape (K, n) from differences: slower than products, and no digits cancel."""
    out = np.empty((len(components.weights), len(rows)))
    peaks = kind.log_peaks(components)
    for k, mean in enumerate(components.means):
        z = kind.whitened(rows - mean, components.factors, k)
        out[k] = peaks[k] - 0.5 * np.einsum("ij,ij->i", z, z)
    return out


def movement(kind: Any, new: Components, old: Components) -> float:
    """Return how far a step went, in nats for each row: the divergence of the new from the old components."""
    z = [kind.whitened((new.means - old.means)[k : k + 1], old.factors, k) for k in range(len(new.weights))]
    lengths = 0.5 * np.array([float(np.sum(one**2)) for one in z])
    logs = np.log(np.maximum(new.weights, TINY)) - np.log(np.maximum(old.weights, TINY))
    return max(0.0, float(new.weights @ (logs + kind.divergence(new, old) + lengths)))


def _joined(squares: Array, slopes: Array, peaks: Array, means: Array) -> Array:
    constants = peaks - 0.5 * np.einsum("kj,kj->k", slopes, means)
    return np.ascontiguousarray(np.hstack([squares, slopes, constants[:, None]]))


def _means(sums: Array, d: int) -> tuple[Array, Array, Array]:
    """Return totals, means, and the mean of the features before the columns; those of no rows are 0."""
    totals = sums[:, -1]
    means = sums[:, :-1] / np.where(totals > 0.0, totals, 1.0)[:, None]
    return totals, means[:, means.shape[1] - d :], means[:, : means.shape[1] - d]


def _columns_of_products(width: int) -> int:
    """Return d, where d (d + 1) / 2 + d + 1 is the width."""
    return int((np.sqrt(8 * width + 1) - 3) / 2 + 0.5)


def _log_peaks(components: Components, log_det: Any) -> Array:
    logs = np.log(np.maximum(components.weights, TINY))  # a component without rows is possible, and never taken
    return np.asarray(logs + log_det - 0.5 * components.means.shape[1] * log(2 * pi))


def _inverse_factor(covariance: Array) -> Array:
    try:
        lower = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        raise ValueError(NOT_DEFINITE) from None
    return np.ascontiguousarray(solve_triangular(lower, np.eye(len(lower)), lower=True).T)


def _upper_factor(precision: Array) -> Array:
    """Return the upper triangular U with U U' the matrix: a Cholesky factor of rows and columns in reversed order."""
    return np.ascontiguousarray(np.linalg.cholesky(precision[::-1, ::-1])[::-1, ::-1])


def _covariance(factor: Array) -> Array:
    inverse = solve_triangular(factor, np.eye(len(factor)), lower=False)
    return np.asarray(inverse.T @ inverse)
