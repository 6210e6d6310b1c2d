"""One certificate for a model of several targets."""

from __future__ import annotations

import math

from pellucid.core.certificate import Certificate, Claim


def worst_certificate(certificates: list[Certificate]) -> Certificate:
    """Return, claim by claim, the one closest to failing or furthest past its bound, over several targets."""
    claims = zip(*(certificate.claims for certificate in certificates), strict=True)
    return Certificate(certificates[0].grade, tuple(max(same, key=_closeness) for same in claims))


def _closeness(claim: Claim) -> float:
    if math.isnan(claim.value):
        return math.inf
    if claim.bound > 0.0:
        return claim.value / claim.bound
    return math.inf if claim.value > claim.bound else 0.0
