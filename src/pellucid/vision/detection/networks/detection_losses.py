"""Losses of detectors: the focal loss, distances of boxes, and the choice of which anchors and regions count."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def focal_loss(scores: Tensor, targets: Tensor, alpha: float = 0.25, gamma: float = 2.0) -> Tensor:
    r"""Return the focal loss of each score (Lin 2017): easy examples, whose chance is near their target, count little.

    .. math:: -\alpha_t (1 - p_t)^\gamma \log p_t

    Parameters
    ----------
    scores : Tensor
        Raw scores of any shape; their logistic function is the chance of an object.
    targets : Tensor
        Of the same shape: 1.0 for an object, 0.0 for background.
    alpha : float, default=0.25
        Weight of objects, 0 to 1; background weighs 1 - alpha.
    gamma : float, default=2.0
        The power, at least 0: the larger, the less easy examples count; 0 is the weighted cross entropy.

    Examples
    --------
    >>> easy, hard = torch.tensor([4.0]), torch.tensor([-4.0])
    >>> bool(focal_loss(hard, torch.ones(1)) > 600_000 * focal_loss(easy, torch.ones(1)))  # 221 times without the power
    True
    """
    entropy = functional.binary_cross_entropy_with_logits(scores, targets, reduction="none")
    chance = torch.sigmoid(scores)
    missed = chance + targets - 2.0 * chance * targets  # 1 - p_t
    weight = alpha * targets + (1.0 - alpha) * (1.0 - targets)
    return weight * missed.pow(gamma) * entropy


def smooth_distance(found: Tensor, wanted: Tensor, bend: float = 1.0 / 9.0) -> Tensor:
    """Return the sum of distances that are squared where they are small: smooth at 0, not drawn by outliers."""
    return functional.smooth_l1_loss(found, wanted, beta=bend, reduction="sum")


def sample_evenly(is_object: Tensor, is_background: Tensor, count: int, share: float) -> Tensor:
    """Return the places of at most ``count`` random ones, of which at most a share are objects.

    Background fills up where there are fewer objects: without this, thousands of easy anchors would drown them.
    """
    objects, background = (torch.nonzero(chosen)[:, 0] for chosen in (is_object, is_background))
    n_objects = min(len(objects), int(count * share))
    n_background = min(len(background), count - n_objects)
    return torch.cat((_some(objects, n_objects), _some(background, n_background)))


def _some(places: Tensor, count: int) -> Tensor:
    return places[torch.randperm(len(places), device=places.device)[:count]]


def hard_negatives(entropy: Tensor, is_object: Tensor, ratio: float) -> Tensor:
    """Return which background counts: in each row (image) the worst, ``ratio`` times as many as objects (SSD)."""
    background = entropy.masked_fill(is_object, -torch.inf)
    rank = background.argsort(dim=1, descending=True).argsort(dim=1)
    return rank < (ratio * is_object.sum(dim=1, keepdim=True))
