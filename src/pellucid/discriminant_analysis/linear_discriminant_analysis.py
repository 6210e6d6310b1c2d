"""LinearDiscriminantAnalysis: Gaussian classes that share one covariance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from scipy.linalg import LinAlgError, eigh, lstsq, svd
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.input_rules import FLOATS
from pellucid.core.labels import rows_by_class
from pellucid.core.types import Array, Data
from pellucid.discriminant_analysis.class_moments import (
    DiscriminantScores,
    centered_triangle,
    class_masses,
    class_moments,
    class_priors,
    class_scatter,
    covariance,
)
from pellucid.proofs.rounding import EPSILON
from pellucid.proofs.training_data import TrainingData


class LinearDiscriminantAnalysis(
    ClassNamePrefixFeaturesOutMixin, DiscriminantScores, ClassifierMixin, TransformerMixin, CertifiedEstimator
):
    r"""Classes with normal densities :math:`N(\mu_k, \Sigma)`: the boundaries are planes.

    .. math:: \delta_k(x) = x'\Sigma^{-1}\mu_k - \tfrac12\mu_k'\Sigma^{-1}\mu_k + \log\pi_k

    For two classes the boundary is :math:`w'x + w_0 = 0` with :math:`w = \Sigma^{-1}(\mu_1 - \mu_0)` and
    :math:`w_0 = -\tfrac12(\mu_1 + \mu_0)'w + \log(\pi_1/\pi_0)`; some notes forget the last term.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        ``svd`` drops directions in which nothing varies within classes; ``lsqr`` and ``eigen`` take shrinkage, and
        ``lsqr`` cannot transform.
    shrinkage : "auto", float or None, default=None
        Share of a multiple of the identity in the covariance; ``auto`` is Ledoit and Wolf's.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities :math:`\pi_k`; the shares in the data if not given.
    n_components : int, default=None
        Dimension of the projection, at most ``min(n_classes - 1, n_features)``.
    store_covariance : bool, default=False
        Whether ``svd`` stores ``covariance_``, too.
    tol : float, default=1e-4
        Standard deviations below this, after scaling each feature to 1, count as 0; for ``svd``.
    covariance_estimator : estimator, default=None
        With ``covariance_`` after ``fit``, instead of shrinkage.

    Attributes
    ----------
    classes_, priors_, means_ : ndarray of shape (n_classes,), (n_classes,), (n_classes, n_features)
        Labels, prior probabilities and means.
    coef_, intercept_ : ndarray of shape (1 or n_classes, n_features), (1 or n_classes,)
        The discriminants; for two classes their difference.
    covariance_ : ndarray of shape (n_features, n_features)
        The shared covariance, of the classes weighted by ``priors_``; if asked for.
    scalings_, xbar_, explained_variance_ratio_
        Fisher's projection, its origin (``svd``), and the share of the variance between classes of each component.
    certificate_, trace_
        Means, priors and discriminants solve their equations.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [4.0], [5.0], [6.0]], [0, 0, 0, 1, 1, 1]
    >>> model = LinearDiscriminantAnalysis().fit(X, y)  # means 1 and 5, variance 2/3: w = 6, w_0 = -3 * 6
    >>> model.coef_.round(6), model.intercept_.round(6)
    (array([[6.]]), array([-18.]))
    """

    means_: Array
    priors_: Array
    coef_: Array
    intercept_: Array
    scalings_: Array
    xbar_: Array

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Data | None = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    @fit_method
    def fit(self, X: Data, y: Data) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and the labels ``y``."""
        data = self._check(X, y)
        if len(data.y) == len(data.classes):
            raise ValueError(
                f"The number of samples must be more than the number of classes, got {len(data.y)} of each. Add rows."
            )
        n_components = self._component_count(len(data.classes), data.X.shape[1])
        settings = SimpleNamespace(**{**self.get_params(deep=False), "n_components": n_components})
        return self._adopt(linear_discriminants(data, settings), data)

    def transform(self, X: Data) -> Array:
        """Return Fisher's projection, of shape (n_samples, n_components)."""
        if self.solver == "lsqr":
            raise NotImplementedError(
                "transform not implemented for 'lsqr' solver (use 'svd' or 'eigen'): it finds no projection."
            )
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=FLOATS)
        centered = X - self.xbar_ if self.solver == "svd" else X
        return np.asarray(centered @ self.scalings_)[:, : self._n_features_out]

    def _class_scores(self, X: Data) -> Array:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=FLOATS)
        scores = np.asarray(X @ self.coef_.T + self.intercept_)
        return np.column_stack([np.zeros_like(scores[:, :1]), scores]) if len(self.classes_) == 2 else scores

    def decision_function(self, X: Data) -> Array:
        """Return the log odds of the second class if there are two, else the discriminants."""
        scores = self._class_scores(X)
        return scores[:, 1] if len(self.classes_) == 2 else scores

    def _component_count(self, n_classes: int, n_features: int) -> int:
        most = min(n_classes - 1, n_features)
        if self.n_components is None:
            return most
        if self.n_components > most:
            raise ValueError(
                f"n_components cannot be larger than min(n_features, n_classes - 1) = {most}, got {self.n_components}."
            )
        return self.n_components


