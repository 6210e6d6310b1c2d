"""Lower bounds of scores over all inputs within a ball, by linear functions pulled back through the network."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor

from pellucid.neural_network.robustness.relaxations import (
    SPARE,
    AffineLink,
    Box,
    Link,
    MaximumLink,
    RectifierLink,
    ReshapeLink,
    dot,
)
from pellucid.neural_network.robustness.steps import Affine, Maximum, Network, Rectifier, Step

MEMORY = 1 << 28
"""Bytes that the coefficients of a layer may take at a time."""

NEIGHBORS = 128
"""Outputs of a convolution that are bounded together."""


@dataclass(frozen=True, eq=False)
class Ball:
    """All inputs at most ``radius`` away from each of B centers, in the norm inf or 2."""

    center: Tensor  # (B, *shape)
    radius: Tensor  # (B,)
    norm: float
    unit: float

    def box(self) -> Box:
        """Return the smallest box around the ball, a little wider for rounding."""
        radius = self.radius.view(-1, *[1] * (self.center.dim() - 1))
        radius = radius + self.unit * (self.center.abs() + radius)
        return Box(self.center - radius, self.center + radius)

    def reach(self, step: Affine) -> Tensor:
        """Return how far each output of an affine step moves: the dual norm of its weights times the radius."""
        ones = torch.ones_like(self.center[:1])
        if self.norm == 2:
            dual = step.with_weight(torch.square).apply(ones).sqrt()
        else:
            dual = step.with_weight(torch.abs).apply(ones)
        return dual * self.radius.view(-1, *[1] * (dual.dim() - 1))

    def least(self, A: Tensor) -> Tensor:
        """Return a lower bound of each linear function over the ball: ``(B, Q, *shape) -> (B, Q)``."""
        absolute = A.abs()
        dual = A.flatten(2).norm(dim=2) if self.norm == 2 else absolute.flatten(2).sum(2)
        reach = self.radius.unsqueeze(1) * dual
        least = dot(A, self.center) - reach
        if not self.unit:
            return least
        return least - self.unit * (A[0, 0].numel() + SPARE) * (dot(absolute, self.center.abs()) + reach)


def relax(network: Network, ball: Ball, *, intervals_only: bool = False) -> list[Link]:
    """Return each step's link on the inputs of the ball.

    Boxes come from intervals. Where a rectifier's sign is open, linear bounds through all steps before it narrow them,
    unless only intervals are asked for, or intervals are exact because there is but one affine step before.
    """
    links: list[Link] = []
    box, n_affine = ball.box(), 0
    for step in network.steps:
        if isinstance(step, Affine):
            n_affine += 1
        elif isinstance(step, Rectifier) and n_affine > 1 and isinstance(links[-1], AffineLink) and not intervals_only:
            box = _narrowed(links, links[-1], ball, box, network.largest)
        is_first = isinstance(step, Affine) and n_affine == 1 and all(isinstance(link, ReshapeLink) for link in links)
        links.append(_link(step, box, ball, is_first))
        box = links[-1].box
    return links


def _link(step: Step, box: Box, ball: Ball, is_first: bool) -> Link:
    if isinstance(step, Affine):
        return AffineLink(step, box, ball.unit, ball.reach(step) if is_first else None)
    if isinstance(step, Rectifier):
        return RectifierLink(step, box, ball.unit)
    if isinstance(step, Maximum):
        return MaximumLink(step, box, ball.unit)
    return ReshapeLink(step, box, ball.unit)


def lower_bounds(links: list[Link], A: Tensor, ball: Ball) -> Tensor:
    """Return lower bounds over the ball of linear functions of the last outputs: ``(B, Q, *shape) -> (B, Q)``."""
    offset = A.new_zeros(A.shape[:2])
    for link in reversed(links):
        offset = offset + link.offset(A) - link.allowance(A)
        A = link.pull_back(A)
    return offset + ball.least(A)


def _narrowed(links: list[Link], last: AffineLink, ball: Ball, box: Box, largest: int) -> Box:
    """Return the box with linear bounds for the outputs whose sign intervals leave open."""
    lower, upper = (side.flatten(1).clone() for side in box)
    is_open = (lower < 0) & (upper > 0)
    most = int(is_open.sum(1).max())
    if most == 0:
        return box
    chosen = is_open.int().argsort(dim=1, descending=True, stable=True)[:, :most]  # the open ones of each row, first
    chosen = _near_together(chosen, box.lower.shape)
    width = max(1, MEMORY // (len(lower) * largest * lower.element_size()))
    width = width if box.lower.dim() == 2 else min(width, NEIGHBORS)
    for index in chosen.split(width, dim=1):
        A, offset, allowance = last.units(index)
        lowest = offset - allowance + lower_bounds(links[:-1], A, ball)
        highest = offset + allowance - lower_bounds(links[:-1], A.neg_(), ball)
        lower.scatter_(1, index, torch.maximum(lower.gather(1, index), lowest))
        upper.scatter_(1, index, torch.minimum(upper.gather(1, index), highest))
    return Box(lower.view_as(box.lower), upper.view_as(box.upper))


def _near_together(index: Tensor, shape: torch.Size) -> Tensor:
    """Return flat indices of images sorted by place and not by channel: together they then see a small part below."""
    places = prod(shape[2:])
    return index.gather(1, (index % places).argsort(dim=1, stable=True)) if len(shape) > 2 else index


def interval_margins(links: list[Link], classes: Tensor) -> Tensor:
    """Return how far a class is above each other one at least, by the intervals of the scores: ``(B, C)``."""
    lower, upper = links[-1].box
    return lower.gather(1, classes.unsqueeze(1)) - upper


def linear_margins(links: list[Link], classes: Tensor, ball: Ball) -> Tensor:
    """Return how far a class is above each other one at least, by linear bounds: ``(B, C)``; 0 for itself."""
    count = prod(links[-1].box.lower.shape[1:])
    each = torch.eye(count, dtype=ball.center.dtype)
    return lower_bounds(links, each[classes].unsqueeze(1) - each, ball)
