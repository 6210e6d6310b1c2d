"""What linear regression and the ridge family share: a fitted line as attributes, with its evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from pellucid.core.finite import check_finite
from pellucid.core.fit import Fit
from pellucid.core.trace import Trace
from pellucid.linear_model.least_squares.gaussian_inference import GaussianInference
from pellucid.linear_model.least_squares.least_squares_fits import LineFit
from pellucid.linear_model.least_squares.line_claims import intercept_evidence, least_squares_certificate
from pellucid.linear_model.linear_predictor import LinearPredictor
from pellucid.numerics.dense_design import DenseDesign
from pellucid.numerics.design import Design, make_design
from pellucid.proofs.certificate import Claim
from pellucid.proofs.training_data import TrainingData


class CertifiedLine(LinearPredictor, GaussianInference):
    """Turns a :class:`LineFit`, in the coordinates of a design, into fitted attributes with their certificate."""

    def _design_of(self, data: TrainingData, *, sums_everything: bool) -> Design:
        """Return the design of data whose rows nobody has looked at yet for NaN.

        A solver whose first step sums all squares looks on the way: ``sums_everything``.
        """
        if sums_everything and data.weight is None and isinstance(data.X, np.ndarray):
            return DenseDesign(
                data.X, fit_intercept=self.fit_intercept, if_not_finite=partial(check_finite, data.X, self)
            )
        check_finite(data.given[0], self)
        return make_design(data.X, fit_intercept=self.fit_intercept, sample_weight=data.weight)

    def _fit_of(
        self,
        line: LineFit,
        design: Design,
        data: TrainingData,
        *,
        trace: Trace | None = None,
        claims: tuple[Claim, ...] = (),
        later: Mapping[str, Callable[[], Any]] = MappingProxyType({}),
        **attributes: Any,
    ) -> Fit:
        """Return the fit; ``trace`` replaces the solver's; ``claims``, ``attributes`` and ``later`` are added."""
        dtype = data.X.dtype
        coef, intercept = self._shaped(line.coef, line.intercept, data.X, data.y)
        stored = np.broadcast_to(np.asarray(intercept, dtype=np.float64), line.intercept.shape)
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