SAFE = 1e-6
"""Smallest eigenvalue of the pooled correlations for which their square roots keep ten digits."""


@dataclass(frozen=True)
class GroupedData:
    """Rows, who belongs where, and the means, scatters and priors of the classes."""

    X: Array
    rows_of: tuple[Array, ...]
    weight: Array | None
    masses: Array
    """How many rows each class has, or what they weigh."""
    means: Array
    scatters: list[Array]
    priors: Array

    @property
    def center(self) -> Array:
        """Mean of the class means, weighted by the priors."""
        return self.priors @ self.means

    @property
    def targets(self) -> Array:
        r"""What :math:`\Sigma w_k` must be: the means. Of two only the difference counts, which the center disturbs."""
        return self.means - self.center if len(self.means) == 2 else self.means


@dataclass(frozen=True)
class Discriminants:
    """One linear score per class, the covariance it is based on, and what else the solver found."""

    coef: Array
    intercept: Array
    within: Array
    attributes: dict[str, Array] = field(default_factory=dict)


def linear_discriminants(data: TrainingData, settings: Any) -> Fit:
    """Return the fit of linear discriminant analysis; ``settings`` are its parameters, ``n_components`` a number."""
    rows_of = rows_by_class(data.y, len(data.classes))
    masses = class_masses(rows_of, data.weight)
    priors = class_priors(settings.priors, masses)
    moments = class_moments(data.X, rows_of, data.weight)
    groups = GroupedData(data.X, rows_of, data.weight, masses, *moments, priors)
    found = SOLVERS[settings.solver](groups, settings)
    coef, intercept = found.coef, found.intercept
    if len(data.classes) == 2:
        coef = coef[1:] - coef[:1]
        intercept = -0.5 * coef @ groups.means.sum(axis=0) + np.diff(_log(priors))
    numbers = {"means_": groups.means, "priors_": priors, "coef_": coef, "intercept_": intercept, **found.attributes}
    attributes = {name: value.astype(data.dtype) for name, value in numbers.items()}
    attributes |= {"classes_": data.classes, "_n_features_out": settings.n_components}
    return Fit(attributes)


def solve_svd(data: GroupedData, settings: Any) -> Discriminants:
    r"""Whiten the classes, then rotate towards their means.

    With :math:`V` such that :math:`V'\Sigma V = I` on the directions that vary, the weighted means in these coordinates
    have singular vectors :math:`U`; :math:`VU` is Fisher's projection and :math:`\delta` is evaluated in it.
    """
    within = _pooled_covariance(data)
    whitener = _whitener(data, within, settings.tol)
    n, n_classes = float(data.masses.sum()), len(data.means)
    weight = np.sqrt(n * data.priors / max(n_classes - 1, 1))
    between = (weight[:, None] * (data.means - data.center)) @ whitener
    _, sizes, rotation = svd(between, full_matrices=False)
    total = float(np.sum(sizes**2))
    kept = int(np.sum(sizes > settings.tol * sizes[0])) if len(sizes) else 0
    scalings = _oriented(whitener @ rotation[:kept].T)
    coordinates = (data.means - data.center) @ scalings
    coef = coordinates @ scalings.T
    intercept = -0.5 * np.sum(coordinates**2, axis=1) + _log(data.priors) - coef @ data.center
    ratio = (sizes**2 / total if total else sizes)[: settings.n_components]
    attributes = {"scalings_": scalings, "xbar_": data.center, "explained_variance_ratio_": ratio}
    if settings.store_covariance:
        attributes["covariance_"] = _weighted_covariance(data, None, None)
    return Discriminants(coef, intercept, within, attributes)


