r"""Proof of a mixture of any densities: the likelihood is that of what is stored, and a step of EM leads nowhere else.

The likelihood is computed anew from the parameters of the stored densities. Under their own responsibilities, the score
of each must be small: a step that gains :math:`\varepsilon` moves the parameters of a component of weight
:math:`\pi` by no more than :math:`\sqrt{2\varepsilon/\pi}` of their scale, and twice that is allowed. A user's own
density has a likelihood, and no score that is known here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array, column_values
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.mixture.gaussian_components import answer_claims, never_fell_claim
from pellucid.proofs.probability.densities import (
    AUTO,
    OF_ROWS,
    asked_kinds,
    fault_of,
    kind_of,
    log_density,
    wrong_kinds,
)
from pellucid.proofs.probability.maximum_likelihood import certify_fit
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

LIKELIHOOD_ROUNDING = 1e-12
SCORE_ROUNDING = 1e-6
NOT_CONVERGED = "Raise max_iter or tol, or try another start."


def prove_mixture(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    fault = _fault(fitted, parameters, data.X)
    if fault:
        return Certificate("stationary", (Claim("densities", f"not those asked for: {fault}", math.inf, 0.0),))
    weight, densities = data.weights, fitted.densities_
    values = _parts_of_rows(data.X, fitted.by_column_)
    logs, shares = responsibilities(fitted.weights_, densities, values)
    found = float(weight @ logs / weight.sum())
    size = float(weight @ np.abs(logs) / weight.sum()) if np.isfinite(found) else 1.0
    rounding = (LIKELIHOOD_ROUNDING + sum_error(len(logs))) * (1.0 + min(size, _log_size(values)))
    total = float(abs(fitted.weights_.sum() - 1.0)) if (fitted.weights_ >= 0.0).all() else math.inf
    score, unknown = _worst_score(densities, values, shares * weight[:, None], parameters.var_smoothing)
    gain = found - fitted.lower_bound_
    claims = (
        Claim("densities", "densities that are not those asked for", 0.0, 0.0),
        Claim("weights", "how far from 1 the weights add up", total, sum_error(len(logs))),
        Claim("likelihood", "distance of the stored mean log likelihood from that of the stored densities",
              abs(found - fitted.log_likelihood_), rounding),
        Claim("gain", "rise of the mean log likelihood by the last step", abs(gain), parameters.tol + rounding,
              NOT_CONVERGED),
        never_fell_claim(fitted, rounding + parameters.tol, "Lower var_smoothing."),
        Claim("score", "largest gradient of a density under its responsibilities, as a part of its scale", score,
              4.0 * math.sqrt(parameters.tol) + SCORE_ROUNDING, NOT_CONVERGED),
        *answer_claims(fitted, lambda rows: shares[rows], len(data.X), 1e-9),
    )  # fmt: skip
    reason = f"Nothing is claimed about the score of {unknown}, which is the user's own density." if unknown else ""
    return Certificate("stationary", claims, reason)


def _fault(fitted: Seen, parameters: Seen, X: Array) -> str:
    """Return why the stored densities are not those that are asked for, or no densities at all; or nothing."""
    wanted, names = parameters.densities, getattr(fitted, "feature_names_in_", None)
    is_list = isinstance(wanted, (list, tuple))
    n = len(wanted) if is_list else parameters.n_components
    if len(fitted.densities_) != n or fitted.weights_.shape != (n,):
        return "there are more or fewer components"
    kind = None if is_list or isinstance(wanted, Mapping) else kind_of(wanted)
    by_column = not is_list and (kind is None or kind == AUTO or (isinstance(kind, str) and kind not in OF_ROWS))
    if fitted.by_column_ is not by_column:
        return "they are of columns instead of rows, or the reverse"
    asked = asked_kinds(wanted, X, None if names is None else names.tolist()) if by_column else []
    for k, densities in enumerate(fitted.densities_):
        if by_column and wrong_kinds(densities, asked, X):
            return "a column has one of another kind"
        if not by_column and [kind_of(one) for one in densities] != [kind_of(wanted[k]) if is_list else kind]:
            return "a component has one of another kind"
        faults = [fault for fault in map(fault_of, densities) if fault]
        if faults:
            return faults[0]
    return ""


def _parts_of_rows(X: Array, by_column: bool) -> list[Array]:
    """Return what the densities of a component are asked about: the columns, or the rows as they are."""
    return [column_values(X, j) for j in range(X.shape[1])] if by_column else [X.astype(np.float64)]


def responsibilities(weights: Array, densities: Any, values: list[Array]) -> tuple[Array, Array]:
    """Return the log density of each row and its responsibilities; the weights for a row that nobody can produce."""
    with np.errstate(all="ignore"):
        logs = [sum(map(log_density, own, values), start=np.log(w)) for w, own in zip(weights, densities, strict=True)]
        joint = np.column_stack(logs)
        total = np.logaddexp.reduce(joint, axis=1)
        shares = np.exp(joint - total[:, None])
    return total, np.where(np.isfinite(total)[:, None], shares, weights)


def _log_size(values: list[Array]) -> float:
    """Return the size of a log density of these data: that of the logarithm of each column's deviation."""
    total = 0.0
    for value in values:
        if value.dtype.kind == "U":
            total += math.log(len(np.unique(value))) + 1.0
        else:
            spread = np.atleast_1d(value.astype(np.float64).std(axis=0))
            total += float(np.sum(2.0 + np.abs(np.log(np.where(spread > 0.0, spread, 1e-300)))))
    return total


