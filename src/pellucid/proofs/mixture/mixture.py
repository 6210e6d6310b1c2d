r"""Proof of a mixture of any densities: the likelihood is that of what is stored, and a step of EM leads nowhere else.

The likelihood is computed anew from the parameters of the stored densities. Under their own responsibilities, the score
of each must be small: a step that gains :math:`\varepsilon` moves the parameters of a component of weight
:math:`\pi` by no more than :math:`\sqrt{2\varepsilon/\pi}` of their scale, and twice that is allowed. A user's own
density has a likelihood, and no score that is known here.
"""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from pellucid.mixture.density_parts import Parts, density_parts, log_joint, responsibilities
from pellucid.probability.column_densities import AUTO
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.probability.maximum_likelihood import certify_fit
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.sampling import drawn
from pellucid.proofs.training_data import TrainingData

LIKELIHOOD_ROUNDING = 1e-12
SCORE_ROUNDING = 1e-6
LOOKED_AT = 1000
NOT_CONVERGED = "Raise max_iter or tol, or try another start."


def prove_mixture(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    parts = _parts(fitted, parameters, data)
    if parts is None:
        return Certificate("stationary", (Claim("densities", "densities that are not those asked for", math.inf, 0.0),))
    weight, values = data.weights, parts.values(data.X)
    try:
        densities = [[_made_anew(density) for density in one] for one in fitted.densities_]
    except (TypeError, ValueError) as error:
        return Certificate("stationary", (Claim("densities", f"not densities: {error}", math.inf, 0.0),))
    joint = log_joint(fitted.weights_, densities, values)
    logs, shares = responsibilities(joint, fitted.weights_)
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
        _rise_claim(fitted, rounding, parameters),
        Claim("score", "largest gradient of a density under its responsibilities, as a part of its scale", score,
              4.0 * math.sqrt(parameters.tol) + SCORE_ROUNDING, NOT_CONVERGED),
        _answer_claim(fitted, shares, data),
    )  # fmt: skip
    reason = f"Nothing is claimed about the score of {unknown}, which is the user's own density." if unknown else ""
    return Certificate("stationary", claims, reason)


def _parts(fitted: Any, parameters: Any, data: TrainingData) -> Parts | None:
    """Return the parts that are asked for; None where the stored densities are of other kinds or numbers."""
    names = getattr(fitted, "feature_names_in_", None)
    wanted = parameters.densities
    n = len(wanted) if isinstance(wanted, (list, tuple)) else parameters.n_components
    listed = None if names is None else names.tolist()
    parts = density_parts(wanted, n, data.X, listed, [])
    stored = [[type(density) for density in one] for one in fitted.densities_]
    if len(stored) != n or fitted.weights_.shape != (n,) or fitted.by_column_ is not parts.by_column:
        return None
    for found, asked in zip(stored, parts.kinds, strict=True):
        if len(found) != len(asked):
            return None
        for j, (one, other) in enumerate(zip(found, asked, strict=True)):
            guessed = parts.by_column and _is_guessed(wanted, j, listed)
            # a data frame may have called a column categorical, which is no longer seen
            if one is not other and not (guessed and one.__name__ == "Categorical"):
                return None
    return parts


def _made_anew(density: Any) -> Any:
    """Return a density with the same parameters and nothing computed from them yet; a user's own as it is."""
    if not (is_dataclass(density) and type(density).__module__.startswith("pellucid.")):
        return density
    make: Any = type(density)
    return make(**{field.name: getattr(density, field.name) for field in fields(density)})


def _is_guessed(wanted: Any, j: int, names: list[str] | None) -> bool:
    if isinstance(wanted, dict):
        keys = {j, names[j]} if names else {j}
        return all(wanted.get(key, AUTO) == AUTO for key in keys)
    return isinstance(wanted, str) and wanted == AUTO


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


def _rise_claim(fitted: Any, rounding: float, parameters: Any) -> Claim:
    bounds = np.asarray(fitted.lower_bounds_, dtype=np.float64)
    agree = len(bounds) == fitted.n_iter_ and bounds[-1] == fitted.lower_bound_
    fall = float(np.max(-np.diff(bounds), initial=0.0)) if agree else math.inf
    said = "largest fall of the likelihood from one step to the next"
    return Claim("never fell", said, fall, rounding + parameters.tol, "Lower var_smoothing.")


def _answer_claim(fitted: Any, shares: Array, data: TrainingData) -> Claim:
    said, wanted = np.asarray(fitted.responsibilities), shares[fitted.asked]
    error = np.max(np.abs(said - wanted)) if said.shape == wanted.shape else math.inf
    checked = f"{len(fitted.asked):,} of {data.X.shape[0]:,} rows"
    return Claim("responsibilities", f"their distance from those of the densities, on {checked}", float(error), 1e-9)


def answers_of(model: Any, data: TrainingData) -> dict[str, Any]:
    """Return what the model says about some rows."""
    asked = drawn(data.X.shape[0], LOOKED_AT)
    return {"asked": asked, "responsibilities": model._responsibilities(data.X[asked])[1]}