def solve_lsqr(data: GroupedData, settings: Any) -> Discriminants:
    r"""Solve :math:`\Sigma w_k = \mu_k` by least squares."""
    within = _weighted_covariance(data, settings.shrinkage, settings.covariance_estimator)
    deviation = deviations(within)  # in these units features of all sizes count alike
    correlations = within / np.outer(deviation, deviation)
    coef = lstsq(correlations, data.targets.T / deviation[:, None], cond=dependent(len(deviation)))[0].T / deviation
    intercept = -0.5 * np.sum(data.means * coef, axis=1) + _log(data.priors)
    return Discriminants(coef, intercept, within, {"covariance_": within})


def solve_eigen(data: GroupedData, settings: Any) -> Discriminants:
    r"""Find the directions that separate best: :math:`\Sigma_b v = \lambda\Sigma v`, with :math:`V'\Sigma V = I`."""
    within = _weighted_covariance(data, settings.shrinkage, settings.covariance_estimator)
    rows = np.arange(len(data.X))
    mass = float(data.masses.sum())
    scatter = class_scatter(data.X, rows, data.masses @ data.means / mass, data.weight)
    total = covariance(data.X, rows, mass, scatter, settings.shrinkage, settings.covariance_estimator)
    try:
        values, vectors = eigh(total - within, within)
    except LinAlgError:
        raise LinAlgError(
            "covariance must be positive definite for solver='eigen', got one that is not: a feature is constant "
            "within classes or depends on others. Use solver='svd', or shrinkage."
        ) from None
    order = np.argsort(values)[::-1]
    vectors = _oriented(vectors[:, order])
    coef = data.targets @ vectors @ vectors.T
    intercept = -0.5 * np.sum(data.means * coef, axis=1) + _log(data.priors)
    ratio = (values[order] / values.sum())[: settings.n_components]
    attributes = {"covariance_": within, "scalings_": vectors, "explained_variance_ratio_": ratio}
    return Discriminants(coef, intercept, within, attributes)


SOLVERS: dict[str, Callable[[GroupedData, Any], Discriminants]] = {
    "svd": solve_svd,
    "lsqr": solve_lsqr,
    "eigen": solve_eigen,
}


def _pooled_covariance(data: GroupedData) -> Array:
    return np.asarray(np.sum(data.scatters, axis=0) / data.masses.sum())


def _whitener(data: GroupedData, within: Array, tol: float) -> Array:
    r"""Return :math:`V` with :math:`V'\Sigma V = I`, of the directions whose deviation is above ``tol``.

    Each feature is scaled to deviation 1 first. The eigenvalues of the correlations are squares of the deviations;
    where the smallest is so small that the square has cost digits, the singular values of the data are taken instead.
    """
    deviation = deviations(within)
    values, vectors = eigh(within / np.outer(deviation, deviation), driver="evd")  # of all, the quickest
    sizes = np.sqrt(np.maximum(values, 0.0))
    if values[0] < SAFE:
        triangle = centered_triangle(data.X, data.rows_of, data.means, data.weight) / np.sqrt(data.masses.sum())
        _, sizes, rows = svd(triangle / deviation, full_matrices=False)
        vectors = rows.T
    kept = sizes > tol
    return vectors[:, kept] / sizes[kept] / deviation[:, None]


def _weighted_covariance(data: GroupedData, shrinkage: Any, estimator: Any) -> Array:
    parts = [
        prior * covariance(data.X, rows, mass, scatter, shrinkage, estimator)
        for prior, rows, mass, scatter in zip(data.priors, data.rows_of, data.masses, data.scatters, strict=True)
    ]
    return np.sum(parts, axis=0)


def _oriented(vectors: Array) -> Array:
    """Return the columns with their largest entry positive: the sign of a direction is arbitrary, its bits are not."""
    if not vectors.size:
        return vectors
    largest = vectors[np.argmax(np.abs(vectors), axis=0), np.arange(vectors.shape[1])]
    return vectors * np.where(largest < 0, -1.0, 1.0)


def _log(priors: Array) -> Array:
    with np.errstate(divide="ignore"):  # a prior of 0 rules its class out
        return np.asarray(np.log(priors))


def deviations(within: Array) -> Array:
    """Return the deviation of each feature within classes; 1 where there is none."""
    deviation = np.sqrt(np.diag(within))
    return np.where(deviation > 0.0, deviation, 1.0)


def dependent(n_features: int) -> float:
    """Return the variance, of 1 in each feature, below which a combination of features counts as constant."""
    return 16 * n_features * EPSILON
