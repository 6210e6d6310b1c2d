r"""Proof of plug and play: the last round is done once more.

It began with an image z, found the x that solves :math:`(A'A + \rho)x = A'y + \rho z`, and gave it to the denoiser,
whose own proof says that the answer is what the denoiser makes of it. The image is nearly where the round began: it
is a fixed point up to less than the noise. That there is no other one, nobody claims.
"""

from __future__ import annotations

import math

import numpy as np

from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.index import find_proof
from pellucid.proofs.seen import Seen
from pellucid.proofs.vision.measurement import Measurement, SeenOperator

SOLVED = 1e-7
"""Residual of the equations, relative, that counts as solved."""
NO_NOISE = 1 / 255
PREFIX = "denoiser_"
REMEDY = "Raise n_iter: each round removes a little less noise than the one before."


def prove_plug_and_play(fitted: Seen, parameters: Seen, data: Measurement) -> Certificate:
    """Prove the last round."""
    last = max(data.sigma, NO_NOISE * data.peak)
    rho = parameters.penalty
    n, strongest = parameters.n_iter, max(parameters.strongest * data.peak, last)
    before_last = last * (strongest / last) ** (1.0 / max(n - 1, 1))  # the noise of the round before
    x, before, operator = fitted.fitted_to_data, fitted.before, data.operator
    if x.shape != operator.shape or before.shape != operator.shape or not np.isfinite(x + before).all():
        return Certificate("replayed", (Claim("data step", "its images are not of the shape asked for", 1.0, 0.0),))
    right = operator.adjoint(data.y) + rho * before
    residual = operator.adjoint(operator.apply(x)) + rho * x - right
    size = float(np.linalg.norm(right))
    moved = math.sqrt(float(np.mean((fitted.image - before) ** 2)))
    own = {name.removeprefix(PREFIX): value for name, value in vars(fitted).items() if name.startswith(PREFIX)}
    denoiser = parameters.denoiser
    inner = Measurement(x, last, data.peak, SeenOperator("Identity", {}, operator.shape), 0, x)
    seen = Seen(**vars(denoiser))
    found = find_proof(type(denoiser).__name__)(Seen(image=fitted.image, **own), seen, inner)  # type: ignore[arg-type]
    relative = float(np.linalg.norm(residual)) / size if size > 0 else 0.0
    claims = (
        Claim("data step", "residual of (A'A + rho) x = A'y + rho z in the last round, relative", relative, SOLVED),
        Claim("fixed point", "what the last round moved, root mean square in gray levels", moved, before_last, REMEDY),
        *(Claim(f"denoiser: {one.name}", one.statement, one.value, one.bound, one.remedy) for one in found.claims),
    )
    return Certificate("replayed", claims, "Of all rounds the last is replayed.")


PROVES = {"PlugAndPlay": prove_plug_and_play}
