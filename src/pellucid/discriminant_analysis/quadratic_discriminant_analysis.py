"""QuadraticDiscriminantAnalysis: Gaussian classes, each with its own covariance."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.linalg import LinAlgError, eigh, svd
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.input_rules import FLOATS
from pellucid.core.labels import rows_by_class
from pellucid.core.threads import run_blocks, split_evenly, thread_count
from pellucid.core.types import Array, Data
from pellucid.discriminant_analysis.class_moments import (
    BLOCK,
    DiscriminantScores,
    class_masses,
    class_moments,
    class_priors,
    covariance,
)
from pellucid.proofs.training_data import TrainingData

SAFE = 1e-6
"""Ratio of the smallest to the largest variance above which eigenvalues of the covariance keep ten digits."""


class QuadraticDiscriminantAnalysis(DiscriminantScores, ClassifierMixin, CertifiedEstimator):
    r"""Classes with normal densities :math:`N(\mu_k, \Sigma_k)`: the boundaries are quadrics.

    .. math:: \delta_k(x) = -\tfrac12\log|\Sigma_k| - \tfrac12(x - \mu_k)'\Sigma_k^{-1}(x - \mu_k) + \log\pi_k

    Parameters
    ----------
    solver : {"svd", "eigen"}, default="svd"
        ``eigen`` takes shrinkage.
    shrinkage : "auto", float or None, default=None
        Share of a multiple of the identity in each covariance; ``auto`` is Ledoit and Wolf's.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities :math:`\pi_k`; the shares in the data if not given.
    reg_param : float, default=0.0
        Share :math:`r` of the identity: :math:`(1 - r)\Sigma_k + rI`; for ``svd``.
    store_covariance : bool, default=False
        Whether to store ``covariance_``.
    tol : float, default=1e-4
        A variance at or below this makes a class rank deficient, which is refused.
    covariance_estimator : estimator, default=None
        With ``covariance_`` after ``fit``, instead of shrinkage; for ``eigen``.

    Attributes
    ----------
    classes_, priors_, means_ : ndarray of shape (n_classes,), (n_classes,), (n_classes, n_features)
        Labels, prior probabilities and means.
    rotations_, scalings_ : list of ndarray of shape (n_features, n_features), (n_features,)
        Principal axes of each class and the variances along them, the largest first.
    covariance_ : list of ndarray of shape (n_features, n_features)
        The covariances; if asked for.
    certificate_, trace_
        Means, priors, axes and variances solve their equations.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [4.0], [6.0], [8.0]], [0, 0, 0, 1, 1, 1]
    >>> model = QuadraticDiscriminantAnalysis().fit(X, y)
    >>> [variance.round(6).tolist() for variance in model.scalings_]  # 2/3 and 8/3
    [[0.666667], [2.666667]]
    """

    means_: Array
    priors_: Array
    rotations_: list[Array]
    scalings_: list[Array]

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Data | None = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    @fit_method
    def fit(self, X: Data, y: Data) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and the labels ``y``."""
        data = self._check(X, y)
        if len(data.classes) < 2:
            raise ValueError(
                f"The number of classes has to be greater than one; got {len(data.classes)} class. Add another."
            )
        return self._adopt(self._solve(data), data)

    def _solve(self, data: TrainingData) -> Fit:
        classes = data.classes
        rows_of = rows_by_class(data.y, len(classes))
        masses = class_masses(rows_of, data.weight)
        priors = class_priors(self.priors, masses)
        means, scatters = class_moments(data.X, rows_of, data.weight)
        spreads = [self._spread(data.X, *of) for of in zip(rows_of, masses, scatters, classes, strict=True)]
        axes = [self._axes(data, *of) for of in zip(spreads, rows_of, masses, means, classes, strict=True)]
        attributes: dict[str, Any] = {
            "classes_": classes,
            "priors_": priors,
            "means_": means,
            "rotations_": [rotation for rotation, _ in axes],
            "scalings_": [scaling for _, scaling in axes],
        }
        if self.store_covariance:
            attributes["covariance_"] = [(rotation * scaling) @ rotation.T for rotation, scaling in axes]
        return Fit(attributes)

    def _spread(self, X: Array, rows: Array, mass: float, scatter: Array, label: Any) -> Array:
        if mass <= 1:
            raise ValueError(f"y has only 1 sample in class {label}, covariance is ill defined. Add rows of it.")
        return covariance(X, rows, mass, scatter, self.shrinkage, self.covariance_estimator)

    def _axes(
        self, data: TrainingData, spread: Array, rows: Array, mass: float, mean: Array, label: Any
    ) -> tuple[Array, Array]:
        """Return the principal axes of a class and the variances along them, regularized, the largest first."""
        values, vectors = eigh(spread)
        if self.solver == "svd" and values[0] < SAFE * values[-1]:
            # the square has cost the small variances digits: take the singular values of the rows themselves
            centered = data.X[rows].astype(np.float64) - mean
            if data.weight is not None:
                centered *= np.sqrt(data.weight[rows, None])
            _, sizes, axes = svd(centered, full_matrices=False)
            values = np.zeros(len(mean))
            values[: len(sizes)] = sizes**2 / mass
            vectors = np.linalg.qr(axes.T, mode="complete")[0] if len(sizes) < len(mean) else axes.T
        order = np.argsort(values)[::-1]
        values, vectors = values[order], vectors[:, order]
        if self.solver == "svd":
            values = (1 - self.reg_param) * values + self.reg_param
        if np.sum(values > self.tol) < len(values):
            remedy = "reg_param" if self.solver == "svd" else "shrinkage"
            raise LinAlgError(
                f"The covariance matrix of class {label} is not full rank: its {mass:g} samples have a variance of "
                f"{values.min():.3g} in some direction, at most tol = {self.tol}. Increase {remedy}"
                + (", or use solver='eigen' with shrinkage." if self.solver == "svd" else ".")
            )
        return vectors, values

    def _class_scores(self, X: Data) -> Array:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=FLOATS)
        scores = np.empty((len(X), len(self.classes_)))
        whiteners = [
            rotation / np.sqrt(scaling) for rotation, scaling in zip(self.rotations_, self.scalings_, strict=True)
        ]
        with np.errstate(divide="ignore"):  # a prior of 0 rules its class out
            constants = np.log(self.priors_) - 0.5 * np.array([np.sum(np.log(scaling)) for scaling in self.scalings_])
        height = max(1, BLOCK // X.shape[1])

        def work(part: slice) -> None:
            for start in range(part.start, part.stop, height):
                these = slice(start, min(start + height, part.stop))
                for k, whitener in enumerate(whiteners):
                    z = np.subtract(X[these], self.means_[k], dtype=np.float64) @ whitener
                    scores[these, k] = constants[k] - 0.5 * np.einsum("ij,ij->i", z, z)

        run_blocks(work, split_evenly(len(X), thread_count()))
        return scores
