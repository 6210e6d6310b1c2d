"""Detectors: the shipped ones on new scenes, and a step and a prediction beside torchvision's same model.

``PELLUCID_MNIST=FOLDER python -m benchmarks detectors`` scores every shipped detector on scenes of MNIST's test digits
(``PELLUCID_SCENES=100``), with images per second. Rows beside torchvision are there if it is installed, on the
processor or where ``PELLUCID_DEVICE=cuda`` says.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from importlib.util import find_spec

import torch
from rich.console import Console
from rich.table import Table
from torch import nn

from benchmarks.harness import OURS, Row
from pellucid.data import read_mnist
from pellucid.vision.detection.networks.backbones import FeaturePyramid, ResNetBody
from pellucid.vision.detection.networks.detection_network import Objects
from pellucid.vision.detection.networks.region_detectors import FasterRCNN
from pellucid.vision.detection.networks.retinanet import RetinaNet
from pellucid.vision.detection.scoring.average_precision import average_precision
from pellucid.vision.detection.shipped_detectors import SHIPPED, shipped_detector
from pellucid.vision.scenes import Digits, digit_scenes

DEVICE = os.environ.get("PELLUCID_DEVICE", "cpu")
SIDE = 320
"""Short side of the photographs beside torchvision: 800 takes minutes on a processor."""


def report(console: Console, only: str) -> None:
    """Print the table of shipped detectors, if the folder of the digits is named."""
    folder = os.environ.get("PELLUCID_MNIST")
    if folder is None or only not in "shipped":
        return
    count = int(os.environ.get("PELLUCID_SCENES", "100"))
    scenes, truth = digit_scenes(count, Digits(*read_mnist(folder, "t10k")), masks=False, random_state=1)
    heads = ("detector", "AP50", "interval", "AP", "weights", "images/s")
    table = Table(*heads, title=f"{count} scenes of {SIDE} x {SIDE}")
    for name in (name for name in SHIPPED.files if name.startswith("digits")):
        model = shipped_detector(name)
        model.predict(scenes[:2])
        start = time.perf_counter()
        found = model.predict(scenes)
        speed = count / (time.perf_counter() - start)
        score = average_precision(found, truth)
        low, high = score.interval(threshold=0.5)
        weights = sum(weight.size for weight in model.weights_.values())
        cells = f"{score.ap50:.3f}", f"{low:.3f}-{high:.3f}", f"{score.ap:.3f}", f"{weights:,}", f"{speed:.1f}"
        table.add_row(name, *cells)
    console.print(table)


def both(name: str) -> tuple[nn.Module, nn.Module]:
    """Return our network and torchvision's with the same weights."""
    from torchvision.models import detection

    body = ResNetBody(50, "batch")
    if name == "fasterrcnn_resnet50_fpn":
        ours = FasterRCNN(FeaturePyramid(body), classes=90, short_side=SIDE, long_side=2 * SIDE)
    else:
        pyramid = FeaturePyramid(body, first=1, more="convolutions")
        ours = RetinaNet(pyramid, classes=91, short_side=SIDE, long_side=2 * SIDE)
    torch.manual_seed(0)
    theirs = getattr(detection, name)(weights=None, weights_backbone=None, min_size=SIDE, max_size=2 * SIDE)
    module = ours.build()
    module.load_state_dict(theirs.state_dict())
    return module.to(DEVICE), theirs.to(DEVICE)


def scene() -> tuple[list[torch.Tensor], torch.Tensor, torch.Tensor]:
    """Return two photographs of noise, and boxes and classes for each."""
    generator = torch.Generator().manual_seed(1)
    images = [torch.rand(3, SIDE, SIDE, generator=generator) for _ in range(2)]
    corners = torch.rand(6, 2, generator=generator) * 200
    boxes = torch.cat((corners, corners + 40 + 60 * torch.rand(6, 2, generator=generator)), dim=1)
    return [image.to(DEVICE) for image in images], boxes.to(DEVICE), torch.arange(6, device=DEVICE)


def rows() -> list[Row]:
    """Return rows about a step of training and a prediction; the objective is the sum of the losses."""
    if find_spec("torchvision") is None:
        return []
    return [row for name in ("fasterrcnn_resnet50_fpn", "retinanet_resnet50_fpn") for row in _rows_of(name)]


def _rows_of(name: str) -> Iterator[Row]:
    def step_of_ours(data: tuple) -> float:
        (module, _), (images, boxes, labels) = data
        module.train().zero_grad()
        total = sum(module.training_losses(images, [Objects(boxes, labels)] * 2).values())
        total.backward()
        return float(total)

    def step_of_theirs(data: tuple) -> float:
        (_, module), (images, boxes, labels) = data
        module.train().zero_grad()
        shift = 1 if name.startswith("faster") else 0
        total = sum(module(images, [{"boxes": boxes, "labels": labels + shift}] * 2).values())
        total.backward()
        return float(total)

    def predicted(module: nn.Module, images: list[torch.Tensor]) -> int:
        with torch.inference_mode():
            found = module.eval()(images)
            return len([one["boxes"].cpu() if isinstance(one, dict) else one.boxes.cpu() for one in found])

    def prepare() -> tuple:
        return both(name), scene()

    steps = {OURS: step_of_ours, "torchvision": step_of_theirs}
    predictions = {
        OURS: lambda data: predicted(data[0][0], data[1][0]),
        "torchvision": lambda data: predicted(data[0][1], data[1][0]),
    }
    yield Row(
        f"{name}, step, {DEVICE}", prepare, steps, lambda *_: 0.0, rounds=5
    )  # proposals are drawn: losses differ by luck
    yield Row(f"{name}, prediction, {DEVICE}", prepare, predictions, lambda _, count: float(abs(count - 2)), rounds=5)