def _worst_score(stored: list[list[Any]], values: list[Array], shares: Array, smoothing: float) -> tuple[float, str]:
    """Return the largest score of a density, times the root of its weight, and the name of one without a score."""
    worst, unknown = 0.0, ""
    total = shares.sum()
    for k, densities in enumerate(stored):
        share = float(shares[:, k].sum() / total)
        if share < 1e-12:
            continue
        for density, part in zip(densities, values, strict=True):
            if type(density).__name__ in ("Gaussian", "MultivariateGaussian"):
                found = [_gaussian_score(density, part, shares[:, k], shares.sum(axis=1), smoothing)]
            else:
                proof = certify_fit(density, part, shares[:, k])
                unknown = type(density).__name__ if proof.grade == "none" else unknown
                found = [claim.value for claim in proof.claims]
            worst = max([worst, *(math.sqrt(share) * _number(value) for value in found)])
    return worst, unknown


def _gaussian_score(density: Any, values: Array, share: Array, weight: Array, smoothing: float) -> float:
    """Return how far mean and covariance are from those of the weighted rows, smoothed, in deviations."""
    rows = np.asarray(values, dtype=np.float64).reshape(len(share), -1)
    rows = rows - rows[0]
    mean = share @ rows / share.sum()
    centered, middle = rows - mean, weight @ rows / weight.sum()
    floor = smoothing * (weight @ np.square(rows - middle)) / weight.sum()
    stored = np.asarray(getattr(density, "covariance", density.variance), dtype=np.float64)
    stored = np.diag(stored) if stored.ndim == 1 else stored.reshape(len(mean), len(mean))
    wanted = (centered * share[:, None]).T @ centered / share.sum() + np.diag(np.maximum(floor, TINY))
    deviation = np.sqrt(np.diagonal(wanted))
    at = np.atleast_1d(density.mean) - np.asarray(values, dtype=np.float64).reshape(len(share), -1)[0]
    lost = 4 * EPSILON * np.abs(density.mean)
    away = np.max(np.maximum(np.abs(at - mean) - lost, 0.0) / deviation)
    return float(np.max([away, np.max(np.abs(stored - wanted) / np.outer(deviation, deviation))]))


def _number(value: float) -> float:
    return math.inf if math.isnan(value) else value


PROVES = {"Mixture": prove_mixture}
