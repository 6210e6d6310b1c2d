"""The proof that no other penalty predicts left-out rows better than the chosen one: every score once more.

Rows are left out one by one, or fold by fold: those fits are made again by a singular value decomposition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import svd

from pellucid.proofs.arrays import Array, dense
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.linear_model.least_squares import prove_line
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.rows import weighted_mean
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

SAME_SCORE = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-3}
"""Difference of two scores, relative to the larger of 1 and the score, that rounding may make; by dtype of the rows."""

TIE = 1e-6
"""Relative difference of two mean squared errors below which they count as equal."""

ABOVE = "score of the best penalty above that of alpha_, relative"
NOT_BEST = "Refit: alpha_ is not the best of alphas on these data."


def prove_ridge_cv(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate of the final fit and of the choice of its penalty."""
    certificate = prove_line(fitted, data, alpha=fitted.alpha_, parameters=parameters, tol=0.0)
    if parameters.cv is not None:
        return certificate.with_claims(*_search_claims(fitted, parameters, data))
    rows = LeftOutRows.of(data, fit_intercept=parameters.fit_intercept)
    alphas = np.atleast_1d(np.asarray(parameters.alphas, dtype=np.float64)).ravel()
    claims = score_claims(fitted, parameters, data, rows, alphas)
    if parameters.scoring is None:
        claims = (prove_penalty_choice(rows, np.atleast_1d(fitted.alpha_), alphas), *claims)
    return certificate.with_claims(*claims)


@dataclass(frozen=True)
class LeftOutRows:
    """What the errors of rows that are left out are computed from, for every penalty."""

    y: Array  # (n, t)
    root: Array  # (n, 1), roots of the weights
    b: Array  # (n, t), centered targets times the roots
    share: Array  # (n,), of the weight; 0 without an intercept
    left: Array
    s: Array
    is_whole: bool

    @classmethod
    def of(cls, data: TrainingData, *, fit_intercept: bool) -> LeftOutRows:
        """Return the directions of the training rows, from a singular value decomposition."""
        y = np.asarray(data.y, dtype=np.float64).reshape(len(data.y), -1)
        weight, root = data.weights, np.sqrt(data.weights)[:, None]
        A = dense(data.X).astype(np.float64)
        y_mean: Any = 0.0
        if fit_intercept:
            A, y_mean = A - weighted_mean(A, weight), weighted_mean(y, weight)
        share = weight / weight.sum() if fit_intercept else np.zeros(len(y))
        left, s, is_whole = _directions(root * A, root if fit_intercept else None)
        return cls(y, root, root * (y - y_mean), share, left, s, is_whole)

    @property
    def unknown(self) -> Array:
        """What rounding of the mean leaves unknown of a target, times the root of its weight."""
        return 8 * EPSILON * np.abs(self.y).max(axis=0) * float(self.root.max())

    def errors(self, alpha: float) -> tuple[Array, Array, Array]:
        """Return the error of each row and target, and the least and largest size that rounding allows for it."""
        return _left_out_errors(self.left, self.s, self.is_whole, self.b, self.share, alpha, self.unknown)

    def mean_squares(self, alpha: float) -> tuple[Array, Array]:
        """Return the least and the largest that the mean squared error of each target can be."""
        _, least, most = self.errors(alpha)
        return np.mean(least**2, axis=0), np.mean(most**2, axis=0)


def prove_penalty_choice(rows: LeftOutRows, chosen: Array, alphas: Array) -> Claim:
    """Return the claim about ``chosen`` (one penalty, or one per target).

    Errors are known to rounding, which tiny penalties magnify: compared are the least that the error of ``chosen`` can
    be and the largest that others can.
    """
    ranges = np.array([rows.mean_squares(alpha) for alpha in (*alphas, *chosen)])  # (a, 2, t)
    return choice_claim(ranges, len(alphas), len(chosen))


def choice_claim(ranges: Array, n_alphas: int, n_chosen: int) -> Claim:
    """Return the claim from the least and the largest error of all penalties, then of the chosen ones: (a, 2, t)."""
    if n_chosen == 1:
        ranges = ranges.mean(axis=2, keepdims=True)
    best = ranges[:n_alphas, 1].min(axis=0)
    own = np.array([ranges[n_alphas + k, 0, k if n_chosen > 1 else 0] for k in range(n_chosen)])
    best = np.where(best < np.inf, best, own)  # of what no rounding bounds, nothing is claimed
    excess = float(np.maximum(np.max((own - best) / np.where(best > 0, best, 1.0)), 0.0))
    return Claim("penalty", "left-out error of alpha_ above the least of all alphas, relative", excess, TIE, NOT_BEST)


