"""What linear regression and the ridge family share: a fitted line as attributes, with its evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.core.certificate import Claim
from pellucid.core.fit import Fit
from pellucid.core.trace import Trace
from pellucid.core.training_data import TrainingData
from pellucid.linear_model.least_squares.gaussian_inference import GaussianInference
from pellucid.linear_model.least_squares.least_squares_fits import LineFit
from pellucid.linear_model.least_squares.least_squares_proof import intercept_evidence, least_squares_certificate
from pellucid.linear_model.linear_predictor import LinearPredictor
from pellucid.numerics.design import Design


class CertifiedLine(LinearPredictor, GaussianInference):
    """Turns a :class:`LineFit`, in the coordinates of a design, into fitted attributes with their certificate."""

    def _fit_of(
        self,
        line: LineFit,
        design: Design,
        data: TrainingData,
        *,
        trace: Trace | None = None,
        claims: tuple[Claim, ...] = (),
        **attributes: Any,
    ) -> Fit:
        """Return the fit; ``trace`` replaces the solver's, ``claims`` and ``attributes`` are added."""
        dtype = data.X.dtype
        coef, intercept = self._shaped(line.coef, line.intercept, data.X, data.y)
        stored = np.broadcast_to(np.asarray(intercept, dtype=np.float64), line.intercept.shape)
        spread = line.b_norm / np.sqrt(design.total_weight)
        offset = intercept_evidence(stored, line.coef, design.mean, line.y_mean, spread)
        evidence = replace(line.evidence, intercept=offset)
        return Fit(
            {"coef_": coef, "intercept_": intercept, **line.noise.attributes(), **attributes},
            line.trace if trace is None else trace,
            certificate=least_squares_certificate(evidence, dtype=dtype, tol=line.tol).with_claims(*claims),
        )
