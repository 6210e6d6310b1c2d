"""The proof that no change within a radius changes the predicted class, in float64 with rounding accounted for.

It takes numbers only: the network's steps, inputs, classes, radii. Linear lower bounds (the kind called CROWN) of the
margin between the predicted class and every other one are computed over the whole ball around each input, and lowered
by all that rounding in the proof can have added. With ``arithmetic="module"`` they are lowered further by what the
module's own arithmetic can lose on any input of the ball, if each of its sums is computed in its dtype, in any order:
then the statement holds for the class that the module computes. (Fast convolution algorithms that transform their
input first are not covered.) With ``arithmetic="exact"`` the statement is about the network in exact arithmetic.
"""

from __future__ import annotations

from math import inf

import torch
from torch import Tensor

from pellucid.core.certificate import Certificate, Claim
from pellucid.core.rounding import EPSILON
from pellucid.neural_network.robustness.linear_bounds import Ball, interval_margins, linear_margins, relax
from pellucid.neural_network.robustness.relaxations import Link
from pellucid.neural_network.robustness.steps import Network

ARITHMETICS = {"module": "in exact arithmetic and as the module computes", "exact": "in exact arithmetic"}
ROWS = 128
"""Inputs looked at together."""


def least_margins(
    network: Network,
    X: Tensor,
    classes: Tensor,
    radii: Tensor,
    *,
    norm: float,
    arithmetic: str = "exact",
    unit: float = EPSILON,
    intervals_only: bool = False,
) -> Tensor:
    """Return what the margin of each row's class stays above within the radius, ``(n,)``; nan proves nothing."""
    found = []
    for rows in torch.arange(len(X)).split(ROWS):
        ball = Ball(X[rows], radii[rows], norm, unit)
        links = relax(network, ball, intervals_only=intervals_only)
        margins = interval_margins(links, classes[rows])
        if not intervals_only:
            margins = torch.maximum(margins, linear_margins(links, classes[rows], ball))
        if arithmetic == "module":
            lost = evaluation_error(links, X[rows], network.module_dtype)
            margins = margins - (lost + lost.gather(1, classes[rows].unsqueeze(1)))
        found.append(margins.scatter(1, classes[rows].unsqueeze(1), inf).amin(1))
    return torch.cat(found) if found else X.new_zeros(0)


def evaluation_error(links: list[Link], X: Tensor, dtype: torch.dtype) -> Tensor:
    """Return how far scores computed in a dtype can be off, on any input that the links stand on: ``(B, C)``."""
    unit, error = torch.finfo(dtype).eps, torch.zeros_like(X)
    for link in links:
        error = link.error(error, unit) + torch.finfo(dtype).tiny * link.terms
    return error


def prove_radii(
    network: Network, X: Tensor, scores: Tensor, radii: Tensor, *, norm: float, arithmetic: str
) -> Certificate:
    """Return what is proved about the radii of a network whose module gave these scores, ``(n, classes)``.

    A radius of 0 claims nothing about its row, one below 0 or NaN is never proved.
    """
    claimed = radii != 0
    margins = least_margins(
        network,
        X[claimed],
        scores[claimed].argmax(1),
        torch.where(radii < 0, torch.nan, radii)[claimed],
        norm=norm,
        arithmetic=arithmetic,
    )
    return radii_certificate(network, X, scores, margins, norm=norm, arithmetic=arithmetic)


def radii_certificate(
    network: Network, X: Tensor, scores: Tensor, margins: Tensor, *, norm: float, arithmetic: str
) -> Certificate:
    """Return the certificate for the least margins of all rows with a radius above 0."""
    nominal = _nominal_claim(network, X, scores)
    if not len(margins):
        return Certificate("none", (nominal,), "No row has a radius above 0.")
    statement = (
        f"minus the least margin of the predicted class within its radius, over {len(margins)} rows: no change of the "
        f"input whose norm ({norm:g}) is at most that changes the class, {ARITHMETICS[arithmetic]}"
    )
    worst = float(-margins.min())  # of a tensor, min keeps nan, and a claim about nan does not hold
    margin = Claim("margin at the radius", statement, worst, 0.0, "Take smaller radii.")
    return Certificate("bounded", (margin, nominal))


def _nominal_claim(network: Network, X: Tensor, scores: Tensor) -> Claim:
    """Compare the module's scores with those of the steps that the proof looks at."""
    shares = []
    for rows in torch.arange(len(X)).split(ROWS):
        links = relax(network, Ball(X[rows], torch.zeros(len(rows), dtype=X.dtype), inf, EPSILON), intervals_only=True)
        lower, upper = links[-1].box
        allowed = evaluation_error(links, X[rows], network.module_dtype) + (upper - lower)
        shares.append(((scores[rows] - (lower + upper) / 2).abs() / allowed).max())
    return Claim(
        "nominal scores",
        "the module's scores are those of the network in the proof, in shares of what its arithmetic may lose",
        float(torch.stack(shares).max()) if shares else 0.0,
        1.0,
        "Do not change the module between its scores and its proof.",
    )
