"""Certified detection: within which change of its pixels a box is found for sure, with the same class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from pellucid.core.checks import check_between
from pellucid.core.types import Array
from pellucid.neural_network.robustness.attack import attack
from pellucid.neural_network.robustness.certified_radius import CertifiedRadii, certified_radius
from pellucid.proofs.certificate import Certificate
from pellucid.vision.detection.networks.detection_network import SPREAD
from pellucid.vision.detection.networks.localizer import LocalizerNetwork
from pellucid.vision.detection.networks.yolo import YOLONetwork
from pellucid.vision.scene_estimator import images_to
from pellucid.vision.scene_images import checked_images

TRIED = (1.5, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0)
"""Multiples of a certified radius at which the box is attacked."""


@dataclass(frozen=True, repr=False)
class CertifiedBoxes:
    """Boxes of one image: no change of any pixel by at most ``radii`` removes one or changes its class.

    Radii are in units in which white is 1; ``broken_at`` are those at which an attack did it, infinite where none did.
    """

    boxes: Array
    labels: Array
    radii: Array
    broken_at: Array
    confidence: float
    certificates: tuple[Certificate, ...] = field(repr=False)

    def __repr__(self) -> str:
        levels = ", ".join(
            f"{255 * low:.2f}-{255 * high:.2f}" for low, high in zip(self.radii, self.broken_at, strict=True)
        )
        return f"CertifiedBoxes({len(self.boxes)} boxes, gray levels between proof and attack: {levels})"


def certified_boxes(
    model: Any, image: Any, *, confidence: float = 0.5, method: str = "linear", arithmetic: str = "exact"
) -> CertifiedBoxes:
    """Return the boxes of an image that a small detector finds, and how far every pixel may change, at least.

    A box of ``YOLO`` is there as long as the confidence of its cell is at least ``confidence``; the boxes of a
    ``Localizer`` are always there. What is proved is about that cell and its class; where the box is drawn may move,
    and suppression may prefer another box of the same object. The bounds are those of ``certified_radius``: they are
    useful for networks of some thousand units, and for larger ones 0.

    Parameters
    ----------
    model : fitted Detector
        With a ``YOLO`` or a ``Localizer``, for images as they are (``short_side=None``).
    image : array of shape (height, width[, channels])
        The image, in the values that the detector takes.
    confidence : float, default=0.5
        From which a cell of YOLO is taken to hold an object.
    method : {"linear", "interval"}, default="linear"
        Bounds of hidden values: by linear functions, or by intervals, which are weaker and faster.
    arithmetic : {"exact", "module"}, default="exact"
        Whether the statement is about the network in exact arithmetic, or also covers what rounding to single precision
        can change, which for a network with many sums may leave nothing.

    Returns
    -------
    CertifiedBoxes
        The boxes, the radius of each, and the radius at which an attack broke it.

    Examples
    --------
    >>> from pellucid.vision.detection import Detector, Localizer, SmallBody
    >>> image = np.zeros((16, 16))
    >>> image[4:9, 3:10] = 1.0
    >>> truth = [{"boxes": [[3, 4, 10, 9]], "labels": ["wide"]}, {"boxes": [[4, 3, 9, 10]], "labels": ["high"]}]
    >>> model = Detector(Localizer(SmallBody((4,)), width=8), epochs=2, random_state=0)
    >>> found = certified_boxes(model.fit([image, image.T.copy()], truth), image)
    >>> bool(0 < found.radii[0] < found.broken_at[0])
    True
    """
    check_is_fitted(model)
    check_between(0.0, 1.0, confidence=confidence)
    network = model.module_
    if not isinstance(network, YOLONetwork | LocalizerNetwork) or network.architecture.short_side is not None:
        raise ValueError(
            f"model must be a Detector of YOLO or Localizer with short_side=None, got {model.architecture_!r}."
        )
    (pixels,) = checked_images([image], channels=model.channels_)
    with torch.no_grad():
        batch = network.transform([images_to(pixels, torch.device("cpu"), torch.float32)])
        found = _located(network, batch, confidence)
    spread = min(SPREAD if network.channels == 3 else SPREAD[:1])
    proved: list[tuple[CertifiedRadii, float]] = []
    for _, _, weight, shift in found:
        margins = BoxMargins(network, weight, shift)
        radii = certified_radius(margins, batch.images.numpy(), method=method, arithmetic=arithmetic)
        proved.append((radii, _broken_at(margins, batch.images, float(radii.radii[0]))))
    return CertifiedBoxes(
        np.array([box for box, *_ in found]).reshape(-1, 4),
        model.classes_[np.array([label for _, label, *_ in found], dtype=int)],
        spread * np.array([float(one.radii[0]) for one, _ in proved]),
        spread * np.array([broken for _, broken in proved]),
        confidence,
        tuple(one.certificate for one, _ in proved),
    )


class BoxMargins(nn.Module):
    """A detector as a classifier about one of its boxes: class 0 as long as the box is there with its class.

    The other scores are differences of what the network says: another class minus the box's, and the confidence that
    is asked for minus that of the cell.
    """

    def __init__(self, network: nn.Module, weight: Tensor, shift: Tensor) -> None:
        super().__init__()
        self.network = network
        self.margins = nn.Linear(weight.shape[1], weight.shape[0])
        with torch.no_grad():
            self.margins.weight.copy_(weight)
            self.margins.bias.copy_(shift)
        self.eval()

    def forward(self, images: Tensor) -> Tensor:
        """Return scores (B, outcomes) of images as the network's transform leaves them."""
        return self.margins(said_by(self.network, images))