def score_claims(
    fitted: Seen, parameters: Seen, data: TrainingData, rows: LeftOutRows, alphas: Array
) -> tuple[Claim, ...]:
    """Return the claims about ``best_score_`` and ``cv_results_``; none where rounding leaves nothing known."""
    errors, least, most = (np.stack(part, axis=-1) for part in zip(*map(rows.errors, alphas), strict=True))  # (n, t, a)
    if not np.isfinite(most).all():
        return ()
    unknown = np.maximum(most - np.abs(errors), np.abs(errors) - least)
    bound, claims = SAME_SCORE[np.dtype(data.dtype)], []
    if parameters.scoring is None:
        kept, unknown = errors**2, most**2 - least**2
        scores = -kept.mean(axis=0)  # (t, a)
    else:
        kept, unknown = rows.y[:, :, None] - errors / rows.root[:, :, None], unknown / rows.root[:, :, None]
        scores = _left_out_scores(fitted.score, kept, rows.y, data.weight, per_target=parameters.alpha_per_target)
    if not parameters.alpha_per_target:
        scores = scores.mean(axis=0, keepdims=True)
    pairs = zip(scores, np.atleast_1d(fitted.alpha_), strict=True)
    own = np.array([row[alphas == alpha].max(initial=-np.inf) for row, alpha in pairs])
    size = float(np.abs(scores).max()) + (parameters.scoring is not None)
    doubt = 0.0 if parameters.scoring is not None else float(unknown.mean(axis=0).max())
    if parameters.scoring is not None:
        excess = float(np.max(scores.max(axis=1) - own)) / size
        claims.append(Claim("penalty", ABOVE, excess, bound))
    distance = float(np.max(np.abs(np.atleast_1d(fitted.best_score_) - own)))
    statement = "difference of best_score_ from that of the rows left out one by one, relative"
    claims.append(Claim("score", statement, max(0.0, distance - doubt) / max(size, TINY), bound))
    if parameters.store_cv_results:
        stored = np.asarray(fitted.cv_results_, dtype=np.float64).reshape(len(kept), -1, len(alphas))
        off = np.inf if stored.shape != kept.shape else float(np.max(np.abs(stored - kept) - unknown, initial=0.0))
        statement = "largest difference of cv_results_ from the rows left out one by one, relative to the largest"
        claims.append(Claim("left-out rows", statement, off / max(float(np.abs(kept).max()), TINY), bound))
    return tuple(claims)


def _directions(A: Array, root: Array | None) -> tuple[Array, Array, bool]:
    """Return left singular vectors, the values, and whether there are no other directions of the rows.

    Centered columns are at a right angle to the root weights, and that direction is left out: it is made the longest.
    """
    if root is None:
        left, s, _ = svd(A, full_matrices=False, check_finite=False)
        return left, s, left.shape[1] == len(A)
    largest = np.abs(A).max(initial=0.0)
    longest = 2.0 * largest * np.linalg.norm(A / largest) if largest > 0.0 else 1.0
    left, s, _ = svd(np.hstack([A, longest * root / np.linalg.norm(root)]), full_matrices=False, check_finite=False)
    return left[:, 1:], s[1:], left.shape[1] == len(A)


