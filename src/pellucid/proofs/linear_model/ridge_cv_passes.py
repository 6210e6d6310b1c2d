r"""Proof of RidgeCV on rows in blocks: a pass for the line, and a pass that leaves out every row at every penalty.

With :math:`A = USV'` of all rows the error of row i is :math:`(b_i - a_i'w)/(1 - s_i/\sum s - h_i)` with
:math:`h_i = \sum_j(a_i'v_j)^2/(s_j^2 + \alpha)`. Directions and values are known to rounding, relative to the longest,
and so are the errors: what is compared is the least and the largest that each of them can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.blocks import add_blocks, add_roots, data_with, nearly_dependent, root_block, sum_block
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.linear_model.least_squares import prove_line
from pellucid.proofs.linear_model.ridge_cv import SAME_SCORE, choice_claim
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.rows import weighted_mean
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

ROWS_AT_ONCE = 2048


def prove_ridge_cv_in_passes(fitted: Seen, parameters: Seen, blocks: Any) -> Certificate:
    """Return the certificate of the final fit and of the choice of its penalty among ``alphas``."""
    found = blocks.reduce(sum_block, add_blocks, "numbers")
    means = nearly_dependent(found)
    roots = blocks.reduce(root_block, add_roots, "numbers", means) if means else None
    data = data_with(found, "numbers", blocks.n_features, None, False, roots)
    certificate = prove_line(fitted, data, alpha=fitted.alpha_, parameters=parameters, tol=0.0)
    alphas = np.atleast_1d(np.asarray(parameters.alphas, dtype=np.float64)).ravel()
    chosen = np.atleast_1d(fitted.alpha_).astype(np.float64)
    line = LeftOutLine.of(data, fit_intercept=parameters.fit_intercept)
    sums: Array = blocks.reduce(leave_out_block, added, line, np.concatenate([alphas, chosen]))
    least, most, likely, n = np.moveaxis(sums, 1, 0)  # (a, t) each
    ranges = np.stack([least / n, most / n], axis=1)
    score = _score_claims(fitted, parameters, alphas, (likely / n)[: len(alphas)], ranges)
    return certificate.with_claims(choice_claim(ranges, len(alphas), len(chosen)), *score)


def _score_claims(fitted: Seen, parameters: Seen, alphas: Array, squares: Array, ranges: Array) -> tuple[Claim, ...]:
    """Return the claim about ``best_score_``; none where rounding leaves nothing known."""
    doubt = (ranges[: len(alphas), 1] - ranges[: len(alphas), 0]).max()
    if not np.isfinite(doubt):
        return ()
    scores = -squares.T if parameters.alpha_per_target else -squares.mean(axis=1)[None, :]  # (t or 1, a)
    pairs = zip(scores, np.atleast_1d(fitted.alpha_), strict=True)
    own = np.array([row[alphas == alpha].max(initial=-np.inf) for row, alpha in pairs])
    distance = float(np.max(np.abs(np.atleast_1d(fitted.best_score_) - own)))
    said = "difference of best_score_ from that of the rows left out one by one, relative"
    size = max(float(np.abs(scores).max()), TINY)
    return (Claim("score", said, max(0.0, distance - doubt) / size, SAME_SCORE[np.dtype(np.float64)]),)


@dataclass(frozen=True, eq=False)
class LeftOutLine:
    """What the errors of left-out rows are computed from."""

    mean: Array
    y_mean: Array
    y_size: Array
    shared_weight: float
    """Of all rows; infinite without an intercept."""
    axes: Array  # (p, k)
    squares: Array  # (k,), of the lengths of A along them
    along: Array  # (k, t), A'b along them
    length: Array  # (t,), of b
    unit: float
    """Relative error of sums over the rows."""

    @classmethod
    def of(cls, data: TrainingData, *, fit_intercept: bool) -> LeftOutLine:
        """Return the directions of rows that have the sums of all."""
        X, y = np.asarray(data.X, dtype=np.float64), np.asarray(data.y, dtype=np.float64)
        weight, root = data.weights, np.sqrt(data.weights)[:, None]
        mean, y_mean = np.zeros(X.shape[1]), np.zeros(y.shape[1])
        if fit_intercept:
            mean, y_mean = weighted_mean(X, weight), weighted_mean(y, weight)
        A, b = root * (X - mean), root * (y - y_mean)
        _, s, right = np.linalg.svd(A, full_matrices=True)
        lengths = np.zeros(len(right))
        lengths[: len(s)] = s
        total, b_length = float(weight.sum()), np.linalg.norm(b, axis=0)
        size, shared = np.abs(y_mean) + b_length / np.sqrt(total), total if fit_intercept else np.inf
        along, unit = right @ (A.T @ b), sum_error(int(total))
        return cls(mean, y_mean, size, shared, right.T, lengths**2, along, b_length, unit)


def leave_out_block(block: Any, line: LeftOutLine, alphas: Array) -> Array:
    """Return, for each penalty and target, sums of the least, largest and likely squared errors, and of ones."""
    weight = np.ones(len(block.X)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
    kept, t = np.flatnonzero(weight > 0), len(line.y_mean)
    sums = np.zeros((len(alphas), 4, t))
    for start in range(0, len(kept), ROWS_AT_ONCE):
        rows = kept[start : start + ROWS_AT_ONCE]
        root = np.sqrt(weight[rows])[:, None]
        A = root * (np.asarray(block.X[rows], dtype=np.float64) - line.mean)
        b = root * (np.reshape(block.y, (len(block.X), -1))[rows].astype(np.float64) - line.y_mean)
        z, share = A @ line.axes, weight[rows] / line.shared_weight
        for k, errors in enumerate(_errors(line, z, b, root, share, alphas)):
            sums[:, SLOTS[k]] += np.sum(errors**2, axis=0).T
        sums[:, 3] += len(rows)
    return sums


def added(found: Sequence[Array]) -> Array:
    """Return the sums over several blocks."""
    return np.sum(found, axis=0)


SLOTS = (2, 0, 1)
"""Where sums of the likely, the least and the largest errors stand."""


def _errors(
    line: LeftOutLine, z: Array, b: Array, root: Array, share: Array, alphas: Array
) -> tuple[Array, Array, Array]:
    """Return the left-out errors (m, t, a), and the least and largest sizes that rounding allows for them."""
    unit, longest = line.unit, float(line.squares.max(initial=0.0))
    inverse = 1.0 / (line.squares[:, None] + alphas)  # (k, a)
    slopes = line.along[:, :, None] * inverse[:, None, :]  # (k, t, a)
    sizes, lengths = np.abs(z), np.linalg.norm(z, axis=1)
    unsure = unit * (1.0 + longest * inverse)  # of 1 / (s^2 + alpha), relative
    part = 1.0 - share[:, None] - z**2 @ inverse
    part_unit = unit + z**2 @ (unsure * inverse) + 2.0 * unit * lengths[:, None] * (sizes @ inverse)
    error = b[:, :, None] - np.tensordot(z, slopes, axes=1)
    lost = unit * np.sqrt(longest) * line.length[:, None] * inverse[:, None, :]  # of A'b along an axis
    slope_unit = (unit + unsure[:, None, :]) * np.abs(slopes) + lost
    rounded = (8 * EPSILON * root * line.y_size + unit * np.abs(b))[:, :, None]
    turned = unit * lengths[:, None, None] * np.abs(slopes).sum(axis=0)
    error_unit = rounded + np.tensordot(sizes, slope_unit, axes=1) + turned
    least = np.maximum(np.abs(error) - error_unit, 0.0) / (part + part_unit)[:, None, :]
    known = np.where(part > part_unit, part - part_unit, 0.0)[:, None, :]
    most = np.where(known > 0.0, (np.abs(error) + error_unit) / np.where(known > 0.0, known, 1.0), np.inf)
    return error / np.where(part > 0.0, part, 1.0)[:, None, :], least, most


PROVES_BLOCKS = {"RidgeCV": prove_ridge_cv_in_passes}
