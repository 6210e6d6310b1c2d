"""A class for every pixel: one pass against a sliding window, counts, and a network beside torchvision's.

``python -m benchmarks segmentation``. Rows beside torchvision are there if it is installed, on the processor or where
``PELLUCID_DEVICE=cuda`` says.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
import torch
from sklearn.metrics import confusion_matrix
from torch import nn
from torch.nn.functional import cross_entropy

from benchmarks.harness import OURS, Row
from pellucid.vision.models import ResNetFCN, fully_convolutional
from pellucid.vision.segmentation import confusion_counts, segmentation_score, sliding_window_scores
from pellucid.vision.segmentation.pixel_training import PixelBatch, pixel_loss

DEVICE = os.environ.get("PELLUCID_DEVICE", "cpu")
WINDOW, STRIDE = 32, 4


def patch_classifier() -> nn.Module:
    """Return LeNet-5 in its modern form as a row of layers: 10 scores for a window of 32 x 32."""
    torch.manual_seed(0)
    maps = (nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2))
    dense = (nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))
    return nn.Sequential(*maps, nn.Flatten(), *dense).eval()


def windows_row(side: int) -> Row:
    """Return the row about all windows of a square image; the objective is how far scores are from the windows'."""

    def prepare() -> tuple[nn.Module, nn.Module, torch.Tensor, torch.Tensor]:
        module, image = patch_classifier(), torch.rand(1, 1, side, side)
        return module, fully_convolutional(module, WINDOW), image, sliding_window_scores(module, image, WINDOW, STRIDE)

    @torch.no_grad()
    def one_pass(data: tuple) -> torch.Tensor:
        return data[1](data[2])

    def windows(data: tuple) -> torch.Tensor:
        return sliding_window_scores(data[0], data[2], WINDOW, STRIDE)

    return Row(
        f"all windows of {side} x {side}",
        prepare,
        {OURS: one_pass, "sliding window": windows},
        lambda data, found: float((found - data[3]).abs().max() > 1e-4),
    )


def counts_row() -> Row:
    """Return the row about counting 50 label maps of 240 x 180 with 11 classes."""

    def prepare() -> tuple[np.ndarray, np.ndarray]:
        random = np.random.default_rng(0)
        truth = random.integers(0, 11, (50, 180, 240)).astype(np.uint8)
        return truth, np.where(random.random(truth.shape) < 0.8, truth, 0).astype(np.uint8)

    return Row(
        "counts of 50 label maps",
        prepare,
        {
            OURS: lambda data: confusion_counts(*data, 11),
            "scikit-learn": lambda data: confusion_matrix(data[0].ravel(), data[1].ravel()),
        },
        lambda data, found: float(np.abs(found - segmentation_score(*data).counts.sum(axis=0)).sum()),
    )


def peer_rows() -> Iterator[Row]:
    """Yield a prediction and a training step of FCN-ResNet50 on two images of 96 x 128, ours and torchvision's."""
    from torchvision.models.segmentation import fcn_resnet50

    torch.manual_seed(0)
    theirs = fcn_resnet50(weights=None, weights_backbone=None, num_classes=11, aux_loss=True)
    ours = ResNetFCN(50, 11).build()
    ours.load_state_dict(theirs.state_dict())
    ours, theirs = ours.to(DEVICE), theirs.to(DEVICE)
    images, codes = torch.rand(2, 3, 96, 128).to(DEVICE), torch.randint(0, 11, (2, 96, 128)).to(DEVICE)
    batch = PixelBatch(images, codes, None, torch.ones(11, device=DEVICE))

    @torch.no_grad()
    def prediction(module: nn.Module) -> torch.Tensor:
        found = module.eval()(images)
        return (found["out"] if isinstance(found, dict) else found).cpu()

    def peer_loss(module: nn.Module) -> torch.Tensor:
        found = module(images)
        return cross_entropy(found["out"], codes) + 0.5 * cross_entropy(found["aux"], codes)

    def step(module: nn.Module) -> float:
        module.train()
        torch.manual_seed(0)  # the same dropout
        loss = pixel_loss(module, batch) if module is ours else peer_loss(module)
        module.zero_grad(set_to_none=True)
        loss.backward()
        return float(loss.detach())

    expected = prediction(copy.deepcopy(theirs))
    yield Row(
        f"FCN-ResNet50, prediction, {DEVICE}",
        lambda: None,
        {OURS: lambda _: prediction(ours), "torchvision": lambda _: prediction(theirs)},
        lambda _, found: float((found - expected).abs().max() > 1e-3),
        rounds=5,
    )
    yield Row(
        f"FCN-ResNet50, training step, {DEVICE}",
        lambda: None,
        {OURS: lambda _: step(ours), "torchvision": lambda _: step(theirs)},
        lambda _, loss: round(loss, 4),
        rounds=5,
        slack=1e-3,
    )


def rows() -> Iterator[Row]:
    yield windows_row(160)
    yield windows_row(320)
    yield counts_row()
    if find_spec("torchvision"):
        yield from peer_rows()
