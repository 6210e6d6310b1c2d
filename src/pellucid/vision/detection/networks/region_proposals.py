"""The region proposal network (Ren 2015): for every anchor at every place, is there an object, and where exactly."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.functional import relu

from pellucid.vision.detection.boxes.anchors import AnchorGrid
from pellucid.vision.detection.boxes.box_coding import BoxCoding
from pellucid.vision.detection.boxes.box_geometry import clip_boxes
from pellucid.vision.detection.boxes.matching import match_anchors
from pellucid.vision.detection.boxes.suppression import suppress
from pellucid.vision.detection.networks.detection_losses import sample_evenly, smooth_distance
from pellucid.vision.detection.networks.detection_network import Objects, Sized, tensors_of

CODING = BoxCoding()
MATCHED, BACKGROUND = 0.7, 0.3
"""Overlap from which an anchor is to find a box, and below which it is background; between, it does not count."""

SAMPLED, SHARE = 256, 0.5
"""Anchors of an image that count in one step, and how many of them are objects at most."""

BEST = {True: 2000, False: 1000}
"""Proposals by training or not: so many of each level before suppression, and of an image after it."""

OVERLAP = 0.7
SMALLEST = 1e-3


class RegionProposals(nn.Module):
    """Two 1 x 1 convolutions behind one of 3 x 3, shared by all levels: objectness, and four offsets per anchor."""

    def __init__(self, maps: int, anchors: AnchorGrid) -> None:
        super().__init__()
        self.anchors = anchors
        self.head = ProposalHead(maps, anchors.per_place[0])

    def forward(self, batch: Sized, levels: Sequence[Tensor]) -> tuple[list[Tensor], Tensor, Tensor, Tensor]:
        """Return proposals of each image, the scores and offsets of all anchors, and the anchors."""
        maps = [self.head(level) for level in levels]
        scores = [score.permute(0, 2, 3, 1).flatten(1) for score, _ in maps]  # (B, H W A)
        counts = [score.shape[1] for score in scores]
        offsets = torch.cat([rows_of(offset, 4) for _, offset in maps], dim=1)  # (B, N, 4)
        shapes = tuple((int(level.shape[-2]), int(level.shape[-1])) for level in levels)
        sides = (int(batch.images.shape[-2]), int(batch.images.shape[-1]))
        anchors = torch.cat(tensors_of(self.anchors.at, (shapes, sides), batch.images.device)).to(batch.images.dtype)
        together = torch.cat(scores, dim=1)
        proposals = self.best(together.detach().float(), offsets.detach(), anchors, counts, batch.sizes)
        return proposals, together, offsets, anchors

    def best(
        self, scores: Tensor, offsets: Tensor, anchors: Tensor, counts: list[int], sizes: Sequence[tuple[int, int]]
    ) -> list[Tensor]:
        """Return the boxes of each image that are most likely objects, without those that say the same."""
        most = BEST[self.training]
        places, start = [], 0
        for count in counts:
            places.append(start + scores[:, start : start + count].topk(min(count, most), dim=1).indices)
            start += count
        level = torch.cat([torch.full_like(own[0], k) for k, own in enumerate(places)])
        chosen = torch.cat(places, dim=1)  # (B, n)
        batch = torch.arange(len(chosen), device=chosen.device)[:, None]
        decoded = CODING.decode(offsets[batch, chosen].to(anchors.dtype), anchors[chosen])
        boxes = torch.cat([clip_boxes(own, *size) for own, size in zip(decoded, sizes, strict=True)])
        is_wide = (boxes[:, 2:] - boxes[:, :2]).min(dim=1).values >= SMALLEST
        image, group = batch.expand_as(chosen).reshape(-1)[is_wide], (batch * len(counts) + level).reshape(-1)[is_wide]
        boxes = boxes[is_wide]
        kept = suppress(boxes, scores[batch, chosen].reshape(-1)[is_wide], OVERLAP, group).kept  # of all images at once
        return [boxes[kept[image[kept] == number]][:most] for number in range(len(sizes))]

    def losses(self, scores: Tensor, offsets: Tensor, anchors: Tensor, objects: Sequence[Objects]) -> dict[str, Tensor]:
        """Return the two losses of this stage: is there an object, and where."""
        wanted, is_object, is_counted = [], [], []
        for one in objects:
            matching = match_anchors(anchors, one.boxes, MATCHED, BACKGROUND, keep_best=True)
            is_object.append(matching.box >= 0)
            wanted.append(encoded(CODING, one.boxes, matching.box, anchors))
            is_counted.append(torch.zeros_like(is_object[-1]))
            is_counted[-1][sample_evenly(is_object[-1], matching.box == -1, SAMPLED, SHARE)] = True
        objectness, counted = torch.stack(is_object), torch.stack(is_counted)
        target, both = torch.stack(wanted), objectness & counted
        n_counted = counted.sum().clamp(min=1)
        entropy = functional.binary_cross_entropy_with_logits(scores[counted].float(), objectness[counted].float())
        return {
            "objectness": entropy,
            "rpn_box": smooth_distance(offsets[both].float(), target[both].float()) / n_counted,
        }


class ProposalHead(nn.Module):
    """The convolutions, under torchvision's names."""

    def __init__(self, maps: int, per_place: int) -> None:
        super().__init__()
        self.conv = nn.Sequential(nn.Sequential(nn.Conv2d(maps, maps, 3, padding=1), nn.ReLU()))
        self.cls_logits = nn.Conv2d(maps, per_place, 1)
        self.bbox_pred = nn.Conv2d(maps, 4 * per_place, 1)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.normal_(layer.weight, std=0.01)
                nn.init.zeros_(layer.bias)  # type: ignore[arg-type]  # there is one

    def forward(self, maps: Tensor) -> tuple[Tensor, Tensor]:
        """Return (B, A, H, W) scores and (B, 4 A, H, W) offsets."""
        maps = relu(self.conv[0][0](maps))  # type: ignore[index]  # a Sequential
        return self.cls_logits(maps), self.bbox_pred(maps)


def rows_of(maps: Tensor, numbers: int) -> Tensor:
    """Return maps (B, A n, H, W) as rows (B, H W A, n): one for each anchor, in the order of the anchors."""
    batch, _, height, width = maps.shape
    return maps.reshape(batch, -1, numbers, height, width).permute(0, 3, 4, 1, 2).reshape(batch, -1, numbers)


def encoded(coding: BoxCoding, boxes: Tensor, matched: Tensor, anchors: Tensor) -> Tensor:
    """Return the offsets from anchors to the boxes they were given; zeros where an image has none."""
    if not len(boxes):
        return torch.zeros_like(anchors)
    return coding.encode(boxes.to(anchors.dtype)[matched.clamp(min=0)], anchors)  # type: ignore[no-any-return]
