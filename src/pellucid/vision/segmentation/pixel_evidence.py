"""What can be said of a trained segmenter beside its score: objective and gradient on some pixels, in float64."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pellucid.core.random_state import some_rows
from pellucid.core.types import Array
from pellucid.neural_network.network.measured_scores import LOSSES
from pellucid.neural_network.network.network_proof import MeasuredNetwork
from pellucid.proofs.certificate import Claim
from pellucid.vision.scene_estimator import images_to
from pellucid.vision.segmentation.label_maps import IGNORED
from pellucid.vision.segmentation.pixel_scores import pixel_scores
from pellucid.vision.segmentation.pixel_training import LabeledImages, PixelBatch, class_weights_of, pixel_loss

MOST_IMAGES, MOST_SIDE = 2, 96
"""Training images, and height and width of a part of them, that the stored objective and gradient are about."""


def some_pixels(labeled: LabeledImages, class_weight: Any) -> PixelBatch:
    """Return parts of a few training images, always the same, each with a pixel that counts."""
    counting = [place for place, codes in enumerate(labeled.codes) if (codes != IGNORED).any()]
    chosen = [counting[i] for i in some_rows(len(counting), MOST_IMAGES)]
    sizes = [min(MOST_SIDE, *(labeled.codes[i].shape[side] for i in chosen)) for side in (0, 1)]
    images, codes = [], []
    for i in chosen:
        seen = np.argwhere(labeled.codes[i] != IGNORED)[0]
        starts = [min(at, n - size) for at, n, size in zip(seen, labeled.codes[i].shape, sizes, strict=True)]
        part = tuple(slice(start, start + size) for start, size in zip(starts, sizes, strict=True))
        images.append(images_to(labeled.images[i][part], torch.device("cpu"), torch.float64))
        codes.append(torch.from_numpy(labeled.codes[i][part].astype(np.int64)))
    weights = torch.from_numpy(class_weights_of(class_weight, labeled))
    own = None if labeled.weight is None else torch.from_numpy(labeled.weight[chosen])
    return PixelBatch(torch.stack(images), torch.stack(codes), own, weights)


def objective_and_gradient(module: nn.Module, batch: PixelBatch) -> dict[str, float]:
    """Return the objective of some pixels, and the size of its gradient, as the model carries them."""
    exact = copy.deepcopy(module).to("cpu", torch.float64).eval()
    learning = [one.requires_grad_() for one in exact.parameters()]
    value = pixel_loss(exact, batch)
    gradients = torch.autograd.grad(value, learning, allow_unused=True)
    squares = sum(float(one.square().sum()) for one in gradients if one is not None)
    return {"objective_": float(value.detach()), "gradient_norm_": float(np.sqrt(squares))}


def pixel_claims(fitted: Any, module: nn.Module, batch: PixelBatch) -> tuple[Claim, ...]:
    """Return the claims that both are found again, the loss and its slopes by hand, the gradient by differences."""
    counted = batch.targets != IGNORED
    weight = batch.class_weight[batch.targets.clamp(min=0)]
    if batch.weight is not None:
        weight = weight * batch.weight[:, None, None]
    rows = PixelsAsRows(copy.deepcopy(module).to("cpu", torch.float64).eval().requires_grad_(), counted)
    codes, share = (_numbers(one[counted]) for one in (batch.targets, weight))
    if not share.sum():
        return ()  # no pixel here has a weight: there is no objective
    return MeasuredNetwork(rows, _numbers(batch.inputs), codes, share, LOSSES["softmax"]).claims(fitted)


class PixelsAsRows(nn.Module):
    """A network that scores pixels, as one that gives each pixel that counts a row of scores."""

    def __init__(self, module: nn.Module, counted: Tensor) -> None:
        super().__init__()
        self.module, self.counted = module, counted

    def forward(self, images: Tensor) -> Tensor:
        """Return (B, C, H, W) -> (pixels, K)."""
        return pixel_scores(self.module, images).permute(0, 2, 3, 1)[self.counted]


def _numbers(tensor: Tensor) -> Array:
    return np.asarray(tensor.numpy())
