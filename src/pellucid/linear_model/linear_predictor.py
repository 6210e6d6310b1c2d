"""The prediction of every linear model, and the fitted line with its evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.core.fit import Fit
from pellucid.core.input_rules import ANY_SPARSE, FLOATS, check_finite
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.core.watching import Watch, ignore
from pellucid.linear_model.least_squares.gaussian_inference import GaussianInference
from pellucid.linear_model.least_squares.least_squares_fits import DesignSolution
from pellucid.linear_model.least_squares.line_claims import intercept_evidence, least_squares_certificate
from pellucid.proofs.certificate import Claim
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.dense_design import DenseDesign
from pellucid.solvers.design import Design, make_design


class LinearPredictor:
    """Predicts :math:`Xw + b` from ``coef_`` and ``intercept_``; dense or sparse ``X``."""

    coef_: Array
    intercept_: Any
    fit_intercept: bool
    _flattens_one_target = True  # as scikit-learn does, except in LinearRegression

    def predict(self, X: Data) -> Array:
        r"""Return :math:`Xw + b`, of shape (n_samples,) or (n_samples, n_targets)."""
        return self._linear_scores(X)

    def _linear_scores(self, X: Data) -> Array:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=ANY_SPARSE, dtype=FLOATS, reset=False)
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def _shaped(self, coef: Array, intercept: Array, dtype: np.dtype, y: Array) -> tuple[Array, Any]:
        return line_attributes(
            coef,
            intercept,
            dtype=dtype,
            fit_intercept=self.fit_intercept,
            one_dimensional=y.ndim == 1,
            flat=self._flattens_one_target,
        )

    def _watch_line(self, design: Design, X: Array, y: Array, max_iter: int | None = None) -> Watch:
        """Return the watch of an iterative solver whose iterate is ``w`` of shape (n_features, n_targets).

        ``max_iter`` is that of one target; targets fitted one by one are watched through ``one_target``.
        """

        def attributes(w: Array) -> dict[str, Any]:
            y_mean = design.center(y.reshape(len(y), -1))[1]
            coef, intercept = self._shaped(w, y_mean - design.mean @ w, X.dtype, y)
            return {"coef_": coef, "intercept_": intercept}

        most = None if max_iter is None else max_iter * (1 if y.ndim == 1 else y.shape[1])
        return self._watch(X, y, attributes=attributes, max_iter=most)  # type: ignore[attr-defined]  # CertifiedEstimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of BaseEstimator, beside
        tags.input_tags.sparse = True
        return tags


def one_target(watch: Watch, lines: Array, k: int) -> Watch:
    """Return the watch of target ``k`` alone, which fills its column of ``lines`` and shows them all."""
    if watch is ignore:
        return ignore

    def watch_one(w: Array) -> bool:
        lines[:, k] = w
        return watch(lines.copy())

    return watch_one


def line_attributes(
    coef: Array, intercept: Array, *, dtype: np.dtype, fit_intercept: bool, one_dimensional: bool, flat: bool = True
) -> tuple[Array, Any]:
    """Return ``coef_`` and ``intercept_`` in scikit-learn's shapes, from (n_features, n_targets) and (n_targets,).

    ``one_dimensional`` says that ``y`` was; a single column of a matrix ``y`` gives flat coefficients if ``flat``.
    """
    single = coef.shape[1] == 1 and (one_dimensional or flat)
    shaped = coef[:, 0].astype(dtype) if single else np.ascontiguousarray(coef.T, dtype=dtype)
    return shaped, stored_intercept(
        intercept.astype(dtype), fit_intercept=fit_intercept, one_dimensional=one_dimensional
    )


def stored_intercept(intercepts: Array, *, fit_intercept: bool, one_dimensional: bool) -> Any:
    """Return ``intercept_`` as scikit-learn keeps it: 0.0 if there is none, a number for a ``y`` of one dimension."""
    if not fit_intercept:
        return 0.0
    return intercepts[0] if one_dimensional else intercepts


class CertifiedLine(LinearPredictor, GaussianInference):
    """Turns a :class:`DesignSolution`, in the coordinates of a design, into fitted attributes and a certificate."""

    def _design_of(self, data: TrainingData, *, sums_everything: bool) -> Design:
        """Return the design of data whose rows nobody has looked at yet for NaN.

        A solver whose first step sums all squares looks on the way: ``sums_everything``.
        """
        if sums_everything and data.weight is None and isinstance(data.X, np.ndarray):
            return DenseDesign(
                data.X, fit_intercept=self.fit_intercept, if_not_finite=partial(check_finite, data.X, self)
            )
        check_finite(data.given[0], self)
        return make_design(data.X, fit_intercept=self.fit_intercept, sample_weight=data.weight, known=data.known)

    def _fit_of(
        self,
        line: DesignSolution,
        design: Design,
        data: TrainingData,
        *,
        trace: Trace | None = None,
        claims: tuple[Claim, ...] = (),
        later: Mapping[str, Callable[[], Any]] = MappingProxyType({}),
        **attributes: Any,
    ) -> Fit:
        """Return the fit; ``trace`` replaces the solver's; ``claims``, ``attributes`` and ``later`` are added."""
        dtype = data.dtype
        coef, intercept = self._shaped(line.coef, line.intercept, dtype, data.y)
        stored = np.full(line.intercept.shape, intercept, dtype=np.float64)
        spread = line.b_norm / np.sqrt(design.total_weight)
        offset = intercept_evidence(stored, line.coef, design.mean, line.y_mean, spread)
        evidence = replace(line.evidence, intercept=offset)
        return Fit(
            {"coef_": coef, "intercept_": intercept, **line.noise.known(), **attributes},
            line.trace if trace is None else trace,
            certificate=least_squares_certificate(
                evidence, n_features=design.shape[1], dtype=dtype, tol=line.tol
            ).with_claims(*claims),
            later={**line.noise.later(), **later},
        )
