r"""Proof of total variation: the duality gap, from the image and a dual field, in gray levels where that is possible.

For a field p whose vectors are no longer than the weight, :math:`\lambda TV(z) \ge \langle p, Dz\rangle` for every
image z. For denoising this gives with :math:`s = y - D'p`

.. math:: \mathrm{gap}(z) = \tfrac12\|z - s\|^2 + \lambda TV(z) - \langle p, Dz\rangle \ge
    \tfrac12\|z - x^*\|^2 + \tfrac12\|s - x^*\|^2

because the objective and its dual are both strongly convex; so the middle of z and s is within
:math:`\sqrt{\mathrm{gap}(z)}` of the minimizer. Behind an operator the objective is not strongly convex; what is
bounded is how far it can be lowered by an image with values in a box that the data give.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.vision.measurement import Measurement

ROUNDED = 64 * EPSILON
"""Relative error of a sum of few numbers."""

BOX_MARGIN = 0.5
"""How far the box reaches beyond the data on both sides, as a share of their range."""

RESIDUAL_OF_NONE = 1.1 * math.sqrt(2.0)
"""Were the residual larger, in units of sigma, to leave the image as it is would have the smaller estimated error."""

REMEDY = "Raise max_iter, or accuracy or tolerance."


def prove_total_variation(fitted: Seen, parameters: Seen, data: Measurement) -> Certificate:
    """Prove how far the image is from the minimizer, or its objective from the least one."""
    weight = parameters.weight if parameters.weight is not None else fitted.weight
    is_number = isinstance(weight, (int, float)) and math.isfinite(weight) and weight >= 0
    wrong = misshapen(
        "optimal", fitted, {"weight": is_number}, image=data.operator.shape, dual=(2, *data.operator.shape)
    )
    if wrong is not None:
        return wrong
    seen = data.y[~data.operator.parts["missing"]] if data.operator.name == "Mask" else data.y
    unit = max(float(np.abs(seen).max(initial=0.0)), float(np.finfo(np.float64).tiny))  # squares of data stay finite
    x, p, y, weight = fitted.image / unit, fitted.dual / unit, data.y / unit, weight / unit
    low, high = float(seen.min()) / unit, float(seen.max()) / unit
    claims = [_feasible(p, weight, parameters.isotropic)]
    if data.operator.name == "Identity":
        brightest = data.y if data.luminance is None else data.luminance
        span = max(high - low, float(brightest.max() - brightest.min()) / unit)
        claims.append(_distance(x, p, y, weight, parameters, (span, unit)))
    else:
        claims.append(_excess(x, p, y, weight, parameters, data.operator, (low, high)))
    if parameters.weight is None:
        claims.append(_weight_taken(x, y, weight, data.sigma / unit, data.operator, seen.size))
    return Certificate("optimal", tuple(claims))


def _feasible(p: Array, weight: float, isotropic: bool) -> Claim:
    """Return the claim that no dual vector is too long, and none points out of the image."""
    outward = max(float(np.abs(p[0, -1]).max()), float(np.abs(p[1, :, -1]).max()))
    longest = float(np.hypot(p[0], p[1]).max() if isotropic else np.abs(p).max())
    statement = "length of the longest dual vector, in units of the weight"
    if outward > 0:
        return Claim("dual field", "it points out of the image", outward, 0.0, "Restore it again.")
    return Claim("dual field", statement, longest / weight if weight > 0 else longest, 1.0 + ROUNDED)


def _distance(x: Array, p: Array, y: Array, weight: float, parameters: Seen, sizes: tuple[float, float]) -> Claim:
    """Return the claim about the distance to the minimizer, in gray levels."""
    span, unit = sizes
    near = y - _divided(p)
    other = 2.0 * x - near  # the image is half way between the two that the gap is about
    gap = 0.5 * float(np.sum((other - near) ** 2)) + _slack(other, p, weight, parameters.isotropic)
    rounded = ROUNDED * (1.0 + weight)
    bound = parameters.accuracy * span + rounded + math.sqrt(8.0 * weight * rounded)
    statement = "RMSE to the minimizer, at most, in gray levels: root of the gap per pixel"
    return Claim("distance", statement, unit * math.sqrt(max(gap, 0.0) / x.size), unit * bound, REMEDY)


def _excess(
    x: Array, p: Array, y: Array, weight: float, parameters: Seen, operator: Any, ends: tuple[float, float]
) -> Claim:
    """Return the claim about how much lower the objective can be, for images with values in the box."""
    low, high = ends
    margin = BOX_MARGIN * (high - low)
    q = y - operator.apply(x)
    mismatch = operator.adjoint(q) - _divided(p)
    slack = _slack(x, p, weight, parameters.isotropic)
    # <A'q - D'p, z> is largest at an end of the box, for each pixel z by itself
    gap = slack + float(np.sum(np.maximum(mismatch * (high + margin - x), mismatch * (low - margin - x))))
    objective = 0.5 * float(np.sum(q**2)) + weight * float(np.sum(_lengths(x, parameters.isotropic)))
    bound = parameters.tolerance + 1e-12 * x.size / max(objective, 1e-300)
    statement = "share of the objective that an image with values within twice the range of the data could save"
    return Claim("excess", statement, max(gap, 0.0) / max(objective, 1e-300), bound, REMEDY)


def _weight_taken(x: Array, y: Array, weight: float, sigma: float, operator: Any, n: int) -> Claim:
    """Return the claim that the weight does not smooth more than leaving the image alone would be worth."""
    if sigma == 0.0:
        most = 0.0 if operator.name == "Identity" else 1e-3
        return Claim(
            "weight", "without noise there is none, or next to none, in units of the largest number", weight, most
        )
    residual = math.sqrt(float(np.sum((y - operator.apply(x)) ** 2)) / n)
    return Claim("weight", "root mean square of the residual, in units of sigma", residual / sigma, RESIDUAL_OF_NONE)


def _differences(x: Array) -> tuple[Array, Array]:
    """Return the differences of each pixel to the one below and to the one on the right; 0 at the border."""
    return np.diff(x, axis=0, append=x[-1:]), np.diff(x, axis=1, append=x[:, -1:])


def _lengths(x: Array, isotropic: bool) -> Array:
    down, right = _differences(x)
    return np.hypot(down, right) if isotropic else np.abs(down) + np.abs(right)


def _slack(x: Array, p: Array, weight: float, isotropic: bool) -> float:
    """Return by how much the weighted variation is above <p, Dx>."""
    down, right = _differences(x)
    return float(np.sum(weight * _lengths(x, isotropic) - p[0] * down - p[1] * right))


def _divided(p: Array) -> Array:
    """Return D'p: what each pixel has of the differences it is part of."""
    found = np.zeros(p.shape[1:])
    found[:-1] -= p[0, :-1]
    found[1:] += p[0, :-1]
    found[:, :-1] -= p[1, :, :-1]
    found[:, 1:] += p[1, :, :-1]
    return found


PROVES = {"TotalVariation": prove_total_variation}
