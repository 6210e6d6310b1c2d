"""What linear regression and the ridge family share: storing a fitted line with its evidence, and proving it again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.core.certificate import Certificate, Claim
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.linear_model.least_squares.gaussian_inference import GaussianInference
from pellucid.linear_model.least_squares.least_squares_fits import LineFit
from pellucid.linear_model.least_squares.least_squares_proof import (
    intercept_evidence,
    least_squares_certificate,
    prove_least_squares,
)
from pellucid.linear_model.linear_input import check_linear_input
from pellucid.linear_model.linear_predictor import LinearPredictor
from pellucid.numerics.design import Design


class CertifiedLine(LinearPredictor, GaussianInference):
    """Stores a :class:`LineFit` as fitted attributes and recomputes its certificate."""

    certificate_: Certificate

    def _store_fit(
        self,
        fit: LineFit,
        design: Design,
        X: Array,
        y: Array,
        weight: Array | None,
        *,
        trace: Trace | None = None,
        claims: tuple[Claim, ...] = (),
    ) -> None:
        """Set the fitted attributes, the certificate last; ``trace`` replaces the solver's, ``claims`` are added."""
        self.coef_, self.intercept_ = self._shaped(fit.coef, fit.intercept, X, y)
        self._store_noise(fit.noise)
        stored = np.broadcast_to(np.asarray(self.intercept_, dtype=np.float64), fit.intercept.shape)
        spread = fit.b_norm / np.sqrt(self.total_weight_)
        offset = intercept_evidence(stored, fit.coef, design.mean, fit.y_mean, spread)
        evidence = replace(fit.evidence, intercept=offset)
        certificate = least_squares_certificate(evidence, dtype=X.dtype, tol=fit.tol).with_claims(*claims)
        trace = fit.trace if trace is None else trace
        self._conclude(certificate, trace, X, y, weight)  # type: ignore[attr-defined]  # CertifiedEstimator

    def _prove_line(
        self,
        X: Data,
        y: Data,
        sample_weight: Data | None,
        *,
        alpha: Any,
        positive: bool = False,
    ) -> Certificate:
        X, y, weight = check_linear_input(self, X, y, sample_weight, reset=False)
        return self._prove_checked(X, y, weight, alpha=alpha, positive=positive)

    def _prove_checked(
        self, X: Array, y: Array, weight: Array | None, *, alpha: Any, positive: bool = False
    ) -> Certificate:
        stored = self.certificate_
        return prove_least_squares(
            X,
            y,
            self.coef_,
            self.intercept_,
            alpha=alpha,
            fit_intercept=self.fit_intercept,
            sample_weight=weight,
            positive=positive,
            tol=0.0 if stored.grade == "exact" else stored["normal equations"].bound,
        )
