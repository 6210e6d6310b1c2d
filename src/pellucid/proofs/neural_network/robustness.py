"""The proof that no change within a radius changes the predicted class, in float64 with rounding accounted for.

It takes numbers only: the network's steps, inputs, scores, radii. Linear lower bounds (the kind called CROWN) of the
margin between the predicted class and every other one are computed over the whole ball around each input, and lowered
by all that rounding in the proof can have added. With ``arithmetic="module"`` they are lowered further by what the
module's own arithmetic can lose on any input of the ball, if each of its sums is computed in its dtype, in any order:
then the statement holds for the class that the module computes. (Fast convolution algorithms that transform their
input first are not covered.) With ``arithmetic="exact"`` the statement is about the network in exact arithmetic.

That the steps are those of the module cannot be proved from numbers. So the module itself is tried: at random points
of the balls, on their edges, and where an attack led, its scores must be those of the steps, its class the one claimed.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.neural_network.network_steps import Network
from pellucid.proofs.neural_network.proved_bounds import NotFinite, RowProof
from pellucid.proofs.rounding import EPSILON
from pellucid.proofs.sampling import drawn

ARITHMETICS = {"module": "in exact arithmetic and as the module computes", "exact": "in exact arithmetic"}
COMPARED = 64
"""Points of the balls at which the module's scores are compared with those of the steps; the class is at all."""
SAFELY = 1 - 2.0**-40
"""A radius at which a margin is just 0 is made smaller by this, to be above 0 as it is rounded."""


@dataclass(frozen=True)
class Trials:
    """Points within the claimed radii, (m, inputs), the module's scores there, and the classes claimed for them."""

    points: Array
    scores: Array
    classes: Array


def least_margins(
    network: Network,
    X: Array,
    classes: Array,
    radii: Array,
    *,
    norm: float,
    arithmetic: str = "exact",
    unit: float = EPSILON,
    intervals_only: bool = False,
) -> tuple[Array, Array]:
    """Return what the margin of each row's class stays above within its radius, and a radius that is proved.

    The margin is nan where nothing is proved; the other radius is at most the given one, 0 if nothing is proved.
    """

    @np.errstate(all="ignore")
    def prove_row(row: int) -> tuple[float, float]:
        radius, own = float(radii[row]), int(classes[row])
        if not 0 <= radius < inf:
            return np.nan, 0.0
        try:
            proof = RowProof(network, X[row], radius, norm, unit).walk(intervals_only=intervals_only)
        except NotFinite:
            return np.nan, 0.0
        found = proof.margins(own)
        others = np.arange(network.classes) != own
        value = (found.value - found.lost if arithmetic == "module" else found.value)[others]
        slope = found.slope[others]
        margin = float((value - radius * slope).min())
        if margin > 0:
            return margin, radius
        largest = np.where(value > 0, value / slope, 0.0).min() * SAFELY  # infinite for a slope of 0
        return margin, min(radius, float(largest))

    margins, proved = np.array([prove_row(row) for row in range(len(X))]).reshape(-1, 2).T
    return margins, proved


def prove_radii(
    network: Network, X: Array, scores: Array, radii: Array, trials: Trials, *, norm: float, arithmetic: str
) -> Certificate:
    """Return what is proved about the radii of a network whose module gave these scores, ``(n, classes)``.

    A radius of 0 claims nothing about its row, one below 0 or NaN is never proved.
    """
    claimed = radii != 0
    margins, _ = least_margins(
        network, X[claimed], scores[claimed].argmax(1), radii[claimed], norm=norm, arithmetic=arithmetic
    )
    return radii_certificate(network, X, scores, margins, trials, norm=norm, arithmetic=arithmetic)


def radii_certificate(
    network: Network, X: Array, scores: Array, margins: Array, trials: Trials, *, norm: float, arithmetic: str
) -> Certificate:
    """Return the certificate for the least margins of all rows with a radius above 0."""
    nominal = _scores_claim(
        network, X, scores, "nominal scores", "the module's scores are those of the network in the proof"
    )
    if not len(margins):
        return Certificate("none", (nominal,), "No row has a radius above 0.")
    statement = (
        f"minus the least margin of the predicted class within its radius, over {len(margins)} rows: no change of the "
        f"input whose norm ({norm:g}) is at most that changes the class, {ARITHMETICS[arithmetic]}"
    )
    worst = float(-margins.min())  # min keeps nan, and a claim about nan does not hold
    margin = Claim("margin at the radius", statement, worst, 0.0, "Take smaller radii.")
    some = drawn(len(trials.points), COMPARED)
    tried = _scores_claim(
        network,
        trials.points[some],
        trials.scores[some],
        "scores within the radius",
        f"so they are at {len(some)} points within the radii, random ones and those of an attack",
    )
    return Certificate("bounded", (margin, nominal, tried, _attack_claim(network, trials, arithmetic)))


def _scores_claim(network: Network, X: Array, scores: Array, name: str, statement: str) -> Claim:
    """Compare the module's scores with those of the steps that the proof looks at."""

    @np.errstate(all="ignore")
    def share(row: int) -> float:
        computed, allowed = _scores_by_steps(network, X[row])
        return float((abs(scores[row] - computed) / allowed).max())

    shares = [share(row) for row in range(len(X))]
    return Claim(
        name,
        f"{statement}, in shares of what its arithmetic may lose",
        float(np.max(shares, initial=0.0)),
        1.0,
        "Do not change the module between its scores and its proof; it may keep state that cannot be read.",
    )


def _scores_by_steps(network: Network, row: Array) -> tuple[Array, Array]:
    """Return the scores that the steps make of one input, and how far the module's may be from them."""
    try:
        proof = RowProof(network, row, 0.0, inf).walk(intervals_only=True)
    except NotFinite:
        nothing = np.full(network.classes, np.nan)
        return nothing, nothing
    lower, upper = proof.lower[-1], proof.upper[-1]
    return (lower + upper) / 2, proof.module_errors(np.finfo(network.module_precision)) + (upper - lower)


def _attack_claim(network: Network, trials: Trials, arithmetic: str) -> Claim:
    """Look for a point within the radii where the module's class is another one."""
    rows = np.arange(len(trials.points))
    own = trials.scores[rows, trials.classes]
    others = trials.scores.copy()
    others[rows, trials.classes] = -inf
    harm = others.max(1) - own
    if arithmetic == "exact":  # rounding, of which nothing is claimed, may change the class of the module
        for row in np.flatnonzero(harm > 0):
            harm[row] -= 2 * _scores_by_steps(network, trials.points[row])[1].max()
    return Claim(
        "attack",
        f"the best other score less that of the predicted class, at most, over {len(rows)} points within the radii "
        "where gradients and chance led",
        float(harm.max()) if len(harm) else 0.0,
        0.0,
        "Take smaller radii. If their margin is proved, the module does something that was not read.",
    )
