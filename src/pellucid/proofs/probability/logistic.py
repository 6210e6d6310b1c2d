r"""Proof of a fitted logistic density: a dual point bounds how much more likely any other parameters could be.

In standardized data :math:`z_i = (x_i - \mu)/s` the fit is the minimum of a convex function at :math:`a = 0, b = 1`,

.. math:: F(a, b) = -\log b + \frac1n \sum_i w_i \varphi(b z_i - a), \qquad \varphi(z) = 2 \log(2\cosh\tfrac z2).

For slopes :math:`|u_i| \le 1` with mean 0 and :math:`C = \frac1n \sum w_i u_i z_i > 0`, Fenchel's inequality gives

.. math:: \min F \ge 1 + \log C - \frac1n \sum_i w_i \varphi^*(u_i), \qquad
          \varphi^*(u) = 2\,(q \log q + (1 - q) \log(1 - q)),\ q = \tfrac{1 + u}2.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import entr

from pellucid.probability.sample_data import SampleData
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim, gap_claim
from pellucid.proofs.rounding import EPSILON, sum_error

SMALL_SCORE = 1e-9
"""A score that Newton's method leaves far behind."""


def prove_logistic(location: float, scale: float, data: SampleData) -> Certificate:
    """Return the certificate: the duality gap per observation, and the two scores."""
    share = (np.ones(len(data.values)) if data.weight is None else data.weight) / data.total
    z = (data.values - location) / scale
    slope = np.tanh(z / 2)
    rounded = 64 * EPSILON * abs(location) / scale  # the location is stored with so many digits only
    primal, below = _primal_and_bound(z, share)
    gap_bound = sum_error(len(z)) * (1 + float(share @ np.abs(z))) + rounded**2
    scores = (abs(float(share @ slope)), abs(float(share @ (z * slope)) - 1))
    claims = (
        gap_claim(
            "gap",
            "no parameters have a mean log likelihood larger by more than this",
            primal,
            below,
            gap_bound,
            rounding=gap_bound,
        ),
        Claim("location score", "mean gradient in the location, 0 up to rounding", scores[0], SMALL_SCORE + rounded),
        Claim("scale score", "mean gradient in the scale, 0 up to rounding", scores[1], SMALL_SCORE + rounded),
    )
    return Certificate("optimal", claims)


def _primal_and_bound(z: Array, share: Array) -> tuple[float, float]:
    """Return the objective and what no objective is below; minus infinity if the dual point bounds nothing."""
    u, size = _dual_point(z, share), np.abs(z)
    primal = float(share @ (size + 2 * np.log1p(np.exp(-size))))
    correlation = float(share @ (u * z))
    if not correlation > 0:
        return primal, -np.inf
    conjugate = -2 * float(share @ (entr((1 + u) / 2) + entr((1 - u) / 2)))
    return primal, 1 + float(np.log(correlation)) - conjugate


def _dual_point(z: Array, share: Array) -> Array:
    """Return the slopes at the best location for this scale, whose mean is 0; what rounding leaves is shrunk away."""
    center = brentq(lambda c: float(share @ np.tanh((z - c) / 2)), z.min() - 1, z.max() + 1)
    slope = np.tanh((z - center) / 2)
    up, down = float(share @ np.maximum(slope, 0)), float(share @ np.maximum(-slope, 0))
    lighter = min(up, down)
    return np.where(slope > 0, slope * (lighter / up if up else 0), slope * (lighter / down if down else 0))
