"""Scores of a network for every pixel of an image of any size: padded where it must be, in tiles where it is large."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from pellucid.core.types import Array
from pellucid.vision.scene_estimator import images_to

IMAGES_AT_ONCE = 8


def pixel_scores(module: nn.Module, images: Tensor) -> Tensor:
    """Return a score per class and pixel: (B, C, H, W) -> (B, K, H, W).

    A network that takes only multiples of some size sees the image continued by its reflection; what it says there is
    cut off.
    """
    height, width = images.shape[-2:]
    scores: Tensor = module(padded(images, getattr(module, "size_multiple", 1)))
    return scores[..., :height, :width]


def padded(images: Tensor, multiple: int) -> Tensor:
    """Return images continued to the right and below, until height and width are multiples.

    Examples
    --------
    >>> padded(torch.arange(3.0).reshape(1, 1, 1, 3), 4)[0, 0, 0].tolist()
    [0.0, 1.0, 2.0, 1.0]
    """
    height, width = images.shape[-2:]
    below, right = -height % multiple, -width % multiple
    if not (below or right):
        return images
    images = pad(images, (0, right, 0, 0), _mode(right, width))
    return pad(images, (0, 0, 0, below), _mode(below, height))


def _mode(missing: int, length: int) -> str:
    """Return how to continue a side: a short one has too little to reflect, and repeats its border."""
    return "reflect" if missing < length else "replicate"


def class_shares(module: nn.Module, images: Tensor, tile: int | None = None, overlap: int = 32) -> Tensor:
    """Return the probability of each class at each pixel: (B, C, H, W) -> (B, K, H, W).

    Larger images are cut into tiles that overlap; where several see a pixel, their probabilities are mixed by how far
    it is from their borders.
    """
    height, width = images.shape[-2:]
    if tile is None or max(height, width) <= tile:
        return pixel_scores(module, images).softmax(dim=1)
    mixed: Tensor | None = None
    total = images.new_zeros(height, width)
    for top, rows in _spans(height, tile, overlap):
        for left, columns in _spans(width, tile, overlap):
            part = images[..., top : top + len(rows), left : left + len(columns)]
            shares = pixel_scores(module, part).softmax(dim=1)
            weight = (rows[:, None] * columns).to(shares)
            if mixed is None:
                mixed = shares.new_zeros(*shares.shape[:2], height, width)
            mixed[..., top : top + len(rows), left : left + len(columns)] += weight * shares
            total[top : top + len(rows), left : left + len(columns)] += weight
    assert mixed is not None
    return mixed / total


def _spans(length: int, tile: int, overlap: int) -> Iterator[tuple[int, Tensor]]:
    """Yield where tiles begin along one side, and how much each of their pixels counts: less near the borders."""
    size = min(tile, length)
    steps = range(0, max(length - size, 0) + 1, max(tile - overlap, 1))
    starts = [*steps, length - size] if steps[-1] != length - size else list(steps)
    place = torch.arange(size, dtype=torch.float64)
    weight = torch.minimum(torch.minimum(place + 1, size - place), torch.tensor(overlap + 1.0, dtype=torch.float64))
    for start in starts:
        yield start, weight / (overlap + 1.0)


@torch.no_grad()
def predicted_shares(
    module: nn.Module, images: Sequence[Array], tile: int | None = None, overlap: int = 32
) -> Iterator[Tensor]:
    """Yield the probabilities (K, H, W) of each image, on the module's device; several of one size go in together."""
    first = next(module.parameters())
    for group in _alike(images):
        batch = torch.stack([images_to(image, first.device, first.dtype) for image in group])
        yield from class_shares(module, batch, tile, overlap)


def _alike(images: Sequence[Array]) -> Iterator[list[Array]]:
    """Yield runs of images of one shape, at most a few at once."""
    group: list[Array] = []
    for image in images:
        if group and (image.shape != group[0].shape or len(group) == IMAGES_AT_ONCE):
            yield group
            group = []
        group.append(image)
    yield group


def predicted_codes(
    module: nn.Module, images: Sequence[Array], tile: int | None = None, overlap: int = 32
) -> Iterator[Array]:
    """Yield the place of the most probable class of each pixel (H, W), of tied ones the first."""
    for shares in predicted_shares(module, images, tile, overlap):
        yield np.asarray(shares.argmax(dim=0).cpu().numpy())
