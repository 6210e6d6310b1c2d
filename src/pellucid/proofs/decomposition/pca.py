r"""Proof of PCA: mean, directions, variances and their number, from the data alone.

With the centered rows :math:`Z`, the stored directions must be leading eigenvectors of :math:`Z'Z`, of the squares of
the stored singular values (``directions`` says how residuals, angles, order and what may have been missed are bounded).
The rest follows: variances are :math:`\lambda_j / (n - 1)`, shares :math:`\lambda_j / \mathrm{tr}\,Z'Z`, and the noise
is the mean of what is left of the trace. A number of components that a share or Minka's evidence chose is chosen again.
"""

from __future__ import annotations

from math import lgamma, log, pi
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import largest
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.decomposition.directions import ClaimedDirections, GramOfRows, centering_loss, direction_claims
from pellucid.proofs.matrices.eigenpairs import FACTORED
from pellucid.proofs.rounding import TINY, rounding_unit, sum_error
from pellucid.proofs.sampling import graded
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.training_data import TrainingData

SMALLEST = 1e-15
"""A variance below this one counts as 0 for Minka's evidence, as in scikit-learn."""

EVIDENCE = 1e-6
"""Part by which rounding of small variances may change the evidence for a number of components."""


def prove_pca(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the rows."""
    rows = GramOfRows.of(data, is_centered=True)
    k, d = len(fitted.explained_variance_), data.X.shape[1]
    shapes = {**dict.fromkeys(("singular_values_", "explained_variance_ratio_"), (k,)), "mean_": (d,)}
    if wrong := misshapen("exact", fitted, {"n_components_": fitted.n_components_ == k}, components_=(k, d), **shapes):
        return wrong
    squares = (fitted.singular_values_.astype(np.float64) * rows.unit) ** 2
    found = ClaimedDirections(
        squares,
        fitted.components_.T.astype(np.float64),
        data.dtype,
        float(parameters.tol),
        centering_loss(data.X, rows.unit * rows.mean, _count(data), rows.least_norm),
    )
    size = largest(rows.mean) + np.sqrt(rows.trace / _count(data)) / rows.unit
    claims = [
        Claim("mean",
              "largest distance of mean_ from the mean of a column, in parts of the largest mean and the spread",
              largest(fitted.mean_ - rows.mean) / max(size, TINY),
              rounding_unit(data.dtype)),
        *direction_claims(rows, found, is_factored=data.X.shape[1] <= FACTORED),
        *_record_claims(fitted, rows, found),
        _count_claim(fitted, parameters, data, found.noise),
    ]  # fmt: skip
    if parameters.n_components == "mle":
        variances = np.linalg.eigvalsh(rows.matrix)[::-1] / (_count(data) - 1.0) / rows.unit / rows.unit
        claims.append(_evidence_claim(fitted.n_components_, np.maximum(variances, 0.0), _count(data)))
    if hasattr(fitted, "scatter_"):
        apart = np.abs(fitted.scatter_ * rows.unit * rows.unit - rows.matrix).max(initial=0.0)
        said = "largest distance of scatter_ from that of the rows, in parts of the sum of its diagonal"
        claims.append(Claim("scatter", said, float(apart) / max(rows.trace, TINY), found.noise))
    return graded("exact", claims)


def _record_claims(fitted: Seen, rows: GramOfRows, found: ClaimedDirections) -> list[Claim]:
    """Return the claims that the numbers stored beside the directions follow from their squares and the sum of all."""
    n, unit = _count(rows.data), rows.unit
    k, most = len(found.squares), min(int(n), len(found.vectors))
    rest = float(rows.image_squares(found.vectors)[-1]) if k < most else 0.0
    level = max(float(found.squares.max(initial=0.0)), rows.least_norm)
    apart = [
        np.abs(fitted.explained_variance_ratio_ - found.squares / max(rows.trace, TINY)).max(initial=0.0),
        np.abs(fitted.explained_variance_ * unit * unit * (n - 1.0) - found.squares).max(initial=0.0) / level,
    ]
    noise = fitted.noise_variance_ * unit * unit * (n - 1.0) * (most - k) if k < most else fitted.noise_variance_
    allowed = max(found.noise, 2 * rounding_unit(rows.data.dtype))
    # the sum of the squares left out was, perhaps, the difference of two sums
    of_sums = sum_error(len(found.vectors)) + 2 * rounding_unit(rows.data.dtype) + found.lost + found.tol
    return [
        Claim("shares",
              "variances and ratios that do not follow from the singular values, in parts of the largest square",
              float(np.max(apart)), allowed + (n - 1.0) * rows.subnormal_loss(level)),
        Claim("noise",
              "distance of noise_variance_ from what the components leave out, in parts of the sum of all squares",
              abs(noise - rest) / max(rows.trace, TINY),
              of_sums + n * rows.subnormal_loss(level) if k < most else 0.0),
        Claim(
            "rows", "distance of n_samples_ from the sum of the weights", abs(float(fitted.n_samples_) - n), 1e-9 * n
        ),
    ]  # fmt: skip


def _count(data: TrainingData) -> float:
    """Return the number of rows, or the sum of their weights."""
    return float(data.X.shape[0] if data.weight is None else data.weight.sum())


def _count_claim(fitted: Seen, parameters: Seen, data: TrainingData, noise: float) -> Claim:
    """Return the claim that as many components were kept as the parameters say."""
    k = fitted.n_components_
    shape = (int(_count(data)), data.X.shape[1])
    asked = parameters.n_components
    if asked is None or asked == "mle" or not (isinstance(asked, (float, np.floating)) and 0.0 < asked < 1.0):
        is_one_less = parameters.svd_solver == "arpack" or (parameters.svd_solver == "auto" and sparse.issparse(data.X))
        most = min(shape) - (is_one_less and not hasattr(fitted, "scatter_"))
        wanted = most if asked is None else k if asked == "mle" else int(asked)
        return Claim("components", "distance of their number from the one asked for", float(abs(k - wanted)), 0.0)
    held = np.concatenate([[0.0], np.cumsum(fitted.explained_variance_ratio_, dtype=np.float64)])
    share = float(parameters.n_components)
    too_few = share - held[-1] if k < min(shape) else 0.0
    return Claim("components",
                 "share of the variance that the components lack, or that one fewer would have held too much",
                 float(max(too_few, held[max(k - 1, 0)] - share)),
                 max(noise, rounding_unit(data.dtype)))  # fmt: skip


def _evidence_claim(k: int, variances: Any, n_rows: float) -> Claim:
    evidence = np.array([_minka_evidence(variances, q, n_rows) for q in range(1, len(variances))])
    best = float(evidence.max(initial=-np.inf))
    own = float(evidence[k - 1]) if 1 <= k <= len(evidence) else (best if not len(evidence) else -np.inf)
    lacking = 0.0 if own == best else best - own
    return Claim("evidence",
                 "Minka's evidence that another number of components has more than this one, in parts of the largest",
                 lacking / max(abs(best), TINY) if np.isfinite(lacking) else float("inf"), EVIDENCE)  # fmt: skip


def _minka_evidence(spectrum: Any, k: int, n_rows: float) -> float:
    """Return the logarithm of Minka's evidence (2000, formula 30) for k components; -inf where one has no variance."""
    d = len(spectrum)
    if spectrum[k - 1] < SMALLEST:
        return -np.inf
    noise = max(SMALLEST, float(np.mean(spectrum[k:])))
    inverse = np.append(1.0 / spectrum[:k], np.full(d - k, 1.0 / noise))
    halves = [(d - i) / 2.0 for i in range(k)]
    volume = sum(lgamma(half) - half * log(pi) for half in halves) - k * log(2.0)
    log_curvature = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        for i in range(k):
            gaps = (inverse[i + 1 :] - inverse[i]) * (spectrum[i] - spectrum[i + 1 :]) * n_rows
            log_curvature += float(np.sum(np.log(gaps)))
    likelihood = -0.5 * n_rows * (float(np.sum(np.log(spectrum[:k]))) + (d - k) * log(noise))
    freedom = d * k - k * (k + 1) / 2.0
    found = volume + likelihood + 0.5 * ((freedom + k) * log(2.0 * pi) - log_curvature - k * log(n_rows))
    return -np.inf if np.isnan(found) else found


PROVES = {"PCA": prove_pca}
