r"""Proofs for channels: two sides that close in on the capacity and on the rate-distortion function.

For any input distribution :math:`p` with output :math:`q`, :math:`I(p) \le C \le \max_x D(W_x \| q)`.

For any :math:`\lambda_x \ge 0` with :math:`\sum_x p_x \lambda_x e^{-\beta d(x, y)} \le 1` for all :math:`y`, a test
channel of distortion at most :math:`D` has a rate of at least :math:`\sum_x p_x \log\lambda_x - \beta D`.
"""

from __future__ import annotations

from math import log

import numpy as np
from scipy.special import xlogy

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim, gap_claim
from pellucid.proofs.rounding import EPSILON


def certify_capacity(transition: Array, inputs: Array, *, tol: float, base: float = 2.0) -> Certificate:
    """Return the gap between what this input distribution carries and what any could."""
    W, p = np.asarray(transition, dtype=np.float64), np.asarray(inputs, dtype=np.float64)
    q = p @ W
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(W > 0, np.log(W / q), 0.0)
        divergences = (W * ratios).sum(axis=1)
    carried = float(np.where(p > 0, p * divergences, 0.0).sum())
    most = float(divergences.max())
    remedy = "Raise max_iter or tol."
    return Certificate(
        "optimal",
        (
            gap_claim("capacity gap", "the capacity is at most this far above the answer", most / log(base),
                      carried / log(base), tol, rounding=tol, remedy=remedy),
            Claim("input distribution", "its probabilities miss 1 by this", abs(float(p.sum()) - 1), 64 * EPSILON),
        ),
    )  # fmt: skip


def certify_rate(
    source: Array,
    distortion: Array,
    test_channel: Array,
    multiplier: float,
    outputs: Array,
    *,
    tol: float,
    base: float = 2.0,
) -> Certificate:
    """Return the gap between the rate of a test channel and a lower bound for channels of no more distortion.

    Any multiplier and any output distribution give such a bound; good ones a tight one.
    """
    p, d, Q = (np.asarray(values, dtype=np.float64) for values in (source, distortion, test_channel))
    q = p @ Q
    rate = float((p[:, None] * (xlogy(Q, Q) - xlogy(Q, np.where(q > 0, q, 1.0)))).sum())
    reached = float((p[:, None] * np.where(Q > 0, Q * d, 0.0)).sum())
    bound = _lower_bound(p, d, np.asarray(outputs, dtype=np.float64), multiplier, reached)
    wrong = float(np.abs(Q.sum(axis=1) - 1).max())
    remedy = "Raise max_iter or tol."
    return Certificate(
        "optimal",
        (
            gap_claim("rate gap", "no channel of this distortion has a rate lower by more", rate / log(base),
                      bound / log(base), tol, rounding=tol, remedy=remedy),
            Claim("test channel", "its rows miss 1 by this", wrong, 64 * EPSILON),
        ),
    )  # fmt: skip


def _lower_bound(p: Array, d: Array, q: Array, multiplier: float, reached: float) -> float:
    """Return the dual value in nats of the point that the output distribution suggests."""
    nearest = d.min(axis=1)
    excess = d - nearest[:, None]
    if multiplier == np.inf:  # only the nearest letters are allowed
        if reached > float(p @ nearest) * (1 + 64 * EPSILON):
            return -np.inf
        kernel, price = (excess == 0).astype(float), 0.0
    else:
        kernel, price = np.exp(-multiplier * excess), multiplier * (reached - float(p @ nearest))
    normalizers = kernel @ q
    if (normalizers[p > 0] <= 0).any():
        return -np.inf
    raw = np.where(p > 0, 1 / np.where(normalizers > 0, normalizers, 1.0), 0.0)
    tightest = float(((p * raw) @ kernel).max())
    return -float(xlogy(p, np.where(p > 0, normalizers * tightest, 1.0)).sum()) - price
