"""The second stage of the R-CNN family: what is in a region, where exactly, and, of Mask R-CNN, which pixels."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from pellucid.vision.detection.boxes.box_coding import BoxCoding
from pellucid.vision.detection.boxes.box_geometry import clip_boxes
from pellucid.vision.detection.boxes.matching import match_anchors
from pellucid.vision.detection.networks.detection_losses import sample_evenly, smooth_distance
from pellucid.vision.detection.networks.detection_network import Found, Objects, best_boxes
from pellucid.vision.detection.networks.region_pooling import roi_align
from pellucid.vision.detection.networks.region_proposals import encoded

CODING = BoxCoding((10.0, 10.0, 5.0, 5.0))
MATCHED = 0.5
"""Overlap from which a region is to find a box."""

SHARE = 0.25
"""How many of the regions that count are objects, at most."""

THRESHOLD, OVERLAP, MOST = 0.05, 0.5, 100
"""Least score of a finding; largest overlap of two of one class; findings in an image."""


class ChosenRegions:
    """Regions of a batch that learn: boxes of each image, the class and box that each is to find."""

    def __init__(self, boxes: list[Tensor], labels: list[Tensor], matched: list[Tensor], wanted: list[Tensor]) -> None:
        self.boxes, self.labels, self.matched, self.wanted = boxes, labels, matched, wanted


def choose_regions(proposals: Sequence[Tensor], objects: Sequence[Objects], count: int) -> ChosenRegions:
    """Return some proposals of each image, a quarter of them objects; the true boxes are among those to draw from."""
    found = ChosenRegions([], [], [], [])
    for own, one in zip(proposals, objects, strict=True):
        boxes = torch.cat((own, one.boxes.to(own.dtype)))
        matched = match_anchors(boxes, one.boxes.to(own.dtype), MATCHED, MATCHED).box
        is_object = matched >= 0
        places = sample_evenly(is_object, ~is_object, count, SHARE)
        boxes, matched = boxes[places], matched[places]
        labels = torch.zeros_like(matched)  # 0 is background: class k is k + 1 here
        if len(one.labels):
            labels = torch.where(matched >= 0, one.labels[matched.clamp(min=0)] + 1, labels)
        found.boxes.append(boxes)
        found.labels.append(labels)
        found.matched.append(matched)
        found.wanted.append(encoded(CODING, one.boxes, matched, boxes))
    return found


class TwoDense(nn.Module):
    """A region's values through two dense layers."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.fc6, self.fc7 = nn.Linear(inputs, width), nn.Linear(width, width)

    def forward(self, regions: Tensor) -> Tensor:
        """Return (n, C, s, s) -> (n, width)."""
        return torch.relu(self.fc7(torch.relu(self.fc6(regions.flatten(1)))))


class BoxPredictor(nn.Module):
    """Scores of the classes and of background, and four offsets for each."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.cls_score = nn.Linear(width, classes + 1)
        self.bbox_pred = nn.Linear(width, 4 * (classes + 1))

    def forward(self, regions: Tensor) -> tuple[Tensor, Tensor]:
        """Return (n, classes + 1) and (n, 4 (classes + 1))."""
        return self.cls_score(regions), self.bbox_pred(regions)


def region_losses(scores: Tensor, offsets: Tensor, regions: ChosenRegions) -> dict[str, Tensor]:
    """Return the two losses of this stage: which class, and, for regions with an object, where."""
    labels, wanted = torch.cat(regions.labels), torch.cat(regions.wanted)
    places = torch.nonzero(labels > 0)[:, 0]
    found = offsets.reshape(len(labels), -1, 4)[places, labels[places]]
    return {
        "class": functional.cross_entropy(scores.float(), labels),
        "box": smooth_distance(found.float(), wanted[places].float()) / max(1, len(labels)),
    }


def found_in_regions(
    scores: Tensor, offsets: Tensor, boxes: Sequence[Tensor], sizes: Sequence[tuple[int, int]]
) -> list[Found]:
    """Return what is found in each image: a region may be several objects, one for each class that is sure enough."""
    counts = [len(own) for own in boxes]
    chances = torch.softmax(scores.float(), dim=1)
    found = []
    for own, chance, offset, size in zip(boxes, chances.split(counts), offsets.split(counts), sizes, strict=True):
        decoded = CODING.decode(offset.to(own.dtype), own).reshape(len(own), -1, 4)[:, 1:]
        inside = clip_boxes(decoded, *size).reshape(-1, 4)
        labels = torch.arange(chance.shape[1] - 1, device=chance.device).expand(len(own), -1).reshape(-1)
        kept = best_boxes(inside, chance[:, 1:].reshape(-1), labels, threshold=THRESHOLD, overlap=OVERLAP, most=MOST)
        found.append(Found(*kept[:3]))
    return found


class MaskHead(nn.Sequential):
    """Four convolutions of 3 x 3 on a region of 14 x 14."""

    def __init__(self, maps: int, width: int, layers: int = 4) -> None:
        inputs = (maps, *(width,) * (layers - 1))
        super().__init__(*(nn.Sequential(nn.Conv2d(before, width, 3, padding=1), nn.ReLU()) for before in inputs))
        draw_mask_weights(self)


class MaskPredictor(nn.Module):
    """The region enlarged to 28 x 28, and a score of every class for each of its pixels."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.conv5_mask = nn.ConvTranspose2d(width, width, 2, stride=2)
        self.mask_fcn_logits = nn.Conv2d(width, classes + 1, 1)
        draw_mask_weights(self)

    def forward(self, regions: Tensor) -> Tensor:
        """Return (n, width, 14, 14) -> (n, classes + 1, 28, 28)."""
        return self.mask_fcn_logits(torch.relu(self.conv5_mask(regions)))


def draw_mask_weights(module: nn.Module) -> None:
    """Draw convolutions for layers followed by ReLU, without a shift."""
    for layer in module.modules():
        if isinstance(layer, nn.Conv2d | nn.ConvTranspose2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]  # there is one


def objects_only(regions: ChosenRegions) -> ChosenRegions:
    """Return the regions that have an object: only those have a mask to learn."""
    places = [torch.nonzero(labels > 0)[:, 0] for labels in regions.labels]
    return ChosenRegions(
        *(
            [values[own] for values, own in zip(part, places, strict=True)]
            for part in (regions.boxes, regions.labels, regions.matched, regions.wanted)
        )
    )


def mask_loss(scores: Tensor, regions: ChosenRegions, objects: Sequence[Objects]) -> Tensor:
    """Return the cross entropy of the pixels of each region, in the mask of its own class only."""
    labels = torch.cat(regions.labels)
    if not len(labels):
        return scores.sum() * 0.0
    size, wanted = scores.shape[-1], []
    for own, matched, one in zip(regions.boxes, regions.matched, objects, strict=True):
        if one.masks is None:
            raise ValueError("annotations must have masks to train Mask R-CNN, got boxes only. Use FasterRCNN.")
        numbered = torch.cat((matched[:, None].to(own.dtype), own), dim=1)
        wanted.append(roi_align(one.masks[:, None].to(own.dtype), numbered, size)[:, 0])
    chosen = scores[torch.arange(len(labels), device=labels.device), labels]
    return functional.binary_cross_entropy_with_logits(chosen.float(), torch.cat(wanted).float())
