r"""Proof of fitted shares: the KKT conditions of maximizing :math:`\sum_j c_j \log p_j` over probability vectors.

With :math:`c_j` the count of category :math:`j` plus the prior's :math:`\alpha_j - 1`, the maximum has
:math:`c_j = \lambda p_j` where :math:`p_j > 0` and :math:`c_j \le 0` where :math:`p_j = 0`.
"""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Data
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import sum_error


def prove_shares(probabilities: Data, counts: Array, pseudo_counts: Data, impossible: float) -> Certificate:
    """Return the certificate; ``impossible`` is the weight of rows that the density cannot produce."""
    p = np.asarray(probabilities, dtype=np.float64)
    evidence = counts + pseudo_counts
    inside = p > 0
    multiplier = float(evidence[inside].sum())
    score = np.abs(evidence - multiplier * p)[inside].max() / np.abs(evidence).sum()
    bound = sum_error(int(min(counts.sum(), 1e15)))
    claims = [
        Claim("score", "relative size of the gradient of the log likelihood, 0 up to rounding", float(score), bound),
        Claim("support", "weight of rows that this density cannot produce", float(impossible), 0.0),
    ]
    if not inside.all():
        pull = float(evidence[~inside].max()) / max(multiplier, 1.0)
        claims.append(Claim("boundary", "pull of the data away from a probability of 0, at most 0", pull, 0.0))
    return Certificate("exact", tuple(claims))
