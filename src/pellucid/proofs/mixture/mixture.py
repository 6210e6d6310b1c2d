r"""Proof of a mixture of any densities: the likelihood is that of what is stored, and a step of EM leads nowhere else.

The likelihood is computed anew from the parameters of the stored densities. Under their own responsibilities, the score
of each must be small: a step that gains :math:`\varepsilon` moves the parameters of a component of weight
:math:`\pi` by no more than :math:`\sqrt{2\varepsilon/\pi}` of their scale, and twice that is allowed. A user's own
density has a likelihood, and no score that is known here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array, column_values
from pellucid.proofs.blocks import OneBlock, PivotSums, sum_block
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.mixture.gaussian_components import answer_claims, never_fell_claim
from pellucid.proofs.probability.column_tally import SeenColumns
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
LIGHTEST = 1e-12
"""Share of the rows below which nothing is claimed of a component: it keeps its densities."""
NOT_CONVERGED = "Raise max_iter or tol, or try another start."


def prove_mixture(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    fault = _fault(fitted, parameters, data.X)
    if fault:
        return _refused(fault)
    weight, densities = data.weights, fitted.densities_
    values = _parts_of_rows(data.X, fitted.by_column_)
    logs, shares = responsibilities(fitted.weights_, densities, values)
    seen = Likelihood(len(logs), float(weight.sum()), float(weight @ logs), float(weight @ np.abs(logs)))
    score, unknown = _worst_score(densities, values, shares * weight[:, None], parameters.var_smoothing)
    claims = (
        *_claims(fitted, parameters, seen, _log_size(values), score),
        *answer_claims(fitted, lambda rows: shares[rows], len(data.X), 1e-9),
    )
    reason = f"Nothing is claimed about the score of {unknown}, which is the user's own density." if unknown else ""
    return Certificate("stationary", claims, reason)


@dataclass(frozen=True)
class Likelihood:
    """Number and weight of some rows, and the weighted sums of their log densities and of their sizes."""

    n_rows: int
    weight: float
    logs: float
    sizes: float

    def plus(self, other: Likelihood) -> Likelihood:
        """Return the same of both sets of rows."""
        return Likelihood(
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            self.logs + other.logs,
            self.sizes + other.sizes,
        )


def _refused(fault: str) -> Certificate:
    return Certificate("stationary", (Claim("densities", f"not those asked for: {fault}", math.inf, 0.0),))


def _claims(fitted: Seen, parameters: Seen, seen: Likelihood, log_size: float, score: float) -> tuple[Claim, ...]:
    """Return what is claimed of densities of the right kinds; ``log_size`` is that of a log density of these data."""
    found = seen.logs / seen.weight
    size = seen.sizes / seen.weight if np.isfinite(found) else 1.0
    rounding = (LIKELIHOOD_ROUNDING + sum_error(seen.n_rows)) * (1.0 + min(size, log_size))
    total = float(abs(fitted.weights_.sum() - 1.0)) if (fitted.weights_ >= 0.0).all() else math.inf
    return (
        Claim("densities", "densities that are not those asked for", 0.0, 0.0),
        Claim("weights", "how far from 1 the weights add up", total, sum_error(seen.n_rows)),
        Claim("likelihood", "distance of the stored mean log likelihood from that of the stored densities",
              abs(found - fitted.log_likelihood_), rounding),
        Claim("gain", "rise of the mean log likelihood by the last step", abs(found - fitted.lower_bound_),
              parameters.tol + rounding, NOT_CONVERGED),
        never_fell_claim(fitted, rounding + parameters.tol, "Lower var_smoothing."),
        Claim("score", "largest gradient of a density under its responsibilities, as a part of its scale", score,
              4.0 * math.sqrt(parameters.tol) + SCORE_ROUNDING, NOT_CONVERGED),
    )  # fmt: skip


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
    is_text = [value.dtype.kind == "U" for value in values]
    texts = [len(np.unique(value)) for value, text in zip(values, is_text, strict=True) if text]
    spreads = [np.atleast_1d(value.astype(np.float64).std(axis=0))
               for value, text in zip(values, is_text, strict=True) if not text]  # fmt: skip
    return _size_of_logs(texts, np.concatenate([np.zeros(0), *spreads]))


def _size_of_logs(n_labels: Sequence[int], spreads: Array) -> float:
    of_numbers = np.sum(2.0 + np.abs(np.log(np.where(spreads > 0.0, spreads, 1e-300))))
    return float(of_numbers) + sum(math.log(n) + 1.0 for n in n_labels)


def _worst_score(stored: list[list[Any]], values: list[Array], shares: Array, smoothing: float) -> tuple[float, str]:
    """Return the largest score of a density, times the root of its weight, and the name of one without a score."""
    worst, unknown = 0.0, ""
    total = shares.sum()
    for k, densities in enumerate(stored):
        share = float(shares[:, k].sum() / total)
        if share < LIGHTEST:
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
    pivot, rows = rows[0], rows - rows[0]
    mean = share @ rows / share.sum()
    centered, middle = rows - mean, weight @ rows / weight.sum()
    floor = smoothing * (weight @ np.square(rows - middle)) / weight.sum()
    return _gaussian_misfit(density, pivot, mean, (centered * share[:, None]).T @ centered / share.sum(), floor)


def _gaussian_misfit(density: Any, pivot: Array, mean: Array, covariance: Array, floor: Array) -> float:
    """Return how far a Gaussian is from a mean, given from a pivot, and a covariance with this much on its diagonal."""
    stored = np.asarray(getattr(density, "covariance", density.variance), dtype=np.float64)
    stored = np.diag(stored) if stored.ndim == 1 else stored.reshape(len(mean), len(mean))
    wanted = covariance + np.diag(np.maximum(floor, TINY))
    deviation = np.sqrt(np.diagonal(wanted))
    lost = 4 * EPSILON * np.abs(density.mean)
    away = np.max(np.maximum(np.abs(np.atleast_1d(density.mean) - pivot - mean) - lost, 0.0) / deviation)
    return float(np.max([away, np.max(np.abs(stored - wanted) / np.outer(deviation, deviation))]))


def _number(value: float) -> float:
    return math.inf if math.isnan(value) else value


@dataclass(frozen=True, eq=False)
class MixtureTally:
    """What one pass over blocks leaves: the likelihood, and the sums of all rows and of each component."""

    likelihood: Likelihood
    of_all: Any
    of_component: tuple[Any, ...]
    """Of columns, or of whole rows; None of a component without rows."""


def tally_mixture(
    block: Any, weights: Array, densities: Any, by_column: bool, is_gaussian: tuple[bool, ...]
) -> MixtureTally | None:
    """Return what a block leaves; densities that cannot be asked about it leave nothing but its own sums."""
    weight = np.ones(len(block.X)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
    X, weight = block.X[weight > 0.0], weight[weight > 0.0]
    if not len(X):
        return None
    values = _parts_of_rows(X, by_column)
    logs, shares = np.zeros(len(X)), np.zeros((len(X), 0))
    if all(_can_be_asked(one, value) for own in densities for one, value in zip(own, values, strict=True)):
        logs, shares = responsibilities(weights, densities, values)
    seen = Likelihood(len(X), float(weight.sum()), float(weight @ logs), float(weight @ np.abs(logs)))
    if by_column:
        columns = SeenColumns.of(X)
        tallies: list[Any] = [columns.tally(own, is_gaussian) for own in (weight, *(shares * weight[:, None]).T)]
    else:
        sums = (sum_block(OneBlock(values[0], None, own), "rows") for own in (weight, *(shares * weight[:, None]).T))
        tallies = [one.by_label.get(None) for one in sums]
    return MixtureTally(seen, tallies[0], tuple(tallies[1:]))


def _can_be_asked(density: Any, values: Array) -> bool:
    return values.dtype.kind != "U" or kind_of(density) == "Categorical"


def add_mixtures(found: Sequence[MixtureTally | None]) -> MixtureTally | None:
    """Return what several blocks leave."""
    known = [one for one in found if one is not None]
    if not known:
        return None
    fewest = min(len(one.of_component) for one in known)
    of_component = zip(*(one.of_component[:fewest] for one in known), strict=True)
    return MixtureTally(
        reduce(Likelihood.plus, [one.likelihood for one in known]),
        _added([one.of_all for one in known]),
        tuple(map(_added, of_component)),
    )


def _added(parts: Sequence[Any]) -> Any:
    known = [part for part in parts if part is not None]
    return reduce(lambda one, other: one.plus(other), known) if known else None


def prove_mixture_in_passes(fitted: Seen, parameters: Seen, blocks: Any) -> Certificate:
    """Return the certificate from one pass over the rows and the fitted attributes alone."""
    densities, p = fitted.densities_, blocks.n_features
    faults = [fault for own in densities for fault in map(fault_of, own) if fault]
    wide = all(len(own) == (p if fitted.by_column_ else 1) for own in densities)
    if faults or not wide or not densities or len(fitted.weights_) != len(densities):
        return _refused(faults[0] if faults else "there are more or fewer of them")
    if not fitted.by_column_ and any(np.shape(own[0].mean) != (p,) for own in densities):
        return _refused("they are of rows of another length")
    is_gaussian = tuple(all(kind_of(own[j]) == "Gaussian" for own in densities) for j in range(len(densities[0])))
    seen = blocks.reduce(tally_mixture, add_mixtures, fitted.weights_, densities, fitted.by_column_, is_gaussian)
    if seen is None:
        raise ValueError("sample_weight must be above 0 for some row, got all 0. Leave it out.")
    fault = _fault(fitted, parameters, seen.of_all.specimen if fitted.by_column_ else np.zeros((1, p)))
    if fault:
        return _refused(fault)
    whole, total = seen.of_all, seen.likelihood.weight
    worst = 0.0
    for own, part in zip(densities, seen.of_component, strict=True):
        if part is not None and part.weight / total >= LIGHTEST:
            found = [value for j, density in enumerate(own)
                     for value in _scores(density, part, j, whole, parameters.var_smoothing)]  # fmt: skip
            worst = max([worst, *(math.sqrt(part.weight / total) * _number(value) for value in found)])
    return Certificate("stationary", _claims(fitted, parameters, seen.likelihood, _log_size_of(whole), worst))


def _scores(density: Any, part: Any, j: int, whole: Any, smoothing: float) -> list[float]:
    """Return the scores of a density of a component, or of a column of it, from the sums of its rows."""
    if isinstance(part, PivotSums):
        mean, floor = part.first / part.weight, smoothing * np.diagonal(_covariance(whole))
        return [_gaussian_misfit(density, part.pivot, mean, _covariance(part), floor)]
    if kind_of(density) == "Gaussian":
        mean, floor = part.first[[j]] / part.weight, smoothing * whole.variance[[j]]
        return [_gaussian_misfit(density, part.pivot[[j]], mean, part.variance[[j]][:, None], floor)]
    values, weight = np.array(list(part.counts[j])), np.array(list(part.counts[j].values()))
    return [claim.value for claim in certify_fit(density, values, weight).claims]


def _covariance(sums: PivotSums) -> Array:
    return np.asarray(sums.second / sums.weight - np.outer(sums.first, sums.first) / sums.weight**2)


def _log_size_of(whole: Any) -> float:
    if isinstance(whole, PivotSums):
        return _size_of_logs((), np.sqrt(np.maximum(np.diagonal(_covariance(whole)), 0.0)))
    texts = [len(counts) for counts, text in zip(whole.counts, whole.is_text, strict=True) if text and counts]
    return _size_of_logs(texts, np.sqrt(whole.variance[~whole.is_text]))


PROVES = {"Mixture": prove_mixture}
PROVES_BLOCKS = {"Mixture": prove_mixture_in_passes}