def _left_out_errors(
    left: Array, s: Array, is_whole: bool, b: Array, share: Array, alpha: float, unknown: Array
) -> tuple[Array, Array, Array]:
    r"""Return the left-out error of each row and target, and the least and the largest that rounding allows for it.

    The error of row i is :math:`\sum_ju_{ij}c_ju_j'b/\sum_ju_{ij}^2c_j`, where :math:`c_j = \alpha/(s_j^2+\alpha)`
    for the columns and 1 outside them. Both sums stay accurate when the fit passes through every row; the
    :math:`u_{ij}` are known to rounding only.
    """
    unit, along = sum_error(len(b)), left.T @ b
    lengths = np.hypot(s, np.sqrt(alpha))
    c = (np.min(lengths, initial=np.inf if is_whole else np.sqrt(alpha)) / lengths) ** 2  # a common factor divides out
    error, part = left @ (c[:, None] * along), left**2 @ c  # (n, t), (n,)
    error_unit = unit * np.linalg.norm(c[:, None] * along, axis=0) + unknown
    part_unit = 2.0 * unit * np.sqrt(left**2 @ c**2) + unit**2 * c.sum()
    if not is_whole:
        error = error + (b - left @ along)
        part = part + np.maximum(1.0 - np.sum(left**2, axis=1) - share, 0.0)
        error_unit, part_unit = error_unit + unit * np.linalg.norm(b, axis=0), part_unit + unit
    least = np.maximum(np.abs(error) - error_unit, 0.0) / (part + part_unit)[:, None]
    known = np.where(part > part_unit, part - part_unit, 0.0)[:, None]
    most = np.where(known > 0.0, (np.abs(error) + error_unit) / np.where(known > 0.0, known, 1.0), np.inf)
    return error / np.where(part > 0.0, part, 1.0)[:, None], least, most


def _search_claims(fitted: Seen, parameters: Seen, data: TrainingData) -> tuple[Claim, ...]:
    """Return the claims about ``alpha_`` and ``best_score_``; none where the folds are drawn anew at each use.

    Nor where all targets of a fold are equal: of a constant R2 knows right from wrong only, which rounding decides.
    """
    if fitted.folds is None or not all(np.ptp(data.given[1][test]) > 0 for _, test in fitted.folds):
        return ()
    alphas = np.atleast_1d(np.asarray(parameters.alphas, dtype=np.float64)).ravel()
    scores = _mean_scores(fitted, parameters, data, alphas)
    chosen = np.flatnonzero(alphas == fitted.alpha_)
    own = float(scores[chosen[0]]) if len(chosen) else -np.inf
    size = max(1.0, float(np.abs(scores).max()))
    bound = SAME_SCORE[np.dtype(data.dtype)]
    return (
        Claim("penalty", ABOVE, (float(scores.max()) - own) / size, bound, NOT_BEST),
        Claim("score", "difference of best_score_ from that score", abs(fitted.best_score_ - own) / size, bound),
    )


def _left_out_scores(score: Any, predictions: Array, y: Array, weight: Array | None, *, per_target: bool) -> Array:
    """Return the score of each penalty for predictions of shape (n, t, a): per target, or a row for all together."""
    groups = [[k] for k in range(y.shape[1])] if per_target else [list(range(y.shape[1]))]
    each = range(predictions.shape[2])
    return np.array(
        [[score(predictions[:, group, a].squeeze(), y[:, group].squeeze(), weight) for a in each] for group in groups]
    )


def _mean_scores(fitted: Seen, parameters: Seen, data: TrainingData, alphas: Array) -> Array:
    """Return the mean score of each penalty over the folds of the given rows."""
    X, y, given = data.given
    rows, weight = dense(X).astype(np.float64), np.ones(X.shape[0]) if given is None else given
    scores = []
    for train, test in fitted.folds:
        predictions = _predictions(rows, y, weight, train, test, alphas, fit_intercept=parameters.fit_intercept)
        own = None if given is None else given[test]
        scores.append([fitted.score(predicted, y[test], own) for predicted in predictions])
    return np.mean(scores, axis=0)


def _predictions(
    X: Array, y: Array, weight: Array, train: Array, test: Array, alphas: Array, *, fit_intercept: bool
) -> list[Array]:
    """Return what each penalty predicts for the test rows after a fit to the training rows."""
    share = weight[train] / weight[train].sum()
    mean, y_mean = (share @ X[train], share @ y[train]) if fit_intercept else (np.zeros(X.shape[1]), 0.0)
    root = np.sqrt(weight[train])
    left, s, right = svd(root[:, None] * (X[train] - mean), full_matrices=False, check_finite=False)
    along = left.T @ (root * (y[train] - y_mean).T).T
    rows = (X[test] - mean) @ right.T
    directions = s > 100 * EPSILON * s.max(initial=0.0)
    found = []
    for alpha in alphas:
        shrunk = np.where(directions, s / np.where(directions, s**2 + alpha, 1.0), 0.0)
        found.append(y_mean + (rows * shrunk) @ along)
    return found


PROVES = {"RidgeCV": prove_ridge_cv}
