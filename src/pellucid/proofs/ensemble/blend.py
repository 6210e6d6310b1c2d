r"""What a blend claims: its weights are those asked for, its members are proved, it says their weighted mean.

What a member claims is proved by the member's own proof on the same data; the card of the blend asks for that, and this
proof counts the members whose claims fail, or that are not what was asked for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.sampling import is_fitting
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

REFIT = "Fit the model again on these data: what it has stored is something else."


def prove_blend(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate; ``fitted`` also has what proofs found in the members, and what all say about rows."""
    claims = [weights_claim(fitted.weights_, parameters.weights, fitted.n_members)]
    if claims[0].holds and not is_fitting():
        claims += [members_claim(fitted, data), answers_claim(fitted)]
    return Certificate("replayed", tuple(claims))


def weights_claim(stored: Array, weights: Sequence[float] | None, n_members: int) -> Claim:
    """Claim that the weights follow from the parameter: none negative, summing to 1."""
    given = np.ones(n_members) if weights is None else np.asarray(weights, dtype=np.float64)
    right, stored = given / given.sum(), np.asarray(stored)
    error = float(np.max(np.abs(stored - right))) if stored.shape == right.shape else math.inf
    error = error if (stored >= 0).all() else math.inf
    return Claim("weights", "largest error of a weight", error, sum_error(n_members), REFIT)


def members_claim(fitted: Seen, data: TrainingData) -> Claim:
    """Claim that every member is what was asked for, and that its own proof holds on these data."""
    wrong = sum(not is_right for is_right in fitted.are_right) + abs(len(fitted.are_right) - fitted.n_members)
    if len(data.classes):
        wrong += not np.array_equal(data.classes, np.unique(np.asarray(data.given[1]).ravel()))
        wrong += not np.array_equal(fitted.classes_, data.classes)
    statement = f"wrong members of {fitted.n_members}: {'; '.join(fitted.reasons) or 'each is proved by itself'}"
    return Claim("members", statement, float(wrong), 0.0, REFIT)


def answers_claim(fitted: Seen) -> Claim:
    """Claim that the blend says the weighted mean of what its members say."""
    said = np.asarray(fitted.member_answers)
    mean = np.tensordot(np.asarray(fitted.weights_), said, axes=1)
    size = max(float(np.abs(said).max(initial=0.0)), float(np.finfo(float).tiny))
    error = float(np.max(np.abs(mean - fitted.blend_answers), initial=0.0)) / size
    statement = f"largest difference of an answer from the weighted mean, {len(fitted.blend_answers)} rows asked"
    return Claim("answers", statement, error, 64 * sum_error(len(said)), REFIT)


PROVES = {"BlendClassifier": prove_blend, "BlendRegressor": prove_blend}
