r"""What a model of a table claims beside its steps: probabilities, intervals and the columns it has seen.

The inverse temperature :math:`\beta` is the best for the scores of rows held out: with the softmax p of
:math:`\beta s`, the derivative of :math:`(\log \beta)^2 / 2 - \sum_i \log p_{i, y_i}` by :math:`\log \beta`,
:math:`\log \beta - \beta \sum_i (s_{i, y_i} - \sum_k p_{ik} s_{ik})`, rises through 0 there. With offsets b, of
which :math:`|b|^2 / 2` is added to the loss, the derivatives by them are 0 too. Steps are what pooling neighbors that
fall leaves. Where there is no calibration, no temperature is much better; that none of the others would have been is
not claimed. Errors are
truth less prediction, so that prediction plus error must be a target of the table. What was said about rows held out
came from fits to parts of the table, which are gone: it is taken as stored.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON
from pellucid.proofs.seen import Seen

LIMITS = math.log(0.05), math.log(20.0)
"""Logarithms of the inverse temperatures that are tried."""
CLOSE = 1e-3
"""Distance of the logarithm of the inverse temperature from the best one: a change of 1 % is ten times as large."""
WEAK = 0.01
"""What keeps the slope of an order finite, as in its loss: this times half of its square."""
MOST_POINTS, MOST_WORDS = 201, 1000
"""Quantiles of a number and words of a column that are remembered at most."""
ROUNDED = 1e-9
"""Relative difference that another processor may leave."""
REFIT = "Fit the model again with pellucid fit."


def prove_beside_steps(fitted: Seen, found: Certificate, columns: Mapping[str, Array], y: Array) -> Certificate:
    """Return the certificate of the steps with the claims about all else that a model of a table answers by.

    ``columns`` are those that the model remembers, as its first step read them: numbers with NaN, or words with None.
    """
    claims, uncovered = list(found.claims), []
    if getattr(fitted, "calibration_", None) is not None:
        uncovered.append("what was said about rows held out while methods were compared")
        claims.append(calibration_claim(fitted.calibration_, fitted.held_out_))
    if getattr(fitted, "errors_", None) is not None:
        uncovered.append("the predictions for rows held out that the intervals come from")
        claims.append(errors_claim(fitted.errors_, np.asarray(y, dtype=np.float64)))
    if getattr(fitted, "limits_", None) is not None:
        claims.append(limits_claim(fitted.limits_, np.asarray(y, dtype=np.float64)))
    if getattr(fitted, "order_", None) is not None:
        claims.append(order_claim(fitted.order_, getattr(fitted, "errors_", None)))
    if getattr(fitted, "costs_", None) is not None:
        uncovered.append("costs_, by which classes are decided, as they were asked for or chosen on rows held out")
        claims.append(costs_claim(fitted.costs_, len(fitted.classes_)))
    if getattr(fitted, "seen_", None) is not None:
        uncovered.append("how predictions were spread")
        claims.append(seen_claim(fitted.seen_, columns))
    if not uncovered:
        return found
    return Certificate(found.grade, tuple(claims), f"{found.reason} Nor: {'; '.join(uncovered)}.".strip())


def calibration_claim(way: Any, held_out: Any) -> Claim:
    """Claim that the numbers of a calibration are the best of their kind for the scores of the rows held out."""
    distance, beta = math.inf, float(way.inverse_temperature)
    if held_out is not None and len(held_out.scores) == len(held_out.codes) and 0.0 < beta < math.inf:
        scores, codes = np.asarray(held_out.scores), np.asarray(held_out.codes)
        if way.kind == "none":
            distance = abs(beta - 1.0) + _gain_of_a_temperature(scores, codes)
        elif way.kind == "temperature":
            distance = abs(math.log(beta) - _best_logarithm(scores, codes))
        elif way.kind == "Platt" and np.shape(way.offsets) == scores.shape[1:]:
            distance = _step_of_offsets(math.log(beta), np.asarray(way.offsets), scores, codes)
        elif way.kind == "isotonic" and scores.shape[1] == 2 and np.shape(way.scores) == np.shape(way.chances):
            distance = _distance_of_steps(way, scores[:, 1] - scores[:, 0], codes)
    statement = f"distance of calibration_ ({way.kind}) from the best of its kind for the rows held out"
    return Claim("calibration", statement, distance if math.isfinite(distance) else math.inf, CLOSE, REFIT)


def _gain_of_a_temperature(scores: Array, codes: Array) -> float:
    """Return how much better the best temperature is than none, a row, beyond what chance and its choice explain."""
    own = np.arange(len(codes)), codes
    beta = math.exp(_best_logarithm(scores, codes))
    gains = log_softmax(beta * scores, axis=1)[own] - log_softmax(scores, axis=1)[own]
    return max(0.0, float(gains.mean() - 2.0 * np.std(gains) / math.sqrt(len(gains))) - 3.0 / len(gains))


def _step_of_offsets(logarithm: float, offsets: Array, scores: Array, codes: Array) -> float:
    """Return how far Newton's method would still go from a temperature and offsets, whose mean is 0.

    All offsets may move together without a change of any probability; their mean of 0 is the best by the penalty.
    """
    beta, is_class = math.exp(logarithm), np.eye(scores.shape[1])[codes]
    p = softmax(beta * scores + offsets, axis=1)
    inner = beta * (scores - np.sum(p * scores, axis=1, keepdims=True))
    gradient = np.array([logarithm + beta * np.sum((p - is_class) * scores), *(offsets + (p - is_class).sum(axis=0))])
    n = len(gradient)
    curvature = np.eye(n)
    curvature[0, 0] += np.sum(p * inner**2) + beta * np.sum((p - is_class) * scores)
    curvature[0, 1:] = curvature[1:, 0] = np.sum(p * inner, axis=0)
    curvature[1:, 1:] += np.diag(p.sum(axis=0)) - p.T @ p
    return float(np.abs(np.linalg.solve(curvature, gradient)).max()) + abs(float(offsets.mean()))


def _distance_of_steps(way: Any, differences: Array, codes: Array) -> float:
    """Return the largest difference of scores or chances of steps from those that pooling neighbors leaves."""
    order = np.argsort(differences, kind="stable")
    pools: list[list[float]] = []  # rows, rows of the second class, sum of scores
    for x, y in zip(differences[order].tolist(), codes[order].tolist(), strict=True):
        pools.append([1.0, float(y), x])
        while len(pools) > 1 and pools[-2][1] * pools[-1][0] >= pools[-1][1] * pools[-2][0]:
            last = pools.pop()
            pools[-1] = [one + other for one, other in zip(pools[-1], last, strict=True)]
    means, first = np.unique([total / rows for rows, _, total in pools], return_index=True)
    chances = np.maximum.accumulate(np.array([(second + 1.0) / (rows + 2.0) for rows, second, _ in pools])[first])
    if np.shape(way.scores) != means.shape:
        return math.inf
    spread = max(1.0, float(np.abs(means).max()))
    return max(float(np.abs(way.scores - means).max()) / spread, float(np.abs(way.chances - chances).max()))


def _best_logarithm(scores: Array, codes: Array) -> float:
    """Return where the derivative rises through 0, by halving; the loss has one least value."""
    low, high = LIMITS
    own = scores[np.arange(len(codes)), codes]
    while high - low > CLOSE / 100:
        middle = (low + high) / 2
        beta = math.exp(middle)
        expected = np.sum(softmax(beta * scores, axis=1) * scores, axis=1)
        slope = middle - beta * float(np.sum(own - expected))
        low, high = (low, middle) if slope > 0 else (middle, high)
    return (low + high) / 2


def errors_claim(errors: Any, y: Array) -> Claim:
    """Claim that predictions plus errors are targets of the table, and that predictions stand in order."""
    predicted, error = np.asarray(errors.predicted), np.asarray(errors.errors)
    statement = "errors of rows held out that lead from their prediction to no target of the table"
    if predicted.shape != error.shape or not len(error) or (np.diff(predicted) < 0).any():
        return Claim("intervals", statement, math.inf, 0.0, REFIT)
    known, actual = np.sort(y), predicted + error
    place = np.searchsorted(known, actual)
    nearest = [np.abs(known[np.clip(place + step, 0, len(known) - 1)] - actual) for step in (-1, 0)]
    allowed = 8 * EPSILON * (np.abs(predicted) + np.abs(error))
    return Claim("intervals", statement, float(np.sum(~(np.min(nearest, axis=0) <= allowed))), 0.0, REFIT)


def limits_claim(limits: Any, y: Array) -> Claim:
    """Claim that predictions are kept from 0 upward where no target is below, or within the least and largest one."""
    low, high = float(np.min(y)), float(np.max(y))
    right = list(limits) == [low, high] or (list(limits) == [0.0, None] and low >= 0.0)
    return Claim("limits", "whether predictions are cut off where targets lie", float(not right), 0.0, REFIT)


def order_claim(order: Any, errors: Any) -> Claim:
    """Claim that the shares of whole numbers are the likeliest for the rows held out that the intervals come from.

    By how much the loss could still fall is told from its derivatives: half of :math:`g' H^{-1} g`.
    """
    statement = "by how much the log loss of all rows held out could still fall, with other thresholds and slope"
    values, t = np.asarray(order.values), np.asarray(order.thresholds)
    parameters = np.concatenate([[order.slope], t])
    if errors is None or len(values) != len(t) + 1 or (np.diff(t) <= 0).any() or not np.isfinite(parameters).all():
        return Claim("order", statement, math.inf, CLOSE, REFIT)
    f, actual = np.asarray(errors.predicted), np.round(errors.predicted + errors.errors)
    if not np.array_equal(values, np.unique(actual)):
        return Claim("order", statement, math.inf, CLOSE, REFIT)
    spread = float(np.std(f)) or 1.0
    codes = np.searchsorted(values, actual)
    at = np.concatenate([[order.slope * spread], t - order.slope * float(np.mean(f))])
    z, step = (f - np.mean(f)) / spread, 1e-5
    slopes = [
        _order_slopes(at + step * one, z, codes) - _order_slopes(at - step * one, z, codes) for one in np.eye(len(at))
    ]
    curvature, gradient = np.array(slopes) / (2 * step), _order_slopes(at, z, codes)
    fall = float(gradient @ np.linalg.lstsq(curvature, gradient, rcond=None)[0]) / 2
    return Claim("order", statement, abs(fall), CLOSE, REFIT)


def _order_slopes(parameters: Array, z: Array, codes: Array) -> Array:
    """Return the derivatives of the loss of an order by the slope and by each threshold, row by row and summed."""
    slope, edges = parameters[0], np.concatenate([[-math.inf], parameters[1:], [math.inf]])
    upper, lower = (1.0 / (1.0 + np.exp(slope * z - edges[codes + place])) for place in (1, 0))
    share = upper - lower
    up, low = upper * (1.0 - upper) / share, lower * (1.0 - lower) / share
    by_threshold = [np.sum(low[codes == k + 1]) - np.sum(up[codes == k]) for k in range(len(parameters) - 1)]
    return np.array([np.sum((up - low) * z) + WEAK * slope, *by_threshold])


def costs_claim(costs: Array, n_classes: int) -> Claim:
    """Claim that there is a cost for each pair of classes, and that to be right is the cheapest."""
    costs = np.asarray(costs)
    wrong = costs.shape != (n_classes, n_classes) or not np.isfinite(costs).all()
    wrong = wrong or bool((costs < np.diagonal(costs)[:, None]).any())
    return Claim("costs", "whether a wrong class may cost less than the right one", float(wrong), 0.0, REFIT)


def seen_claim(seen: Any, columns: Mapping[str, Array]) -> Claim:
    """Claim that the columns are remembered as the table has them."""
    wrong = sum(not _is_as_seen(seen, name, values) for name, values in columns.items())
    return Claim("columns seen", "columns whose quantiles, words or gaps are not those of the table", wrong, 0.0, REFIT)


def _is_as_seen(seen: Any, name: str, values: Array) -> bool:
    """Return whether the gaps of a column, and the quantiles of its numbers or the shares of its words, are right."""
    is_number = values.dtype.kind == "f"
    present = values[~np.isnan(values)] if is_number else [value for value in values if value is not None]
    gaps = 1.0 - len(present) / len(values)
    if seen.counts.get(name) != len(values) or abs(seen.gaps.get(name, math.nan) - gaps) > ROUNDED:
        return False
    if is_number:
        n = min(len(present), MOST_POINTS)
        again = np.quantile(present, np.linspace(0.0, 1.0, n)) if n else np.empty(0)
        stored = np.asarray(seen.numbers.get(name, math.nan))
        return stored.shape == again.shape and bool(np.allclose(stored, again, rtol=ROUNDED, atol=ROUNDED))
    shares = {word: count / len(present) for word, count in Counter(map(str, present)).most_common(MOST_WORDS)}
    stored = seen.words.get(name, {})
    return stored.keys() == shares.keys() and all(abs(stored[word] - shares[word]) <= ROUNDED for word in shares)
