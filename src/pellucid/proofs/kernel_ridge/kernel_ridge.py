r"""Proof of kernel ridge regression: its equations hold, up to what rounding explains."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.kernels.choice import pairwise_kernel
from pellucid.kernels.kernel import Kernel
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.kernels.ridge_equations import equation_claims, rows_that_differ
from pellucid.proofs.sampling import drawn, graded
from pellucid.proofs.training_data import TrainingData

ROWS_AT_FIT = 256
"""Equations looked at when a model is fitted; ``verify`` looks at all."""


def prove_kernel_ridge(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate, from all equations."""
    return prove_equations(fitted, pairwise_kernel(parameters, data.X.shape[1]), parameters.alpha, data)


def prove_some_equations(fitted: Any, kernel: Kernel, alpha: Any, data: TrainingData) -> Certificate:
    """Return the certificate from some equations, drawn in the same way every time."""
    return prove_equations(fitted, kernel, alpha, data, drawn(data.X.shape[0], ROWS_AT_FIT))


def prove_equations(
    fitted: Any, kernel: Kernel, alpha: Any, data: TrainingData, rows: Array | None = None
) -> Certificate:
    """Return the certificate from the equations of these rows, or of all."""
    y = np.asarray(data.y, dtype=np.float64)
    stored = Claim(
        "training rows",
        "rows of X_fit_ that are not those of the data",
        rows_that_differ(fitted.X_fit_, data.given[0]),
        0.0,
    )
    if np.shape(fitted.dual_coef_) != (data.n_given, *y.shape[1:]):
        wanted = (data.n_given, *y.shape[1:])
        claim = Claim("shape", f"dual_coef_ has not the shape {wanted} of the targets", 1.0, 0.0)
        return Certificate("exact", (claim, stored))
    dual = np.asarray(fitted.dual_coef_, dtype=np.float64).reshape(data.n_given, -1)
    rows = np.arange(data.X.shape[0]) if rows is None else rows
    used = dual if data.kept is None else dual[data.kept]
    return graded("exact", (*equation_claims(kernel, alpha, data, used, rows), _idle_claim(dual, data), stored))


def _idle_claim(dual: Array, data: TrainingData) -> Claim:
    idle = np.zeros(0) if data.kept is None else np.delete(dual, data.kept, axis=0)
    return Claim(
        "rows of weight 0", "largest dual_coef_ of a row that does not count", np.abs(idle).max(initial=0.0), 0.0
    )