def said_by(network: Any, images: Tensor) -> Tensor:
    """Return the numbers of a network's last layer, (B, all of them), before anything is squashed."""
    maps = network.body(images)[-1]
    if isinstance(network, YOLONetwork):
        return network.head(network.neck(maps)).flatten(1)
    cells = nn.functional.adaptive_avg_pool2d(maps, network.grid)
    return network.class_head(torch.relu(network.dense(cells.flatten(1))))  # type: ignore[no-any-return]


Located = tuple[Array, int, Tensor, Tensor]
"""A box, its class, and the linear map from the network's numbers to the scores of ``BoxMargins``."""


def _located(network: Any, batch: Any, confidence: float) -> Sequence[Located]:
    if isinstance(network, LocalizerNetwork):
        return _slots(network, batch)
    return _cells(network, batch, confidence)


def _slots(network: LocalizerNetwork, batch: Any) -> list[Located]:
    """Return the boxes of a Localizer, one for each of its slots."""
    scores, boxes = network._judged(batch)
    found = []
    for slot in range(network.count):
        label = int(scores[0, slot].argmax())
        others = [k for k in range(network.classes) if k != label]
        weight = torch.zeros(len(others) + 1, network.count * network.classes)
        for row, other in enumerate(others, start=1):
            weight[row, slot * network.classes + other] = 1.0
            weight[row, slot * network.classes + label] = -1.0
        found.append((boxes[0, slot].numpy(), label, weight, torch.zeros(len(others) + 1)))
    return found


def _cells(network: YOLONetwork, batch: Any, confidence: float) -> list[Located]:
    """Return the boxes of YOLO whose confidence is high enough, the largest of each cell."""
    grid = network._grid(batch)
    chance = torch.sigmoid(grid.confidence[0])
    rows, columns = grid.cells
    least = float(np.log(confidence / (1.0 - confidence))) if 0.0 < confidence < 1.0 else 0.0
    found = []
    for place in torch.nonzero(chance >= confidence)[:, 0].tolist():
        cell, which = divmod(place, network.each)
        label = int(grid.scores[0, place].argmax())
        first = 5 * network.each + (which * network.classes if network.has_anchors else 0)
        others = [k for k in range(network.classes) if k != label]
        weight = torch.zeros(len(others) + 2, network.head.out_channels, rows * columns)
        for row, other in enumerate(others, start=1):
            weight[row, first + other, cell] = 1.0
            weight[row, first + label, cell] = -1.0
        weight[-1, which, cell] = -1.0
        shift = torch.zeros(len(weight))
        shift[-1] = least
        found.append((grid.boxes[0, place].numpy(), label, weight.flatten(1), shift))
    return found


def _broken_at(margins: BoxMargins, images: Tensor, radius: float) -> float:
    """Return the smallest tried multiple of a radius at which an attack removes the box or changes its class."""
    for factor in TRIED:
        reach = factor * max(radius, 1e-4)
        worst = attack(margins, images.numpy(), None, np.array([reach]), random_state=0)
        with torch.no_grad():
            if int(margins(torch.as_tensor(worst, dtype=images.dtype)).argmax()) != 0:
                return reach
    return float("inf")
